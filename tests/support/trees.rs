//! One tree of traces, run every way and compared everywhere.
//!
//! Problem and design: as for single traces (`check.rs`); what is tested here is how the program comes from
//! one trace to the next. The reference is the evaluator, which runs the optimized traces one after the
//! other: from an exit it goes on in the side trace there, if the slots have the tags that this one wants,
//! and from the end of a side trace in the loop. Machine code is made three times, as linked functions, as
//! one function, and as one of some of the traces with the others linked to it. It must agree in all numbers:
//! the exit, the frames, all slots of the host's frame, the iterations and what is added up.
//!
//! Trees grow where they are left: a side trace is made for the exit that the evaluator comes to, or for any
//! other.
//!
//! Invariant: whatever is found wrong comes back as a [`Failure`] with a trace file.
//!
//! Example of what it finds: `all passes: members [0, 1, 3], Variation { force: Some(5), .. }: frame 0 slot
//! 1: 3 vs 4`.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracelift_core::eval::{compare_frames, End, Evaluator, FrameState, Limits};
use tracelift_core::ir::EntrySlot;
use tracelift_core::slot_memory::SlotMemory;
use tracelift_core::snapshot::Source;
use tracelift_core::testgen::{generate_tree, tree_side, Rng, TreeCase};
use tracelift_core::text::{self, RunValue};
use tracelift_core::verify::{verify, Mode};
use tracelift_core::world::compare::Comparison;
use tracelift_core::world::{World, FRAME_SLOTS};
use tracelift_core::world_spec::SpecValue;
use tracelift_core::{Bits, ExitKind, Inst, LabelId, Op, Payload, Schema, Trace};
use tracelift_cranelift::Options;
use tracelift_opt::{optimize, Config, PASSES};

use super::check::Failure;
use super::crash;
use super::tree_machine::{Left, Part, TreeMachine, Variation};

/// Guard executions that are forced, for each form of the code.
const FORCED: u64 = 24;

/// Side traces of a tree at most.
const SIDES: u64 = 7;

/// Traces that a run comes through at most.
const MOST_STEPS: usize = 2_000;

/// What was seen, so that the tests can tell that trees are worth something.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Seen {
    pub runs: u64,
    /// Side traces that were entered, and those of side traces.
    pub sides: [u64; 2],
    /// Ways back to the loop.
    pub backs: u64,
    /// Where slots had other tags: at a side trace's entry, and at the loop's.
    pub refused: [u64; 2],
    /// Exits from side traces, and their ends, to the host.
    pub left_in_side: u64,
    pub ends: u64,
    /// Entries that were refused as the tree was to become one function.
    pub crossings: u64,
    pub unrolled: u64,
    /// Functions whose preamble has a second copy for those who come again.
    pub again: u64,
    pub peeled: u64,
    /// Trees whose first trace is no loop.
    pub linear: u64,
    /// Side traces that begin with virtual objects, and with stores that wait.
    pub rebuilt: u64,
    pub pending: u64,
    /// Side traces that went on in the loop's second body.
    pub bridges: u64,
    /// Runs with such ways that ended where they end without.
    pub bridges_compared: u64,
}

impl Seen {
    pub fn add(&mut self, other: &Seen) {
        self.runs += other.runs;
        (0..2).for_each(|at| self.sides[at] += other.sides[at]);
        (0..2).for_each(|at| self.refused[at] += other.refused[at]);
        self.backs += other.backs;
        self.left_in_side += other.left_in_side;
        self.ends += other.ends;
        self.crossings += other.crossings;
        self.unrolled += other.unrolled;
        self.again += other.again;
        self.peeled += other.peeled;
        self.linear += other.linear;
        self.rebuilt += other.rebuilt;
        self.pending += other.pending;
        self.bridges += other.bridges;
        self.bridges_compared += other.bridges_compared;
    }
}

/// Where a trace is entered: at its first label, or at another one.
#[derive(Clone, Copy, Debug)]
struct Entered {
    position: usize,
    label: Option<LabelId>,
}

/// Where the evaluator has come to, trace by trace.
#[derive(Clone, Debug)]
struct Walked {
    at: (usize, u32),
    base: i32,
    /// None where they are in memory.
    frames: Vec<FrameState>,
    /// Slots that an exit on the way would have written, and of which nothing was said since: they are dead.
    dead: BTreeSet<i32>,
    iterations: u64,
    replaced: u64,
    guards: u64,
    /// Entries of side traces, as far as they count.
    crossings: u64,
    is_due: bool,
    /// The recorded snapshot where it was left.
    origin: Option<u32>,
    seen: Seen,
}

