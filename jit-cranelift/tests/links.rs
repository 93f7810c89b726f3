//! Linked traces: code that goes on in other code.

mod common;

use std::ptr::null;

use common::*;
use tracelift_core::ir::EntrySlot;
use tracelift_core::snapshot::{Frame, SlotValue, Snapshot, Source};
use tracelift_core::{ExitKind, Inst, Op, Schema, Trace, Type, Value};
use tracelift_cranelift::*;

/// Counts slot 0 down: leaves by exit 0 at zero, by exit 1 when what is left can be divided by 4.
fn down(schema: &Schema) -> Trace {
    let int = schema.find_tag("int").unwrap();
    let mut trace = Trace::new("down");
    let inputs = trace.input(&[Type::Int]);
    trace.entry = vec![EntrySlot { slot: 0, tag: int }];
    let (zero, one, three) = (constant(&mut trace, 0), constant(&mut trace, 1), constant(&mut trace, 3));
    let (label, args) = trace.label(&[Type::Int]);
    let head = slots(&mut trace, &[(0, int, args[0])]);
    let more = trace.op(Op::IntNe, &[args[0], zero], Type::Int);
    trace.guard(Op::GuardTrue, &[more], Some(head));
    let less = trace.op(Op::IntSub, &[args[0], one], Type::Int);
    let bits = trace.op(Op::IntAnd, &[less, three], Type::Int);
    let after = slots(&mut trace, &[(0, int, less)]);
    trace.guard(Op::GuardTrue, &[bits], Some(after));
    trace.jump(label, &[less]);
    // The entry goes straight to the loop.
    let jump = Inst::new(Op::Jump, &inputs).with(tracelift_core::Payload::Label(label));
    trace.insts.insert(1, jump);
    trace
}

/// From the exit of `down` with its value in cell 0: slot 1 is counted up by slot 2, and slot 0 written.
fn step(schema: &Schema) -> Trace {
    let int = schema.find_tag("int").unwrap();
    let mut trace = Trace::new("step");
    let inputs = trace.input(&[Type::Int, Type::Int, Type::Int]);
    trace.entry = vec![EntrySlot { slot: 1, tag: int }, EntrySlot { slot: 2, tag: int }];
    trace.entry_cells = vec![0];
    let sum = trace.op(Op::IntAdd, &[inputs[0], inputs[1]], Type::Int);
    let end = slots(&mut trace, &[(0, int, inputs[2]), (1, int, sum)]);
    trace.snapshots[end.index()].edges = 3;
    trace.push(Inst::new(Op::Finish, &[]).at(Some(end)).exit_kind(ExitKind::Finish), None);
    trace
}

/// The same, but it ends in a frame so many slots above its own, or below, which it has returned to: what
/// `down` finds there is slot 0 of that frame.
fn step_to(schema: &Schema, base: i32) -> Trace {
    let mut trace = step(schema);
    let frames = &mut trace.snapshots[0].frames;
    let moved = frames[0].slots.remove(0);
    if base < 0 {
        frames[0].base = base;
        frames[0].slots.iter_mut().for_each(|slot| slot.slot -= base);
        frames[0].slots.push(moved);
    } else {
        frames.push(Frame { base, slots: vec![moved], ..Frame::default() });
    }
    trace
}

fn constant(trace: &mut Trace, value: i64) -> Value {
    trace.constant(Type::Int, tracelift_core::Const::Bits(value as u64))
}

fn slots(trace: &mut Trace, of: &[(i32, tracelift_core::schema::TagId, Value)]) -> tracelift_core::SnapId {
    let slots =
        of.iter().map(|&(slot, tag, value)| SlotValue { slot, tag, source: Source::Value(value) }).collect();
    let position = trace.insts.len() as u32;
    let frames = vec![Frame { base: 0, words: Default::default(), slots }];
    let origin = trace.snapshots.len() as u32;
    trace.add_snapshot(Snapshot { origin, position, frames, ..Snapshot::default() })
}

