//! What a recording is told of each operation, and where it ends.
//!
//! Problem: a recording must follow the program through calls and returns, and end where other code goes on;
//! in a frame, that is, which may not be the one that the code began in. Design: `record.rs` knows what the
//! operations do; here it is told of the values and frames that the interpreter has at the moment. A loop
//! closes at its head. All else ends at a *location*: at the head of a loop that has code, at the entry of a
//! recursive function that it calls and that has code (or where the recording began), and, when the frame
//! that it began in has returned, at the entry after the call there. Before that, the trace makes the frames
//! that it ends in.
//!
//! Invariant: nothing here changes the program's state. A trace that does not begin at a loop's head looks at
//! the garbage once, so that no circle of traces makes objects without end. Example, `fib` once it is hot:
//!
//! ```text
//! entry of fib: n is positive ... make a frame; go on at the entry of fib
//! after the first call: ...       make a frame; go on at the entry of fib
//! after the second call: the sum; this frame returns to the place after the first call: go on there
//! ```

use tracelift_core::ExitKind;
use tracelift_runtime::recorder::{Closed, Finished};
use tracelift_runtime::{AbortReason, CloseOutcome};

use crate::code::{Code, Op, Slot};
use crate::frames::Frame;
use crate::heap::{Object, INTEGER};
use crate::machine::{entry_key, is_positive, key, Machine, Recording};
use crate::record::Tape;

/// A recording that began at no loop passes so many jumps back.
const MOST_EDGES: u32 = 8;

pub(crate) fn words(function: usize, pc: usize) -> [u64; 2] {
    [function as u64, pc as u64]
}

impl Code {
    /// The live slots of a set, one bit each, as a recorder wants them.
    pub(crate) fn bytes(&self, live: u64) -> Vec<u8> {
        live.to_le_bytes()[..self.slots.div_ceil(8)].to_vec()
    }

    /// What is live while the call before `pc` runs: its result will be written.
    fn live_in_call(&self, pc: usize) -> Vec<u8> {
        let result = self.ops[pc - 1].dst().map_or(0, |dst| 1 << dst);
        self.bytes(self.live[pc] & !result)
    }
}

