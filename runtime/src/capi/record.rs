//! `tl_record` to `tl_record_abort`: one function per operation. After a failure each call does nothing and
//! gives 0; the recording ends with `tl_record_close` or `tl_record_abort`, which count the reason.
//!
//! A value crosses the border with its recording's number in the upper bits ([`NUMBER_SHIFT`]), so that one
//! of another recording is told from one of this. Example: the first value of recording 3 is `0x0400_0001`.

use std::ffi::{c_char, c_int, c_void};

use tracelift_core::ir::Args;
use tracelift_core::ops::PayloadKind;
use tracelift_core::schema::{FuncEffects, Layout, TagId};
use tracelift_core::{ExitKind, Hint, Op, Payload, Schema, Type, Value};

use super::words::Words;
use super::{
    cell_id, enter, field_id, func_id, layout_id, not_null, optional, slice, tag_id, text, TlStatus, TlVm,
};
use crate::abort::AbortReason;
use crate::compile::CloseOutcome;
use crate::recorder::{Forgotten, Recorder, MAX_SLOTS};
use crate::vm::Vm;

/// The kind of guards that the header has beside those of exits.
const TL_EXIT_ASSUMED: u32 = 6;

pub(super) const NO_RECORDING: &str = "no recording is in progress";

/// Runs `f` on the recording in progress. An error fails the recording, with its sentence; so does what the
/// recorder itself finds. A recording that has failed takes anything, quietly.
pub(super) fn recording<T: Default>(
    vm: *mut TlVm,
    f: impl FnOnce(&mut Recorder, &Schema) -> Result<T, String>,
) -> T {
    recording_with(vm, |recorder, schema, _| f(recorder, schema))
}

/// The same for what has to do with words.
pub(super) fn recording_with<T: Default>(
    vm: *mut TlVm,
    f: impl FnOnce(&mut Recorder, &Schema, &mut Words) -> Result<T, String>,
) -> T {
    enter(vm, T::default(), |handle| {
        let TlVm { vm, words, .. } = handle;
        let (recorder, schema) = vm.recorder().ok_or(NO_RECORDING)?;
        if recorder.failure().is_some() {
            return Ok(T::default());
        }
        let result = f(recorder, schema, words);
        if let Err(sentence) = &result {
            recorder.fail(AbortReason::Misuse, sentence.clone());
        }
        match recorder.failure() {
            Some((AbortReason::Misuse, sentence)) => Err(sentence.clone()),
            Some((_, sentence)) => {
                // No rule was broken.
                handle.last_error = super::c_string(sentence);
                Ok(T::default())
            }
            None => result,
        }
    })
}

/// Where a value's number begins that says of which recording it is; it is never 0.
const NUMBER_SHIFT: u32 = 24;

fn number_of(recorder: &Recorder) -> u32 {
    (recorder.number % 255 + 1) << NUMBER_SHIFT
}

pub(super) fn to_c(recorder: &mut Recorder, value: Option<Value>) -> u32 {
    let Some(value) = value else { return 0 };
    if value.0 + 1 >= 1 << NUMBER_SHIFT {
        recorder.fail(AbortReason::TooManyOps, "the trace has too many values");
        return 0;
    }
    number_of(recorder) | (value.0 + 1)
}

/// The operand behind a C value.
pub(super) fn operand(recorder: &Recorder, value: u32) -> Result<Value, String> {
    let index = (value & ((1 << NUMBER_SHIFT) - 1)).checked_sub(1);
    match index {
        _ if value == 0 => Err("an operand is 0, the value of a failed call".into()),
        Some(index) if value >> NUMBER_SHIFT == number_of(recorder) >> NUMBER_SHIFT => Ok(Value(index)),
        _ => Err(format!("operand {value:#x} is no value of this recording")),
    }
}

/// One operation.
pub(super) fn emit(
    recorder: &mut Recorder,
    schema: &Schema,
    op: Op,
    args: &[u32],
    payload: Payload,
    exit: ExitKind,
) -> Result<u32, String> {
    let mut operands = Args::new();
    for &arg in args {
        operands.push(operand(recorder, arg)?);
    }
    let result = recorder.emit(op, &operands, payload, exit, schema);
    Ok(to_c(recorder, result))
}

