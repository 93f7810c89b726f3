//! The passes of the forward walk, one per file, and their order.
//!
//! An operation meets the passes in this order: objects that need not exist are kept off the heap; what is
//! known of a record's class is used before the record operation is expanded; what its operands' ranges make
//! unneeded is left out of expanded code; the rest is folded, then
//! looked up among earlier pure operations, and the guards that are left are compared with earlier ones,
//! indexes by how far they may go. Invariant: each pass is right whichever others run.

mod bounds;
mod cse;
mod expand;
pub(crate) mod fold;
mod guards;
pub(crate) mod heap;
mod ranges;
pub(crate) mod virtuals;

use crate::pass::Pass;
use crate::{Config, PassName};

/// The passes that the configuration asks for, in order.
pub(crate) fn chain(config: &Config) -> Vec<Box<dyn Pass>> {
    let mut chain: Vec<Box<dyn Pass>> = Vec::new();
    if config.is_on(PassName::Virtuals) {
        chain.push(Box::new(virtuals::Virtuals::new(config)));
    }
    if config.is_on(PassName::Guards) {
        chain.push(Box::new(guards::ClassGuards));
    }
    chain.push(Box::new(expand::Expand::new(config.keep_records)));
    if config.is_on(PassName::Ranges) {
        chain.push(Box::new(ranges::Ranges));
    }
    if config.is_on(PassName::Fold) {
        chain.push(Box::new(fold::Fold));
    }
    if config.is_on(PassName::Cse) {
        chain.push(Box::new(cse::Cse::default()));
    }
    if config.is_on(PassName::Guards) {
        chain.push(Box::new(guards::Guards::default()));
    }
    if config.is_on(PassName::Bounds) {
        chain.push(Box::new(bounds::Bounds::new(config)));
    }
    if let Some(heap) = heap::Heap::new(config) {
        chain.push(Box::new(heap));
    }
    chain
}
