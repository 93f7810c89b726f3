//! `tl_record` to `tl_record_abort`: one function per operation. After a failure each call does nothing and gives 0;
//! the recording ends with `tl_record_close` or `tl_record_abort`, which count the reason.

use std::ffi::{c_char, c_void};

use tracelift_core::ops::PayloadKind;
use tracelift_core::schema::TagId;
use tracelift_core::{ExitKind, Op, Payload, Schema, Type, Value};

use super::service::live_bytes;
use super::{cell_id, field_id, func_id, layout_id, optional, slice, tag_id, text, to_c, TlStatus, TlVm};
use crate::abort::AbortReason;
use crate::compile::CloseOutcome;
use crate::recorder::Recorder;
use crate::vm::Vm;

/// Runs `f` on the recording in progress; an error fails the recording with that sentence.
fn recording<T: Default>(vm: *mut TlVm, f: impl FnOnce(&mut Recorder, &Schema) -> Result<T, String>) -> T {
    super::enter(vm, T::default(), |handle| {
        let (recorder, schema) = handle.vm.recorder().ok_or("no recording is in progress")?;
        let result = f(recorder, schema);
        if let Err(sentence) = &result {
            recorder.fail(AbortReason::Misuse, sentence.clone());
        }
        result
    })
}

/// The operand behind a C value.
fn operand(value: u32) -> Result<Value, String> {
    value.checked_sub(1).map(Value).ok_or_else(|| "an operand is 0, the value of a failed call".into())
}

fn operands(values: &[u32]) -> Result<Vec<Value>, String> {
    values.iter().map(|&value| operand(value)).collect()
}

/// One operation with already checked payload. A recording that has failed stays failed, quietly.
fn emit(
    recorder: &mut Recorder,
    schema: &Schema,
    op: Op,
    args: &[u32],
    payload: Payload,
    exit: ExitKind,
) -> Result<u32, String> {
    if recorder.failure().is_some() {
        return Ok(0);
    }
    Ok(to_c(recorder.emit(op, &operands(args)?, payload, exit, schema)))
}