/// Checks trees; one per thread.
pub struct TreeChecker {
    schema: Arc<Schema>,
    /// By quick code, by Cranelift, and with its own optimizations.
    machines: [TreeMachine; 3],
    pub seen: Seen,
}

impl TreeChecker {
    pub fn new(schema: &Arc<Schema>) -> TreeChecker {
        let options = [
            Options { quick: true, ..Options::default() },
            Options::default(),
            Options { optimize: true, ..Options::default() },
        ];
        TreeChecker { schema: schema.clone(), machines: options.map(TreeMachine::new), seen: Seen::default() }
    }

    /// Checks the trees of one seed.
    pub fn check(&mut self, seed: u64) -> Result<(), Box<Failure>> {
        crash::running(seed);
        let case = generate_tree(seed, &self.schema);
        let optional: Vec<&str> = PASSES.iter().filter(|pass| pass.optional).map(|pass| pass.name).collect();
        let without = format!("-{}", optional[seed as usize % optional.len()]);
        for name in ["", "-all", &without] {
            let worlds = [(); 2].map(|()| World::build(&case.spec, &self.schema));
            let mut rng = Rng::new(seed ^ name.len() as u64);
            let mut way = Way {
                schema: self.schema.clone(),
                case: &case,
                tree: Vec::new(),
                worlds,
                seen: Seen::default(),
            };
            let machine = &mut self.machines[[0, 1, 0, 2][seed as usize % 4]];
            let checked = way.grow(name, &mut rng).and_then(|()| way.all(machine, &mut rng));
            self.seen.add(&way.seen);
            if let Err(what) = checked {
                let name = if name.is_empty() { "all passes" } else { name };
                let (file, optimized) = way.texts();
                let what = format!("{name}: {what}");
                return Err(Box::new(Failure { seed, what, file, optimized }));
            }
        }
        Ok(())
    }
}

fn verified(trace: &Trace, schema: &Schema, mode: Mode) -> Result<(), String> {
    match verify(trace, schema, mode).first() {
        None => Ok(()),
        Some(error) => Err(format!("the verifier objects to {}: {error}", trace.name)),
    }
}

/// One form of a tree.
struct Way<'a> {
    schema: Arc<Schema>,
    case: &'a TreeCase,
    tree: Vec<Part>,
    /// Where the evaluator runs, and where machine code does.
    worlds: [World; 2],
    seen: Seen,
}

