//! Payloads, arguments and results against op table and schema.
//!
//! Problem: half of the ops take their types from what they carry. Design: first the payload is checked
//! (kind, range, and that its layout has the part that the op is about), then the table's argument types are
//! resolved with it. A store of a tag without payload (nil) takes no value. Invariant: types are resolved
//! only over payloads that passed. Example: `set_item(p0, i1, 1.5, Table:int)` is reported as
//! `argument 3 of set_item is float, not int`.

use super::{Checker, ErrorKind};
use crate::effects::Effects;
use crate::ir::{Inst, Payload};
use crate::ops::{ArgType, Arity, Op, PayloadKind, ResultType};
use crate::schema::{Element, LayoutId, TagId};
use crate::types::Type;

impl Checker<'_> {
    /// Checks what the instruction carries; whether types can be resolved with it.
    pub(super) fn payload(&mut self, inst: &Inst) -> bool {
        let fault = self.payload_fault(inst);
        if let Some(message) = &fault {
            self.error(ErrorKind::Payload, format!("{}: {message}", inst.op.info().name));
        }
        fault.is_none()
    }

    fn payload_fault(&self, inst: &Inst) -> Option<String> {
        let missing = |what: &str, exists: bool| (!exists).then(|| format!("no such {what}"));
        let schema = self.schema;
        match (inst.op.info().payload, inst.payload) {
            (PayloadKind::None, Payload::None) | (PayloadKind::Scale, Payload::Scale { .. }) => None,
            (PayloadKind::Cell, Payload::Cell(cell)) => missing("cell", cell.index() < schema.cells().len()),
            (PayloadKind::Field, Payload::Field(field)) => {
                missing("field", field.index() < schema.fields().len())
            }
            (PayloadKind::Layout, Payload::Layout(layout)) => missing("layout", self.layout_exists(layout))
                .or_else(|| self.layout_op_fault(inst.op, layout)),
            (PayloadKind::New, Payload::New { layout, items, keys }) => {
                missing("layout", self.layout_exists(layout)).or_else(|| self.new_fault(layout, items, keys))
            }
            (PayloadKind::Item, Payload::Item { layout, tag }) => {
                missing("layout", self.layout_exists(layout)).or_else(|| self.item_fault(layout, tag))
            }
            (PayloadKind::Key, Payload::Key { layout, tag, .. }) => {
                missing("layout", self.layout_exists(layout)).or_else(|| {
                    // The absence of a key is no matter of tags.
                    if inst.op == Op::GuardKeyAbsent {
                        let has_keys = schema.layout(layout).keys.is_some();
                        let fault = (!has_keys).then(|| "the layout has no keyed entries".to_string());
                        return fault.or_else(|| missing("tag", tag.is_none_or(|tag| self.tag_exists(tag))));
                    }
                    self.key_fault(layout, tag)
                })
            }
            (PayloadKind::Func, Payload::Func(func)) => {
                missing("function", func.index() < schema.funcs().len())
            }
            (PayloadKind::Label | PayloadKind::Target, Payload::Label(label)) => {
                missing("label", label.index() < self.trace.labels.len())
            }
            // Which units there are, and what they want, is known where they are.
            (PayloadKind::Unit, Payload::Unit { .. }) => None,
            (PayloadKind::Result, Payload::Result { slot: None, tag: Some(_) }) => {
                Some("a tag is of no use where nobody wants the result".to_string())
            }
            (PayloadKind::Result, Payload::Result { tag, .. }) => {
                missing("tag", tag.is_none_or(|tag| self.tag_exists(tag)))
            }
            (PayloadKind::Tag, Payload::Tag(tag)) => missing("tag", self.tag_exists(tag))
                .or_else(|| self.trace.unit.is_none().then(|| "the trace belongs to no unit".to_string())),
            (wanted, _) => Some(format!("carries the wrong kind of payload, not {wanted:?}")),
        }
    }

    fn layout_op_fault(&self, op: Op, layout: LayoutId) -> Option<String> {
        let layout = self.schema.layout(layout);
        match op {
            Op::GuardClass if layout.class_word.is_none() => {
                Some(format!("{} has no class word", layout.name))
            }
            Op::ItemCount if layout.items.is_none() => Some(format!("{} has no items", layout.name)),
            _ => None,
        }
    }

    /// What is wrong with the room, or the site, of a new record.
    pub(super) fn new_fault(&self, layout: LayoutId, items: u32, keys: u32) -> Option<String> {
        let in_frame = self.schema.is_made_in_frame(layout);
        let layout = self.schema.layout(layout);
        let no_items = items > 0 && layout.items.is_none() && !in_frame;
        let no_keys = keys > 0 && layout.keys.is_none();
        (no_items || no_keys).then(|| format!("{} has no part that needs room", layout.name))
    }

    /// What is wrong with an item of that tag.
    pub(super) fn item_fault(&self, layout: LayoutId, tag: Option<TagId>) -> Option<String> {
        let layout = self.schema.layout(layout);
        match &layout.items {
            None => Some(format!("{} has no items", layout.name)),
            Some(items) => self.tag_fault(&items.element, tag),
        }
    }

    /// What is wrong with a keyed entry of that tag.
    pub(super) fn key_fault(&self, layout: LayoutId, tag: Option<TagId>) -> Option<String> {
        let layout = self.schema.layout(layout);
        match &layout.keys {
            None => Some(format!("{} has no keyed entries", layout.name)),
            Some(keys) => self.tag_fault(&keys.element, tag),
        }
    }

    fn tag_fault(&self, element: &Element, tag: Option<TagId>) -> Option<String> {
        match (element.tag, tag) {
            (Some(_), None) => Some("a tag is needed".to_string()),
            (None, Some(_)) => Some("elements have no tags".to_string()),
            (Some(_), Some(tag)) if !self.tag_exists(tag) => Some("no such tag".to_string()),
            _ => None,
        }
    }

    /// Number and types of arguments; the payload is in order.
    pub(super) fn arguments(&mut self, inst: &Inst) {
        let wanted = self.wanted_types(inst);
        let Some(wanted) = wanted else { return };
        let name = inst.op.info().name;
        if wanted.len() != inst.args.len() {
            let message = format!("{name} takes {} arguments, not {}", wanted.len(), inst.args.len());
            return self.error(ErrorKind::Arity, message);
        }
        let first_same = wanted.iter().position(|kind| *kind == ArgType::Same);
        let same = first_same.and_then(|position| self.type_of(inst.args[position]));
        for (index, (&arg, kind)) in inst.args.iter().zip(&wanted).enumerate() {
            let Some(found) = self.type_of(arg) else { continue };
            let fault = match kind {
                ArgType::Is(ty) if *ty != found => Some(ty.name()),
                ArgType::Pointer if !found.is_pointer() => Some("ref or addr"),
                ArgType::Same if Some(found) != same => same.map(Type::name),
                _ => None,
            };
            if let Some(wanted) = fault {
                let message = format!("argument {} of {name} is {found}, not {wanted}", index + 1);
                self.error(ErrorKind::Type, message);
            }
        }
        self.constants(inst);
    }

    /// The types of the arguments, `Declared` resolved; `None` if any are allowed.
    fn wanted_types(&self, inst: &Inst) -> Option<Vec<ArgType>> {
        match (inst.op.info().args, inst.payload) {
            (Arity::Fixed(kinds), _) => {
                let declared = inst.declared_type(self.schema);
                // A tag without payload (nil) has no value to store.
                let kinds = kinds.iter().filter(|kind| **kind != ArgType::Declared || declared.is_some());
                let resolve = |kind: &ArgType| match (kind, declared) {
                    (ArgType::Declared, Some(ty)) => ArgType::Is(ty),
                    _ => *kind,
                };
                Some(kinds.map(resolve).collect())
            }
            (Arity::Variadic, Payload::Func(func)) => {
                let params = &self.schema.func(func).params;
                let types = inst.op.arguments_of(params).unwrap_or_default();
                Some(types.into_iter().map(ArgType::Is).collect())
            }
            (Arity::Variadic, Payload::Label(label)) => {
                let label = self.trace.labels.get(label.index())?;
                let condition = (inst.op == Op::JumpIf).then_some(Some(ArgType::Is(Type::Int)));
                let args = label.args.iter().map(|&arg| Some(ArgType::Is(self.type_of(arg)?)));
                condition.into_iter().chain(args).collect()
            }
            (Arity::Variadic, _) => None,
        }
    }

    /// Arguments that must be constants.
    fn constants(&mut self, inst: &Inst) {
        let what = match inst.op.info().payload {
            PayloadKind::Key => "the key",
            PayloadKind::None if inst.op == Op::GuardValue => "the value compared with",
            _ => return,
        };
        if inst.args.get(1).is_some_and(|&arg| !self.is_constant(arg)) {
            self.error(ErrorKind::Constant, format!("{}: {what} must be a constant", inst.op.info().name));
        }
    }

    /// The result; the payload is in order.
    pub(super) fn result(&mut self, inst: &Inst) {
        let name = inst.op.info().name;
        let wanted = match inst.op.info().result {
            ResultType::Nothing => None,
            ResultType::Is(ty) => Some(ty),
            ResultType::Same => match inst.op.info().args {
                Arity::Fixed(kinds) => {
                    let same = kinds.iter().position(|kind| *kind == ArgType::Same);
                    same.and_then(|position| inst.args.get(position)).and_then(|&arg| self.type_of(arg))
                }
                Arity::Variadic => None,
            },
            ResultType::Declared => inst.declared_type(self.schema),
        };
        if inst.op == Op::TryCall && !wanted.is_some_and(Type::is_pointer) {
            self.error(ErrorKind::Type, "try_call needs a function that results in ref or addr");
        }
        if let (Op::Mend, Payload::Func(func)) = (inst.op, inst.payload) {
            if inst.op.arguments_of(&self.schema.func(func).params).is_none() {
                self.error(ErrorKind::Type, "mend needs a function whose first parameter is an address");
            }
            if Effects::of_call(func, self.schema).allocates {
                self.error(
                    ErrorKind::Type,
                    "mend needs a function that neither makes objects nor runs any code",
                );
            }
        }
        let is_call = matches!(inst.payload, Payload::Func(_));
        match (wanted, inst.result) {
            (None, Some(_)) => self.error(ErrorKind::Type, format!("{name} has no result here")),
            // The result of a call may be of no interest.
            (Some(_), None) if !is_call => {
                self.error(ErrorKind::Type, format!("{name} has a result, which must be named"));
            }
            (Some(wanted), Some(result)) => {
                if let Some(found) = self.type_of(result).filter(|found| *found != wanted) {
                    let message = format!("{name} results in {wanted}, but {} is {found}", self.name(result));
                    self.error(ErrorKind::Type, message);
                }
            }
            _ => {}
        }
    }
}
