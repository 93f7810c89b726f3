//! Trace files: which line is what.
//!
//! Problem: declarations, worlds, traces and runs stand in one file in any sensible order. Design: the first
//! word of a logical line decides; what begins like an instruction belongs to the trace above. A trace begins
//! with a `trace NAME` line or, in a file with one trace, with its entry label.
//!
//! Invariant: an error names the first place that is wrong; no input panics.

use std::collections::HashMap;

use super::body::Body;
use super::decl;
use super::lex::{lex, Cursor, Directive, Line, Tok};
use super::operand::{self, Cx, Written};
use super::{Outcome, ParseError, Run, RunValue, TraceFile};
use crate::ir::{Trace, UnitId};
use crate::schema::Schema;
use crate::types::Type;

/// Parses a trace file. `natives` gives the addresses of the functions that the file calls `native`.
pub fn parse_file(source: &str, natives: &dyn Fn(&str) -> Option<usize>) -> Result<TraceFile, ParseError> {
    let mut file = TraceFile::default();
    let lines = lex(source, &mut file.directives)?;
    if !lines.iter().any(|line| keyword(line) == Some("tag")) {
        file.schema = Schema::with_default_tags();
    }
    let mut parser = Parser { file, objects: object_names(&lines)?, body: None, any_object: false };
    for (index, line) in lines.iter().enumerate() {
        parser.line(line, &lines[index..], natives)?;
    }
    parser.finish_trace()?;
    Ok(parser.file)
}

/// Parses one trace over declarations that exist already; `@7` may name any object.
pub fn parse_trace(source: &str, schema: &Schema) -> Result<Trace, ParseError> {
    let file = TraceFile { schema: schema.clone(), ..TraceFile::default() };
    let lines = lex(source, &mut Vec::new())?;
    let mut parser = Parser { file, objects: HashMap::new(), body: None, any_object: true };
    for (index, line) in lines.iter().enumerate() {
        if !matches!(
            keyword(line),
            None | Some("trace" | "entry" | "entry_tags" | "entry_known" | "entry_cells")
        ) {
            return Err(ParseError::at(&line.tokens[0], "only a trace is expected here"));
        }
        parser.line(line, &lines[index..], &|_| None)?;
    }
    parser.finish_trace()?;
    match parser.file.traces.len() {
        1 => Ok(parser.file.traces.remove(0)),
        count => {
            Err(ParseError { line: 1, column: 1, message: format!("expected one trace, found {count}") })
        }
    }
}

/// The `;` comments of a file, also of one that does not parse.
pub fn directives(source: &str) -> Vec<Directive> {
    let mut directives = Vec::new();
    // On an error the comments before it are there, which is all that can be said of such a file.
    let _ = lex(source, &mut directives);
    directives
}

/// The keyword that a line begins with, if it is no line of a trace.
fn keyword(line: &Line) -> Option<&str> {
    const KEYWORDS: [&str; 17] = [
        "tag",
        "slots",
        "slot_cells",
        "words",
        "cell",
        "views",
        "layout",
        "extend",
        "func",
        "object",
        "trace",
        "unit",
        "entry",
        "entry_tags",
        "entry_known",
        "entry_cells",
        "run",
    ];
    let Tok::Ident(word) = &line.tokens[0].tok else { return None };
    let second = line.tokens.get(1).map(|token| &token.tok);
    // `cell = int_add(…)`, `trace(i1)` and `run: int = …` are instructions with unlucky names.
    let is_instruction = match second {
        Some(Tok::Punct("=" | "(")) => true,
        Some(Tok::Punct(":")) => word != "run",
        _ => false,
    };
    (!is_instruction && KEYWORDS.contains(&word.as_str())).then_some(word)
}

/// Objects may refer to one another in cycles, so their names are collected first.
fn object_names(lines: &[Line]) -> Result<HashMap<String, u32>, ParseError> {
    let mut objects = HashMap::new();
    for line in lines.iter().filter(|line| keyword(line) == Some("object")) {
        if let Some(Tok::Ident(name) | Tok::Quoted(name)) = line.tokens.get(1).map(|token| &token.tok) {
            let number = objects.len() as u32;
            if objects.insert(name.clone(), number).is_some() {
                return Err(ParseError::at(&line.tokens[1], format!("object '{name}' is declared twice")));
            }
        }
    }
    Ok(objects)
}

struct Parser {
    file: TraceFile,
    objects: HashMap<String, u32>,
    body: Option<Body>,
    any_object: bool,
}

impl Parser {
    /// Reads a line; `rest` is it and all that follow.
    fn line(
        &mut self,
        line: &Line,
        rest: &[Line],
        natives: &dyn Fn(&str) -> Option<usize>,
    ) -> Result<(), ParseError> {
        let mut cur = Cursor::new(line);
        let Some(word) = keyword(line) else { return self.trace_line(line, rest) };
        cur.pos = 1;
        let schema = &mut self.file.schema;
        match word {
            "tag" => decl::tag(&mut cur, schema),
            "slots" => decl::slots(&mut cur, schema),
            "slot_cells" => decl::slot_cells(&mut cur, schema),
            "cell" => decl::cell(&mut cur, schema),
            "views" => decl::views(&mut cur, schema),
            "layout" => decl::layout(&mut cur, schema),
            "extend" => decl::extend(&mut cur, schema),
            "func" => decl::func(&mut cur, &mut self.file, natives),
            "words" => {
                schema.frame_words = cur.small("the words per frame")?;
                cur.end()
            }
            "object" => {
                let cx = Cx { schema, objects: &self.objects, any_object: self.any_object };
                let object = decl::object(&mut cur, &cx)?;
                self.file.world.objects.push(object);
                Ok(())
            }
            "trace" => {
                self.finish_trace()?;
                let name = if cur.peek().is_some() { cur.name("the trace's name")? } else { String::new() };
                cur.end()?;
                self.start_trace(&name, &rest[1..])
            }
            "run" => self.run(&mut cur, line.number),
            _ => self.entry(&mut cur, word, rest),
        }
    }