impl Way<'_> {
    /// Makes the loop, and side traces.
    fn grow(&mut self, passes: &str, rng: &mut Rng) -> Result<(), String> {
        let config = match passes {
            "" => Config::new(),
            passes => Config::parse(passes).map_err(|error| error.to_string())?,
        };
        let root = self.case.root.clone();
        let is_loop = root.insts.last().is_some_and(|last| last.op == Op::Jump);
        self.part(root, None, !is_loop, &config, rng)?;
        self.seen.linear += u64::from(!is_loop);
        self.seen.peeled += u64::from(self.tree[0].optimized.trace.labels.len() > 1);
        let sides = rng.range(1, SIDES);
        for _ in 0..40 {
            if self.tree.len() as u64 > sides {
                break;
            }
            let (parent, exit) = match rng.chance(70) {
                true => {
                    let whole: Vec<usize> = (0..self.tree.len()).collect();
                    self.walk(&whole, Variation::default())?.at
                }
                false => {
                    let parent = rng.below(self.tree.len() as u64) as usize;
                    let exits = self.tree[parent].optimized.trace.exits().count() as u64;
                    (parent, rng.below(exits.max(1)) as u32)
                }
            };
            if self.side_at((parent, exit)).is_some() {
                continue;
            }
            let goes_back = !self.is_over(parent, exit) && rng.chance(88);
            let trace = &self.tree[parent].optimized.trace;
            let made = tree_side(rng.bits(), trace, exit, goes_back, self.case, &self.schema);
            if let Some(side) = made {
                let first = side.snapshots.first();
                self.seen.rebuilt += u64::from(first.is_some_and(|snapshot| !snapshot.virtuals.is_empty()));
                self.seen.pending += u64::from(first.is_some_and(|snapshot| !snapshot.pending.is_empty()));
                self.part(side, Some((parent, exit)), goes_back, &config, rng)?;
            }
        }
        Ok(())
    }

    fn part(
        &mut self,
        recorded: Trace,
        parent: Option<(usize, u32)>,
        goes_back: bool,
        config: &Config,
        rng: &mut Rng,
    ) -> Result<(), String> {
        verified(&recorded, &self.schema, Mode::Recorded)?;
        let mut config = config.clone();
        config.second_body = parent.is_none();
        if let Some(root) = self.tree.first().filter(|_| goes_back) {
            config.bridge_to = root.optimized.target.clone().map(Arc::new);
        }
        let optimized = optimize(&recorded, &self.schema, &config).map_err(|error| error.to_string())?;
        verified(&optimized.trace, &self.schema, Mode::Expanded)?;
        let mut amount = |most: u64| if rng.chance(60) { rng.range(1, most) as u32 } else { 0 };
        let (entry, each, finish) = (amount(9), amount(99), amount(999));
        let is_loop = parent.is_none() && !goes_back;
        let amounts = if is_loop { [entry, each, 0] } else { [entry, 0, finish] };
        let is_linked = !is_loop && (goes_back || rng.chance(60));
        let edges_per_jump = rng.below(3) as u32;
        self.tree.push(Part { recorded, optimized, parent, goes_back, is_linked, edges_per_jump, amounts });
        Ok(())
    }

    /// Whether the loop is over at an exit: the way back would have no end.
    fn is_over(&self, position: usize, exit: u32) -> bool {
        let part = &self.tree[position];
        let kind = part.optimized.trace.exits().nth(exit as usize).map(|(_, inst)| inst.exit);
        kind == Some(ExitKind::LoopEnd)
            || part.parent.is_some_and(|(parent, exit)| self.is_over(parent, exit))
    }

    fn side_at(&self, at: (usize, u32)) -> Option<usize> {
        self.tree.iter().position(|part| part.parent == Some(at))
    }

    /// Runs the tree in the evaluator, trace by trace. The entries of side traces that are no members count
    /// as crossings.
    fn walk(&mut self, members: &[usize], variation: Variation) -> Result<Walked, String> {
        let world = &mut self.worlds[0];
        world.reset();
        world.set_allocations_left(variation.allocations_left);
        self.case.enter(world, &self.schema);
        let mut walked = Walked {
            at: (0, 0),
            base: 0,
            frames: Vec::new(),
            dead: BTreeSet::new(),
            iterations: 0,
            replaced: 0,
            guards: 0,
            crossings: 0,
            is_due: false,
            origin: None,
            seen: Seen { runs: 1, ..Seen::default() },
        };
        let mut inputs = self.inputs(0, &[]).ok_or_else(|| "the loop refuses its first state".to_string())?;
        walked.replaced += u64::from(self.tree[0].amounts[0]);
        let mut place = Entered { position: 0, label: None };
        for _ in 0..MOST_STEPS {
            let Some((next, given)) = self.step(place, &inputs, members, variation, &mut walked)? else {
                return Ok(walked);
            };
            walked.replaced += u64::from(self.tree[next.position].amounts[0]);
            (place, inputs) = (next, given);
        }
        Err("it never ends".into())
    }

    /// Runs one trace; where the program goes on, and with which inputs.
    fn step(
        &mut self,
        Entered { position, label }: Entered,
        inputs: &[Bits],
        members: &[usize],
        variation: Variation,
        walked: &mut Walked,
    ) -> Result<Option<(Entered, Vec<Bits>)>, String> {
        let Part { optimized, goes_back, is_linked, edges_per_jump, amounts, .. } = &self.tree[position];
        let (goes_back, is_linked, trace) = (*goes_back, *is_linked, &optimized.trace);
        let force_guard = variation.force.and_then(|force| force.checked_sub(walked.guards));
        let limits = Limits { steps: 100_000, iterations: 100, force_guard, ..Limits::default() };
        let mut evaluator = Evaluator::new(trace, &self.schema);
        if let Some(label) = label {
            evaluator = evaluator.starting_at(label);
        }
        // Both are one function.
        let is_member = members.len() > 1 && members.contains(&position);
        let may_enter = is_member && leaves_alone(&self.tree[0].optimized.trace, &self.schema);
        let entering = optimized.loops.entering.as_ref().filter(|_| may_enter);
        if let Some(entering) = entering {
            evaluator = evaluator.going_on(entering);
        }
        let outcome = evaluator.run(&mut self.worlds[0], inputs, limits);
        let outcome = outcome.map_err(|error| format!("{}: {error}", trace.name))?;
        walked.guards += outcome.guards_executed;
        walked.iterations += outcome.iteration * u64::from(1 + edges_per_jump);
        walked.replaced += outcome.iteration * u64::from(amounts[1]);
        if let (End::Enters(values), Some(entering)) = (&outcome.end, entering) {
            let at = trace.insts.iter().find(|inst| inst.op == Op::EnterLoop);
            let edges = at.and_then(|inst| trace.snapshot_of(inst)).map_or(0, |snapshot| snapshot.edges);
            walked.iterations += u64::from(edges);
            walked.replaced += u64::from(amounts[2]);
            walked.dead.extend(&entering.carried);
            walked.seen.bridges += 1;
            write_slots(&mut self.worlds[0], &self.schema, &outcome.frames);
            let label = self.tree[0].optimized.loops.second;
            return Ok(Some((Entered { position: 0, label }, values.clone())));
        }
        let exit = match outcome.end {
            End::Exit { number, .. } => number,
            End::Finish(_) => trace.exits().count() as u32 - 1,
            end => return Err(format!("{}: {end:?}", trace.name)),
        };
        let (_, inst) = trace.exits().nth(exit as usize).ok_or("an exit that is none")?;
        walked.iterations += u64::from(trace.snapshot_of(inst).map_or(0, |snapshot| snapshot.edges));
        (walked.at, walked.base, walked.frames) = ((position, exit), 0, outcome.frames);
        walked.origin = outcome.origin;
        let slots = || trace.snapshot_of(inst).into_iter().flat_map(|snapshot| snapshot.slots());
        walked.dead.retain(|&dead| slots().all(|(slot, _)| slot != dead));
        if matches!(outcome.end, End::Exit { .. }) {
            walked.seen.left_in_side += u64::from(position > 0);
            let Some(side) = self.side_at((position, exit)) else { return Ok(None) };
            let Some(inputs) = self.inputs(side, &outcome.live) else {
                walked.seen.refused[0] += 1;
                return Ok(None);
            };
            walked.crossings += u64::from(!members.contains(&side));
            if !members.contains(&side) && variation.crossing == Some(walked.crossings) {
                (walked.is_due, walked.seen.crossings) = (true, 1);
                return Ok(None);
            }
            let written = slots().filter(|(_, held)| held.source != Source::InPlace);
            walked.dead.extend(written.map(|(slot, _)| slot));
            walked.seen.sides[usize::from(position > 0)] += 1;
            walked.seen.left_in_side -= u64::from(position > 0);
            return Ok(Some((Entered { position: side, label: None }, inputs)));
        }
        walked.replaced += u64::from(amounts[2]);
        if is_linked {
            walked.base = trace.last_frame(inst);
            let frames = std::mem::take(&mut walked.frames);
            write_slots(&mut self.worlds[0], &self.schema, &frames);
        }
        let next = self.inputs(0, &[]).filter(|_| goes_back);
        match next.is_some() {
            true => walked.seen.backs += 1,
            false if goes_back => walked.seen.refused[1] += 1,
            false => walked.seen.ends += 1,
        }
        Ok(next.map(|inputs| (Entered { position: 0, label: None }, inputs)))
    }

    /// The inputs of a trace that is entered now, if the slots have the tags that it wants.
    fn inputs(&self, position: usize, live: &[Bits]) -> Option<Vec<Bits>> {
        let (trace, world) = (&self.tree[position].optimized.trace, &self.worlds[0]);
        let layout = self.schema.slots();
        let at = |slot: &EntrySlot| {
            let distance = i64::from(slot.slot) * i64::from(layout.stride);
            world.frame_base().wrapping_add(distance as u64)
        };
        let fits = |slot: &EntrySlot| {
            let Some((part, width)) = layout.tag else { return true };
            let mask = u64::MAX >> (64 - u32::from(width) * 8);
            world.read(at(slot) + u64::from(part), width) == Some(self.schema.tag(slot.tag).bits & mask)
        };
        if !trace.entry.iter().chain(&trace.entry_tags).all(fits) {
            return None;
        }
        let load = |slot: &EntrySlot| world.read(at(slot) + u64::from(layout.payload), 8);
        let slots = trace.entry.iter().chain(&trace.entry_known).map(load);
        let cells = trace.entry_cells.iter().map(|&cell| live.get(cell as usize).copied());
        slots.chain(cells).collect()
    }

    /// Compiles the tree in each form, and compares.
    fn all(&mut self, machine: &mut TreeMachine, rng: &mut Rng) -> Result<(), String> {
        let whole: Vec<usize> = (0..self.tree.len()).collect();
        let mut some: Vec<usize> = vec![0];
        for position in 1..self.tree.len() {
            let is_attached = self.tree[position].parent.is_some_and(|(parent, _)| some.contains(&parent));
            if is_attached && rng.chance(60) {
                some.push(position);
            }
        }
        self.bridges_agree(&whole)?;
        for members in [&[0][..], &whole, &some] {
            let told = |what: String| format!("members {members:?}: {what}");
            let code = machine.compile(&self.tree, members, &self.schema, &self.worlds[1]).map_err(told)?;
            self.seen.unrolled += code.unrolled as u64;
            self.seen.again += code.again as u64;
            let free = self.walk(members, Variation::default())?;
            for variation in variations(&free, rng) {
                let told =
                    |what: &dyn std::fmt::Display| format!("members {members:?}, {variation:?}: {what}");
                let expected = self.walk(members, variation).map_err(|what| told(&what))?;
                let world = &mut self.worlds[1];
                world.reset();
                world.set_allocations_left(variation.allocations_left);
                let left = machine.run(&code, &self.tree, self.case, world, variation);
                let left = left.map_err(|what| told(&what))?;
                self.compare(&expected, &left).map_err(|what| told(&what))?;
                self.seen.add(&expected.seen);
            }
            machine.free(&code);
        }
        Ok(())
    }

    /// Where side traces go on in the loop's second body the program does the same as where they go back to
    /// its first label. Both ways are left at exits of their own, which lead elsewhere: what can be compared
    /// are runs that end in the same iteration at the same place.
    fn bridges_agree(&mut self, whole: &[usize]) -> Result<(), String> {
        let bridged = self.walk(whole, Variation::default())?;
        if bridged.seen.bridges == 0 {
            return Ok(());
        }
        self.worlds.swap(0, 1);
        let plain = self.walk(&[], Variation::default());
        self.worlds.swap(0, 1);
        let plain = plain?;
        let place = |walked: &Walked| (walked.at.0, walked.origin, walked.iterations);
        if place(&bridged) != place(&plain) {
            return Ok(());
        }
        self.seen.bridges_compared += 1;
        let dead: BTreeSet<i32> = bridged.dead.union(&plain.dead).copied().collect();
        for (world, frames) in self.worlds.iter_mut().zip([&bridged.frames, &plain.frames]) {
            write_slots(world, &self.schema, frames);
            clear_unseen(world, &self.schema, &dead);
        }
        let [one, other] = &self.worlds;
        let compared = Comparison::new(one, other).and_then(|walk| walk.finish());
        compared.map_err(|difference| format!("by the second body, at {:?}: {difference}", bridged.at))
    }

    /// Compares what machine code has left behind with the evaluator.
    fn compare(&mut self, expected: &Walked, left: &Left) -> Result<(), String> {
        let found = (left.at, left.base, left.iterations, left.replaced, left.is_due);
        let wanted = (expected.at, expected.base, expected.iterations, expected.replaced, expected.is_due);
        if found != wanted {
            return Err(format!("(exit, base, iterations, replaced, due) {wanted:?} vs {found:?}"));
        }
        // What the exit writes need not be in memory before.
        for (world, frames) in self.worlds.iter_mut().zip([&expected.frames, &left.frames]) {
            write_slots(world, &self.schema, frames);
            clear_unseen(world, &self.schema, &expected.dead);
        }
        let [evaluated, real] = &self.worlds;
        let compared = Comparison::new(evaluated, real).and_then(|mut walk| {
            compare_frames(&mut walk, &self.schema, &expected.frames, &left.frames)?;
            walk.finish()
        });
        compared.map_err(|difference| format!("left at {:?}: {difference}", expected.at))
    }

    /// The recorded tree as a trace file, and the optimized traces.
    fn texts(&self) -> (String, String) {
        let funcs = self.schema.funcs().iter().enumerate();
        let natives = funcs.map(|(at, func)| (tracelift_core::schema::FuncId(at as u32), func.name.clone()));
        let root = &self.case.root;
        let value = |(slot, &input): (&EntrySlot, &tracelift_core::Value)| match self.case.slots
            [slot.slot as usize]
            .1
        {
            SpecValue::Object(number) => RunValue::Object(number),
            SpecValue::Bits(bits) => RunValue::Bits(root.ty(input), bits),
            SpecValue::Nothing => RunValue::Any,
        };
        let inputs = root.entry.iter().zip(root.inputs()).map(value).collect();
        let file = text::TraceFile {
            schema: (*self.schema).clone(),
            world: self.case.spec.clone(),
            traces: self.tree.iter().map(|part| part.recorded.clone()).collect(),
            runs: vec![text::Run { line: 0, trace: 0, inputs, outcome: text::Outcome::Any }],
            natives: natives.collect(),
            ..text::TraceFile::default()
        };
        let mut places = format!("# slots: {:?}\n", self.case.slots);
        let mut optimized = String::new();
        for (position, part) in self.tree.iter().enumerate() {
            let Part { parent, goes_back, is_linked, edges_per_jump, amounts, .. } = part;
            places += &format!(
                "# trace {position}: at {parent:?}, back {goes_back}, linked {is_linked}, \
                 edges {edges_per_jump}, amounts {amounts:?}\n"
            );
            optimized += &text::print_trace_in(&part.optimized.trace, &self.schema, &self.case.spec);
            optimized.push('\n');
        }
        (places + &text::print_file(&file), optimized)
    }
}

