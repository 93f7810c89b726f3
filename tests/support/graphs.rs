//! One random region, run every way there is.
//!
//! Problem: a pass over a graph may lose an iteration, exchange two values, or show another state at an exit;
//! code may take the wrong way. Design: the evaluator on the region as it was made is the reference. The
//! region is peeled, cleaned up, and both, and each form is run in the evaluator and as machine code, by both
//! code generators; to its end, and with each guard made to fail. A form that was peeled passes fewer
//! safepoints: what it shows at exits, in their order, must be a part of what the reference shows.
//!
//! Invariant: each form verifies, and its text says what it is.
//!
//! Example: a resolver that exchanges two arguments shows in the results of the first region with a peeled
//! loop.

use std::sync::Arc;

use tracelift_core::eval::{End, Evaluator, FrameState, Limits, Outcome};
use tracelift_core::testgen::{generate_region, Case};
use tracelift_core::text::{parse_trace, print_trace};
use tracelift_core::verify::{verify, Mode};
use tracelift_core::world::World;
use tracelift_core::{ExitKind, Op, Schema, Trace};
use tracelift_cranelift::Options;
use tracelift_opt::region::{optimize_region, ready};
use tracelift_opt::Config;

use super::check::Failure;
use super::crash;
use super::machine::{Guards, Left, Machine};

/// Guards that are made to fail, at most.
const FORCED: u64 = 40;

/// What was met.
#[derive(Clone, Copy, Default, Debug)]
pub struct GraphsSeen {
    pub peeled: u64,
    /// Loops refused, in the order of `region::Refusal`.
    pub refused: [u64; 6],
    /// Safepoints that peeled regions passed fewer than others.
    pub safepoints_left_out: u64,
    /// Exits forced in the evaluator, and in machine code.
    pub exits: [u64; 2],
    /// Instructions executed by regions as they were made, and after all passes.
    pub executed: [u64; 2],
}

impl GraphsSeen {
    pub fn add(&mut self, other: &GraphsSeen) {
        self.peeled += other.peeled;
        self.safepoints_left_out += other.safepoints_left_out;
        let sum = |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        sum(&mut self.refused, &other.refused);
        sum(&mut self.exits, &other.exits);
        sum(&mut self.executed, &other.executed);
    }
}

/// The state at an exit.
type Shown = (ExitKind, Option<u32>, Vec<FrameState>);

/// Checks regions; one per thread.
pub struct GraphChecker {
    schema: Arc<Schema>,
    /// By quick code, and by Cranelift.
    machines: [Machine; 2],
    pub seen: GraphsSeen,
}

impl GraphChecker {
    pub fn new(schema: &Arc<Schema>) -> GraphChecker {
        let options = [Options { quick: true, ..Options::default() }, Options::default()];
        GraphChecker {
            schema: schema.clone(),
            machines: options.map(Machine::new),
            seen: GraphsSeen::default(),
        }
    }

    /// Checks the region of one seed.
    pub fn check(&mut self, seed: u64) -> Result<(), Box<Failure>> {
        crash::running(seed);
        let case = generate_region(seed, &self.schema);
        let mut last = String::new();
        self.check_case(&case, &mut last).map_err(|what| {
            let file = print_trace(&case.trace, &self.schema);
            Box::new(Failure { seed, what, file, optimized: last })
        })
    }

    fn check_case(&mut self, case: &Case, last: &mut String) -> Result<(), String> {
        let (end, wanted) = self.run(case, &case.trace)?;
        let as_made = self.run_machines(case, &case.trace, (&end, &wanted));
        as_made.map_err(|what| format!("as it was made: {what}"))?;
        for passes in ["-all,+peel", "-all,+dce", ""] {
            let config = Config::parse(passes).expect("passes that exist");
            let (region, report) = optimize_region(&case.trace, &self.schema, &config);
            *last = print_trace(&region, &self.schema);
            let in_form = |what: String| format!("{passes:?}: {what}");
            let (left, shown) = self.run(case, &region).map_err(in_form)?;
            if !ends_alike(&left, &end) {
                return Err(in_form(format!("ends as {:?}, not as {:?}", left.end, end.end)));
            }
            is_part(&shown, &wanted, report.peeled() > 0).map_err(in_form)?;
            self.run_machines(case, &region, (&left, &shown)).map_err(in_form)?;
            if passes.is_empty() {
                self.seen.safepoints_left_out += (wanted.len() - shown.len()) as u64;
                let executed = |outcome: &Outcome| outcome.op_counts.iter().sum::<u64>();
                self.seen.executed[0] += executed(&end);
                self.seen.executed[1] += executed(&left);
                self.seen.peeled += report.peeled() as u64;
                for refusal in report.loops.iter().filter_map(|one| one.refusal) {
                    self.seen.refused[refusal as usize] += 1;
                }
            }
        }
        Ok(())
    }