/// Both traces, installed and not linked yet.
struct Pair {
    harness: Harness,
    glue: Glue,
    codes: [CodePtr; 2],
    links: [Box<[u64]>; 2],
    /// Where slots of other types lead.
    other: Box<u64>,
    iterations: Box<u64>,
    replaced: Box<u64>,
}

fn pair(harness: Harness) -> Pair {
    let schema = Schema::with_default_tags();
    pair_with(harness, &schema, step(&schema))
}

fn pair_with(mut harness: Harness, schema: &Schema, step: Trace) -> Pair {
    let [enter, leave] = harness.compiler.glue().unwrap();
    let tree = TreeId(7);
    let enter = harness.arena.install_code(tree, &enter).unwrap();
    let glue = Glue::new(enter, harness.arena.install_code(tree, &leave).unwrap());
    let mut iterations = Box::new(0);
    let mut replaced = Box::new(0);
    let other = Box::new(glue.leave());
    let mut links = Vec::new();
    let mut codes = Vec::new();
    for (number, trace) in [down(schema), step].into_iter().enumerate() {
        let cells: Box<[u64]> = vec![glue.leave(); trace.exits().count()].into();
        let request = Request::new(number as u32, harness.buffer.as_mut_ptr())
            .know_loops(tracelift_opt::loops_of(&trace, schema))
            .count_iterations(&raw mut *iterations)
            .count_replaced(replaced_by(&mut replaced))
            .link(Links {
                cells: cells.as_ptr(),
                finish_writes_slots: number == 1,
                edges_per_jump: 0,
                other: if number == 1 { &raw const *other } else { null() },
            });
        let compiled = harness.compiler.compile(&trace, schema, &request).unwrap();
        codes.push(harness.arena.install(tree, &compiled).unwrap());
        links.push(cells);
    }
    let (links, codes) = (links.try_into().unwrap(), codes.try_into().unwrap());
    Pair { harness, glue, codes, links, other, iterations, replaced }
}

impl Pair {
    fn set(&mut self, slot: usize, value: i64, tag: u8) {
        self.harness.frame[slot * 16..][..8].copy_from_slice(&value.to_le_bytes());
        self.harness.frame[slot * 16 + 8] = tag;
    }

    /// The same for integers.
    fn set_all(&mut self, values: &[(usize, i64)]) {
        values.iter().for_each(|&(slot, value)| self.set(slot, value, 0));
    }

    fn get(&self, slot: usize) -> i64 {
        i64::from_le_bytes(self.harness.frame[slot * 16..][..8].try_into().unwrap())
    }

    /// Enters a trace; gives trace and exit, or nothing if the entry was refused.
    fn run(&mut self, number: usize) -> Option<(u32, u32)> {
        let left = self.run_at(number, 0);
        (exit_number(left.exit) != ENTRY_REFUSED).then_some((trace_number(left.exit), exit_number(left.exit)))
    }

    /// Enters a trace in the frame whose base is that slot.
    fn run_at(&mut self, number: usize, base: usize) -> LeftBy {
        let entry = self.glue.entry(self.codes[number]);
        let base = self.harness.frame[base * 16..].as_mut_ptr();
        // SAFETY: both traces touch slots near the base, and nothing else but cells that live as long as they
        // do.
        unsafe { entry.call(std::ptr::null_mut(), base) }
    }

    /// Exit 1 of `down` leads to `step`, whose end leads back.
    fn link(&mut self) {
        self.links[0][1] = self.codes[1].address() as u64;
        self.links[1][0] = self.codes[0].address() as u64;
    }
}

#[test]
fn without_links_every_exit_leads_to_the_host() {
    for harness in Harness::all() {
        let mut pair = pair(harness);
        pair.set(0, 10, 0);
        assert_eq!(pair.run(0), Some((0, 1)));
        assert_eq!((pair.harness.buffer[0], pair.get(0)), (8, 10), "an exit writes no slots");
        pair.set(0, 0, 0);
        assert_eq!(pair.run(0), Some((0, 0)));
    }
}

