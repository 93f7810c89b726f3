//! Traces to text.
//!
//! Problem: a dump must be readable, and must be a test when it is pasted into a file. Design: one line for
//! each instruction, its payload where the parser looks for it; a snapshot's line stands at its position, or
//! just before its first guard where the position says nothing (optimized traces) or would put a name before
//! its definition.
//!
//! Invariants: printing never panics, whatever the trace; printing what was parsed prints the same text
//! again.

use std::fmt::Write;

use super::names::{SchemaNames, TraceNames};
use super::operand::type_of_first_letter;
use crate::ir::{ExitKind, Hint, Inst, Payload, Trace, Value};
use crate::ops::{Op, PayloadKind};
use crate::schema::Schema;
use crate::snapshot::{Pending, Snapshot, Source, Virtual};
use crate::world_spec::WorldSpec;

/// A trace as text, without the declarations that it needs; objects of the world are printed by number.
pub fn print_trace(trace: &Trace, schema: &Schema) -> String {
    Printer::new(trace, &SchemaNames::new(schema, None)).trace()
}

/// The same, with the names of the world's objects.
pub fn print_trace_in(trace: &Trace, schema: &Schema, world: &WorldSpec) -> String {
    Printer::new(trace, &SchemaNames::new(schema, Some(world))).trace()
}

/// One instruction as text, as [`print_trace`] prints it but without indentation; for messages.
pub fn print_inst(trace: &Trace, schema: &Schema, inst: &Inst) -> String {
    Printer::new(trace, &SchemaNames::new(schema, None)).inst(inst)
}

/// All instructions as text, a line for each, as [`print_inst`] prints one; for listings.
pub fn inst_lines(trace: &Trace, schema: &Schema) -> Vec<String> {
    let names = SchemaNames::new(schema, None);
    let printer = Printer::new(trace, &names);
    trace.insts.iter().map(|inst| printer.inst(inst)).collect()
}

/// The name of each value in [`print_trace`]'s text (a constant's text), by id.
pub fn value_names(trace: &Trace) -> Vec<String> {
    let schema = SchemaNames::new(&Schema::new(), None);
    let printer = Printer::new(trace, &schema);
    (0..trace.values.len() as u32).map(|id| printer.value(Value(id))).collect()
}

/// Before which instruction each snapshot is printed (the number of instructions for the end), in that order.
pub(super) fn snapshots_by_place(trace: &Trace) -> Vec<(usize, usize)> {
    let mut defined_at = vec![usize::MAX; trace.values.len()];
    let mut first_use = vec![trace.insts.len(); trace.snapshots.len()];
    for (index, inst) in trace.insts.iter().enumerate() {
        let label_args: &[Value] = if inst.op == Op::Label { &inst.args } else { &[] };
        for value in label_args.iter().chain(&inst.result) {
            if let Some(at) = defined_at.get_mut(value.index()) {
                *at = (*at).min(index);
            }
        }
        if let Some(place) = inst.snap.and_then(|snap| first_use.get_mut(snap.index())) {
            *place = (*place).min(index);
        }
    }
    let place = |(id, (snapshot, used)): (usize, (&Snapshot, usize))| {
        let position = snapshot.position as usize;
        let mut safe = position <= used;
        snapshot.for_each_value(|value| {
            let data = trace.values.get(value.index());
            let is_constant = data.is_some_and(|data| data.constant.is_some());
            safe &= is_constant || defined_at.get(value.index()).is_some_and(|at| *at < position);
        });
        (if safe { position } else { used }, id)
    };
    let mut places: Vec<_> = trace.snapshots.iter().zip(first_use).enumerate().map(place).collect();
    places.sort();
    places
}

/// What a trace's text leaves out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Nothing.
    Full,
    /// What two equal traces may differ in: names, depths, snapshots' numbers, origins and places.
    Canonical,
}

pub(super) struct Printer<'a> {
    trace: &'a Trace,
    schema: &'a SchemaNames,
    names: TraceNames,
    style: Style,
}