impl Machine {
    pub(crate) fn tape(&mut self) -> Option<Tape<'_>> {
        let (recorder, schema) = self.vm.recorder()?;
        Some(Tape { recorder, schema, host: &self.host })
    }

    /// The frames of the exit that a side trace begins with, but for the outermost one. It is recorded.
    pub(crate) fn tell_frames(&mut self, bottom: usize) -> bool {
        let depth = self.context.get().frames.depth();
        let frames: Vec<Frame> = (bottom..=depth).map(|at| self.context.get().frames.at(at)).collect();
        let program = self.program.clone();
        for pair in frames.windows(2) {
            let caller = pair[0];
            let live = program[caller.function].live_in_call(caller.pc);
            let Some((recorder, _)) = self.vm.recorder() else { return false };
            recorder.push_frame(
                (pair[1].base - caller.base) as i32,
                &words(caller.function, caller.pc),
                &live,
            );
        }
        true
    }

    /// The operation is about to be executed.
    pub(crate) fn record(&mut self, frame: Frame, op: &Op) {
        let Some(now) = self.recording else { return };
        let program = self.program.clone();
        let code = &program[frame.function];
        let base = self.base_at(now.origin);
        let Some((recorder, _)) = self.vm.recorder() else { return };
        recorder.resume_point(base, &words(frame.function, frame.pc), &code.bytes(code.live[frame.pc]));
        if let Some(mut tape) = self.tape().filter(|_| now.has_called) {
            tape.unit_returned();
        }
        if let Some(location) = self.ends_at(now, frame) {
            return self.link(now, location);
        }
        if let Some(recording) = self.recording.as_mut() {
            (recording.is_started, recording.has_called) = (true, false);
        }
        if now.is_unit && now.entry.is_some() && !now.is_started {
            self.guard_limit();
        }
        if now.head.is_none() && !now.is_started {
            self.tape().map(|mut tape| tape.look_at_debt());
        }
        let reason = match op {
            Op::Call { dst, function, args } => self.record_call(now, frame, (*dst, *function), args),
            Op::Return { src } => self.record_return(now, frame, *src),
            Op::Branch { src, target, when } => {
                let closes = self.is_outermost(now) && now.head == Some(key(Frame { pc: *target, ..frame }));
                self.record_branch(*src, *when, closes)
            }
            Op::Poll if self.context.get().fuel <= 0 => Some("out of fuel"),
            _ => self.record_plain(op),
        };
        let has_failed = self.recording.is_some()
            && self.vm.recorder().is_some_and(|(recorder, _)| recorder.failure().is_some());
        if reason.is_some() || has_failed {
            self.abort(reason.unwrap_or("recording failed"));
        }
    }

    fn is_outermost(&mut self, now: Recording) -> bool {
        self.context.get().frames.depth() == now.bottom
    }

    /// The location where the recording ends, if other code goes on there.
    fn ends_at(&mut self, now: Recording, frame: Frame) -> Option<usize> {
        if !now.is_started || now.is_unit {
            return None;
        }
        let (entry, head) = (entry_key(frame), key(frame));
        if now.has_returned {
            return Some(entry);
        }
        let is_called = !self.is_outermost(now) && frame.pc == 0 && self.program[frame.function].is_recursive;
        if is_called && (now.entry == Some(entry) || self.vm.has_loop(entry)) {
            return Some(entry);
        }
        (now.head.is_none() && self.vm.has_loop(head)).then_some(head)
    }

    /// The recording ends here, where the program goes on at a location.
    fn link(&mut self, now: Recording, location: usize) {
        let room = self.options.config.max_frames - 1;
        let frames = &self.context.get().frames;
        let frames: Vec<Frame> = (now.bottom..=frames.depth()).map(|depth| frames.at(depth)).collect();
        let Some(mut tape) = self.tape() else { return };
        if now.has_returned {
            tape.drop_frame();
        } else if frames.len() > 1 {
            tape.make_frames(&frames, room);
        }
        self.recording = None;
        self.vm.link_recording(location);
    }

    /// The class of the object in a slot.
    fn class(&mut self, slot: Slot) -> u64 {
        let object = self.slot(slot);
        // SAFETY: slots that are read hold objects.
        unsafe { (*(object as *const Object)).class }
    }

    /// An operation that neither branches, nor has to do with frames.
    fn record_plain(&mut self, op: &Op) -> Option<&'static str> {
        let classes = match op {
            Op::Add { receiver, argument, .. } => [self.class(*receiver), self.class(*argument)],
            _ => [INTEGER; 2],
        };
        let mut tape = self.tape()?;
        let result = match op {
            Op::Integer { value, .. } => tape.integer(*value),
            Op::Float { value, .. } => tape.float(*value),
            Op::Move { src, .. } => tape.read(*src),
            Op::Add { receiver, argument, .. } => {
                let (receiver, argument) = (tape.read(*receiver), tape.read(*argument));
                receiver
                    .zip(argument)
                    .and_then(|(receiver, argument)| tape.add((receiver, classes[0]), (argument, classes[1])))
            }
            Op::Poll => {
                tape.poll();
                None
            }
            _ => None,
        };
        if let (Some(value), Some(dst)) = (result, op.dst()) {
            tape.write(dst, value);
        }
        None
    }

    /// A branch, which closes the loop that is recorded, or would.
    fn record_branch(&mut self, src: Slot, when: bool, closes: bool) -> Option<&'static str> {
        let (class, outcome) = (self.class(src), is_positive(self.number(src)));
        let kind = if closes && when { ExitKind::LoopEnd } else { ExitKind::Guard };
        let mut tape = self.tape()?;
        if let Some(object) = tape.read(src) {
            tape.is_positive((object, class), outcome, kind);
        }
        (closes && outcome != when).then_some("loop ended")
    }

    fn record_call(
        &mut self,
        now: Recording,
        frame: Frame,
        (dst, function): (Slot, usize),
        args: &[Slot],
    ) -> Option<&'static str> {
        let program = self.program.clone();
        let code = &program[frame.function];
        let mut tape = self.tape()?;
        let values: Vec<_> = args.iter().map(|&arg| tape.read(arg)).collect();
        let (words, live) = (words(frame.function, frame.pc + 1), code.live_in_call(frame.pc + 1));
        tape.recorder.push_frame(code.slots as i32, &words, &live);
        for (index, value) in values.iter().enumerate() {
            value.iter().for_each(|&value| tape.write(index as Slot, value));
        }
        let values: Vec<_> = values.into_iter().flatten().collect();
        self.call_unit(now, function, dst, &values)
    }

    fn record_return(&mut self, now: Recording, frame: Frame, src: Slot) -> Option<&'static str> {
        let is_outermost = self.is_outermost(now);
        let frames = &self.context.get().frames;
        let caller = frames.at(frames.depth() - 1);
        if is_outermost && now.is_unit {
            self.end_unit(frame.function, src);
            return None;
        }
        if frames.depth() == 1 || is_outermost && now.head.is_some() {
            return Some("function returned");
        }
        let code = &self.program[caller.function];
        let dst = code.ops[caller.pc - 1].dst();
        if !is_outermost {
            self.tape()?.return_to(dst, src);
            return None;
        }
        if !code.entries[caller.pc] {
            return Some("function returned");
        }
        self.tape()?.return_below(caller, frame, dst?, src);
        let recording = self.recording.as_mut()?;
        (recording.has_returned, recording.bottom) = (true, now.bottom - 1);
        None
    }

    /// The program has jumped back to this loop's head; whether the recording has closed there.
    pub(crate) fn record_back_edge(&mut self, key: usize) -> bool {
        let Some(now) = self.recording else { return false };
        if self.is_outermost(now) && now.head == Some(key) {
            self.close();
            return true;
        }
        if now.head.is_some() || now.edges == MOST_EDGES {
            self.abort("inner loop");
        } else if let (Some(recording), Some((recorder, _))) = (self.recording.as_mut(), self.vm.recorder()) {
            recording.edges += 1;
            recorder.back_edge(key, false);
        }
        false
    }

    fn close(&mut self) {
        self.recording = None;
        if self.options.keep_recorded {
            if let Some((recorder, schema)) = self.vm.recorder() {
                if let Ok(Closed::Loop(Finished { trace, .. })) = recorder.clone().close(schema) {
                    self.recorded.push(*trace);
                }
            }
        }
        if let CloseOutcome::Again = self.vm.close_recording() {
            // Cannot happen with untagged slots; another host would go on recording.
            self.vm.abort_recording(AbortReason::Unstable);
        }
    }

    pub(crate) fn abort(&mut self, reason: &str) {
        self.recording = None;
        self.vm.abort_recording(AbortReason::Host(reason.into()));
    }
}