#[test]
fn linked_traces_follow_one_another() {
    for harness in Harness::all() {
        let mut pair = pair(harness);
        pair.link();
        pair.set_all(&[(0, 21), (1, 100), (2, 5)]);
        assert_eq!(pair.run(0), Some((0, 0)));
        // At 20, 16, 12, 8, 4 and 0.
        assert_eq!((pair.harness.buffer[0], pair.get(1)), (0, 130));
        // 15 times round the loop and one jump to it per entry; `step` passes three edges each time.
        assert_eq!(*pair.iterations, 15 + 7 + 6 * 3);
        assert_eq!(*pair.replaced, (15 + 7) * 7 + 6 * 10);
    }
}

/// From 6 on `down` is left at 4 and at 0, each time into the next frame, and at last in the third one.
#[test]
fn an_end_in_another_frame_passes_its_base_on() {
    let schema = Schema::with_default_tags();
    for (start, by) in [(2usize, 2i32), (6, -2)] {
        for harness in Harness::all() {
            let mut pair = pair_with(harness, &schema, step_to(&schema, by));
            pair.link();
            (0..10).for_each(|slot| pair.set(slot, 100 + slot as i64, 0));
            pair.set_all(&[(start, 6), (start + 2, 1)]);
            let base = |pair: &Pair, frames: i32| {
                let slot = (start as i32 + frames * by) as usize;
                pair.harness.frame[slot * 16..].as_ptr().cast_mut()
            };
            let left = pair.run_at(0, start);
            assert_eq!((trace_number(left.exit), exit_number(left.exit)), (0, 0));
            assert_eq!((left.base, pair.harness.buffer[0]), (base(&pair, 2), 0), "by {by}");
            let next = (start as i32 + by) as usize;
            assert_eq!(pair.get(start), 6, "an exit writes no slots");
            assert_eq!((pair.get(next), pair.get((next as i32 + by) as usize)), (4, 0), "by {by}");
            // The next frame's slot is no integer any more: the end's own exit is told, in that frame.
            pair.links[1][0] = pair.codes[1].address() as u64;
            pair.set_all(&[(start, 6), (start + 2, 1)]);
            pair.set(next + 1, 0, 1);
            let left = pair.run_at(0, start);
            assert_eq!((trace_number(left.exit), exit_number(left.exit)), (1, 0));
            assert_eq!(left.base, base(&pair, 1), "by {by}");
        }
    }
}

#[test]
fn who_is_refused_is_at_the_exit_where_he_came_from() {
    for harness in Harness::all() {
        let mut pair = pair(harness);
        pair.link();
        pair.set_all(&[(0, 10), (1, 100), (2, 5)]);
        pair.set(2, 5, 1);
        assert_eq!(pair.run(0), Some((0, 1)), "`step` wants an integer");
        assert_eq!((pair.harness.buffer[0], pair.get(1)), (8, 100));
        assert_eq!(pair.run(1), None, "from the host there is no such exit");
        pair.set(2, 5, 0);
        // `step` leads to itself, which finds another type after its second run.
        pair.links[1][0] = pair.codes[1].address() as u64;
        pair.set(0, 10, 1);
        assert_eq!(pair.run(0), None);
    }
}

/// As `step`, where slot 2 has no integer: slot 1 becomes 7.
fn step_of_others(schema: &Schema) -> Trace {
    let int = schema.find_tag("int").unwrap();
    let mut trace = Trace::new("others");
    let inputs = trace.input(&[Type::Int]);
    trace.entry_cells = vec![0];
    let seven = constant(&mut trace, 7);
    let end = slots(&mut trace, &[(0, int, inputs[0]), (1, int, seven)]);
    trace.push(Inst::new(Op::Finish, &[]).at(Some(end)).exit_kind(ExitKind::Finish), None);
    trace
}

