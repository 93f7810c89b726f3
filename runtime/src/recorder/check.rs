//! The checking mode of a recording (`TL_FLAG_CHECK`): what the host says is compared with what it does.
//!
//! Problem: a host that records an addition as a subtraction, forgets a register in a mask of live slots, or
//! reads a slot as another type than it holds, gets a trace that is wrong, and learns of it thousands of
//! iterations later. Design: while the host records, its interpreter runs, so that memory always holds the
//! truth. The checker computes each value of the trace from what slots and cells hold now, and looks at each
//! resume point whether memory has become what was recorded. What it cannot know (a call's result, a record
//! that the host makes itself) it learns from memory; what a function writes that code calls and the
//! interpreter need not, it does not look at any more. Some hosts tell of a resume point before their
//! interpreter has come there: so memory is wrong only if it is at two resume points in a row, of different
//! words, or when the loop closes. Memory is read by the system, so that a wrong address is found and not
//! fatal.
//!
//! Invariant: the checker changes nothing of the recording but to fail it, and what it fails breaks a rule of
//! `tracelift.h`.
//!
//! ```text
//! r2 = r0 - r1, recorded as int_add of 5 and 3:
//! "slot 2 holds 2 in memory, but what was recorded makes it 8"
//! ```

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracelift_core::effects::CellAccess;
use tracelift_core::schema::{Cell, CellId, ClassId, Element, LayoutId, TagId};
use tracelift_core::snapshot::Words;
use tracelift_core::{ExitKind, Inst, Op, Payload, Schema, Type, Value};

use super::{is_live, Live, Recorder, SlotState, Start};
use crate::slots::read_safely;

/// Why something is wrong.
type Checked = Result<(), String>;

/// A store that the interpreter is about to make.
#[derive(Clone, Copy, Debug)]
struct Store {
    address: u64,
    cell: CellId,
    /// What it stores, if that is known.
    bits: Option<u64>,
    /// Resume points at which memory did not hold it.
    misses: u32,
}

/// What is known of a recording's values and memory.
#[derive(Clone, Default, Debug)]
pub(super) struct Checker {
    /// What each value is now.
    values: FxHashMap<Value, u64>,
    /// Values that are the entry frame's base.
    bases: SmallVec<[Value; 4]>,
    stores: Vec<Store>,
    /// The words of the last resume point.
    at: Option<Words>,
    /// Slots that a mask has called dead, and that were not written since.
    dead: BTreeSet<i32>,
    /// The live slots of each resume point.
    masks: FxHashMap<Words, Live>,
    /// Classes of memory that functions have written which code calls: the interpreter may do without, as
    /// where code wants a count that is right and the host has one that is on the safe side.
    loose: Vec<ClassId>,
    /// What immutable cells have held.
    immutable: FxHashMap<(Value, CellId), u64>,
    /// Slots that did not hold at the last resume point what was recorded, or of which nothing was known.
    missed: BTreeMap<i32, (TagId, Option<Value>)>,
    /// The frames of the exit that a side trace begins at: base and first word.
    pub(super) exit: Option<Vec<(i32, u64)>>,
}

/// The bits of a cell, as a trace sees them.
fn widened(bits: u64, cell: &Cell) -> u64 {
    let unused = 64 - u32::from(cell.width) * 8;
    match cell.signed {
        true => ((bits << unused) as i64 >> unused) as u64,
        false => bits << unused >> unused,
    }
}

fn is_same(one: u64, two: u64, ty: Type) -> bool {
    one == two || ty == Type::Float && f64::from_bits(one).is_nan() && f64::from_bits(two).is_nan()
}

/// A value for people.
fn shown(bits: u64, ty: Type) -> String {
    match ty {
        Type::Int => (bits as i64).to_string(),
        Type::Float => f64::from_bits(bits).to_string(),
        _ => format!("{bits:#x}"),
    }
}

