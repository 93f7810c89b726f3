//! Planted bugs of allocation removal change its listings; objects are made where the trace can be left.
//!
//! Problem: a bug that is planted and changes nothing proves nothing; that an object is made too late shows
//! only where there is no memory for it. Design: one trace, in which an object is made for the first of two
//! calls, with each bug; one in which it is made for the second store of a bytecode. Invariants: the listing
//! has another length than without the bug; before the first store the object is there. The listings
//! themselves are in `tests/traces/opt` (`virtuals`, `peeling`) and `tests/papers`. Example: with `LiftTwice`
//! the object is made for the second call, too.

use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::text::{parse_file, print_trace};
use tracelift_core::{ir::Inst, Op};

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

/// One bytecode counts up and keeps an object. Who left at its second store, for want of memory, would count
/// twice: so the object is made before the first one.
#[test]
fn what_a_later_store_wants_is_made_before_the_first() {
    let source = "func make(addr, int, int, int) -> ref allocates = native world.alloc
layout Box { value: int, alloc make }
layout Holder { count: int, link: ref, alloc make }
trace two_stores
L0(p0, i1):
@0 = frame[0: ref p0, 1: int i1]
p2 = new(Box) @0
set(p2, value, i1)
i3 = get(p0, count)
i4 = int_add(i3, 1)
@1 = frame[0: ref p0, 1: int i1]
set(p0, count, i4) @1
set(p0, link, p2) @1
finish(i4)
";
    let file = parse_file(source, &tracelift_core::testbed::natives).unwrap();
    for passes in ["-all,+virtuals", "-all,+virtuals,+delay_store", ""] {
        let config = Config::parse(passes).unwrap().keeping_records();
        // That the object can be left to where it is made is the verifier's to say.
        let trace = optimized(&config, &file.traces[0], &file.schema).unwrap().trace;
        let find = |is: &dyn Fn(&Inst) -> bool| trace.insts.iter().position(is).expect(passes);
        let made = find(&|inst| inst.op == Op::New);
        let stored = find(&|inst| inst.op == Op::Set && inst.args[0] == trace.inputs()[0]);
        assert!(made < stored, "{passes}: {}", print_trace(&trace, &file.schema));
    }
}