/// They are given what the trace was given that they do not fit: the values of the exit, and its number.
#[test]
fn slots_of_other_types_lead_to_other_code() {
    let schema = Schema::with_default_tags();
    for harness in Harness::all() {
        let mut pair = pair(harness);
        pair.link();
        let cells = [pair.codes[0].address() as u64];
        let request = Request::new(2, pair.harness.buffer.as_mut_ptr()).link(Links {
            cells: cells.as_ptr(),
            finish_writes_slots: true,
            edges_per_jump: 0,
            other: null(),
        });
        let compiled = pair.harness.compiler.compile(&step_of_others(&schema), &schema, &request).unwrap();
        let others = pair.harness.arena.install(TreeId(7), &compiled).unwrap();
        pair.set_all(&[(0, 10), (1, 100), (2, 5)]);
        pair.set(2, 5, 1);
        assert_eq!(pair.run(0), Some((0, 1)), "nothing is there for them");
        *pair.other = others.address() as u64;
        assert_eq!(pair.run(0), Some((0, 0)));
        assert_eq!((pair.harness.buffer[0], pair.get(1)), (0, 7));
        // Nor do they fit `step` itself.
        *pair.other = pair.codes[1].address() as u64;
        pair.links[1][0] = pair.glue.leave();
        pair.set(2, 5, 0);
        pair.set_all(&[(0, 10), (1, 100)]);
        assert_eq!(pair.run(0), Some((1, 0)), "who fits goes his way");
        assert_eq!(pair.get(1), 105);
    }
}

#[test]
fn the_end_writes_slots_and_tags() {
    for harness in Harness::all() {
        let mut pair = pair(harness);
        pair.set_all(&[(0, 99), (1, 40), (2, 2)]);
        pair.set(0, 99, 4);
        pair.harness.buffer[0] = 17;
        assert_eq!(pair.run(1), Some((1, 0)));
        assert_eq!((pair.get(0), pair.get(1), pair.get(2)), (17, 42, 2));
        assert_eq!(pair.harness.frame[8], 0, "the tag is an integer's");
    }
}

/// The entry that makes a tree worth a function is refused, also of a side trace that takes nothing along.
#[test]
fn entries_of_side_traces_are_counted_down() {
    for mut harness in Harness::all() {
        let schema = Schema::with_default_tags();
        let int = schema.find_tag("int").unwrap();
        let mut nothing = Trace::new("nothing");
        nothing.input(&[]);
        let seven = constant(&mut nothing, 7);
        let end = slots(&mut nothing, &[(0, int, seven)]);
        nothing.push(Inst::new(Op::Finish, &[]).at(Some(end)).exit_kind(ExitKind::Finish), None);
        let tree = TreeId(7);
        let [enter, leave] =
            harness.compiler.glue().unwrap().map(|code| harness.arena.install_code(tree, &code).unwrap());
        let glue = Glue::new(enter, leave);
        let cells = [glue.leave()];
        let (mut count, mut due) = (Box::new(3_u64), Box::new(0_u64));
        let request = Request::new(5, harness.buffer.as_mut_ptr())
            .count_crossings(Crossings { count: &raw mut *count, due: &raw mut *due })
            .link(Links {
                cells: cells.as_ptr(),
                finish_writes_slots: true,
                edges_per_jump: 0,
                other: null(),
            });
        let compiled = harness.compiler.compile(&nothing, &schema, &request).unwrap();
        let entry = glue.entry(harness.arena.install(tree, &compiled).unwrap());
        for time in 1..=4 {
            harness.frame[..9].fill(1);
            // SAFETY: the code writes a slot of the frame, and cells that live as long as it.
            let left = unsafe { entry.call(std::ptr::null_mut(), harness.frame.as_mut_ptr()) };
            let is_refused = exit_number(left.exit) == ENTRY_REFUSED;
            assert_eq!((is_refused, harness.frame[0] == 7), (time == 3, time != 3), "entry {time}");
            assert_eq!(*due, u64::from(time >= 3));
        }
    }
}
