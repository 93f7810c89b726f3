//! Tools that look at machine code: who is told of each piece of code, and what.
//!
//! Problem: perf, gdb and profilers find code by tables of files; code that is made while the program runs is
//! in none. Each of them has a way of its own to be told. Design: whoever installs or frees code tells the
//! VM's `Watch`, if there is one, which hands it on to each tool that was asked for ([`Tools`]). A piece of
//! code has a name, its bytes, unwind information, and the places in the program that its parts are for.
//!
//! Invariant: without a tool there is no watch, and nothing is made for one. What a tool was told of code is
//! taken back when the code is freed, where the tool can be told so.
//!
//! Example: `tlua -jdebug=perf,gdb` makes a watch that writes lines to `/tmp/perf-PID.map` and registers
//! object files with gdb.

mod elf;
mod gdb;
mod jitdump;
mod map;
mod perf_map;
mod piece;
mod tell;

use gdb::Gdb;
use jitdump::Jitdump;
use map::CodeMap;
pub use map::Known as KnownCode;
use perf_map::PerfMap;
pub(crate) use piece::{piece_name, NoFile, Owner, Piece};
pub use piece::{CodeKind, Tools};

/// The tools that are told of a VM's code.
pub(crate) struct Watch {
    perf_map: Option<PerfMap>,
    jitdump: Option<Jitdump>,
    gdb: Option<Gdb>,
    map: Option<CodeMap>,
}

impl Watch {
    /// Prepares for these tools; `None` if there are none.
    pub fn new(tools: Tools) -> Result<Option<Box<Watch>>, NoFile> {
        if !tools.any() {
            return Ok(None);
        }
        Ok(Some(Box::new(Watch {
            perf_map: tools.perf_map.then(PerfMap::open).transpose()?,
            jitdump: tools.jitdump.then(Jitdump::open).transpose()?,
            gdb: tools.gdb.then(Gdb::default),
            map: tools.host.then(CodeMap::default),
        })))
    }

    /// A piece of code was installed.
    pub fn added(&mut self, piece: Piece<'_>) {
        if let Some(perf_map) = &self.perf_map {
            perf_map.add(&piece);
        }
        if let Some(jitdump) = &self.jitdump {
            jitdump.add(&piece);
        }
        if let Some(gdb) = &mut self.gdb {
            gdb.add(&piece);
        }
        if let Some(map) = &mut self.map {
            map.add(piece);
        }
    }

    /// All code of an owner is about to be freed.
    pub fn freed(&mut self, owner: Owner) {
        if let Some(gdb) = &mut self.gdb {
            gdb.free(owner);
        }
    }

    /// The piece of code that contains an address, if the host is to be told.
    pub fn code_at(&self, address: usize) -> Option<&KnownCode> {
        self.map.as_ref()?.at(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_tool_there_is_no_watch() {
        assert!(Watch::new(Tools::default()).unwrap().is_none());
        assert!(Watch::new(Tools { host: true, ..Tools::default() }).unwrap().is_some());
    }
}
