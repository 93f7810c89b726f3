//! Planted bugs of allocation removal change its listings.
//!
//! Problem: a bug that is planted and changes nothing proves nothing. Design: one trace, in which an object
//! is made for the first of two calls, with each bug. Invariant: the listing has another length than
//! without the bug. The listings themselves are in `tests/traces/opt` (`virtuals`, `peeling`) and
//! `tests/papers`. Example: with `LiftTwice` the object is made for the second call, too.

use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::text::parse_file;

use super::optimized;
use crate::Config;

const SOURCE: &str = "func make(addr, int, int, int) -> ref allocates = native world.alloc
func seen(ref) writes out
layout BoxedInteger { intval: int, alloc make }
trace t
L0(i0):
p1 = new(BoxedInteger)
set(p1, intval, 1)
set(p1, intval, i0)
call(seen, p1)
call(seen, p1)
finish()
";

#[test]
fn planted_bugs_change_the_listings() {
    let file = parse_file(SOURCE, &tracelift_core::testbed::natives).unwrap();
    let config = Config::parse("-all,+virtuals").unwrap().keeping_records();
    let length = || optimized(&config, &file.traces[0], &file.schema).unwrap().trace.insts.len();
    let broken = |bug| with_planted(bug, length);
    assert_eq!(length(), 6);
    assert_eq!(broken(Bug::LiftTwice), 8);
}
