//! Declarations, worlds and whole files to text.
//!
//! Problem: a dumped trace is a test only together with what it names. Design: declarations are printed in an
//! order in which everything is declared before it is used: tags, slots, functions, cells and layouts,
//! objects, traces with their runs.
//!
//! Invariant: what is printed parses to the same file (alias classes may get other ids), and prints the same
//! again.

use std::fmt::Write;

use super::decl::KEYWORDS;
use super::lex::write_name;
use super::names::{write_bits, SchemaNames};
use super::print::Printer;
use super::{Outcome, Run, RunValue, TraceFile};
use crate::schema::{ClassSet, Element, Func, FuncEffects, Schema, SlotLayout, TagId};
use crate::types::Type;
use crate::world_spec::{ObjectSpec, SpecValue, WorldSpec};

/// A whole file. Comments are not kept.
pub fn print_file(file: &TraceFile) -> String {
    let names = SchemaNames::new(&file.schema, Some(&file.world));
    let native = |index| file.natives.iter().find(|(id, _)| id.0 == index).map(|(_, name)| name.as_str());
    let mut sections = vec![declarations(&file.schema, &names, &native), objects(file, &names)];
    for (index, trace) in file.traces.iter().enumerate() {
        let printer = Printer::new(trace, &names);
        let text = printer.trace();
        // Only a header tells where the next trace begins.
        let header = if trace.name.is_empty() && file.traces.len() > 1 { "trace\n" } else { "" };
        sections.push(format!("{header}{text}"));
        sections.push(
            file.runs.iter().filter(|run| run.trace == index).map(|run| run_line(run, &names)).collect(),
        );
    }
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

/// Declarations alone.
pub fn print_schema(schema: &Schema) -> String {
    declarations(schema, &SchemaNames::new(schema, None), &|_| None)
}

/// The objects of a world.
pub fn print_world(world: &WorldSpec, schema: &Schema) -> String {
    let names = SchemaNames::new(schema, Some(world));
    world
        .objects
        .iter()
        .enumerate()
        .map(|(index, object)| object_line(index, object, schema, &names))
        .collect()
}

fn objects(file: &TraceFile, names: &SchemaNames) -> String {
    let lines = file.world.objects.iter().enumerate();
    lines.map(|(index, object)| object_line(index, object, &file.schema, names)).collect()
}

fn declarations<'a>(schema: &Schema, names: &SchemaNames, native: &dyn Fn(u32) -> Option<&'a str>) -> String {
    let mut out = tags(schema, names);
    if schema.slots() != SlotLayout::default() {
        let slots = schema.slots();
        let tag = slots.tag.map_or(String::new(), |(offset, width)| format!(", tag {offset} width {width}"));
        let _ = writeln!(out, "slots {{ stride {}, payload {}{tag} }}", slots.stride, slots.payload);
    }
    if schema.frame_words != 0 {
        let _ = writeln!(out, "words {}", schema.frame_words);
    }
    for (id, func) in schema.funcs().iter().enumerate() {
        out += &func_line(func, id as u32, schema, names, native(id as u32));
    }
    out += &super::print_layouts::cells_and_layouts(schema, names);
    if let Some(cells) = schema.slot_cells() {
        let tag = cells.tag.map_or(String::new(), |tag| format!(", tag {}", names.cell(tag)));
        let _ =
            writeln!(out, "slot_cells {{ {}{tag} }}", cells.value.map(|cell| names.cell(cell)).join(", "));
    }
    out
}

fn tags(schema: &Schema, names: &SchemaNames) -> String {
    if schema.tags() == Schema::with_default_tags().tags() {
        return String::new();
    }
    let line = |(id, tag): (usize, &crate::schema::Tag)| {
        let payload = tag.payload.map_or(String::new(), |ty| format!(": {ty}"));
        format!("tag {} = {:#x}{payload}\n", names.tag(TagId(id as u32)), tag.bits)
    };
    schema.tags().iter().enumerate().map(line).collect()
}

fn func_line(func: &Func, id: u32, schema: &Schema, names: &SchemaNames, native: Option<&str>) -> String {
    let params: Vec<_> = func.params.iter().map(|ty| ty.name()).collect();
    let result = func.result.map_or(String::new(), |ty| format!(" -> {ty}"));
    let evaluable = if func.evaluable { " evaluable" } else { "" };
    let native = native.map_or(String::new(), |name| format!(" = native {}", write_name(name, &[])));
    let name = names.func(crate::schema::FuncId(id));
    format!(
        "func {name}({}){result}{}{evaluable}{native}\n",
        params.join(", "),
        effects(&func.effects, schema)
    )
}