    /// Verifies a region, and runs it in the evaluator: how it ends, and what it shows at each exit.
    fn run(&mut self, case: &Case, region: &Trace) -> Result<(Outcome, Vec<Shown>), String> {
        if let Some(error) = verify(region, &self.schema, Mode::Region).first() {
            return Err(format!("the verifier objects: {error}"));
        }
        let text = print_trace(region, &self.schema);
        let again = parse_trace(&text, &self.schema).map_err(|error| format!("its text: {error}"))?;
        if print_trace(&again, &self.schema) != text {
            return Err("its text is another one when it is read again".into());
        }
        let mut world = World::build(&case.spec, &self.schema);
        let mut run = |force_guard| {
            world.reset();
            let inputs = case.enter(&mut world);
            let limits = Limits { force_guard, ..Limits::default() };
            let outcome = Evaluator::new(region, &self.schema).run(&mut world, &inputs, limits);
            outcome.map_err(|error| format!("the evaluator: {error}"))
        };
        let end = run(None)?;
        if end.end == End::OutOfFuel {
            return Err("it does not end".into());
        }
        let mut shown = Vec::new();
        for guard in 1..=end.guards_executed.min(FORCED) {
            let outcome = run(Some(guard))?;
            let End::Exit { kind, .. } = outcome.end else {
                return Err(format!("guard {guard} does not leave"));
            };
            shown.push((kind, outcome.origin, outcome.frames));
        }
        self.seen.exits[0] += shown.len() as u64;
        Ok((end, shown))
    }

    /// The same as machine code.
    fn run_machines(
        &mut self,
        case: &Case,
        region: &Trace,
        (end, wanted): (&Outcome, &[Shown]),
    ) -> Result<(), String> {
        for (machine, name) in self.machines.iter_mut().zip(["quick code", "Cranelift"]) {
            let optimized = ready(region.clone(), &self.schema);
            let mut world = World::build(&case.spec, &self.schema);
            let wrong = |what: &dyn std::fmt::Display| format!("{name}: {what}");
            let code =
                machine.compile(&optimized, &self.schema, &world, Guards::Counted).map_err(|e| wrong(&e))?;
            for guard in 0..=wanted.len() as u64 {
                world.reset();
                let left = machine.run(&code, case, &mut world, (guard > 0).then_some(guard));
                let left = left.map_err(|error| wrong(&error))?;
                let (_, inst) = region.exits().nth(left.exit as usize).ok_or_else(|| wrong(&"no exit"))?;
                let is_right = match (guard, &end.end) {
                    (0, End::Finish(results)) => inst.op == Op::Finish && left.lifted.results == *results,
                    (0, End::Exit { number, .. }) => left.exit == *number && left.lifted.frames == end.frames,
                    (0, _) => false,
                    _ => {
                        let shown = (inst.exit, left.lifted.origin, left.lifted.frames.clone());
                        self.seen.exits[1] += 1;
                        inst.op.is_guard() && shown == wanted[guard as usize - 1]
                    }
                };
                if !is_right {
                    let Left { exit, lifted, .. } = left;
                    return Err(wrong(&format!(
                        "guard {guard} forced: exit {exit}, results {:?}, frames {:?}; evaluator: {:?}, {:?}",
                        lifted.results,
                        lifted.frames,
                        end.end,
                        wanted.get((guard as usize).wrapping_sub(1))
                    )));
                }
            }
            machine.free(code);
        }
        Ok(())
    }
}

/// Whether two forms end in the same way; they number their exits differently.
fn ends_alike(one: &Outcome, other: &Outcome) -> bool {
    let same_state = one.origin == other.origin && one.frames == other.frames;
    match (&one.end, &other.end) {
        (End::Exit { kind, .. }, End::Exit { kind: wanted, .. }) => kind == wanted && same_state,
        (end, wanted) => end == wanted,
    }
}

/// Whether exits show a part of what is wanted, in its order; all of it, unless safepoints may be left out.
fn is_part(shown: &[Shown], wanted: &[Shown], is_peeled: bool) -> Result<(), String> {
    let mut rest = wanted.iter();
    for (number, state) in shown.iter().enumerate() {
        let is_there = loop {
            match rest.next() {
                Some(next) if next == state => break true,
                Some((kind, ..)) if is_peeled && *kind == ExitKind::Interrupt => {}
                // The reference was not forced any further.
                None if wanted.len() as u64 == FORCED => return Ok(()),
                _ => break false,
            }
        };
        if !is_there {
            return Err(format!("guard {} shows what no other does: {state:?}", number + 1));
        }
    }
    let is_left_out = |(kind, ..): &Shown| is_peeled && *kind == ExitKind::Interrupt;
    match rest.find(|state| !is_left_out(state)).filter(|_| (wanted.len() as u64) < FORCED) {
        Some(state) => Err(format!("a guard is missing: {state:?}")),
        None => Ok(()),
    }
}
