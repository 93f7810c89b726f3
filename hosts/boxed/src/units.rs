//! Functions that call themselves as units: code that code calls, without frames.
//!
//! Problem: linked entries make a frame in memory for each call, and what they return is a boxed object in a
//! slot. Design: a recursive function without loops in it, or in what it calls, is a *unit*. It is recorded
//! when it is hot: from its entry up to its return, with its parameters as arguments. A call of a unit is one
//! operation; its recording waits while the interpreter makes the call, and goes on when that has returned.
//! Once there is a unit, the function's next hot entry becomes its *gateway*: a trace that passes the frame's
//! slots, and goes on at a return of the result. A function that cannot be a unit is *plain*: it has linked
//! entries.
//!
//! How deep units may call one another is an address, which each unit compares first of all. The interpreter
//! counts frames, not slots: each frame has as many slots as the smallest one at least, and so the limit
//! leaves room for all frames that there can be below it. Where a unit finds no room it leaves, and the
//! interpreter goes on, with units as long as there is some: the limit on calls strikes where it always did.
//!
//! Invariant: a recording that waits goes on where the interpreter itself returns to its frame; where code
//! may have done so it is given up. Example, in the end:
//!
//! ```text
//! unit fib(n):  room, and little garbage; n - 1 is positive; a = call fib(..); b = call fib(..); a + b
//! gateway:      n is what slot 0 holds; r = call fib(n); go on at `return r`
//! ```

use tracelift_core::ir::EntrySlot;
use tracelift_core::{ExitKind, Op as Trace, Payload, Type, UnitId, Value};
use tracelift_runtime::{AbortReason, CloseOutcome};

use crate::code::{Op, Slot};
use crate::frames::Frame;
use crate::heap::Ref;
use crate::machine::{entry_key, Machine, Recording, Waiting};
use crate::record::Tape;
use crate::recording::words;

/// Functions that a unit takes in one inside the other; all others it calls.
const MOST_INLINED: usize = 2;
/// Slots that units may call one another up to: more than all frames have.
const DEPTH: u32 = 16 * 1024;
/// Bytes of the native stack that they may use.
const NATIVE_BYTES: u32 = 512 * 1024;

impl Machine {
    /// Whether a function is a unit, or will be.
    pub(crate) fn may_be_unit(&self, function: usize) -> bool {
        self.options.units && self.program[function].is_unit && !self.units.plain[function]
    }

    /// The unit that a function is, if it can be called.
    fn unit_of(&mut self, function: usize) -> Option<UnitId> {
        if !self.may_be_unit(function) {
            return None;
        }
        let tag = self.host.object;
        let arguments: Vec<EntrySlot> =
            (0..self.program[function].params as i32).map(|slot| EntrySlot { slot, tag }).collect();
        self.vm.find_unit(entry_key(Frame { function, pc: 0, base: 0 }), &arguments)
    }

    /// The program is at the hot entry of a function that may be a unit: records it, or its gateway.
    pub(crate) fn record_unit(&mut self, frame: Frame, bottom: usize) {
        let key = entry_key(frame);
        let base = self.base_at(frame.base);
        if let Some(unit) = self.unit_of(frame.function) {
            if self.vm.start_recording(key, base, 0) {
                self.record_gateway(frame, unit);
            }
            return;
        }
        if self.units.limit.is_none() && self.vm.set_unit_depth(DEPTH) {
            self.units.limit = Some(self.vm.unit_limit());
        }
        if self.units.limit.is_none() || self.vm.start_unit(key, base).is_err() {
            // There is no memory for it, or it was one, and was left too often.
            self.units.plain[frame.function] = true;
            return;
        }
        let (params, tag) = (self.program[frame.function].params, self.host.object);
        if let Some((recorder, schema)) = self.vm.recorder() {
            for slot in 0..params as i32 {
                recorder.unit_argument(slot, tag, schema);
            }
        }
        let recording = Recording::new(None, frame.base, bottom);
        self.recording = Some(Recording { entry: Some(key), is_unit: true, ..recording });
    }