impl Recorder {
    fn with_checker(&mut self, look: impl FnOnce(&mut Checker, &Recorder) -> Checked) {
        let Some(mut checker) = self.checker.take().filter(|_| self.failure.is_none()) else { return };
        let checked = look(&mut checker, self);
        self.checker = Some(checker);
        if let Err(sentence) = checked {
            self.misuse(sentence);
        }
    }

    /// A resume point is about to begin, in a frame of so many slots.
    pub fn check_point(&mut self, base: *const u8, words: &[u64], live: &[u8], nslots: u32, schema: &Schema) {
        self.with_checker(|checker, recorder| {
            padding(live, nslots)?;
            checker.frames_of_exit(recorder)?;
            checker.mask(words, live)?;
            // Who tells of the same point again has executed nothing since.
            if checker.at.as_deref() != Some(words) {
                checker.memory(recorder, base as u64, live, schema, 2)?;
                checker.at = Some(Words::from_slice(words));
            }
            checker.kill(recorder, live);
            Ok(())
        });
    }

    /// A frame was pushed: the caller's mask.
    pub fn check_mask(&mut self, live: &[u8], nslots: u32) {
        self.with_checker(|_, _| padding(live, nslots));
    }

    /// The loop is back at its head: memory has what was recorded.
    pub(super) fn check_close(&mut self, schema: &Schema) {
        self.with_checker(|checker, recorder| {
            let live = recorder.head_live.clone().unwrap_or_default();
            checker.memory(recorder, recorder.stack.base as u64, &live, schema, 1)
        });
    }

    /// A slot was read, for the first time or not.
    pub(super) fn check_read(&mut self, at: i32, tag: TagId, is_new: bool, schema: &Schema) {
        self.with_checker(|checker, recorder| {
            if checker.dead.contains(&at) {
                return Err(format!(
                    "slot {at} is read, but `live` has called it dead and nothing was written"
                ));
            }
            if !is_new {
                return Ok(());
            }
            let layout = schema.slots();
            let Some((offset, width)) = layout.tag else { return Ok(()) };
            let place = slot_address(recorder.stack.base as u64, at, schema);
            match read_safely(place + u64::from(offset), width) {
                None => Err(format!("slot {at} is read, and its memory at {place:#x} cannot be")),
                Some(bits) if bits == schema.tag(tag).bits => Ok(()),
                Some(bits) => Err(format!(
                    "slot {at} is read as {}, but memory holds {}",
                    schema.tag(tag).name,
                    tag_name(bits, schema)
                )),
            }
        });
    }

    /// A slot was read for the first time: memory says what it is.
    pub(super) fn learn_read(&mut self, at: i32, value: Option<Value>, schema: &Schema) {
        self.with_checker(|checker, recorder| {
            let is_input = recorder.slots.get(at).is_some_and(|state| state.read && !state.written);
            if let Some(value) = value.filter(|_| is_input) {
                let place = slot_address(recorder.stack.base as u64, at, schema);
                let bits = read_safely(place + u64::from(schema.slots().payload), 8);
                bits.into_iter().for_each(|bits| {
                    checker.values.entry(value).or_insert(bits);
                });
            }
            Ok(())
        });
    }

    /// A slot was written.
    pub(super) fn check_write(&mut self, at: i32) {
        self.with_checker(|checker, _| {
            checker.dead.remove(&at);
            Ok(())
        });
    }

    /// An operation was recorded, which the interpreter is about to execute.
    pub(super) fn check_operation(&mut self, inst: &Inst, result: Option<Value>, schema: &Schema) {
        self.with_checker(|checker, recorder| checker.operation(recorder, inst, result, schema));
    }
}

/// A mask has no bits beyond its slots.
fn padding(live: &[u8], nslots: u32) -> Checked {
    let extra = live.last().is_some_and(|&last| !nslots.is_multiple_of(8) && last >> (nslots % 8) != 0);
    match extra {
        true => Err(format!("`live` has bits for slots from {nslots} on, which the frame has not")),
        false => Ok(()),
    }
}