/// Whether a loop writes slots in memory where it is left, and nowhere else: no other one is entered by its
/// second body.
fn leaves_alone(trace: &Trace, schema: &Schema) -> bool {
    let calls = |inst: &Inst| matches!(inst.payload, Payload::Func(_) | Payload::Unit { .. });
    let Some(mut memory) = SlotMemory::of_places(schema) else { return !trace.insts.iter().any(calls) };
    trace.insts.iter().all(|inst| {
        let is_lost = calls(inst) && (memory.is_lost_by(inst) || inst.effects(schema).leaves);
        let is_written = memory.access(inst).is_some_and(|(_, stored)| stored.is_some());
        memory.step(trace, inst);
        !is_lost && !is_written
    })
}

/// Guards to force, entries to refuse, and allocations to fail.
fn variations(free: &Walked, rng: &mut Rng) -> Vec<Variation> {
    let some = |count: u64, most: u64, rng: &mut Rng| -> Vec<u64> {
        let number = |at: u64, rng: &mut Rng| if count <= most { at + 1 } else { rng.range(1, count) };
        (0..count.min(most)).map(|at| number(at, rng)).collect()
    };
    let plain = Variation::default();
    let mut all = vec![plain];
    all.extend(some(free.guards, FORCED, rng).into_iter().map(|n| Variation { force: Some(n), ..plain }));
    all.extend(some(free.crossings, 4, rng).into_iter().map(|n| Variation { crossing: Some(n), ..plain }));
    all.extend((0..2).map(|left| Variation { allocations_left: Some(left), ..plain }));
    all
}

