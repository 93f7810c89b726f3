//! Slots of one word, which hold tag and payload together: NaN boxing, tagged pointers.
//!
//! Problem: an interpreter whose values are one word has no tag beside the payload that entries and exits
//! could compare and write; and a trace that computes on such words does the interpreter's work. Design: the
//! host says for each tag how it is told from the others in a word ([`TlWord`]), and how the payload lies
//! there. For the trace a slot then is an integer. Reading one records the test of its tag and what makes the
//! payload of it; writing one records what makes the word. Each is an operation like any other, so that the
//! optimizer removes what was undone or tested before. What a word of this recording is made of is known, so
//! that a value that was written and is read again costs nothing.
//!
//! Invariant: a word that is decoded for a tag was tested to have it, or was made with it. Example, pointers
//! with the tag 1 in the lowest bits and integers shifted by one:
//!
//! ```text
//! tl_slot_read(vm, 0, integer):  i1 = int_and(i0, 1)  guard_value(i1, 0)  i2 = int_sar(i0, 1)
//! ```

use std::mem::offset_of;

use rustc_hash::FxHashMap;
use tracelift_core::schema::{SlotLayout, TagId};
use tracelift_core::{ExitKind, Op, Payload, Schema, Type, Value};

use super::describe::set;
use super::{enter, tag_id, TlStatus, TlVm};
use crate::recorder::Recorder;

/// `tl_word`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TlWord {
    mask: u64,
    low: u64,
    high: u64,
    bias: u64,
    nan: u64,
    left: u32,
    right: u32,
}

// Both sides of the border agree; tests/capi/header.c has the other side of this.
const _: () = assert!(size_of::<TlWord>() == 48 && offset_of!(TlWord, left) == 40);

/// How words hold values, and what words of the current recording are.
#[derive(Debug, Default)]
pub(super) struct Words {
    codings: FxHashMap<TagId, TlWord>,
    /// The tag of a slot that holds such a word, if slots do.
    pub slot: Option<TagId>,
    /// Words of a recording, and what each is.
    known: FxHashMap<Value, (TagId, Option<Value>)>,
    recording: u32,
}

/// Records operations; none is a guard unless its caller says so.
struct Tape<'a> {
    recorder: &'a mut Recorder,
    schema: &'a Schema,
}

impl Tape<'_> {
    fn op(&mut self, op: Op, args: &[Value]) -> Option<Value> {
        self.recorder.emit(op, args, Payload::None, ExitKind::Guard, self.schema)
    }

    fn int(&mut self, bits: u64) -> Value {
        self.recorder.constant(Type::Int, bits)
    }

    fn with(&mut self, op: Op, value: Value, bits: u64) -> Option<Value> {
        let bits = self.int(bits);
        self.op(op, &[value, bits])
    }

    /// Leaves unless the word has the tag.
    fn guard(&mut self, word: Value, coding: &TlWord) -> Option<()> {
        let masked = if coding.mask == u64::MAX { word } else { self.with(Op::IntAnd, word, coding.mask)? };
        if coding.low == coding.high {
            let wanted = self.int(coding.low);
            self.op(Op::GuardValue, &[masked, wanted]);
            return Some(());
        }
        let above = if coding.low == 0 { masked } else { self.with(Op::IntSub, masked, coding.low)? };
        let inside = self.with(Op::UintLe, above, coding.high - coding.low)?;
        self.op(Op::GuardTrue, &[inside]);
        Some(())
    }

    fn decode(&mut self, word: Value, coding: &TlWord, ty: Type) -> Option<Value> {
        let mut bits = word;
        if coding.bias != 0 {
            bits = self.with(Op::IntSub, bits, coding.bias)?;
        }
        if coding.left != 0 {
            bits = self.with(Op::IntShl, bits, coding.left.into())?;
        }
        if coding.right != 0 {
            bits = self.with(Op::IntSar, bits, coding.right.into())?;
        }
        let address = |tape: &mut Self| {
            let null = tape.recorder.constant(Type::Addr, 0);
            tape.op(Op::AddrAdd, &[null, bits])
        };
        match ty {
            Type::Int => Some(bits),
            Type::Float => self.op(Op::FloatFromBits, &[bits]),
            Type::Addr => address(self),
            Type::Ref => {
                let address = address(self)?;
                self.op(Op::AddrToRef, &[address])
            }
        }
    }

    fn encode(&mut self, value: Value, coding: &TlWord, ty: Type) -> Option<Value> {
        let mut bits = match ty {
            Type::Int => value,
            Type::Addr => self.op(Op::AddrToInt, &[value])?,
            Type::Ref => {
                let address = self.op(Op::RefToAddr, &[value])?;
                self.op(Op::AddrToInt, &[address])?
            }
            Type::Float => {
                let bits = self.op(Op::FloatToBits, &[value])?;
                let is_nan = self.op(Op::FloatNe, &[value, value])?;
                let nan = self.int(coding.nan);
                self.op(Op::Select, &[is_nan, nan, bits])?
            }
        };
        if coding.right != 0 {
            bits = self.with(Op::IntShl, bits, coding.right.into())?;
        }
        if coding.left != 0 {
            bits = self.with(Op::IntShr, bits, coding.left.into())?;
        }
        match coding.bias {
            0 => Some(bits),
            bias => self.with(Op::IntAdd, bits, bias),
        }
    }
}