fn plain(vm: *mut TlVm, op: Op, args: &[u32], payload: impl FnOnce(&Vm) -> Result<Payload, String>) -> u32 {
    super::enter(vm, 0, |handle| {
        let payload = payload(&handle.vm);
        let (recorder, schema) = handle.vm.recorder().ok_or("no recording is in progress")?;
        let result = payload.and_then(|payload| emit(recorder, schema, op, args, payload, ExitKind::Guard));
        if let Err(sentence) = &result {
            recorder.fail(AbortReason::Misuse, sentence.clone());
        }
        result
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record(vm: *mut TlVm, key: *const c_void, base: *const u8) -> TlStatus {
    super::enter(vm, TlStatus::Misuse, |handle| {
        // After TL_AGAIN the library has already begun anew, so that the retries are counted.
        let again = handle
            .vm
            .recorder()
            .is_some_and(|(recorder, _)| recorder.key == key as usize && recorder.is_new());
        if !again && !handle.vm.start_recording(key as usize, base, 0) {
            return Err("a recording is in progress".into());
        }
        Ok(TlStatus::Ok)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_recording(vm: *mut TlVm) -> i32 {
    super::enter(vm, 0, |handle| Ok(handle.vm.recorder().is_some_and(|(r, _)| r.failure().is_none()) as i32))
}

/// See `tracelift.h`.
///
/// # Safety
/// `words` points to the configured number of words, `live` to `nslots` bits, `base` to the entry frame's slots.
#[no_mangle]
pub unsafe extern "C" fn tl_resume_point(
    vm: *mut TlVm,
    base: *const u8,
    words: *const u64,
    live: *const u8,
    nslots: u32,
) {
    recording(vm, |recorder, schema| {
        // SAFETY: promised by the caller.
        let (words, live) = unsafe { (slice(words, schema.frame_words as usize), live_bytes(live, nslots)) };
        recorder.resume_point(base, words, live);
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
        let (words, live) = unsafe { (slice(words, schema.frame_words as usize), live_bytes(live, nslots)) };
        recorder.push_frame(base, words, live);
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
pub extern "C" fn tl_frame_depth(vm: *mut TlVm) -> u32 {
    recording(vm, |recorder, _| Ok(recorder.depth() as u32))
}

/// Runs `f` on the recording with a tag; a bad one fails the recording.
fn with_tag<T: Default>(vm: *mut TlVm, tag: u32, f: impl FnOnce(&mut Recorder, &Schema, TagId) -> T) -> T {
    super::enter(vm, T::default(), |handle| {
        let tag = tag_id(&handle.vm, tag);
        let (recorder, schema) = handle.vm.recorder().ok_or("no recording is in progress")?;
        if let Err(sentence) = &tag {
            recorder.fail(AbortReason::Misuse, sentence.clone());
        }
        Ok(f(recorder, schema, tag?))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_slot_read(vm: *mut TlVm, slot: i32, tag: u32) -> u32 {
    with_tag(vm, tag, |recorder, schema, tag| to_c(recorder.read_slot(slot, tag, schema)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_slot_write(vm: *mut TlVm, slot: i32, tag: u32, value: u32) {
    let value = value.checked_sub(1).map(Value);
    with_tag(vm, tag, |recorder, schema, tag| recorder.write_slot(slot, tag, value, schema));
}

fn constant(vm: *mut TlVm, ty: Type, bits: u64) -> u32 {
    recording(vm, |recorder, _| Ok(to_c(Some(recorder.constant(ty, bits)))))
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
        let int = value.checked_sub(1).and_then(|value| recorder.int_of(Value(value)));
        // SAFETY: promised by the caller.
        if let (Some(int), Some(number)) = (int, unsafe { number.as_mut() }) {
            *number = int;
        }
        Ok(int.is_some() as i32)
    })
}

/// The operation with that number, if it carries no payload.
fn plain_op(number: u32) -> Result<Op, String> {
    let op = Op::from_number(number).ok_or_else(|| format!("{number} is no tl_op"))?;
    match op {
        Op::Label | Op::Jump | Op::Finish => Err(format!("{} is not recorded by the host", op.info().name)),
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
pub extern "C" fn tl_load(vm: *mut TlVm, cell: u32, base: u32) -> u32 {
    plain(vm, Op::Load, &[base], |vm| Ok(Payload::Cell(cell_id(vm, cell)?)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_store(vm: *mut TlVm, cell: u32, base: u32, value: u32) {
    plain(vm, Op::Store, &[base, value], |vm| Ok(Payload::Cell(cell_id(vm, cell)?)));
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
        let exit = ExitKind::ALL.get(kind as usize).copied();
        let exit = exit.filter(|&kind| !matches!(kind, ExitKind::Finish | ExitKind::Hoisted));
        let exit = exit.ok_or_else(|| format!("{kind} is no tl_exit_kind of a guard"))?;
        emit(recorder, schema, op, used, Payload::None, exit)
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_new_record(vm: *mut TlVm, layout: u32, items: u32, keys: u32) -> u32 {
    plain(vm, Op::New, &[], |vm| Ok(Payload::New { layout: layout_id(vm, layout)?, items, keys }))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_guard_class(vm: *mut TlVm, layout: u32, record: u32) {
    plain(vm, Op::GuardClass, &[record], |vm| Ok(Payload::Layout(layout_id(vm, layout)?)));
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_get(vm: *mut TlVm, field: u32, record: u32) -> u32 {
    plain(vm, Op::Get, &[record], |vm| Ok(Payload::Field(field_id(vm, field)?)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set(vm: *mut TlVm, field: u32, record: u32, value: u32) {
    plain(vm, Op::Set, &[record, value], |vm| Ok(Payload::Field(field_id(vm, field)?)));
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_item_count(vm: *mut TlVm, layout: u32, record: u32) -> u32 {
    plain(vm, Op::ItemCount, &[record], |vm| Ok(Payload::Layout(layout_id(vm, layout)?)))
}

fn item(vm: &Vm, layout: u32, tag: u32) -> Result<Payload, String> {
    let layout = layout_id(vm, layout)?;
    if vm.schema.layout(layout).items.is_none() {
        return Err(format!("layout {} has no indexed part", vm.schema.layout(layout).name));
    }
    Ok(Payload::Item { layout, tag: optional(tag, |tag| tag_id(vm, tag))? })
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
    plain(vm, Op::GetItem, &[record, index], |vm| item(vm, layout, tag))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_set_item(vm: *mut TlVm, layout: u32, tag: u32, record: u32, index: u32, value: u32) {
    plain(vm, Op::SetItem, with_value(&[record, index, value]), |vm| item(vm, layout, tag));
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_put_item(vm: *mut TlVm, layout: u32, tag: u32, record: u32, index: u32, value: u32) {
    plain(vm, Op::PutItem, with_value(&[record, index, value]), |vm| item(vm, layout, tag));
}

fn key(vm: &Vm, layout: u32, tag: u32, size: u32, entry: u32) -> Result<Payload, String> {
    let layout = layout_id(vm, layout)?;
    if vm.schema.layout(layout).keys.is_none() {
        return Err(format!("layout {} has no keyed part", vm.schema.layout(layout).name));
    }
    let hint = (size != u32::MAX).then_some((size, entry));
    Ok(Payload::Key { layout, tag: optional(tag, |tag| tag_id(vm, tag))?, hint })
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
    plain(vm, Op::GetKey, &[record, constant_key], |vm| key(vm, layout, tag, size, entry))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_guard_key_absent(vm: *mut TlVm, layout: u32, record: u32, constant_key: u32) {
    plain(vm, Op::GuardKeyAbsent, &[record, constant_key], |vm| key(vm, layout, 0, u32::MAX, 0));
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
    plain(vm, Op::SetKey, with_value(&args), |vm| key(vm, layout, tag, size, entry));
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
    plain(vm, Op::InsertKey, with_value(&args), |vm| key(vm, layout, tag, u32::MAX, 0));
}

/// See `tracelift.h`.
///
/// # Safety
/// `args` points to `nargs` values.
#[no_mangle]
pub unsafe extern "C" fn tl_call(vm: *mut TlVm, func: u32, args: *const u32, nargs: u32) -> u32 {
    // SAFETY: promised by the caller.
    let args = unsafe { slice(args, nargs as usize) };
    plain(vm, Op::Call, args, |vm| Ok(Payload::Func(func_id(vm, func)?)))
}

/// See `tracelift.h`.
///
/// # Safety
/// `args` points to `nargs` values.
#[no_mangle]
pub unsafe extern "C" fn tl_try_call(vm: *mut TlVm, func: u32, args: *const u32, nargs: u32) -> u32 {
    // SAFETY: promised by the caller.
    let args = unsafe { slice(args, nargs as usize) };
    plain(vm, Op::TryCall, args, |vm| Ok(Payload::Func(func_id(vm, func)?)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record_close(vm: *mut TlVm) -> TlStatus {
    ended(vm, Vm::close_recording)
}

/// A recording ends with this outcome; the sentence of one that failed can be asked for.
fn ended(vm: *mut TlVm, end: impl FnOnce(&mut Vm) -> CloseOutcome) -> TlStatus {
    super::enter(vm, TlStatus::Internal, |handle| {
        let (status, sentence) = match end(&mut handle.vm) {
            CloseOutcome::Compiled(_) => return Ok(TlStatus::Ok),
            CloseOutcome::Again => return Ok(TlStatus::Again),
            CloseOutcome::Aborted(AbortReason::Misuse, sentence) => (TlStatus::Misuse, sentence),
            CloseOutcome::Aborted(AbortReason::Internal, sentence) => (TlStatus::Internal, sentence),
            CloseOutcome::Aborted(_, sentence) => (TlStatus::Aborted, sentence),
        };
        handle.last_error = super::c_string(&sentence);
        Ok(status)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_record_link(vm: *mut TlVm, key: *const c_void) -> TlStatus {
    ended(vm, |vm| vm.link_recording(key as usize))
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
    super::enter(vm, TlStatus::Misuse, |handle| match handle.vm.start_side(base) {
        true => Ok(TlStatus::Ok),
        false => Err("no side trace was asked for, or a recording is in progress".into()),
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_back_edge(vm: *mut TlVm) {
    recording(vm, |recorder, _| {
        recorder.back_edge();
        Ok(())
    });
}

/// See `tracelift.h`.
///
/// # Safety
/// `reason` is null or NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_record_abort(vm: *mut TlVm, reason: *const c_char) {
    super::enter(vm, (), |handle| {
        // SAFETY: promised by the caller.
        let reason =
            unsafe { text(reason) }.map_or(AbortReason::Abandoned, |text| AbortReason::Host(text.into()));
        handle.vm.abort_recording(reason);
        Ok(())
    });
}
