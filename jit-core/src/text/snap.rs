//! Snapshot lines.
//!
//! Problem: a snapshot is a small tree (frames, virtual objects, pending stores) that belongs between two
//! instructions. Design: a line `@3 = …` before the instruction at the snapshot's position, with one part
//! after another; a line that begins with a part's keyword goes on with the snapshot above it.
//!
//! ```text
//! @3 = frame(base 0, words 0x10 7)[0: int i3, 1: nil, 2: ref v0]
//!     virtual v0 Pair{left: i3, right: v0}
//!     pending store(p1, Box.ref, v0)
//! ```
//!
//! Invariant: in snapshots `v0`, `v1`, … are the snapshot's virtual objects, in order; no value has such a
//! name.

use super::body::Body;
use super::lex::{Cursor, Tok};
use super::operand::{self, Cx};
use super::ParseError;
use crate::schema::TagId;
use crate::snapshot::{Frame, Pending, SlotValue, Snapshot, Source, Virtual};

/// The keywords that begin a part.
const PARTS: [&str; 5] = ["frame", "virtual", "pending", "origin", "edges"];

impl Body {
    /// Whether the line is a snapshot's first or a further one.
    pub(super) fn is_snapshot_line(&self, cur: &Cursor) -> bool {
        let is_part = PARTS.iter().any(|part| cur.is_word(part));
        let is_value = matches!(cur.peek_at(1), Some(Tok::Punct("=" | ":")));
        cur.is("@") || (self.open_snap.is_some() && is_part && !is_value)
    }

