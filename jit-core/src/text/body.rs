//! The lines of a trace: labels and instructions.
//!
//! Problem: the seeds' listings name values freely, use a label's name before its line, and use one name
//! again after a label. Design: the trace's lines are looked through once for labels and snapshot numbers,
//! then read in order. A name means its latest definition; after a label, names may be defined anew (as in
//! `L1(p0, p5):`); a second definition between two labels is the *same* value, so that the verifier can
//! object to it. What arity and types allow is the verifier's business too: the parser only needs to know
//! where a payload stands.
//!
//! Invariant: values get their ids in the order in which the text mentions them, results after their
//! operands.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::lex::{Cursor, Line, Tok};
use super::operand::{self, Cx};
use super::ParseError;
use crate::ir::{EntrySlot, ExitKind, Hint, Inst, LabelId, Payload, SnapId, Trace, UnitId, Value};
use crate::ops::{Op, PayloadKind};
use crate::types::Type;

/// Infix operators on integers; accepted, never printed.
const INFIX: [(&str, Op); 15] = [
    ("+", Op::IntAdd),
    ("-", Op::IntSub),
    ("*", Op::IntMul),
    ("&", Op::IntAnd),
    ("|", Op::IntOr),
    ("^", Op::IntXor),
    ("<<", Op::IntShl),
    (">>", Op::IntSar),
    (">>>", Op::IntShr),
    ("==", Op::IntEq),
    ("!=", Op::IntNe),
    ("<", Op::IntLt),
    ("<=", Op::IntLe),
    (">", Op::IntGt),
    (">=", Op::IntGe),
];

/// A trace being read.
#[derive(Default)]
pub(super) struct Body {
    pub trace: Trace,
    pub inst_lines: Vec<usize>,
    /// Blanks before the entry label: depth 0.
    base_indent: usize,
    labels: HashMap<String, LabelId>,
    /// Snapshot numbers in the text, and their ids.
    pub snaps: BTreeMap<u64, SnapId>,
    /// Names, with the number of the label after which they were defined.
    scope: HashMap<String, (Value, usize)>,
    segment: usize,
    /// Values used and not defined yet, with the first use.
    undefined: Vec<(Value, ParseError)>,
    /// The snapshot that a line such as `virtual …` goes on with.
    pub open_snap: Option<SnapId>,
    pub defined_snaps: HashSet<SnapId>,
}

/// Whether a line is a label's: `L0(p0):` or `L0:`.
fn label_name(line: &Line) -> Option<&str> {
    let Tok::Ident(name) = &line.tokens[0].tok else { return None };
    let ends = matches!(line.tokens.last(), Some(token) if token.tok == Tok::Punct(":"));
    let shape =
        line.tokens.len() == 2 || matches!(line.tokens[1..].first(), Some(t) if t.tok == Tok::Punct("("));
    (ends && shape && name != "run").then_some(name)
}

impl Body {
    /// A trace whose lines are among `lines`.
    pub fn new(name: &str, lines: &[&Line]) -> Result<Body, ParseError> {
        let mut body = Body { trace: Trace::new(name), ..Body::default() };
        let mut numbers = Vec::new();
        for line in lines {
            if let Some(name) = label_name(line) {
                let id = LabelId(body.labels.len() as u32);
                if body.labels.insert(name.to_string(), id).is_some() {
                    return Err(ParseError::at(&line.tokens[0], format!("label '{name}' is defined twice")));
                }
            }
            let starts_snapshot = line.tokens[0].tok == Tok::Punct("@");
            if let (true, Some(Tok::Int(number, _))) = (starts_snapshot, line.tokens.get(1).map(|t| &t.tok)) {
                numbers.push(*number);
            }
        }
        // Ids follow the numbers, so that a trace printed with all its snapshots keeps them.
        numbers.sort();
        for number in numbers {
            let next = SnapId(body.snaps.len() as u32);
            body.snaps.entry(number).or_insert(next);
        }
        body.trace.snapshots = vec![Default::default(); body.snaps.len()];
        Ok(body)
    }

    /// The trace, once all its lines were read, and the line of each instruction.
    pub fn finish(self) -> Result<(Trace, Vec<usize>), ParseError> {
        match self.undefined.into_iter().next() {
            Some((_, error)) => Err(error),
            None => Ok((self.trace, self.inst_lines)),
        }
    }

