//! The watch is told of the service's code.
//!
//! Problem: whoever installs code knows its tree, and tools want a name. Design: what a piece of code is
//! comes from its place in its tree, and its name is the trace's title. Invariant: nothing is made where
//! nobody watches.
//!
//! Example: trace 3, a side trace in the tree of a loop, becomes `side sum.lua:3 main (exit 2 of trace 0)`.

use tracelift_cranelift::{CodePtr, Compiled, Notes};

use super::map::Known;
use super::piece::{piece_name, CodeKind, Owner, Piece};
use super::Watch;
use crate::backend::Bounds;
use crate::ids::TraceId;
use crate::tree::Tree;
use crate::vm::Vm;

impl Vm {
    /// The code of a trace was installed; of a whole unit, if that is said.
    pub(crate) fn tell_of_code(
        &mut self,
        number: TraceId,
        tree: &Tree,
        is_whole_unit: bool,
        (code, title): (CodePtr, &str),
        compiled: &mut Compiled,
    ) {
        if self.code.watch.is_none() {
            return;
        }
        let is_entry = self.locations.get(&tree.key).is_some_and(|location| location.is_entry);
        let kind = match tree.parent {
            _ if is_whole_unit => CodeKind::Unit(number),
            Some(at) => CodeKind::Side(number, at),
            None if is_entry => CodeKind::Entry(number),
            None => CodeKind::Loop(number),
        };
        self.tell_tools((kind, title), number, tree.owner, code, compiled);
    }

    /// The code of a region was installed; its root is this trace.
    pub(crate) fn tell_of_region(&mut self, number: TraceId, code: CodePtr, compiled: &mut Compiled) {
        let Some(root) = self.traces.get(number).filter(|_| self.code.watch.is_some()) else { return };
        let (title, owner) = (root.title.clone(), root.tree.owner);
        self.tell_tools((CodeKind::Region(number), &title), number, owner, code, compiled);
    }

    fn tell_tools(
        &mut self,
        (kind, title): (CodeKind, &str),
        number: TraceId,
        tree_owner: usize,
        code: CodePtr,
        compiled: &mut Compiled,
    ) {
        let name = piece_name(kind, title);
        let Some(watch) = &mut self.code.watch else { return };
        let Notes { unwind, places } = compiled.notes.take().unwrap_or_default();
        watch.added(Piece {
            owner: Owner::Tree(number.tree()),
            kind,
            name,
            tree_owner,
            address: code.address(),
            code: &compiled.code,
            unwind: &unwind,
            places,
        });
    }

    /// Whom to tell of code.
    pub(crate) fn watch(&mut self) -> Option<&mut Watch> {
        self.code.watch.as_deref_mut()
    }

    /// Where code lies; the answer holds as long as the VM.
    pub(crate) fn code_bounds(&self) -> &Bounds {
        &self.code.bounds
    }

    /// What is known of the code that contains an address, if [`Tools::host`](crate::Tools::host) is set.
    pub fn code_at(&self, address: usize) -> Option<&Known> {
        self.code.watch.as_ref()?.code_at(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Key;
    use crate::support::{int, sum, Host};
    use crate::{Config, Tools};

    const HEAD: Key = 0x40;

    fn host(tools: Tools) -> Host {
        let mut host = Host::new(Config { threshold: 1, tools, ..Config::exact() });
        host.frame[..3].copy_from_slice(&[int(0), int(0), int(10)]);
        host.record(HEAD, sum);
        host
    }

    #[test]
    fn code_is_known_by_its_addresses() {
        let host = host(Tools { host: true, ..Tools::default() });
        let code = host.vm.traces.get(TraceId(0)).unwrap().code;
        for address in [code.address(), code.address() + code.len() - 1] {
            let known = host.vm.code_at(address).expect("it is the loop's code");
            assert_eq!((known.kind, known.name.as_str()), (CodeKind::Loop(TraceId(0)), "loop_40"));
            assert_eq!((known.address, known.end()), (code.address(), code.address() + code.len()));
            assert!(!known.words(address).is_empty());
        }
        assert!(host.vm.code_at(code.address() + code.len()).is_none_or(|known| known.name != "loop_40"));
    }

    #[test]
    fn nothing_is_known_where_nobody_asks() {
        let host = host(Tools::default());
        let code = host.vm.traces.get(TraceId(0)).unwrap().code;
        assert!(host.vm.code_at(code.address()).is_none());
    }
}