impl Words {
    fn coding(&self, schema: &Schema, tag: TagId) -> Result<TlWord, String> {
        let found = self.codings.get(&tag).copied();
        found.ok_or_else(|| format!("tl_set_word was not called for tag {}", schema.tag(tag).name))
    }

    /// What is known of words is known in one recording.
    fn begin(&mut self, recorder: &Recorder) {
        if self.recording != recorder.number {
            (self.recording, self.known) = (recorder.number, FxHashMap::default());
        }
    }

    /// The payload of a word that is tested to have the tag.
    pub fn decode(
        &mut self,
        recorder: &mut Recorder,
        schema: &Schema,
        tag: TagId,
        word: Value,
    ) -> Result<Option<Value>, String> {
        self.begin(recorder);
        match self.known.get(&word) {
            Some(&(known, value)) if known == tag => return Ok(value),
            Some(&(known, _)) => {
                let (known, tag) = (&schema.tag(known).name, &schema.tag(tag).name);
                return Err(format!("a word is read as {tag}, but was last seen or made as {known}"));
            }
            None => {}
        }
        let coding = self.coding(schema, tag)?;
        let mut tape = Tape { recorder, schema };
        if tape.guard(word, &coding).is_none() {
            return Ok(None);
        }
        let payload = schema.tag(tag).payload;
        let value = payload.and_then(|ty| tape.decode(word, &coding, ty));
        self.known.insert(word, (tag, value));
        Ok(value)
    }

    /// The word of a value.
    pub fn encode(
        &mut self,
        recorder: &mut Recorder,
        schema: &Schema,
        tag: TagId,
        value: Option<Value>,
    ) -> Result<Option<Value>, String> {
        self.begin(recorder);
        let declared = schema.tag(tag);
        let found =
            value.map(|value| recorder.type_of(value).ok_or("an operand is no value of this recording"));
        if declared.payload != found.transpose()? {
            return Err(format!("a value that does not fit tag {} is to become a word", declared.name));
        }
        let coding = self.coding(schema, tag)?;
        let Some((value, ty)) = value.zip(declared.payload) else {
            return Ok(Some(recorder.constant(Type::Int, coding.low)));
        };
        let same = self.known.iter().find(|(_, &known)| known == (tag, Some(value)));
        if let Some((&word, _)) = same {
            return Ok(Some(word));
        }
        let word = Tape { recorder, schema }.encode(value, &coding, ty);
        if let Some(word) = word {
            // A NaN that was stored as another one is that one from then on.
            if ty != Type::Float {
                self.known.insert(word, (tag, Some(value)));
            }
        }
        Ok(word)
    }
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_word_slots(vm: *mut TlVm, stride: u32, offset: u32) -> TlStatus {
    let mut tag = None;
    let status = set(vm, "tl_set_word_slots", |schema, _| {
        if schema.has_slots() {
            return Err("the slots were described before".into());
        }
        if offset.checked_add(8).is_none_or(|end| end > stride) || stride > super::describe::MAX_STRIDE {
            return Err(format!("a word of 8 bytes at {offset} in a slot of {stride} bytes"));
        }
        schema.set_slots(SlotLayout { stride, payload: offset, tag: None });
        tag = Some(schema.add_tag("(word)", 0, Some(Type::Int)));
        Ok(())
    });
    enter(vm, status, |handle| {
        handle.words.slot = handle.words.slot.or(tag);
        Ok(status)
    })
}

/// Why a coding is none.
fn fault(word: &TlWord, payload: Option<Type>) -> Option<String> {
    if word.low > word.high || (word.low | word.high) & !word.mask != 0 {
        return Some("`low` to `high` is no range of what `mask` leaves".into());
    }
    if word.left > 63 || word.right > 63 {
        return Some(format!("shifts by {} and {}: at most 63", word.left, word.right));
    }
    if word.left > word.right {
        return Some("it shifts further to the left than back, so that bits would get lost".into());
    }
    let in_range = |bits: u64| (word.low..=word.high).contains(&(bits & word.mask));
    match payload {
        None if word.low != word.high => Some("a tag without a payload is one word".into()),
        Some(Type::Float) if word.left != 0 || word.right != 0 => Some("a float is not shifted".into()),
        Some(Type::Float) if !in_range(word.nan.wrapping_add(word.bias)) => {
            Some(format!("the NaN {:#x} has another tag", word.nan))
        }
        _ => None,
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `word` points to a `tl_word`.
#[no_mangle]
pub unsafe extern "C" fn tl_set_word(vm: *mut TlVm, tag: u32, word: *const TlWord) -> TlStatus {
    let mut checked = None;
    let status = set(vm, "tl_set_word", |schema, _| {
        let tag = tag_id(schema, tag)?;
        // SAFETY: promised by the caller.
        let word = *unsafe { word.as_ref() }.ok_or("the tl_word is null")?;
        if let Some(sentence) = fault(&word, schema.tag(tag).payload) {
            return Err(format!("tag {}: {sentence}", schema.tag(tag).name));
        }
        checked = Some((tag, word));
        Ok(())
    });
    enter(vm, status, |handle| {
        handle.words.codings.extend(checked);
        Ok(status)
    })
}