/// Writes slots as the end of a linked trace does, or as the host does after an exit.
fn write_slots(world: &mut World, schema: &Schema, frames: &[FrameState]) {
    let layout = schema.slots();
    for (base, slot) in frames.iter().flat_map(|frame| frame.slots.iter().map(|slot| (frame.base, slot))) {
        let at = slot_address(world, schema, base + slot.slot);
        if let Some(bits) = slot.bits {
            world.write(at + u64::from(layout.payload), 8, bits).expect("a slot of the world's frame");
        }
        if let Some((part, width)) = layout.tag {
            let tag = schema.tag(slot.tag).bits;
            world.write(at + u64::from(part), width, tag).expect("a slot of the world's frame");
        }
    }
}

/// Clears what nobody sees: slots that are dead, and payloads where the tag says all.
fn clear_unseen(world: &mut World, schema: &Schema, dead: &BTreeSet<i32>) {
    let layout = schema.slots();
    let (part, width) = layout.tag.unwrap_or((0, 8));
    let mask = u64::MAX >> (64 - u32::from(width) * 8);
    for slot in 0..FRAME_SLOTS as i32 {
        let at = slot_address(world, schema, slot);
        let is_dead = dead.contains(&slot);
        if is_dead {
            world.write(at + u64::from(part), width, 0).expect("a slot of the world's frame");
        }
        let found = world.read(at + u64::from(part), width).filter(|_| layout.tag.is_some());
        let mut all = schema.tags().iter().filter(|tag| tag.payload.is_none());
        if is_dead || found.is_some_and(|found| all.any(|tag| (tag.bits ^ found) & mask == 0)) {
            world.write(at + u64::from(layout.payload), 8, 0).expect("a slot of the world's frame");
        }
    }
}

fn slot_address(world: &World, schema: &Schema, slot: i32) -> u64 {
    let distance = i64::from(slot) * i64::from(schema.slots().stride);
    world.frame_base().wrapping_add(distance as u64)
}
