//! How printed things are called.
//!
//! Problem: names in schemas and traces come from hosts and passes; they may repeat, be missing or be no
//! names at all, and ids may be out of range in a trace that is printed *because* it is wrong. Design: names
//! are decided before anything is printed. Declared things keep theirs (in quotes where needed, with a number
//! where it repeats). A value keeps the name that its author chose unless it would be mistaken for another
//! one in a part of the trace where both occur; else it gets its type's letter and a number.
//!
//! Invariants: every function here is total; what is printed for a valid trace reads back as the same trace.

use std::collections::{HashMap, HashSet};

use super::decl::KEYWORDS;
use super::lex::write_name;
use super::operand::{can_name_value, NAN_BITS, RESERVED};
use crate::ir::{Const, LabelId, Trace, Value};
use crate::schema::{CellId, FieldId, FuncId, LayoutId, Schema, TagId};
use crate::types::{Bits, Type};
use crate::world_spec::WorldSpec;

/// The names of declared things.
pub(super) struct SchemaNames {
    tags: Vec<String>,
    cells: Vec<String>,
    layouts: Vec<String>,
    funcs: Vec<String>,
    fields: Vec<String>,
    objects: Vec<String>,
}

/// The names in quotes where needed, made different where they repeat.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut result = Vec::new();
    for name in names {
        let mut unique = name.to_string();
        let mut number = 2;
        while !taken.insert(unique.clone()) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        result.push(write_name(&unique, &KEYWORDS));
    }
    result
}

impl SchemaNames {
    pub fn new(schema: &Schema, world: Option<&WorldSpec>) -> SchemaNames {
        let layouts = distinct(schema.layouts().iter().map(|l| l.name.as_str()));
        let mut cells = distinct(schema.cells().iter().map(|c| c.name.as_str()));
        let mut uses: HashMap<&str, usize> = HashMap::new();
        let cell_of = |field: usize| schema.cells().get(schema.fields()[field].cell.index());
        let plain = |field: usize| cell_of(field).map_or("", |cell| cell.name.as_str());
        (0..schema.fields().len()).for_each(|field| *uses.entry(plain(field)).or_default() += 1);
        let mut fields = Vec::new();
        for (index, field) in schema.fields().iter().enumerate() {
            let layout = schema.layouts().get(field.layout.index()).map_or("", |layout| layout.name.as_str());
            let qualified = write_name(&format!("{layout}.{}", plain(index)), &[]);
            if let Some(cell) = cells.get_mut(field.cell.index()) {
                *cell = qualified.clone();
            }
            let unique = uses.get(plain(index)) == Some(&1);
            fields.push(if unique { write_name(plain(index), &KEYWORDS) } else { qualified });
        }
        let objects = world.map_or(Vec::new(), |w| distinct(w.objects.iter().map(|o| o.name.as_str())));
        SchemaNames {
            tags: distinct(schema.tags().iter().map(|t| t.name.as_str())),
            funcs: distinct(schema.funcs().iter().map(|f| f.name.as_str())),
            cells,
            layouts,
            fields,
            objects,
        }
    }

    pub fn tag(&self, id: TagId) -> String {
        named(&self.tags, id.0, "tag")
    }
    pub fn cell(&self, id: CellId) -> String {
        named(&self.cells, id.0, "cell")
    }
    pub fn layout(&self, id: LayoutId) -> String {
        named(&self.layouts, id.0, "layout")
    }
    pub fn func(&self, id: FuncId) -> String {
        named(&self.funcs, id.0, "func")
    }
    pub fn field(&self, id: FieldId) -> String {
        named(&self.fields, id.0, "field")
    }
    pub fn object(&self, number: u32) -> String {
        self.objects.get(number as usize).cloned().unwrap_or_else(|| number.to_string())
    }

    /// `Table:int`, or `Table` alone.
    pub fn tagged_layout(&self, layout: LayoutId, tag: Option<TagId>) -> String {
        let tag = tag.map_or(String::new(), |tag| format!(":{}", self.tag(tag)));
        format!("{}{tag}", self.layout(layout))
    }

    /// A constant.
    pub fn constant(&self, ty: Type, constant: Const) -> String {
        match constant {
            Const::Bits(bits) => write_bits(ty, bits),
            #[cfg(feature = "oracle")]
            Const::Object(number) if ty == Type::Ref => format!("@{}", self.object(number)),
            #[cfg(feature = "oracle")]
            Const::Object(number) => format!("{ty}:@{}", self.object(number)),
        }
    }
}

/// The name with that id; `?` marks one that does not exist, which nothing parses.
fn named(names: &[String], id: u32, kind: &str) -> String {
    names.get(id as usize).cloned().unwrap_or_else(|| format!("?{kind}{id}"))
}

/// Bits of a type as a constant that parses back to exactly them.
pub(super) fn write_bits(ty: Type, bits: Bits) -> String {
    match ty {
        Type::Int => (bits as i64).to_string(),
        Type::Ref if bits == 0 => "null".to_string(),
        Type::Ref | Type::Addr => format!("{ty}:{bits:#x}"),
        Type::Float => {
            let value = f64::from_bits(bits);
            match () {
                () if bits == NAN_BITS => "nan".to_string(),
                () if value.is_nan() => format!("float:{bits:#x}"),
                () => format!("{value:?}"),
            }
        }
    }
}