fn slot_address(base: u64, at: i32, schema: &Schema) -> u64 {
    base.wrapping_add_signed(i64::from(at) * i64::from(schema.slots().stride))
}

fn tag_name(bits: u64, schema: &Schema) -> String {
    match schema.tags().iter().find(|tag| tag.bits == bits) {
        Some(tag) => tag.name.clone(),
        None => format!("{bits:#x}, which is no tag"),
    }
}

impl Checker {
    fn bits(&self, recorder: &Recorder, value: Value) -> Option<u64> {
        recorder.trace.bits_of(value).or_else(|| self.values.get(&value).copied())
    }

    /// The frames of a side trace are those of its exit.
    fn frames_of_exit(&mut self, recorder: &Recorder) -> Checked {
        let is_first = recorder.is_new() && matches!(recorder.start, Start::Side(_));
        let Some(exit) = self.exit.take().filter(|_| is_first) else { return Ok(()) };
        let told = &recorder.stack.frames;
        if told.len() != exit.len() {
            let (wants, has) = (exit.len() - 1, told.len() - 1);
            return Err(format!("the side trace begins with {has} frames pushed, but its exit has {wants}"));
        }
        for (frame, (base, _)) in told.iter().zip(exit) {
            if frame.base != base {
                let found = frame.base;
                return Err(format!(
                    "a frame of the side trace lies at slot {found}, but its exit's at {base}"
                ));
            }
        }
        Ok(())
    }

    /// The same resume point has the same live slots.
    fn mask(&mut self, words: &[u64], live: &[u8]) -> Checked {
        let live = Live::from_slice(live);
        let known = self.masks.entry(Words::from_slice(words)).or_insert_with(|| live.clone());
        if *known == live {
            return Ok(());
        }
        let differs =
            (0..known.len().max(live.len()) as i32 * 8).find(|&n| is_live(known, n) != is_live(&live, n));
        Err(format!(
            "`live` contradicts itself: slot {} at the resume point with first word {:#x} was live before and \
             is not now, or the other way round",
            differs.unwrap_or(0),
            words.first().copied().unwrap_or(0)
        ))
    }

    /// Slots that are dead at the resume point which begins.
    fn kill(&mut self, recorder: &Recorder, live: &[u8]) {
        let base = recorder.stack.frames.last().map_or(0, |frame| frame.base);
        for at in recorder.slots.iter().map(|(at, _)| at).filter(|&at| at >= base) {
            match is_live(live, at - base) {
                true => self.dead.remove(&at),
                false => self.dead.insert(at),
            };
        }
    }

    /// Whether memory holds what was recorded; what does not so often is wrong.
    fn memory(
        &mut self,
        recorder: &Recorder,
        base: u64,
        live: &[u8],
        schema: &Schema,
        often: u32,
    ) -> Checked {
        if recorder.trace.unit.is_some() || recorder.must_look_at_result() {
            return Ok(());
        }
        self.bases.clone().into_iter().for_each(|value| {
            self.values.insert(value, base);
        });
        let before = std::mem::take(&mut self.missed);
        for (at, state) in recorder.slots.iter() {
            if !state.written || state.forgotten || !is_live_now(recorder, at, live) {
                continue;
            }
            let as_before = before.get(&at) == Some(&(state.tag, state.value));
            match self.slot(recorder, base, at, state, schema, as_before) {
                Err(sentence) if as_before || often == 1 => return Err(sentence),
                Ok(true) => {}
                Err(_) | Ok(false) => {
                    self.missed.insert(at, (state.tag, state.value));
                }
            }
        }
        self.look_at_stores(schema, often)
    }