    /// Reads a snapshot's line.
    pub(super) fn snapshot_line(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<(), ParseError> {
        if cur.eat("@") {
            let number = cur.u64("a snapshot's number")?;
            cur.expect("=")?;
            // Numbers were collected before; the line is the same.
            let Some(&id) = self.snaps.get(&number) else { return Err(cur.error("not a snapshot")) };
            if !self.defined_snaps.insert(id) {
                return Err(cur.error_at(0, format!("snapshot @{number} is defined twice")));
            }
            self.open_snap = Some(id);
            let position = self.trace.insts.len() as u32;
            self.trace.snapshots[id.index()] = Snapshot { origin: id.0, position, ..Snapshot::default() };
        }
        let Some(id) = self.open_snap else { return Err(cur.error("this belongs to no snapshot")) };
        // The parts' operands need the whole body, so the snapshot is taken out meanwhile.
        let mut snapshot = std::mem::take(&mut self.trace.snapshots[id.index()]);
        while cur.peek().is_some() {
            self.part(cur, cx, &mut snapshot)?;
        }
        self.trace.snapshots[id.index()] = snapshot;
        Ok(())
    }

    fn part(&mut self, cur: &mut Cursor, cx: &Cx, snapshot: &mut Snapshot) -> Result<(), ParseError> {
        if cur.eat_word("frame") {
            snapshot.frames.push(self.frame(cur, cx)?);
        } else if cur.eat_word("virtual") {
            let start = cur.pos;
            let number = virtual_name(cur);
            if number.is_some_and(|number| number as usize != snapshot.virtuals.len()) {
                return Err(cur.error_at(start, format!("expected 'v{}'", snapshot.virtuals.len())));
            }
            snapshot.virtuals.push(self.virtual_object(cur, cx)?);
        } else if cur.eat_word("pending") {
            snapshot.pending.push(self.pending(cur, cx)?);
        } else if cur.eat_word("origin") {
            snapshot.origin = cur.small("a snapshot's number")?;
        } else if cur.eat_word("edges") {
            snapshot.edges = cur.small("a number of back edges")?;
        } else {
            return Err(cur.error(format!(
                "expected 'frame', 'virtual', 'pending', 'origin' or 'edges', found {}",
                cur.found()
            )));
        }
        Ok(())
    }

    /// `(base 0, words 0x10 7)[0: int i3, 1: nil]`.
    fn frame(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<Frame, ParseError> {
        let mut frame = Frame::default();
        if cur.eat("(") {
            cur.list(")", |cur| {
                if cur.eat_word("base") {
                    frame.base = cur.small("a frame's base")?;
                } else {
                    cur.expect_word("words")?;
                    while !cur.is(",") && !cur.is(")") {
                        frame.words.push(cur.int("a word")? as u64);
                    }
                }
                Ok(())
            })?;
        }
        cur.expect("[")?;
        cur.list("]", |cur| {
            let slot = cur.small("a slot number")?;
            cur.expect(":")?;
            let tag = operand::tag(cur, cx.schema)?;
            let source = match cur.eat_word("in_place") {
                true => Source::InPlace,
                false => self.optional_source(cur, cx)?,
            };
            frame.slots.push(SlotValue { slot, tag, source });
            Ok(())
        })?;
        Ok(frame)
    }

    /// `Pair{left: i3, items 4 [0: int i3, 2 = i5], keys 2 {@k: int i5}}`.
    fn virtual_object(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<Virtual, ParseError> {
        let layout = operand::layout(cur, cx.schema)?;
        let mut object =
            Virtual { layout, fields: vec![], items: 0, item_values: vec![], keys: 0, entries: vec![] };
        cur.expect("{")?;
        cur.list("}", |cur| {
            if cur.eat_word("items") {
                object.items = cur.small("room for items")?;
                cur.expect("[")?;
                return cur.list("]", |cur| {
                    let index = cur.small("an index")?;
                    let (tag, source) = self.element(cur, cx)?;
                    object.item_values.push((index, tag, source));
                    Ok(())
                });
            }
            if cur.eat_word("keys") {
                object.keys = cur.small("room for entries")?;
                cur.expect("{")?;
                return cur.list("}", |cur| {
                    let key = self.operand(cur, cx)?;
                    let (tag, source) = self.element(cur, cx)?;
                    object.entries.push((key, tag, source));
                    Ok(())
                });
            }
            let field = operand::field(cur, cx.schema, Some(layout))?;
            cur.expect(":")?;
            object.fields.push((field, self.source(cur, cx)?));
            Ok(())
        })?;
        Ok(object)
    }

    /// `: int i3` where elements have tags, `= i3` where not.
    fn element(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<(Option<TagId>, Source), ParseError> {
        if cur.eat("=") {
            return Ok((None, self.source(cur, cx)?));
        }
        cur.expect(":")?;
        let tag = operand::tag(cur, cx.schema)?;
        Ok((Some(tag), self.optional_source(cur, cx)?))
    }

    /// `store(a1, raw.ref, v0)`.
    fn pending(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<Pending, ParseError> {
        cur.expect_word("store")?;
        cur.expect("(")?;
        let address = self.operand(cur, cx)?;
        cur.expect(",")?;
        let cell = operand::cell(cur, cx.schema)?;
        cur.expect(",")?;
        let source = self.source(cur, cx)?;
        cur.expect(")")?;
        Ok(Pending { address, cell, source })
    }

    /// A source, or nothing before the end of the entry.
    fn optional_source(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<Source, ParseError> {
        let ends = [",", "]", "}", "\n"].iter().any(|punct| cur.is(punct));
        if ends || cur.peek().is_none() {
            return Ok(Source::Nothing);
        }
        self.source(cur, cx)
    }

    /// A value or a virtual object.
    fn source(&mut self, cur: &mut Cursor, cx: &Cx) -> Result<Source, ParseError> {
        match virtual_name(cur) {
            Some(number) => Ok(Source::Virtual(number)),
            None => Ok(Source::Value(self.operand(cur, cx)?)),
        }
    }
}

/// Takes `v0` and the like.
fn virtual_name(cur: &mut Cursor) -> Option<u32> {
    let Some(Tok::Ident(name)) = cur.peek() else { return None };
    let number = operand::virtual_number(name)?;
    cur.pos += 1;
    Some(number)
}