    /// Reads `[0: int, 3: float]`.
    pub fn entry_slots(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<Vec<EntrySlot>, ParseError> {
        let mut slots = Vec::new();
        cur.expect("[")?;
        cur.list("]", |cur| {
            let slot = cur.small("a slot number")?;
            cur.expect(":")?;
            slots.push(EntrySlot { slot, tag: operand::tag(cur, cx.schema)? });
            Ok(())
        })?;
        cur.end()?;
        Ok(slots)
    }

    /// `[0, 3]`.
    pub fn entry_cells(&mut self, cur: &mut Cursor) -> Result<Vec<u32>, ParseError> {
        let mut cells = Vec::new();
        cur.expect("[")?;
        cur.list("]", |cur| {
            cells.push(cur.small("the number of a cell")?);
            Ok(())
        })?;
        cur.end()?;
        Ok(cells)
    }

    /// Reads a label, an instruction or a snapshot.
    pub fn line(&mut self, line: &Line, cx: &Cx) -> Result<(), ParseError> {
        let mut cur = Cursor::new(line);
        if self.is_snapshot_line(&cur) {
            return self.snapshot_line(&mut cur, cx);
        }
        self.open_snap = None;
        if let Some(name) = label_name(line) {
            if self.trace.insts.is_empty() {
                self.base_indent = line.indent;
            }
            self.label(&mut cur, name)?;
        } else {
            if self.trace.insts.is_empty() {
                return Err(cur.error("a trace begins with a label such as 'L0(p0, i1):'"));
            }
            self.instruction(&mut cur, cx)?;
        }
        let depth = line.indent.saturating_sub(self.base_indent) / 2;
        if let Some(inst) = self.trace.insts.last_mut() {
            inst.depth = depth.min(u8::MAX as usize) as u8;
        }
        self.inst_lines.push(line.number);
        Ok(())
    }

    fn label(&mut self, cur: &mut Cursor, name: &str) -> Result<(), ParseError> {
        cur.pos += 1;
        self.segment += 1;
        let mut args = Vec::new();
        if cur.eat("(") {
            cur.list(")", |cur| {
                let (start, name) = (cur.pos, cur.name("a value's name")?);
                let declared = if cur.eat(":") { Some(operand::ty(cur)?) } else { None };
                let ty = declared.or_else(|| operand::type_of_first_letter(&name));
                let ty = ty.ok_or_else(|| {
                    cur.error_at(start, format!("the type of '{name}' is not known: write '{name}: int'"))
                })?;
                args.push(self.define(cur, start, &name, ty)?);
                Ok(())
            })?;
        }
        cur.expect(":")?;
        cur.end()?;
        self.trace.add_label(name, &args);
        Ok(())
    }

    fn instruction(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<(), ParseError> {
        let mut result = None;
        if let (Some(Tok::Ident(name)), Some(Tok::Punct("=" | ":"))) = (cur.peek(), cur.peek_at(1)) {
            let start = cur.pos;
            cur.pos += 1;
            let declared = if cur.eat(":") { Some(operand::ty(cur)?) } else { None };
            cur.expect("=")?;
            result = Some((start, name, declared));
        }
        let mut inst = match (cur.peek(), cur.peek_at(1)) {
            (Some(Tok::Ident(_) | Tok::Quoted(_)), Some(Tok::Punct("("))) => self.call(cur, cx)?,
            _ => self.infix(cur, cx)?,
        };
        self.suffixes(cur, &mut inst)?;
        cur.end()?;
        if let Some((start, name, declared)) = result {
            let ty = declared
                .or_else(|| operand::type_of_short_name(name))
                .or_else(|| inst.result_type(&self.trace, cx.schema))
                .or_else(|| operand::type_of_first_letter(name));
            let ty =
                ty.ok_or_else(|| cur.error_at(start, format!("'{}' has no result", inst.op.info().name)))?;
            inst.result = Some(self.define(cur, start, name, ty)?);
        }
        self.trace.insts.push(inst);
        Ok(())
    }

    /// `i2 + 1`.
    fn infix(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<Inst, ParseError> {
        let left = self.operand(cur, cx)?;
        let found = match cur.peek() {
            Some(Tok::Punct(punct)) => INFIX.into_iter().find(|(name, _)| name == punct),
            _ => None,
        };
        let Some((_, op)) = found else {
            return Err(cur.error(format!("expected an operator, found {}", cur.found())));
        };
        cur.pos += 1;
        let right = self.operand(cur, cx)?;
        Ok(Inst::new(op, &[left, right]))
    }

    /// `op(arguments)`; a declared function's name may stand for a call of it.
    fn call(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<Inst, ParseError> {
        let start = cur.pos;
        let quoted = matches!(cur.peek(), Some(Tok::Quoted(_)));
        let name = cur.name("an op")?;
        let op = if quoted { None } else { Op::from_name(&name).filter(|op| *op != Op::Label) };
        cur.expect("(")?;
        if let Some(op) = op {
            return self.op_arguments(cur, cx, op);
        }
        let func = cx.schema.find_func(&name);
        let func = func.ok_or_else(|| cur.error_at(start, format!("unknown op '{name}'")))?;
        let mut inst = Inst::new(Op::Call, &[]).with(Payload::Func(func));
        cur.list(")", |cur| {
            inst.args.push(self.operand(cur, cx)?);
            Ok(())
        })?;
        Ok(inst)
    }

    fn op_arguments(&mut self, cur: &mut Cursor, cx: &Cx, op: Op) -> Result<Inst, ParseError> {
        let mut inst = Inst::new(op, &[]);
        let kind = op.info().payload;
        let items = items_left(cur);
        let mut payload_at = match kind {
            PayloadKind::None => None,
            PayloadKind::Cell | PayloadKind::Field | PayloadKind::Target => Some(1),
            PayloadKind::Func | PayloadKind::Label | PayloadKind::New | PayloadKind::Unit => Some(0),
            PayloadKind::Layout
            | PayloadKind::Item
            | PayloadKind::Key
            | PayloadKind::Result
            | PayloadKind::Tag => Some(items.saturating_sub(1)),
            PayloadKind::Scale => Some(items.saturating_sub(2)),
        };
        let mut index = 0;
        cur.list(")", |cur| {
            if payload_at == Some(index) {
                payload_at = None;
                self.payload(cur, cx, kind, &mut inst)?;
            } else {
                inst.args.push(self.operand(cur, cx)?);
            }
            index += 1;
            Ok(())
        })?;
        match payload_at {
            None => Ok(inst),
            Some(_) => {
                Err(cur.error_at(cur.pos - 1, format!("'{}' needs {}", op.info().name, payload_name(kind))))
            }
        }
    }

    fn payload(
        &mut self,
        cur: &mut Cursor,
        cx: &Cx,
        kind: PayloadKind,
        inst: &mut Inst,
    ) -> Result<(), ParseError> {
        inst.payload = match kind {
            PayloadKind::None => Payload::None,
            PayloadKind::Cell => Payload::Cell(operand::cell(cur, cx.schema)?),
            PayloadKind::Field => Payload::Field(operand::field(cur, cx.schema, None)?),
            PayloadKind::Layout => Payload::Layout(operand::layout(cur, cx.schema)?),
            PayloadKind::Func => Payload::Func(operand::func(cur, cx.schema)?),
            PayloadKind::New => {
                let layout = operand::layout(cur, cx.schema)?;
                let items = if cur.eat(",") { cur.small("room for items")? } else { 0 };
                let keys = if cur.eat(",") { cur.small("room for entries")? } else { 0 };
                Payload::New { layout, items, keys }
            }
            PayloadKind::Item => {
                let (layout, tag) = tagged_layout(cur, cx)?;
                Payload::Item { layout, tag }
            }
            PayloadKind::Key => {
                let (layout, tag) = tagged_layout(cur, cx)?;
                Payload::Key { layout, tag, hint: None }
            }
            PayloadKind::Label => self.jump_target(cur, cx, inst)?,
            PayloadKind::Target => {
                let (start, name) = (cur.pos, cur.name("a label")?);
                let label = self.labels.get(&name).copied();
                Payload::Label(label.ok_or_else(|| cur.error_at(start, format!("unknown label '{name}'")))?)
            }
            PayloadKind::Scale => {
                let stride = cur.small("a stride")?;
                cur.expect(",")?;
                Payload::Scale { stride, offset: cur.small("a displacement")? }
            }
            PayloadKind::Unit => {
                let unit = UnitId(cur.small("a unit's number")?);
                cur.expect(",")?;
                Payload::Unit { unit, base: cur.small("where its frame begins")? }
            }
            PayloadKind::Result if cur.eat_word("_") => Payload::Result { slot: None, tag: None },
            PayloadKind::Result => {
                let slot = Some(cur.small("a slot's number, or '_'")?);
                let tag = if cur.eat(":") { Some(operand::tag(cur, cx.schema)?) } else { None };
                Payload::Result { slot, tag }
            }
            PayloadKind::Tag => Payload::Tag(operand::tag(cur, cx.schema)?),
        };
        Ok(())
    }

    /// The label of a jump; `jump(p15, p10)` without one means the entry label, as in seed 002.
    fn jump_target(&mut self, cur: &mut Cursor, cx: &Cx, inst: &mut Inst) -> Result<Payload, ParseError> {
        if let Some(Tok::Ident(name)) = cur.peek() {
            if let Some(&label) = self.labels.get(name) {
                cur.pos += 1;
                return Ok(Payload::Label(label));
            }
            if !self.scope.contains_key(name) && !operand::RESERVED.contains(&name.as_str()) {
                return Err(cur.error(format!("unknown label '{name}'")));
            }
        }
        inst.args.push(self.operand(cur, cx)?);
        Ok(Payload::Label(LabelId(0)))
    }

    /// What may follow an instruction: `hint 8 3`, `@3`, `loop_end`.
    fn suffixes(&mut self, cur: &mut Cursor, inst: &mut Inst) -> Result<(), ParseError> {
        while cur.peek().is_some() {
            let start = cur.pos;
            if cur.eat("@") {
                let number = cur.u64("a snapshot's number")?;
                let snap = self.snaps.get(&number).copied();
                inst.snap = Some(
                    snap.ok_or_else(|| cur.error_at(start, format!("snapshot @{number} is not defined")))?,
                );
            } else if cur.eat_word("hint") {
                let (size, entry) = (cur.small("a hint")?, cur.small("a hint")?);
                let followed = if cur.eat_word("then") { cur.small("entries that follow")? } else { 0 };
                let seen = Some(Hint { size, entry, followed });
                match &mut inst.payload {
                    Payload::Key { hint, .. } => *hint = seen,
                    _ => return Err(cur.error_at(start, "only ops on keyed entries take a hint")),
                }
            } else {
                let kind = ExitKind::ALL.into_iter().find(|kind| cur.is_word(kind.name()));
                inst.exit = kind.ok_or_else(|| {
                    cur.error(format!(
                        "expected a snapshot, a kind of exit or the end of the line, found {}",
                        cur.found()
                    ))
                })?;
                cur.pos += 1;
            }
        }
        Ok(())
    }

    /// A constant or a value.
    pub fn operand(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<Value, ParseError> {
        let start = cur.pos;
        if let Some((ty, written)) = operand::constant(cur, cx)? {
            let refused = || cur.error_at(start, "objects are constants only with the feature `oracle`");
            return Ok(self.trace.constant(ty, written.in_trace().ok_or_else(refused)?));
        }
        let name = match cur.peek() {
            Some(Tok::Ident(name)) => name,
            _ => return Err(cur.error(format!("expected a value, found {}", cur.found()))),
        };
        cur.pos += 1;
        if let Some(&(value, _)) = self.scope.get(name) {
            return Ok(value);
        }
        // A use before the definition is for the verifier to reject; a name that is never defined is an error
        // here.
        let ty = operand::type_of_short_name(name);
        let ty = ty.ok_or_else(|| cur.error_at(start, format!("'{name}' is not defined")))?;
        let value = self.define(cur, start, name, ty)?;
        self.undefined.push((value, cur.error_at(start, format!("'{name}' is not defined"))));
        Ok(value)
    }

    /// The value that `name` means from here on.
    fn define(&mut self, cur: &Cursor, at: usize, name: &str, ty: Type) -> Result<Value, ParseError> {
        if !operand::can_name_value(name) {
            return Err(cur.error_at(at, format!("'{name}' cannot be the name of a value")));
        }
        if let Some(&(value, segment)) = self.scope.get(name) {
            if segment == self.segment {
                self.undefined.retain(|(undefined, _)| *undefined != value);
                self.trace.values[value.index()].ty = ty;
                return Ok(value);
            }
        }
        let value = self.trace.new_value(ty);
        self.trace.values[value.index()].name = Some(name.into());
        self.scope.insert(name.to_string(), (value, self.segment));
        Ok(value)
    }
}

/// `Table:int`, or `Table` alone where elements have no tags.
pub(super) fn tagged_layout(
    cur: &mut Cursor,
    cx: &Cx,
) -> Result<(crate::schema::LayoutId, Option<crate::schema::TagId>), ParseError> {
    let layout = operand::layout(cur, cx.schema)?;
    let tag = if cur.eat(":") { Some(operand::tag(cur, cx.schema)?) } else { None };
    Ok((layout, tag))
}

/// How many comma-separated items there are up to the closing parenthesis.
pub(super) fn items_left(cur: &Cursor) -> usize {
    let rest = cur.tokens[cur.pos..].iter().map(|token| &token.tok);
    let inside: Vec<_> = rest.take_while(|tok| **tok != Tok::Punct(")")).collect();
    let commas = inside.iter().filter(|tok| ***tok == Tok::Punct(",")).count();
    commas + !inside.is_empty() as usize
}

fn payload_name(kind: PayloadKind) -> &'static str {
    match kind {
        PayloadKind::None => "nothing more",
        PayloadKind::Cell => "a cell as its second argument",
        PayloadKind::Field => "a field as its second argument",
        PayloadKind::Layout => "a layout as its last argument",
        PayloadKind::New => "a layout as its first argument",
        PayloadKind::Item | PayloadKind::Key => "a layout (and a tag) as its last argument",
        PayloadKind::Func => "a function as its first argument",
        PayloadKind::Label => "a label as its first argument",
        PayloadKind::Target => "a label as its second argument",
        PayloadKind::Scale => "a stride and a displacement as its last arguments",
        PayloadKind::Unit => "a unit and a base as its first arguments",
        PayloadKind::Result => "a slot (and a tag), or '_', as its last argument",
        PayloadKind::Tag => "a tag as its last argument",
    }
}