fn plain(
    vm: *mut TlVm,
    op: Op,
    args: &[u32],
    payload: impl FnOnce(&Schema) -> Result<Payload, String>,
) -> u32 {
    recording(vm, |recorder, schema| emit(recorder, schema, op, args, payload(schema)?, ExitKind::Guard))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record(vm: *mut TlVm, key: *const c_void, base: *const u8) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        not_null(key, "tl_record: the key")?;
        not_null(base, "tl_record: the frame's base")?;
        handle.check.frame("tl_record", base as usize, 0, 0)?;
        // After TL_AGAIN the library has already begun anew, so that the retries are counted.
        let again = handle
            .vm
            .recorder()
            .is_some_and(|(recorder, _)| recorder.key == key as usize && recorder.is_new());
        if !again && !handle.vm.start_recording(key as usize, base, 0) {
            return Err("a recording is in progress".into());
        }
        handle.begin()
    })
}

impl TlVm {
    /// A recording has just started: what the host has described is complete now, and must be right.
    pub(super) fn begin(&mut self) -> Result<TlStatus, String> {
        let described = self.description.close(&self.vm.schema);
        let Err(sentence) = &described else { return Ok(TlStatus::Ok) };
        if let Some((recorder, _)) = self.vm.recorder() {
            recorder.fail(AbortReason::Misuse, sentence.clone());
        }
        self.vm.abort_recording(AbortReason::Misuse);
        described.map(|()| TlStatus::Ok)
    }
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_recording(vm: *mut TlVm) -> i32 {
    enter(vm, 0, |handle| Ok(handle.vm.recorder().is_some_and(|(r, _)| r.failure().is_none()) as i32))
}

/// The words of a frame and the bytes of its bit map of live slots.
///
/// # Safety
/// `words` is null or points to the configured number of words, `live` is null or points to `nslots` bits.
unsafe fn frame<'a>(
    schema: &Schema,
    words: *const u64,
    live: *const u8,
    nslots: u32,
) -> Result<(&'a [u64], &'a [u8]), String> {
    if schema.frame_words > 0 {
        not_null(words, "the frame's words")?;
    }
    if nslots > 0 {
        not_null(live, "the bit map of live slots")?;
    }
    if nslots > MAX_SLOTS {
        return Err(format!("a frame of {nslots} slots: frames have at most {MAX_SLOTS} in all"));
    }
    // SAFETY: promised by the caller.
    Ok(unsafe { (slice(words, schema.frame_words as usize), slice(live, nslots.div_ceil(8) as usize)) })
}

/// See `tracelift.h`.
///
/// # Safety
/// `words` points to the configured number of words, `live` to `nslots` bits, `base` to the entry frame's
/// slots.
#[no_mangle]
pub unsafe extern "C" fn tl_resume_point(
    vm: *mut TlVm,
    base: *const u8,
    words: *const u64,
    live: *const u8,
    nslots: u32,
) {
    recording(vm, |recorder, schema| {
        not_null(base, "tl_resume_point: the frame's base")?;
        // SAFETY: promised by the caller.
        let (words, live) = unsafe { frame(schema, words, live, nslots) }?;
        recorder.check_point(base, words, live, nslots, schema);
        recorder.resume_point_of(base, words, live, nslots);
        Ok(())
    });
}