    /// Whether a slot holds what was recorded; `false` if that is not known. It is learned where nothing was
    /// known at the resume point before either.
    fn slot(
        &mut self,
        recorder: &Recorder,
        base: u64,
        at: i32,
        state: &SlotState,
        schema: &Schema,
        learns: bool,
    ) -> Result<bool, String> {
        let layout = schema.slots();
        let place = slot_address(base, at, schema);
        let declared = schema.tag(state.tag);
        if let Some((offset, width)) = layout.tag {
            let found = read_safely(place + u64::from(offset), width);
            let found = found.ok_or_else(|| format!("slot {at} lies at {place:#x}, where no memory is"))?;
            if found != declared.bits {
                let found = tag_name(found, schema);
                return Err(format!(
                    "slot {at} holds {found} in memory, but what was recorded makes it {}",
                    declared.name
                ));
            }
        }
        let Some((value, ty)) = state.value.zip(declared.payload) else { return Ok(true) };
        let found = read_safely(place + u64::from(layout.payload), 8);
        let found = found.ok_or_else(|| format!("slot {at} lies at {place:#x}, where no memory is"))?;
        match self.bits(recorder, value) {
            Some(known) if is_same(known, found, ty) => Ok(true),
            Some(known) => Err(format!(
                "slot {at} holds {} in memory, but what was recorded makes it {}",
                shown(found, ty),
                shown(known, ty)
            )),
            None if learns => {
                self.values.insert(value, found);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Whether the interpreter has stored what was recorded.
    fn look_at_stores(&mut self, schema: &Schema, often: u32) -> Checked {
        let mut stores = std::mem::take(&mut self.stores);
        for store in &mut stores {
            let cell = schema.cell(store.cell);
            let found = read_safely(store.address, cell.width).map(|bits| widened(bits, cell));
            store.misses += 1;
            match (found, store.bits) {
                (Some(found), Some(bits)) if is_same(found, widened(bits, cell), cell.ty) => store.misses = 9,
                (Some(found), Some(bits)) if store.misses >= often => {
                    return Err(format!(
                        "{} holds {} in memory, but what was recorded has stored {}",
                        cell.name,
                        shown(found, cell.ty),
                        shown(bits, cell.ty)
                    ));
                }
                (None, _) => store.misses = 9,
                _ => {}
            }
        }
        stores.retain(|store| store.misses < 2);
        self.stores = stores;
        Ok(())
    }

    fn operation(
        &mut self,
        recorder: &Recorder,
        inst: &Inst,
        result: Option<Value>,
        schema: &Schema,
    ) -> Checked {
        let args: SmallVec<[Option<u64>; 4]> =
            inst.args.iter().map(|&arg| self.bits(recorder, arg)).collect();
        let record = args.first().copied().flatten();
        if let Some(access) = CellAccess::of(inst, schema) {
            let object = self.bits(recorder, access.base);
            let loaded = match access.stored {
                None => {
                    self.no_stale_slot(recorder, object, access.cell, schema)?;
                    self.load(inst, object, access.cell, schema)?
                }
                Some(value) => self.store(object, access.cell, self.bits(recorder, value), schema),
            };
            if let Some((result, bits)) = result.zip(loaded) {
                self.values.insert(result, bits);
            }
            return Ok(());
        }
        let bits = match (inst.op, inst.payload) {
            (Op::FrameBase, _) => {
                self.bases.extend(result);
                Some(recorder.stack.base as u64)
            }
            (Op::ItemAddr, Payload::Scale { stride, offset }) => item_address(&args, stride, offset),
            (Op::GuardClass, Payload::Layout(layout)) => self.class(record, layout, schema)?,
            (Op::GetItem | Op::SetItem | Op::PutItem, Payload::Item { layout, tag }) => {
                self.item(recorder, inst, &args, layout, tag, schema)?
            }
            (Op::Call | Op::TryCall | Op::Mend | Op::InsertKey | Op::SetKey, _) => {
                self.stores.clear();
                if matches!(inst.op, Op::Call | Op::TryCall) {
                    self.loose.extend(inst.effects(schema).writes.classes().unwrap_or_default());
                }
                None
            }
            _ => evaluated(inst, &args)?,
        };
        if let Some((result, bits)) = result.zip(bits) {
            self.values.insert(result, bits);
        }
        Ok(())
    }

    /// Memory of a slot that the trace has written is what it was, while code runs, unless a call has wanted
    /// it there, or a store of the host's own has gone there.
    fn no_stale_slot(
        &self,
        recorder: &Recorder,
        object: Option<u64>,
        cell: CellId,
        schema: &Schema,
    ) -> Checked {
        let (declared, slots) = (schema.cell(cell), schema.slots());
        let Some(object) = object.filter(|_| slots.stride > 0) else { return Ok(()) };
        let address = object.wrapping_add_signed(i64::from(declared.offset));
        let from_base = address.wrapping_sub(recorder.stack.base as u64) as i64;
        let at = from_base.div_euclid(i64::from(slots.stride));
        let within = from_base.rem_euclid(i64::from(slots.stride)) as u32;
        let is_part = within.wrapping_sub(slots.payload) < 8
            || slots.tag.is_some_and(|(offset, width)| within.wrapping_sub(offset) < width.into());
        let state = i32::try_from(at).ok().and_then(|at| recorder.slots.get(at));
        let is_stale = state.is_some_and(|state| state.written && !state.clean && !state.forgotten);
        if !is_stale || !is_part || self.stores.iter().any(|store| store.address == address) {
            return Ok(());
        }
        Err(format!(
            "{} is loaded from slot {at}, which the trace has written: use tl_slot_read",
            declared.name
        ))
    }

    /// What a cell of an object holds now.
    fn read(&self, object: Option<u64>, cell: CellId, schema: &Schema) -> Option<u64> {
        let declared = schema.cell(cell);
        if self.loose.contains(&declared.class) {
            return None;
        }
        let address = object?.wrapping_add_signed(i64::from(declared.offset));
        let end = address + u64::from(declared.width);
        let shares = |store: &&Store| {
            store.address < end && address < store.address + u64::from(schema.cell(store.cell).width)
        };
        match self.stores.iter().rev().find(shares) {
            Some(store) if store.address == address && schema.cell(store.cell).width == declared.width => {
                store.bits.map(|bits| widened(bits, declared))
            }
            Some(_) => None,
            None => read_safely(address, declared.width).map(|bits| widened(bits, declared)),
        }
    }

    fn load(
        &mut self,
        inst: &Inst,
        object: Option<u64>,
        cell: CellId,
        schema: &Schema,
    ) -> Result<Option<u64>, String> {
        let declared = schema.cell(cell);
        if object == Some(0) {
            return Err(format!("{} is read of null", declared.name));
        }
        let bits = self.read(object, cell, schema);
        if let (true, Some(bits)) = (declared.immutable, bits) {
            let known = *self.immutable.entry((inst.args[0], cell)).or_insert(bits);
            if known != bits {
                let (known, bits) = (shown(known, declared.ty), shown(bits, declared.ty));
                return Err(format!("{} is immutable, but was {known} and is {bits}", declared.name));
            }
        }
        Ok(bits)
    }

    fn store(
        &mut self,
        object: Option<u64>,
        cell: CellId,
        bits: Option<u64>,
        schema: &Schema,
    ) -> Option<u64> {
        let declared = schema.cell(cell);
        let Some(object) = object else {
            // It may lie anywhere.
            self.stores.clear();
            return None;
        };
        let address = object.wrapping_add_signed(i64::from(declared.offset));
        let end = address + u64::from(declared.width);
        self.stores.retain(|store| {
            store.address >= end || address >= store.address + u64::from(schema.cell(store.cell).width)
        });
        self.stores.push(Store { address, cell, bits, misses: 0 });
        None
    }

    fn class(
        &mut self,
        record: Option<u64>,
        layout: LayoutId,
        schema: &Schema,
    ) -> Result<Option<u64>, String> {
        let declared = schema.layout(layout);
        let Some((cell, value)) = declared.class_word else { return Ok(None) };
        match self.read(record, cell, schema) {
            Some(found) if found != widened(value, schema.cell(cell)) => Err(format!(
                "guard_class: the object is no {}, as its class word is {found:#x}: the trace would leave at \
                 once",
                declared.name
            )),
            _ => Ok(None),
        }
    }

    /// An item that is read or written.
    fn item(
        &mut self,
        recorder: &Recorder,
        inst: &Inst,
        args: &[Option<u64>],
        layout: LayoutId,
        tag: Option<TagId>,
        schema: &Schema,
    ) -> Result<Option<u64>, String> {
        let (declared, name) = (schema.layout(layout), inst.op.info().name);
        let Some(items) = declared.items else { return Ok(None) };
        let count = self.read(args[0], items.count, schema);
        let start = self.read(args[0], items.base, schema);
        // One that the trace makes has the room that it was recorded with, whatever the real one has by now.
        let is_made = recorder.is_made(inst.args[0]);
        let (false, Some(count), Some(start), Some(index)) = (is_made, count, start, args[1]) else {
            self.stores.clear();
            return Ok(None);
        };
        let place = index.wrapping_sub(items.first as u64);
        if place >= count {
            return Err(format!(
                "{name}: index {} lies outside of the {count} items of {}: the trace would leave at once",
                index as i64, declared.name
            ));
        }
        let at = start.wrapping_add(place.wrapping_mul(u64::from(items.element.stride)));
        let ty = schema.element_type(&items.element, tag);
        if inst.op == Op::GetItem {
            self.tag(name, at, &items.element, tag, schema)?;
            return Ok(ty.and_then(|ty| self.read(Some(at), items.element.value[ty as usize], schema)));
        }
        if let Some(ty) = ty {
            self.store(Some(at), items.element.value[ty as usize], args.get(2).copied().flatten(), schema);
        }
        if let (Some(cell), Some(tag)) = (items.element.tag, tag) {
            self.store(Some(at), cell, Some(schema.tag(tag).bits), schema);
        }
        Ok(None)
    }

    /// The tag of an element is the one that the host has seen.
    fn tag(&self, name: &str, at: u64, element: &Element, tag: Option<TagId>, schema: &Schema) -> Checked {
        let (Some(cell), Some(tag)) = (element.tag, tag) else { return Ok(()) };
        match self.read(Some(at), cell, schema) {
            Some(found) if found != widened(schema.tag(tag).bits, schema.cell(cell)) => Err(format!(
                "{name}: the item is read as {}, but memory holds {}",
                schema.tag(tag).name,
                tag_name(found, schema)
            )),
            _ => Ok(()),
        }
    }
}

/// Whether a slot is live in the frame that it belongs to, the current one having this mask.
fn is_live_now(recorder: &Recorder, at: i32, live: &[u8]) -> bool {
    let frames = &recorder.stack.frames;
    match frames.iter().rposition(|frame| frame.base <= at) {
        Some(number) if number + 1 == frames.len() => is_live(live, at - frames[number].base),
        Some(number) => is_live(&frames[number].live, at - frames[number].base),
        None => false,
    }
}

fn item_address(args: &[Option<u64>], stride: u32, offset: i32) -> Option<u64> {
    let (start, index) = (args[0]?, args[1]?);
    let distance = (index as i64).wrapping_mul(i64::from(stride)).wrapping_add(i64::from(offset));
    Some(start.wrapping_add_signed(distance))
}

/// What an operation on numbers makes; a guard must hold.
fn evaluated(inst: &Inst, args: &[Option<u64>]) -> Result<Option<u64>, String> {
    let Some(eval) = inst.op.info().eval else { return Ok(None) };
    let known: Option<SmallVec<[u64; 4]>> = args.iter().copied().collect();
    let Some(known) = known else { return Ok(None) };
    match eval(&known) {
        // What is guarded for the host's sake may be so only while code runs.
        None if inst.op.is_guard() && !matches!(inst.exit, ExitKind::Interrupt | ExitKind::Collect) => {
            let of: Vec<String> = known.iter().map(|&bits| shown(bits, Type::Int)).collect();
            Err(format!(
                "{} of {} fails now: the trace would leave at once",
                inst.op.info().name,
                of.join(" and ")
            ))
        }
        result => Ok(result),
    }
}