    fn start_trace(&mut self, name: &str, lines: &[Line]) -> Result<(), ParseError> {
        let next = lines.iter().position(|line| keyword(line) == Some("trace")).unwrap_or(lines.len());
        let own: Vec<&Line> = lines[..next].iter().filter(|line| keyword(line).is_none()).collect();
        self.body = Some(Body::new(name, &own)?);
        Ok(())
    }

    fn finish_trace(&mut self) -> Result<(), ParseError> {
        if let Some(body) = self.body.take() {
            let (trace, lines) = body.finish()?;
            self.file.traces.push(trace);
            self.file.inst_lines.push(lines);
        }
        Ok(())
    }

    fn trace_line(&mut self, line: &Line, rest: &[Line]) -> Result<(), ParseError> {
        if self.body.is_none() {
            self.start_trace("", rest)?;
        }
        let cx = Cx { schema: &self.file.schema, objects: &self.objects, any_object: self.any_object };
        match &mut self.body {
            Some(body) => body.line(line, &cx),
            None => Ok(()),
        }
    }

    fn entry(&mut self, cur: &mut Cursor, word: &str, rest: &[Line]) -> Result<(), ParseError> {
        if self.body.is_none() {
            self.start_trace("", rest)?;
        }
        let cx = Cx { schema: &self.file.schema, objects: &self.objects, any_object: self.any_object };
        let Some(body) = &mut self.body else { return Ok(()) };
        match word {
            "unit" => {
                body.trace.unit = Some(UnitId(cur.small("the unit's number")?));
                cur.end()?;
            }
            "entry" => body.trace.entry = body.entry_slots(cur, &cx)?,
            "entry_tags" => body.trace.entry_tags = body.entry_slots(cur, &cx)?,
            "entry_known" => body.trace.entry_known = body.entry_slots(cur, &cx)?,
            _ => body.trace.entry_cells = body.entry_cells(cur)?,
        }
        Ok(())
    }

    /// `run: 3, 1.5, @b1 -> finish(7)`.
    fn run(&mut self, cur: &mut Cursor, line: usize) -> Result<(), ParseError> {
        cur.expect(":")?;
        let Some(body) = &self.body else { return Err(cur.error_at(0, "there is no trace above to run")) };
        let types: Vec<Type> = body.trace.inputs().iter().map(|&input| body.trace.ty(input)).collect();
        let trace = self.file.traces.len();
        let cx = Cx { schema: &self.file.schema, objects: &self.objects, any_object: self.any_object };
        let mut inputs = Vec::new();
        while cur.peek().is_some() && !cur.is("->") {
            if !inputs.is_empty() {
                cur.expect(",")?;
            }
            let start = cur.pos;
            let (ty, value) = run_value(cur, &cx)?;
            match types.get(inputs.len()) {
                Some(&wanted) if wanted != ty && !(wanted.is_pointer() && ty.is_pointer()) => {
                    return Err(cur.error_at(start, format!("this input is {wanted}, not {ty}")));
                }
                _ => inputs.push(value),
            }
        }
        if inputs.len() != types.len() {
            let message = format!("the trace has {} inputs, the run gives {}", types.len(), inputs.len());
            return Err(cur.error_at(0, message));
        }
        let outcome = if cur.eat("->") { outcome(cur, &cx)? } else { Outcome::Any };
        cur.end()?;
        self.file.runs.push(Run { line, trace, inputs, outcome });
        Ok(())
    }
}

/// `finish(7)` or `exit(2)`.
fn outcome(cur: &mut Cursor, cx: &Cx) -> Result<Outcome, ParseError> {
    if cur.eat_word("exit") {
        cur.expect("(")?;
        let number = cur.small("the exit's number")?;
        cur.expect(")")?;
        return Ok(Outcome::Exit(number));
    }
    cur.expect_word("finish")?;
    cur.expect("(")?;
    let mut results = Vec::new();
    cur.list(")", |cur| {
        let value = if cur.eat_word("_") { RunValue::Any } else { run_value(cur, cx)?.1 };
        results.push(value);
        Ok(())
    })?;
    Ok(Outcome::Finish(results))
}

/// A constant, with its type.
fn run_value(cur: &mut Cursor, cx: &Cx) -> Result<(Type, RunValue), ParseError> {
    match operand::constant(cur, cx)? {
        Some((ty, Written::Bits(bits))) => Ok((ty, RunValue::Bits(ty, bits))),
        Some((ty, Written::Object(number))) => Ok((ty, RunValue::Object(number))),
        None => Err(cur.error(format!("expected a constant, found {}", cur.found()))),
    }
}