/// The names in one trace.
pub(super) struct TraceNames {
    values: Vec<String>,
    labels: Vec<String>,
}

/// Where a value is mentioned: the first and the last of the stretches between labels.
type Stretch = (usize, usize);

impl TraceNames {
    /// Names as chosen, as far as they can be kept.
    pub fn new(trace: &Trace) -> TraceNames {
        let stretches = stretches(trace);
        let mut taken: HashMap<&str, Vec<Stretch>> = HashMap::new();
        let mut values: Vec<Option<String>> = vec![None; trace.values.len()];
        for (index, data) in trace.values.iter().enumerate() {
            let (Some(name), Some(stretch)) = (&data.name, stretches[index]) else { continue };
            let others = taken.entry(name).or_default();
            let clash = others.iter().any(|&(from, to)| from <= stretch.1 && stretch.0 <= to);
            if can_name_value(name) && !clash {
                others.push(stretch);
                values[index] = Some(name.to_string());
            }
        }
        let mut names: HashSet<String> = values.iter().flatten().cloned().collect();
        for (index, value) in values.iter_mut().enumerate() {
            if value.is_some() || trace.values[index].constant.is_some() {
                continue;
            }
            let letter = trace.values[index].ty.letter();
            let mut number = index;
            while !names.insert(format!("{letter}{number}")) {
                number += trace.values.len();
            }
            *value = Some(format!("{letter}{number}"));
        }
        let values = values.into_iter().map(Option::unwrap_or_default).collect();
        TraceNames { values, labels: label_names(trace) }
    }

    /// Names in the order of first mention: `i0`, `p1`, …; labels `L0`, `L1`, … in the order of their lines.
    pub fn canonical(trace: &Trace) -> TraceNames {
        let mut values = vec![String::new(); trace.values.len()];
        let mut next = 0;
        for_each_mention(trace, |_, value| {
            if let (Some(name), Some(data)) = (values.get_mut(value.index()), trace.values.get(value.index()))
            {
                if name.is_empty() && data.constant.is_none() {
                    *name = format!("{}{next}", data.ty.letter());
                    next += 1;
                }
            }
        });
        let mut labels = vec![String::new(); trace.labels.len()];
        let lines =
            trace.insts.iter().filter(|inst| inst.op == crate::Op::Label).filter_map(|inst| inst.label());
        for (number, label) in lines.enumerate() {
            if let Some(name) = labels.get_mut(label.index()).filter(|name| name.is_empty()) {
                *name = format!("L{number}");
            }
        }
        TraceNames { values, labels }
    }

    /// The name of a value; a constant's is empty.
    pub fn value(&self, value: Value) -> String {
        match self.values.get(value.index()) {
            Some(name) => name.clone(),
            None => format!("?value{}", value.0),
        }
    }

    pub fn label(&self, label: LabelId) -> String {
        match self.labels.get(label.index()) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("?label{}", label.0),
        }
    }
}

fn label_names(trace: &Trace) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (index, label) in trace.labels.iter().enumerate() {
        let usable = super::lex::is_bare_name(&label.name) && !RESERVED.contains(&label.name.as_str());
        // A label of the name `run` or of a keyword would begin another kind of line.
        let usable = usable && label.name != "run" && !names.contains(&label.name);
        let mut number = index;
        let mut name = label.name.clone();
        while !usable
            && (names.contains(&name) || name == label.name || trace.labels.iter().any(|l| l.name == name))
        {
            name = format!("L{number}");
            number += trace.labels.len();
        }
        names.push(name);
    }
    names
}

/// Where each value is mentioned, `None` for those that are not.
fn stretches(trace: &Trace) -> Vec<Option<Stretch>> {
    let mut stretches: Vec<Option<Stretch>> = vec![None; trace.values.len()];
    for_each_mention(trace, |at, value| {
        if let Some(stretch) = stretches.get_mut(value.index()) {
            let (from, to) = stretch.unwrap_or((at, at));
            *stretch = Some((from.min(at), to.max(at)));
        }
    });
    stretches
}

/// Calls `f` with each mention of a value, and how many labels stand above it, roughly in the order of the
/// text.
fn for_each_mention(trace: &Trace, mut f: impl FnMut(usize, Value)) {
    let places = super::print::snapshots_by_place(trace);
    let mut places = places.iter().peekable();
    let mut stretch = 0;
    for index in 0..=trace.insts.len() {
        while let Some((_, id)) = places.next_if(|(place, _)| *place <= index) {
            trace.snapshots[*id].for_each_value(|value| f(stretch, value));
        }
        let Some(inst) = trace.insts.get(index) else { continue };
        stretch += (inst.op == crate::Op::Label) as usize;
        inst.args.iter().chain(&inst.result).for_each(|&value| f(stretch, value));
    }
}