fn effects(effects: &FuncEffects, schema: &Schema) -> String {
    if effects.is_pure() {
        return " pure".to_string();
    }
    if *effects == FuncEffects::anything() {
        return " anything".to_string();
    }
    let classes = |word: &str, set: &ClassSet| match set {
        ClassSet::None => String::new(),
        ClassSet::All => format!(" {word} all"),
        ClassSet::Some(ids) => {
            let name =
                |id: &crate::schema::ClassId| schema.classes().get(id.index()).map_or("", String::as_str);
            // By name, since classes get other ids when the text is parsed.
            let mut names: Vec<_> = ids.iter().map(|id| write_name(name(id), &KEYWORDS)).collect();
            names.sort();
            format!(" {word} {}", names.join(" "))
        }
    };
    let (reads, writes, allocates) = effects.declared();
    let allocates = if allocates { " allocates" } else { "" };
    [classes("reads", reads), classes("writes", writes), allocates.into()].concat()
}

fn object_line(index: usize, object: &ObjectSpec, schema: &Schema, names: &SchemaNames) -> String {
    let layout = schema.layouts().get(object.layout.index());
    let field_type = |field: crate::schema::FieldId| {
        let cell = schema.fields().get(field.index()).map(|field| field.cell)?;
        schema.cells().get(cell.index()).map(|cell| cell.ty)
    };
    let mut parts: Vec<String> = Vec::new();
    for &(field, value) in &object.fields {
        let ty = field_type(field).unwrap_or(Type::Int);
        parts.push(format!("{}: {}", names.field(field), spec_value(value, ty, names)));
    }
    let element = |part: Option<Element>, tag: Option<TagId>, value: SpecValue| {
        let untagged = part.map_or(Type::Int, |element| element.untagged);
        match tag {
            None => spec_value(value, untagged, names),
            Some(tag) => {
                let payload = schema.tags().get(tag.index()).and_then(|tag| tag.payload);
                let value = payload.map_or(String::new(), |ty| format!(" {}", spec_value(value, ty, names)));
                format!("{}{value}", names.tag(tag))
            }
        }
    };
    if object.item_capacity > 0 {
        let part = layout.and_then(|layout| layout.items).map(|items| items.element);
        let items: Vec<_> = object.items.iter().map(|&(tag, value)| element(part, tag, value)).collect();
        parts.push(format!("items: [{}] room {}", items.join(", "), object.item_capacity));
    }
    if object.key_capacity > 0 {
        let part = layout.and_then(|layout| layout.keys).map(|keys| keys.element);
        let entry = |&(key, tag, value): &(u32, Option<TagId>, SpecValue)| {
            format!("@{}: {}", names.object(key), element(part, tag, value))
        };
        let entries: Vec<_> = object.entries.iter().map(entry).collect();
        parts.push(format!("entries: {{{}}} room {}", entries.join(", "), object.key_capacity));
    }
    let name = names.object(index as u32);
    format!("object {name} = {} {{ {} }}\n", names.layout(object.layout), parts.join(", "))
        .replace("{  }", "{}")
}

fn spec_value(value: SpecValue, ty: Type, names: &SchemaNames) -> String {
    match value {
        SpecValue::Nothing => write_bits(ty, 0),
        SpecValue::Bits(bits) => write_bits(ty, bits),
        SpecValue::Object(number) => format!("@{}", names.object(number)),
    }
}

fn run_line(run: &Run, names: &SchemaNames) -> String {
    let value = |value: &RunValue| match *value {
        RunValue::Bits(ty, bits) => write_bits(ty, bits),
        RunValue::Object(number) => format!("@{}", names.object(number)),
        RunValue::Any => "_".to_string(),
    };
    let list = |values: &[RunValue]| values.iter().map(value).collect::<Vec<_>>().join(", ");
    let outcome = match &run.outcome {
        Outcome::Finish(results) => format!(" -> finish({})", list(results)),
        Outcome::Exit(number) => format!(" -> exit({number})"),
        Outcome::Any => String::new(),
    };
    let inputs = list(&run.inputs);
    format!("run: {inputs}{outcome}\n").replace("run:  ->", "run: ->").replace("run: \n", "run:\n")
}