impl<'a> Printer<'a> {
    pub fn new(trace: &'a Trace, schema: &'a SchemaNames) -> Printer<'a> {
        Printer { trace, schema, names: TraceNames::new(trace), style: Style::Full }
    }

    pub fn canonical(trace: &'a Trace, schema: &'a SchemaNames) -> Printer<'a> {
        Printer { trace, schema, names: TraceNames::canonical(trace), style: Style::Canonical }
    }

    /// The whole trace, a line for each instruction.
    pub fn trace(&self) -> String {
        let mut out = String::new();
        if !self.trace.name.is_empty() && self.style == Style::Full {
            out += &format!("trace {}\n", super::lex::write_name(&self.trace.name, &[]));
        }
        out += &self.body();
        out
    }

    /// The trace without its `trace` line.
    pub fn body(&self) -> String {
        let mut out = String::new();
        let Trace { unit, entry, entry_tags, entry_known, .. } = self.trace;
        if let Some(unit) = unit {
            out += &format!("unit {}\n", unit.0);
        }
        for (word, slots) in [("entry", entry), ("entry_tags", entry_tags), ("entry_known", entry_known)] {
            let texts: Vec<_> =
                slots.iter().map(|s| format!("{}: {}", s.slot, self.schema.tag(s.tag))).collect();
            if !texts.is_empty() {
                out += &format!("{word} [{}]\n", texts.join(", "));
            }
        }
        if !self.trace.entry_cells.is_empty() {
            out += &format!("entry_cells {:?}\n", self.trace.entry_cells);
        }
        let places = snapshots_by_place(self.trace);
        let mut places = places.iter().peekable();
        let base = self.trace.insts.first().map_or(0, |inst| inst.depth);
        for index in 0..=self.trace.insts.len() {
            let inst = self.trace.insts.get(index);
            let depth =
                inst.filter(|_| self.style == Style::Full).map_or(0, |inst| inst.depth.saturating_sub(base));
            let indent = 2 * depth as usize;
            while let Some((_, id)) = places.next_if(|(place, _)| *place <= index) {
                let text = self.snapshot(*id as u32, &self.trace.snapshots[*id], indent);
                let _ = writeln!(out, "{:indent$}{text}", "");
            }
            if let Some(inst) = inst {
                let _ = writeln!(out, "{:indent$}{}", "", self.inst(inst));
            }
        }
        out
    }

    /// An operand.
    fn value(&self, value: Value) -> String {
        match self.trace.values.get(value.index()).and_then(|data| Some((data.ty, data.constant?))) {
            Some((ty, constant)) => self.schema.constant(ty, constant),
            None => self.names.value(value),
        }
    }

    /// A value where it is defined: with its type, if the name does not tell it.
    fn definition(&self, value: Value) -> String {
        let name = self.value(value);
        match self.trace.values.get(value.index()) {
            Some(data) if type_of_first_letter(&name) != Some(data.ty) => format!("{name}: {}", data.ty),
            _ => name,
        }
    }

    /// An instruction.
    pub fn inst(&self, inst: &Inst) -> String {
        if inst.op == Op::Label {
            let args: Vec<_> = inst.args.iter().map(|&arg| self.definition(arg)).collect();
            let label = inst.label().map_or("?label".to_string(), |label| self.names.label(label));
            return format!("{label}({}):", args.join(", "));
        }
        let mut args: Vec<_> = inst.args.iter().map(|&arg| self.value(arg)).collect();
        if let Some(payload) = self.payload(&inst.payload) {
            let at = match inst.op.info().payload {
                PayloadKind::Cell | PayloadKind::Field | PayloadKind::Target => 1.min(args.len()),
                PayloadKind::Func | PayloadKind::Label | PayloadKind::New | PayloadKind::Unit => 0,
                _ => args.len(),
            };
            args.insert(at, payload);
        }
        let result = inst.result.map_or(String::new(), |value| format!("{} = ", self.definition(value)));
        let mut text = format!("{result}{}({})", inst.op.info().name, args.join(", "));
        if let Payload::Key { hint: Some(Hint { size, entry, followed }), .. } = inst.payload {
            text += &format!(" hint {size} {entry}");
            if followed > 0 {
                text += &format!(" then {followed}");
            }
        }
        if let Some(snap) = inst.snap {
            text += &format!(" @{}", snap.0);
        }
        let usual = ExitKind::usual(inst.op);
        if inst.exit != usual {
            text += &format!(" {}", inst.exit.name());
        }
        text
    }

    fn payload(&self, payload: &Payload) -> Option<String> {
        Some(match *payload {
            Payload::None => return None,
            Payload::Cell(cell) => self.schema.cell(cell),
            Payload::Field(field) => self.schema.field(field),
            Payload::Layout(layout) => self.schema.layout(layout),
            Payload::New { layout, items: 0, keys: 0 } => self.schema.layout(layout),
            Payload::New { layout, items, keys: 0 } => format!("{}, {items}", self.schema.layout(layout)),
            Payload::New { layout, items, keys } => {
                format!("{}, {items}, {keys}", self.schema.layout(layout))
            }
            Payload::Item { layout, tag } | Payload::Key { layout, tag, .. } => {
                self.schema.tagged_layout(layout, tag)
            }
            Payload::Func(func) => self.schema.func(func),
            Payload::Label(label) => self.names.label(label),
            Payload::Scale { stride, offset } => format!("{stride}, {offset}"),
            Payload::Unit { unit, base } => format!("{}, {base}", unit.0),
            Payload::Result { slot: None, .. } => "_".to_string(),
            Payload::Result { slot: Some(slot), tag: None } => slot.to_string(),
            Payload::Result { slot: Some(slot), tag: Some(tag) } => {
                format!("{slot}: {}", self.schema.tag(tag))
            }
            Payload::Tag(tag) => self.schema.tag(tag),
        })
    }

    /// A snapshot; one that is too long for a line goes on in further ones.
    pub fn snapshot(&self, id: u32, snapshot: &Snapshot, indent: usize) -> String {
        let mut parts = Vec::new();
        if snapshot.origin != id && self.style == Style::Full {
            parts.push(format!("origin {}", snapshot.origin));
        }
        if snapshot.edges != 0 {
            parts.push(format!("edges {}", snapshot.edges));
        }
        for frame in &snapshot.frames {
            let words: String = frame.words.iter().map(|word| format!(" {}", write_word(*word))).collect();
            let head: Vec<String> = [
                (frame.base != 0).then(|| format!("base {}", frame.base)),
                (!words.is_empty()).then(|| format!("words{words}")),
            ]
            .into_iter()
            .flatten()
            .collect();
            let head = if head.is_empty() { String::new() } else { format!("({})", head.join(", ")) };
            let slots: Vec<_> = frame
                .slots
                .iter()
                .map(|slot| {
                    format!("{}: {}{}", slot.slot, self.schema.tag(slot.tag), self.spaced(slot.source))
                })
                .collect();
            parts.push(format!("frame{head}[{}]", slots.join(", ")));
        }
        for (index, object) in snapshot.virtuals.iter().enumerate() {
            parts.push(format!("virtual v{index} {}", self.virtual_object(object)));
        }
        parts.extend(snapshot.pending.iter().map(|pending| format!("pending {}", self.pending(pending))));
        let width: usize = parts.iter().map(|part| part.len() + 1).sum();
        let gap = if width > 100 { format!("\n{:width$}", "", width = indent + 4) } else { " ".to_string() };
        format!("@{id} = {}", parts.join(&gap)).trim_end().to_string()
    }

    fn source(&self, source: Source) -> String {
        match source {
            Source::Nothing => String::new(),
            Source::Value(value) => self.value(value),
            Source::Virtual(index) => format!("v{index}"),
            Source::InPlace => "in_place".to_string(),
        }
    }

    fn spaced(&self, source: Source) -> String {
        match source {
            Source::Nothing => String::new(),
            _ => format!(" {}", self.source(source)),
        }
    }

    fn virtual_object(&self, object: &Virtual) -> String {
        let element = |place: String, tag: Option<_>, source: Source| match tag {
            Some(tag) => format!("{place}: {}{}", self.schema.tag(tag), self.spaced(source)),
            None => format!("{place} = {}", self.source(source)),
        };
        let mut parts: Vec<String> = object
            .fields
            .iter()
            .map(|&(field, source)| format!("{}: {}", self.schema.field(field), self.source(source)))
            .collect();
        if object.items != 0 || !object.item_values.is_empty() {
            let values = object.item_values.iter().map(|&(index, tag, s)| element(index.to_string(), tag, s));
            parts.push(format!("items {} [{}]", object.items, values.collect::<Vec<_>>().join(", ")));
        }
        if object.keys != 0 || !object.entries.is_empty() {
            let values = object.entries.iter().map(|&(key, tag, s)| element(self.value(key), tag, s));
            parts.push(format!("keys {} {{{}}}", object.keys, values.collect::<Vec<_>>().join(", ")));
        }
        format!("{}{{{}}}", self.schema.layout(object.layout), parts.join(", "))
    }

    fn pending(&self, pending: &Pending) -> String {
        let (address, source) = (self.value(pending.address), self.source(pending.source));
        format!("store({address}, {}, {source})", self.schema.cell(pending.cell))
    }
}

/// Large words are mostly addresses and bit sets.
fn write_word(word: u64) -> String {
    if word < 65536 {
        word.to_string()
    } else {
        format!("{word:#x}")
    }
}