/// See `tracelift.h`.
///
/// # Safety
/// As for `tl_resume_point`.
#[no_mangle]
pub unsafe extern "C" fn tl_frame_push(
    vm: *mut TlVm,
    base: i32,
    words: *const u64,
    live: *const u8,
    nslots: u32,
) {
    recording(vm, |recorder, schema| {
        // SAFETY: promised by the caller.
        let (words, live) = unsafe { frame(schema, words, live, nslots) }?;
        recorder.push_frame_of(base, words, live, nslots);
        recorder.check_mask(live, nslots);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_frame_pop(vm: *mut TlVm) {
    recording(vm, |recorder, _| {
        recorder.pop_frame();
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_frame_return(vm: *mut TlVm, base: i32) {
    recording(vm, |recorder, _| {
        recorder.return_frame(base);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_frame_depth(vm: *mut TlVm) -> u32 {
    enter(vm, 0, |handle| {
        let (recorder, _) = handle.vm.recorder().ok_or(NO_RECORDING)?;
        Ok(recorder.depth() as u32)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_slot_read(vm: *mut TlVm, slot: i32, tag: u32) -> u32 {
    recording_with(vm, |recorder, schema, words| {
        let tag = tag_id(schema, tag)?;
        let value = match words.slot {
            None => recorder.read_slot(slot, tag, schema),
            Some(of_slot) => match recorder.read_slot(slot, of_slot, schema) {
                Some(word) => words.decode(recorder, schema, tag, word)?,
                None => None,
            },
        };
        Ok(to_c(recorder, value))
    })
}

/// What a slot holds for the recorder that holds this value: a word, if slots are words.
fn held(
    recorder: &mut Recorder,
    schema: &Schema,
    words: &mut Words,
    tag: TagId,
    value: Option<Value>,
) -> Result<(TagId, Option<Value>), String> {
    let Some(of_slot) = words.slot else { return Ok((tag, value)) };
    let word = words.encode(recorder, schema, tag, value)?;
    // What has failed says so itself.
    Ok((of_slot, Some(word.unwrap_or_else(|| recorder.constant(Type::Int, 0)))))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_slot_write(vm: *mut TlVm, slot: i32, tag: u32, value: u32) {
    recording_with(vm, |recorder, schema, words| {
        let value = optional(value, |value| operand(recorder, value))?;
        let (tag, value) = held(recorder, schema, words, tag_id(schema, tag)?, value)?;
        recorder.write_slot(slot, tag, value, schema);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_link_frames(vm: *mut TlVm) {
    recording(vm, |recorder, _| {
        recorder.link_frames();
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_slot_is_known(vm: *mut TlVm, slot: i32) -> i32 {
    recording(vm, |recorder, _| Ok(i32::from(recorder.is_slot_known(slot))))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_slot_known(vm: *mut TlVm, slot: i32, tag: u32, value: u32) {
    recording_with(vm, |recorder, schema, words| {
        let value = optional(value, |value| operand(recorder, value))?;
        let (tag, value) = held(recorder, schema, words, tag_id(schema, tag)?, value)?;
        recorder.know_slot(slot, tag, value, schema);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record_owner(vm: *mut TlVm, owner: *const c_void) {
    recording(vm, |recorder, _| {
        recorder.owner = owner as usize;
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_store_slots(vm: *mut TlVm) {
    recording(vm, |recorder, schema| {
        recorder.store_slots(schema);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_may_guard(vm: *mut TlVm) -> i32 {
    recording(vm, |recorder, _| Ok(i32::from(recorder.may_guard())))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_slot_is_forgotten(vm: *mut TlVm, slot: i32) -> u32 {
    recording(vm, |recorder, _| {
        Ok(match recorder.is_slot_forgotten(slot) {
            None => 0,
            Some(Forgotten::Quite) => 1,
            Some(Forgotten::ButCarried) => 2,
        })
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `args` is null or points to `nargs` values, `changed` is null or points to `nchanged` numbers.
#[no_mangle]
pub unsafe extern "C" fn tl_host_call(
    vm: *mut TlVm,
    func: u32,
    args: *const u32,
    nargs: u32,
    changed: *const i32,
    nchanged: u32,
) {
    recording(vm, |recorder, schema| {
        let func = func_id(schema, func)?;
        let declared = schema.func(func);
        let expected = declared.params.len() as u32;
        if nargs.checked_add(CALL_PARAMS) != Some(expected) {
            return Err(format!(
                "tl_host_call: {} is called with {nargs} arguments beside the context, the frame and the \
                 call site, expected {}",
                declared.name,
                expected.saturating_sub(CALL_PARAMS)
            ));
        }
        if !declared.effects.includes(&FuncEffects::anything()) || declared.result != Some(Type::Addr) {
            return Err(format!(
                "tl_host_call: {} is not declared with TL_EFFECT_REENTERS and the signature \"aaa...>a\"",
                declared.name
            ));
        }
        if nargs > 0 {
            not_null(args, "tl_host_call: the arguments")?;
        }
        if nchanged > 0 {
            not_null(changed, "tl_host_call: the changed slots")?;
        }
        // SAFETY: promised by the caller.
        let (args, changed) = unsafe { (slice(args, nargs as usize), slice(changed, nchanged as usize)) };
        let args = args.iter().map(|&arg| operand(recorder, arg)).collect::<Result<Vec<_>, _>>()?;
        recorder.host_call(func, &args, changed, schema);
        Ok(())
    });
}

/// See `tracelift.h`.
///
/// # Safety
/// `what` is NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_note_call(vm: *mut TlVm, what: *const c_char) {
    enter(vm, (), |handle| {
        // SAFETY: promised by the caller.
        let what = unsafe { text(what) }?;
        handle.vm.note_call(what);
        Ok(())
    });
}

/// Parameters of a function of the host's that `tl_host_call` gives itself.
const CALL_PARAMS: u32 = 3;

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record_aside(vm: *mut TlVm) -> u32 {
    enter(vm, 0, |handle| {
        handle.vm.recorder().ok_or(NO_RECORDING)?;
        Ok(handle.vm.put_recording_aside().map_or(0, |number| number + 1))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record_wake(vm: *mut TlVm, number: u32) -> i32 {
    enter(vm, 0, |handle| {
        let number = number.checked_sub(1).ok_or("tl_record_wake: 0 is no recording")?;
        Ok(i32::from(handle.vm.wake_recording(number)))
    })
}

fn constant(vm: *mut TlVm, ty: Type, bits: u64) -> u32 {
    recording(vm, |recorder, _| {
        let value = recorder.constant(ty, bits);
        Ok(to_c(recorder, Some(value)))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_const_int(vm: *mut TlVm, value: i64) -> u32 {
    constant(vm, Type::Int, value as u64)
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_const_float(vm: *mut TlVm, value: f64) -> u32 {
    constant(vm, Type::Float, value.to_bits())
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_const_ref(vm: *mut TlVm, object: *const c_void) -> u32 {
    constant(vm, Type::Ref, object as u64)
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_const_addr(vm: *mut TlVm, address: *const c_void) -> u32 {
    constant(vm, Type::Addr, address as u64)
}

/// See `tracelift.h`.
///
/// # Safety
/// `number` is null or points to an integer.
#[no_mangle]
pub unsafe extern "C" fn tl_is_const_int(vm: *mut TlVm, value: u32, number: *mut i64) -> i32 {
    recording(vm, |recorder, _| {
        let int = optional(value, |value| operand(recorder, value))?.and_then(|value| recorder.int_of(value));
        // SAFETY: promised by the caller.
        if let (Some(int), Some(number)) = (int, unsafe { number.as_mut() }) {
            *number = int;
        }
        Ok(int.is_some() as i32)
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `object` is null or points to a pointer.
#[no_mangle]
pub unsafe extern "C" fn tl_is_const_ref(vm: *mut TlVm, value: u32, object: *mut *const c_void) -> i32 {
    recording(vm, |recorder, _| {
        let found =
            optional(value, |value| operand(recorder, value))?.and_then(|value| recorder.ref_of(value));
        // SAFETY: promised by the caller.
        if let (Some(found), Some(object)) = (found, unsafe { object.as_mut() }) {
            *object = found as *const c_void;
        }
        Ok(found.is_some() as i32)
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `items` is null or points to a number.
#[no_mangle]
pub unsafe extern "C" fn tl_nth_made(vm: *mut TlVm, layout: u32, n: u32, items: *mut u32) -> u32 {
    recording(vm, |recorder, schema| {
        let found = recorder.nth_made(layout_id(schema, layout)?, n);
        // SAFETY: promised by the caller.
        if let (Some((_, found)), Some(items)) = (found, unsafe { items.as_mut() }) {
            *items = found;
        }
        Ok(to_c(recorder, found.map(|(made, _)| made)))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_is_made(vm: *mut TlVm, object: u32) -> i32 {
    recording(vm, |recorder, _| {
        let object = operand(recorder, object)?;
        Ok(recorder.is_made(object).into())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_key_room(vm: *mut TlVm, record: u32) -> u32 {
    recording(vm, |recorder, _| {
        let record = operand(recorder, record)?;
        Ok(recorder.key_room(record).unwrap_or(u32::MAX))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_key_room(vm: *mut TlVm, record: u32, keys: u32) {
    recording(vm, |recorder, schema| {
        let record = operand(recorder, record)?;
        recorder.set_key_room(record, keys, schema)
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_is_in_use(vm: *mut TlVm, object: u32, slot: i32) -> i32 {
    recording(vm, |recorder, _| {
        let object = operand(recorder, object)?;
        Ok(recorder.is_in_use(object, slot).into())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_needs_slots(vm: *mut TlVm, slots: i32) {
    recording(vm, |recorder, _| {
        recorder.needs_slots(slots);
        Ok(())
    });
}

/// The operation with that number, if it carries no payload.
fn plain_op(number: u32) -> Result<Op, String> {
    let op = Op::from_number(number).ok_or_else(|| format!("{number} is no tl_op"))?;
    match op {
        Op::Label | Op::Jump | Op::JumpIf | Op::EnterLoop | Op::Finish => {
            Err(format!("{} is not recorded by the host", op.info().name))
        }
        _ if op.info().payload != PayloadKind::None => {
            Err(format!("{} has a function of its own", op.info().name))
        }
        _ => Ok(op),
    }
}

fn plain_number(vm: *mut TlVm, number: u32, args: &[u32], exit: ExitKind) -> u32 {
    recording(vm, |recorder, schema| emit(recorder, schema, plain_op(number)?, args, Payload::None, exit))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_op1(vm: *mut TlVm, op: u32, a: u32) -> u32 {
    plain_number(vm, op, &[a], ExitKind::Guard)
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_op2(vm: *mut TlVm, op: u32, a: u32, b: u32) -> u32 {
    plain_number(vm, op, &[a, b], ExitKind::Guard)
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_op3(vm: *mut TlVm, op: u32, a: u32, b: u32, c: u32) -> u32 {
    plain_number(vm, op, &[a, b, c], ExitKind::Guard)
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_context(vm: *mut TlVm) -> u32 {
    plain(vm, Op::Context, &[], |_| Ok(Payload::None))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_frame_base(vm: *mut TlVm) -> u32 {
    plain(vm, Op::FrameBase, &[], |_| Ok(Payload::None))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_item_addr(vm: *mut TlVm, base: u32, index: u32, stride: u32, offset: i32) -> u32 {
    plain(vm, Op::ItemAddr, &[base, index], |_| Ok(Payload::Scale { stride, offset }))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_decode(vm: *mut TlVm, tag: u32, word: u32) -> u32 {
    recording_with(vm, |recorder, schema, words| {
        let (tag, word) = (tag_id(schema, tag)?, operand(recorder, word)?);
        let value = words.decode(recorder, schema, tag, word)?;
        Ok(to_c(recorder, value))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_encode(vm: *mut TlVm, tag: u32, value: u32) -> u32 {
    recording_with(vm, |recorder, schema, words| {
        let tag = tag_id(schema, tag)?;
        let value = optional(value, |value| operand(recorder, value))?;
        let word = words.encode(recorder, schema, tag, value)?;
        Ok(to_c(recorder, word))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_load(vm: *mut TlVm, cell: u32, base: u32) -> u32 {
    plain(vm, Op::Load, &[base], |schema| Ok(Payload::Cell(cell_id(schema, cell)?)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_store(vm: *mut TlVm, cell: u32, base: u32, value: u32) {
    plain(vm, Op::Store, &[base, value], |schema| Ok(Payload::Cell(cell_id(schema, cell)?)));
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_guard(vm: *mut TlVm, op: u32, a: u32, b: u32, kind: u32) {
    let args = [a, b];
    let used = if b == 0 { &args[..1] } else { &args[..] };
    recording(vm, |recorder, schema| {
        let op = plain_op(op)?;
        if !op.is_guard() {
            return Err(format!("{} is no guard", op.info().name));
        }
        let exit = match kind {
            TL_EXIT_ASSUMED => Some(ExitKind::Assumed),
            kind => ExitKind::ALL.get(kind as usize).copied().filter(|kind| *kind < ExitKind::Finish),
        };
        let exit = exit.ok_or_else(|| format!("{kind} is no tl_exit_kind of a guard"))?;
        emit(recorder, schema, op, used, Payload::None, exit)
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_new_record(vm: *mut TlVm, layout: u32, items: u32, keys: u32) -> u32 {
    plain(vm, Op::New, &[], |schema| Ok(Payload::New { layout: layout_id(schema, layout)?, items, keys }))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_guard_class(vm: *mut TlVm, layout: u32, record: u32) {
    plain(vm, Op::GuardClass, &[record], |schema| Ok(Payload::Layout(layout_id(schema, layout)?)));
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_get(vm: *mut TlVm, field: u32, record: u32) -> u32 {
    plain(vm, Op::Get, &[record], |schema| Ok(Payload::Field(field_id(schema, field)?)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set(vm: *mut TlVm, field: u32, record: u32, value: u32) {
    plain(vm, Op::Set, &[record, value], |schema| Ok(Payload::Field(field_id(schema, field)?)));
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_item_count(vm: *mut TlVm, layout: u32, record: u32) -> u32 {
    plain(vm, Op::ItemCount, &[record], |schema| Ok(Payload::Layout(layout_id(schema, layout)?)))
}

fn item(schema: &Schema, layout: u32, tag: u32) -> Result<Payload, String> {
    Ok(Payload::Item { layout: layout_id(schema, layout)?, tag: optional(tag, |tag| tag_id(schema, tag))? })
}

/// `[record, position, value]` without the value when it is 0 (tags without a payload).
fn with_value(args: &[u32; 3]) -> &[u32] {
    if args[2] == 0 {
        &args[..2]
    } else {
        args
    }
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_get_item(vm: *mut TlVm, layout: u32, tag: u32, record: u32, index: u32) -> u32 {
    plain(vm, Op::GetItem, &[record, index], |schema| item(schema, layout, tag))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_item(vm: *mut TlVm, layout: u32, tag: u32, record: u32, index: u32, value: u32) {
    plain(vm, Op::SetItem, with_value(&[record, index, value]), |schema| item(schema, layout, tag));
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_put_item(vm: *mut TlVm, layout: u32, tag: u32, record: u32, index: u32, value: u32) {
    plain(vm, Op::PutItem, with_value(&[record, index, value]), |schema| item(schema, layout, tag));
}

fn key(schema: &Schema, layout: u32, tag: u32, size: u32, entry: u32) -> Result<Payload, String> {
    Ok(Payload::Key {
        layout: layout_id(schema, layout)?,
        tag: optional(tag, |tag| tag_id(schema, tag))?,
        hint: (size != u32::MAX).then_some(Hint { size, entry, followed: 0 }),
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_get_key(
    vm: *mut TlVm,
    layout: u32,
    tag: u32,
    record: u32,
    constant_key: u32,
    size: u32,
    entry: u32,
) -> u32 {
    plain(vm, Op::GetKey, &[record, constant_key], |schema| key(schema, layout, tag, size, entry))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_guard_key_absent(
    vm: *mut TlVm,
    layout: u32,
    record: u32,
    constant_key: u32,
    size: u32,
    entry: u32,
    followed: u32,
) {
    plain(vm, Op::GuardKeyAbsent, &[record, constant_key], |schema| {
        let layout = layout_id(schema, layout)?;
        let Layout { keys, name, .. } = schema.layout(layout);
        let has_hint = size != u32::MAX;
        if has_hint && keys.is_some_and(|keys| keys.next.is_none()) {
            return Err(format!("the entries of {name} do not say which one follows: no hint"));
        }
        let hint = has_hint.then_some(Hint { size, entry, followed });
        Ok(Payload::Key { layout, tag: None, hint })
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_key(
    vm: *mut TlVm,
    layout: u32,
    tag: u32,
    record: u32,
    constant_key: u32,
    value: u32,
    size: u32,
    entry: u32,
) {
    let args = [record, constant_key, value];
    plain(vm, Op::SetKey, with_value(&args), |schema| key(schema, layout, tag, size, entry));
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_insert_key(
    vm: *mut TlVm,
    layout: u32,
    tag: u32,
    record: u32,
    constant_key: u32,
    value: u32,
) {
    let args = [record, constant_key, value];
    plain(vm, Op::InsertKey, with_value(&args), |schema| key(schema, layout, tag, u32::MAX, 0));
}

/// # Safety
/// `args` is null or points to `nargs` values.
unsafe fn call(vm: *mut TlVm, op: Op, func: u32, args: *const u32, nargs: u32) -> u32 {
    recording(vm, |recorder, schema| {
        let func = func_id(schema, func)?;
        let declared = schema.func(func);
        let (name, expected) = (&declared.name, declared.params.len());
        if nargs as usize != expected {
            return Err(format!(
                "{}: {name} is called with {nargs} arguments, expected {expected}",
                op.info().name
            ));
        }
        if nargs > 0 {
            not_null(args, &format!("{}: the arguments of {name}", op.info().name))?;
        }
        // SAFETY: promised by the caller.
        let args = unsafe { slice(args, nargs as usize) };
        emit(recorder, schema, op, args, Payload::Func(func), ExitKind::Guard)
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `args` points to `nargs` values.
#[no_mangle]
pub unsafe extern "C" fn tl_call(vm: *mut TlVm, func: u32, args: *const u32, nargs: u32) -> u32 {
    // SAFETY: promised by the caller.
    unsafe { call(vm, Op::Call, func, args, nargs) }
}

/// See `tracelift.h`.
///
/// # Safety
/// `args` points to `nargs` values.
#[no_mangle]
pub unsafe extern "C" fn tl_try_call(vm: *mut TlVm, func: u32, args: *const u32, nargs: u32) -> u32 {
    // SAFETY: promised by the caller.
    unsafe { call(vm, Op::TryCall, func, args, nargs) }
}

/// See `tracelift.h`.
///
/// # Safety
/// `args` points to `nargs` values.
#[no_mangle]
pub unsafe extern "C" fn tl_mend(vm: *mut TlVm, func: u32, args: *const u32, nargs: u32) {
    // SAFETY: promised by the caller.
    unsafe { call(vm, Op::Mend, func, args, nargs) };
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record_close(vm: *mut TlVm) -> TlStatus {
    ended(vm, Vm::close_recording)
}

/// A recording ends with this outcome; the sentence of one that failed can be asked for.
pub(super) fn ended(vm: *mut TlVm, end: impl FnOnce(&mut Vm) -> CloseOutcome) -> TlStatus {
    enter(vm, TlStatus::Internal, |handle| {
        let (status, sentence) = match end(&mut handle.vm) {
            CloseOutcome::Compiled(_) | CloseOutcome::HandedOver => return Ok(TlStatus::Ok),
            CloseOutcome::Again => return Ok(TlStatus::Again),
            CloseOutcome::Aborted(AbortReason::Misuse, sentence) => (TlStatus::Misuse, sentence),
            CloseOutcome::Aborted(AbortReason::Internal, sentence) => (TlStatus::Internal, sentence),
            CloseOutcome::Aborted(_, sentence) => (TlStatus::Aborted, sentence),
        };
        match status {
            TlStatus::Misuse => handle.fail(&sentence),
            _ => handle.last_error = super::c_string(&sentence),
        }
        Ok(status)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record_link(vm: *mut TlVm, key: *const c_void) -> TlStatus {
    ended(vm, |vm| {
        if let (true, Some((recorder, _))) = (key.is_null(), vm.recorder()) {
            recorder.fail(AbortReason::Misuse, "tl_record_link: the key is null");
        }
        vm.link_recording(key as usize)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_tree_key(vm: *mut TlVm) -> *const c_void {
    recording(vm, |recorder, _| Ok(recorder.key)) as *const c_void
}

/// See `tracelift.h`.
///
/// # Safety
/// `reason` is null or NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_record_end(vm: *mut TlVm, reason: *const c_char) -> TlStatus {
    // SAFETY: promised by the caller.
    let reason = unsafe { text(reason) }.unwrap_or("no reason given").to_string();
    ended(vm, |vm| vm.end_recording(AbortReason::Host(reason)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record_side(vm: *mut TlVm, base: *const u8) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        not_null(base, "tl_record_side: the frame's base")?;
        handle.check.frame("tl_record_side", base as usize, 0, 0)?;
        match handle.vm.start_side(base) {
            true => handle.begin(),
            false => Err("no side trace was asked for, or a recording is in progress".into()),
        }
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_back_edge(vm: *mut TlVm, key: *const c_void, is_around: c_int) {
    recording(vm, |recorder, _| {
        recorder.back_edge(key as usize, is_around != 0);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_loop_skipped(vm: *mut TlVm, key: *const c_void) {
    recording(vm, |recorder, _| {
        recorder.skip(key as usize);
        Ok(())
    });
}

/// See `tracelift.h`.
///
/// # Safety
/// `reason` is null or NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_record_abort(vm: *mut TlVm, reason: *const c_char) {
    enter(vm, (), |handle| {
        let (recorder, _) = handle.vm.recorder().ok_or(NO_RECORDING)?;
        let failure = recorder.failure().cloned();
        // SAFETY: promised by the caller.
        let host = if reason.is_null() { Ok(None) } else { unsafe { text(reason) }.map(Some) };
        let reason = host.as_ref().ok().copied().flatten();
        handle.vm.abort_recording(reason.map_or(AbortReason::Abandoned, AbortReason::of_host));
        // What went wrong first is what the host wants to read; it was counted then.
        match failure {
            Some((_, sentence)) => {
                handle.last_error = super::c_string(&sentence);
                Ok(())
            }
            None => host.map(|_| ()),
        }
    });
}
