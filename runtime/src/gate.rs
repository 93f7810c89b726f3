//! Gates: answers of the long way at a hot back edge, kept for the next entries.
//!
//! Problem: what is asked at a hot back edge has the same answers nearly each time. Design: a small table,
//! one [`Gate`] for each class of keys, holds the answer for a number of entries. A gate is found by the key
//! alone; a key of the same class takes the place of another. Who opens gates and goes through them is
//! `fast_path.rs`. Invariant: either no gate is open, or what the gates answer is what the long way would;
//! whoever changes that calls [`Gates::shut`].
//!
//! ```text
//! keys 0x7f00 and 0x8300 are of one class: opening a gate for 0x8300 displaces that of 0x7f00
//! ```

use crate::ids::{Key, TraceId};
use crate::run::Run;

/// Gates; a power of two.
pub(crate) const GATES: usize = 256;

/// What the long way has answered.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Gate {
    pub key: Key,
    pub counter: *const i32,
    /// The code that is entered; `None` if there is nothing to do.
    pub way: Option<Way>,
    /// How often the answer may still be given.
    pub left: u32,
}

/// Where a gate leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub run: Run,
    pub trace: TraceId,
    /// Exits may make objects.
    pub lifts: bool,
}

/// All gates of a VM: one for each class of keys.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    all: Vec<Option<Gate>>,
    are_open: bool,
    /// Gates that were shut before all entries had passed that they were opened for.
    early: Vec<Gate>,
}

impl Gates {
    /// Hosts choose counters by the low bits of keys, as Lua does by 16 of them. Keys with one counter are to
    /// be of different classes.
    fn class(key: Key) -> usize {
        ((key >> 2) ^ (key >> 16)) % GATES
    }

    /// The answers may no longer hold.
    #[inline]
    pub fn shut(&mut self) {
        if self.are_open {
            self.early.extend(self.all.iter_mut().filter_map(Option::take).filter(|gate| gate.left > 0));
            self.are_open = false;
        }
    }

    /// A gate that was shut before all entries had passed that it was opened for; each is told once.
    #[inline]
    pub fn shut_early(&mut self) -> Option<Gate> {
        self.early.pop()
    }

    /// Whether any is open.
    #[cfg(test)]
    pub fn are_open(&self) -> bool {
        self.are_open
    }

    /// Opens a gate, in the place of another one, which is returned.
    pub fn open(&mut self, gate: Gate) -> Option<Gate> {
        self.all.resize(GATES, None);
        self.are_open = true;
        self.all[Gates::class(gate.key)].replace(gate)
    }

    /// Closes the gate of a key, and returns it.
    pub fn close(&mut self, key: Key) -> Option<Gate> {
        self.all.get_mut(Gates::class(key))?.take_if(|gate| gate.key == key)
    }

    /// The gate of a key, if it is open.
    #[inline]
    pub fn of(&mut self, key: Key) -> Option<&mut Gate> {
        self.all.get_mut(Gates::class(key))?.as_mut().filter(|gate| gate.key == key && gate.left > 0)
    }
}