    /// Passes the frame's slots to the unit, and goes on at a return of what that returns.
    fn record_gateway(&mut self, frame: Frame, unit: UnitId) {
        let program = self.program.clone();
        let code = &program[frame.function];
        let base = self.base_at(frame.base);
        let end = code.ops.iter().enumerate().find_map(|(pc, op)| match op {
            Op::Return { src } => Some((pc, *src)),
            _ => None,
        });
        let Some((end, result)) = end else { return self.abort("function without return") };
        let resume_at = |tape: &mut Tape<'_>, pc: usize| {
            tape.recorder.resume_point(base, &words(frame.function, pc), &code.bytes(code.live[pc]));
        };
        if let Some(mut tape) = self.tape() {
            resume_at(&mut tape, 0);
            let arguments: Vec<_> = (0..code.params).filter_map(|slot| tape.read(slot as Slot)).collect();
            tape.recorder.call_unit(unit, &arguments, Some(result.into()), &[], tape.schema);
            resume_at(&mut tape, end);
            tape.recorder.unit_returned(None, tape.schema);
        }
        self.vm.end_recording(AbortReason::Host("gateway".into()));
    }

    /// The first thing that a unit does: leaves if not all slots that it may need lie below the limit.
    pub(crate) fn guard_limit(&mut self) -> Option<()> {
        let slots = (MOST_INLINED + 2) * self.units.slots[1];
        let limit = self.units.limit? as u64;
        let cell = self.host.limit;
        let mut tape = self.tape()?;
        let place = tape.recorder.constant(Type::Addr, limit);
        let end = tape.emit(Trace::Load, &[place], Payload::Cell(cell))?;
        let base = tape.emit(Trace::FrameBase, &[], Payload::None)?;
        let bytes = tape.recorder.constant(Type::Int, (slots * size_of::<Ref>()) as u64);
        let wanted = tape.emit(Trace::AddrAdd, &[base, bytes], Payload::None)?;
        let wanted = tape.emit(Trace::AddrToInt, &[wanted], Payload::None)?;
        let fits = tape.emit(Trace::UintLe, &[wanted, end], Payload::None)?;
        tape.guard(Trace::GuardTrue, fits, ExitKind::Interrupt);
        Some(())
    }

    /// A call of this function was recorded, up to its frame: if it is a unit, that is all.
    pub(crate) fn call_unit(
        &mut self,
        now: Recording,
        function: usize,
        dst: Slot,
        args: &[Value],
    ) -> Option<&'static str> {
        let Some(unit) = self.unit_of(function) else {
            let (recorder, _) = self.vm.recorder()?;
            let is_too_deep = now.is_unit && recorder.depth() > MOST_INLINED;
            return is_too_deep.then_some("calls nest too deep");
        };
        let program = self.program.clone();
        let live = program[function].bytes(program[function].live[0]);
        let base = self.base_at(now.origin);
        let (recorder, schema) = self.vm.recorder()?;
        recorder.resume_point(base, &words(function, 0), &live);
        recorder.call_unit(unit, args, Some(dst.into()), &[], schema);
        self.recording.as_mut()?.has_called = true;
        None
    }

    /// The outermost frame of a unit's recording returns what its slot holds: the unit is complete.
    pub(crate) fn end_unit(&mut self, function: usize, src: Slot) {
        let tag = self.host.object;
        let value = self.tape().and_then(|mut tape| tape.read(src));
        self.recording = None;
        if let CloseOutcome::Again = self.vm.end_unit(tag, value) {
            // It neither calls nor goes more than one way.
            self.units.plain[function] = true;
        }
    }

    /// Where units must end that are called from the frame that runs: code is about to be entered.
    pub(crate) fn set_limit(&mut self) {
        let Some(limit) = self.units.limit else { return };
        let (base, room) = (self.top().base, self.context.get().frames.room());
        let most = (room * self.units.slots[0]).min(DEPTH as usize);
        // SAFETY: it is the library's, lives as long as the VM, and nobody else uses it now.
        let limit = unsafe { &mut *limit };
        let most = most.min((NATIVE_BYTES / limit.native_bytes.max(1)) as usize);
        limit.end = self.base_at(base + most) as u64;
    }

    /// The interpreter makes the call of a unit that was just recorded.
    pub(crate) fn put_aside(&mut self) {
        let depth = self.context.get().frames.depth();
        let Some(recording) = self.recording.take() else { return };
        if let Some(number) = self.vm.put_recording_aside() {
            self.units.waiting.push(Waiting { recording, depth, number });
        }
    }

    /// The frame that runs was returned to: the recording that has waited for that goes on.
    pub(crate) fn wake(&mut self) {
        let depth = self.context.get().frames.depth();
        let Some(waiting) = self.units.waiting.pop_if(|waiting| waiting.depth == depth) else { return };
        if self.recording.is_some() {
            self.abort("another one goes on");
        }
        if self.vm.wake_recording(waiting.number) {
            self.recording = Some(waiting.recording);
        }
    }

    /// Recordings that wait in more than so many frames will not be woken by a return: code has returned from
    /// there, or the program ends.
    pub(crate) fn forget_waiting(&mut self, depth: usize) {
        while let Some(waiting) = self.units.waiting.pop_if(|waiting| waiting.depth > depth) {
            let current = self.recording.take();
            if current.is_some() {
                // Whoever is woken takes the place of who runs.
                self.vm.abort_recording(AbortReason::Host("code has returned".into()));
            }
            if self.vm.wake_recording(waiting.number) {
                self.abort("code has returned");
            }
        }
    }
}

impl Tape<'_> {
    /// What the unit that was called has returned.
    pub fn unit_returned(&mut self) {
        self.recorder.unit_returned(Some(self.host.object), self.schema);
    }
}
