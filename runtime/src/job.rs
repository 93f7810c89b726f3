//! Compiling as a function: owned data goes in, owned data comes out.
//!
//! Problem: compiling takes milliseconds, and what it needs lies all over the VM, which belongs to the host's
//! thread. Design: a [`Job`] has all of it by value, the schema as one more owner of what nobody changes.
//! [`compile`] stands on nothing but a job and a code generator, one stage after the other, each of which may
//! say no, with a net below our own panics. What comes out waits to be published (`publish.rs`), also where
//! it is no code: there may be something to tell. Who does the job, on which thread, is for `background.rs`.
//! Invariant: jobs and what comes of them may be sent to another thread; a job reads neither the VM nor the
//! host's memory: addresses in it are only copied into code.
//!
//! ```text
//! Vm::job -> Job -> compile: verify, optimize, verify, generate -> Done -> Vm::publish -> trace 3
//! ```

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Instant;

use tracelift_core::ir::EntrySlot;
use tracelift_core::schema::FuncEffects;
use tracelift_core::{text, verify, Inst, Op, Payload, Schema, Trace};
use tracelift_cranelift::{CompileError, Compiled, Compiler, Links, Member, Request};
use tracelift_opt::{BridgeTarget, OpCounts, Optimized, ResumeTable};

use crate::abort::AbortReason;
use crate::backend::EXIT_BUFFER_CELLS;
use crate::ids::{ExitPoint, TraceId};
use crate::policy::Work;
use crate::recorder::work_of;
use crate::reserve::WorstCase;
use crate::run::Room;
use crate::stats::GroupedOps;
use crate::tree::{Member as Source, Tree};
use crate::tunables::{MERGED_OPS, MOST_MERGED_OPS};

/// Why there is no code: the reason and a sentence.
pub(crate) type NoCode = (AbortReason, String);

/// A recorded trace and all that making code of it needs.
pub(crate) struct Job {
    /// The number that the code will return.
    pub number: TraceId,
    /// What the trace is called.
    pub title: String,
    pub recorded: Trace,
    /// What the exits need of the host's stack.
    pub needs: Room,
    pub tree: Tree,
    pub schema: Arc<Schema>,
    pub opt: tracelift_opt::Config,
    /// Cells that the code reads and writes; they live as long as the VM. Its links are made with the code.
    pub request: Request,
    pub extras: Extras,
    /// In a trace of a unit: the unit, as it is so far.
    pub unit: Option<UnitSoFar>,
    /// In a side trace that goes on in a loop with a second body: that loop's trace.
    pub enters: Option<TraceId>,
    /// Taken back where nobody would come to the code any more: what is left to do is not done.
    pub wanted: Wanted,
}

/// A wish that may be taken back, by another thread too.
#[derive(Clone, Default)]
pub(crate) struct Wanted(Arc<AtomicBool>);

impl Wanted {
    /// What it stands for need not be made.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn check(&self) -> Result<(), NoCode> {
        match self.is_cancelled() {
            false => Ok(()),
            true => Err((AbortReason::Abandoned, "its function is gone".into())),
        }
    }
}

/// What is made and checked on demand only.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Extras {
    /// Traces are verified before and after optimization.
    pub verify: bool,
    /// Operations of an iteration are counted, by groups.
    pub count_operations: bool,
    /// The optimized trace as text.
    pub optimized: bool,
    /// Its resume data as text.
    pub resume: bool,
}

/// What a job has led to.
pub(crate) struct Done {
    pub number: TraceId,
    /// The recorded trace's name.
    pub name: String,
    /// What it is called.
    pub title: String,
    pub told: Told,
    pub result: Result<Box<Product>, NoCode>,
}

/// What there is to tell of a job: how far it came can be seen in it.
#[derive(Default)]
pub(crate) struct Told {
    pub optimize_us: u64,
    /// Facts of memory that the optimizer has given up for want of room.
    pub places_forgotten: u64,
    /// Rewrites, by name.
    pub rules: BTreeMap<&'static str, u64>,
    /// The optimized trace, if asked for.
    pub optimized: Option<String>,
    /// Its resume data, if asked for.
    pub resume: Option<String>,
}

/// Code that can be published, with what belongs to it. So many fields: all that a trace is when it has code.
pub(crate) struct Product {
    pub compiled: Compiled,
    /// A cell for each exit, whose addresses are in the code. What they lead to is for who publishes it.
    pub links: Box<[u64]>,
    /// Where slots of other types than it expects lead.
    pub other: Box<u64>,
    pub needs: Room,
    pub tree: Tree,
    pub entry: Vec<EntrySlot>,
    pub resume: ResumeTable,
    /// How much of the trace is over at each exit, from 0 to 1; in a peeled one: of an iteration.
    pub progress: Vec<f32>,
    /// The constants of `resume`, as bits.
    pub pool: Vec<u64>,
    pub worst: WorstCase,
    /// Operations recorded, and left after optimization.
    pub ops: (u64, u64),
    /// What the processor does in an iteration of the code, or in all of it.
    pub work: Work,
    /// What an iteration consists of, if asked for.
    pub operations: Option<GroupedOps>,
    /// What the code was made of: it may be made again, together with that of others.
    pub source: Arc<Source>,
    /// In a trace of a unit: whether the code is that of all traces of the unit.
    pub is_merged: Option<bool>,
    /// In a loop with a second body: what it takes to go on there.
    pub target: Option<Arc<BridgeTarget>>,
}

/// A function that only types which may change threads pass.
const fn assert_send<T: Send>() {}
const _: () = assert_send::<Job>();
const _: () = assert_send::<Done>();
const _: () = assert_send::<Compiler>();

/// Makes the code of a trace.
pub(crate) fn compile(job: Job, compiler: &mut Compiler) -> Done {
    let mut told = Told::default();
    let (number, name, title) = (job.number, job.recorded.name.clone(), job.title.clone());
    let result = make(job, compiler, &mut told);
    Done { number, name, title, told, result }
}

fn make(job: Job, compiler: &mut Compiler, told: &mut Told) -> Result<Box<Product>, NoCode> {
    let Job { number, recorded, needs, tree, ref schema, ref opt, request, extras, ref unit, enters, .. } =
        job;
    job.wanted.check()?;
    if extras.verify {
        check(&recorded, schema, verify::Mode::Recorded)?;
    }
    let start = Instant::now();
    let mut optimized = optimize(&recorded, schema, opt)?;
    told.optimize_us = start.elapsed().as_micros() as u64;
    told.places_forgotten = optimized.report.given_up;
    told.rules = std::mem::take(&mut optimized.report.rules);
    told.optimized = extras.optimized.then(|| text::print_trace(&optimized.trace, schema));
    if extras.verify {
        check(&optimized.trace, schema, verify::Mode::Expanded)?;
    }
    if !can_be_left(&optimized.trace, schema) {
        let sentence = "no guard is left in the loop: record a test for interrupts (TL_EXIT_INTERRUPT)";
        return Err((AbortReason::Endless, sentence.into()));
    }
    told.resume = extras.resume.then(|| describe_resume(&optimized.resume, schema));
    let operations = match extras.count_operations {
        true => count_operations(&recorded, &optimized, schema)?,
        false => None,
    };
    let Optimized { trace, resume, loops, target, .. } = optimized;
    let loops = loops.expect(tree.to_come);
    let worst = WorstCase::of(&trace);
    let Some(pool) = resume.pool_bits() else {
        return Err((AbortReason::Internal, "resume data names an object of a test world".into()));
    };
    let links = vec![0; resume.exits.len()].into_boxed_slice();
    let other = Box::new(0);
    let is_side = tree.parent.is_some() && tree.unit.is_none();
    let request = request.know_loops(loops).link(Links {
        cells: links.as_ptr(),
        finish_writes_slots: tree.link.is_some(),
        edges_per_jump: tree.edges,
        other: if is_side { &raw const *other } else { null() },
    });
    let work_of_code = work_of_loop(&trace);
    let (progress, ops_left) = (progress_of(&trace, &resume), trace.op_count() as u64);
    job.wanted.check()?;
    let source = Arc::new(Source { number, trace, request, parent: tree.parent, enters });
    let is_merged = unit.as_ref().map(|unit| unit.merges(source.trace.op_count()));
    let compiled = match unit.as_ref().filter(|_| is_merged == Some(true)) {
        Some(unit) => generate_unit(compiler, &unit.members, &source, schema)?,
        None => generate(compiler, &[alone(&source)], schema)?,
    };
    Ok(Box::new(Product {
        compiled,
        links,
        other,
        needs,
        entry: recorded.entry.iter().chain(&recorded.entry_tags).copied().collect(),
        ops: (recorded.op_count() as u64, ops_left),
        work: work_of_code,
        progress,
        source,
        is_merged,
        target: target.map(Arc::new),
        tree,
        resume,
        pool,
        worst,
        operations,
    }))
}

/// How much of a trace is over at each exit; in a peeled one: of an iteration. Exits of several kinds may go
/// on at one place. Then the first of them counts for all, as the host does the same work again after each.
fn progress_of(trace: &Trace, resume: &ResumeTable) -> Vec<f32> {
    let is_label = |&at: &usize| trace.insts[at].op == Op::Label;
    let labels: Vec<usize> = (0..trace.insts.len()).filter(is_label).collect();
    let progress = |index: usize| {
        let next = labels.partition_point(|&label| label <= index);
        let begin = next.checked_sub(1).map_or(0, |part| labels[part]);
        let end = labels.get(next).copied().unwrap_or(trace.insts.len());
        (index - begin) as f32 / (end - begin) as f32
    };
    let mut place = (None, 0);
    let first_there = |inst: usize| {
        let snap = trace.insts[inst].snap;
        if snap.is_none() || place.0 != snap {
            place = (snap, inst);
        }
        place.1
    };
    resume.exits.iter().map(|exit| exit.inst as usize).map(first_there).map(progress).collect()
}

fn optimize(recorded: &Trace, schema: &Schema, config: &tracelift_opt::Config) -> Result<Optimized, NoCode> {
    let run = AssertUnwindSafe(|| tracelift_opt::optimize(recorded, schema, config));
    match catch_unwind(run) {
        Ok(Ok(optimized)) => Ok(optimized),
        Ok(Err(error)) => Err((AbortReason::Misuse, error.to_string())),
        Err(_) => Err((AbortReason::Internal, "the optimizer panicked".into())),
    }
}

/// The machine code of a trace, not yet in executable memory.
fn generate(compiler: &mut Compiler, members: &[Member<'_>], schema: &Schema) -> Result<Compiled, NoCode> {
    let compiled = match catch_unwind(AssertUnwindSafe(|| compiler.compile_tree(members, schema))) {
        Ok(Ok(compiled)) => compiled,
        Ok(Err(error @ CompileError::UnknownFunction { .. })) => {
            return Err((AbortReason::UnknownFunction, error.to_string()));
        }
        Ok(Err(error)) => return Err((AbortReason::Internal, error.to_string())),
        Err(_) => return Err((AbortReason::Internal, "the code generator panicked".into())),
    };
    if compiled.buffer_cells > EXIT_BUFFER_CELLS {
        return Err((AbortReason::TooManyOps, "an exit has too many live values".into()));
    }
    Ok(compiled)
}

/// A unit that is about to grow.
pub(crate) struct UnitSoFar {
    pub members: Vec<Arc<Source>>,
    pub merged: usize,
}

impl UnitSoFar {
    /// Whether one more trace of so many operations is compiled together with all others: always as long as
    /// the unit is small, and then when it is twice as large as the last time, so that the work is linear in
    /// what is compiled.
    fn merges(&self, ops: usize) -> bool {
        let all: usize = self.members.iter().map(|member| member.trace.op_count()).sum();
        let all = (all + ops) as u64;
        all <= MERGED_OPS || all <= MOST_MERGED_OPS && self.members.len() + 1 >= 2 * self.merged
    }
}

/// A trace that is a function of its own.
fn alone(source: &Source) -> Member<'_> {
    Member::alone(&source.trace, &source.request)
}

/// The code of all traces of a unit.
fn generate_unit(
    compiler: &mut Compiler,
    members: &[Arc<Source>],
    new: &Source,
    schema: &Schema,
) -> Result<Compiled, NoCode> {
    let all = members.iter().map(|member| &**member).chain([new]);
    let all: Vec<Placed<'_>> = all.map(|source| Placed { source, goes_to: None, frame: 0 }).collect();
    generate_tree(compiler, &all, schema)
}

/// A trace of several that become one function.
pub(crate) struct Placed<'a> {
    pub source: &'a Source,
    /// The position of the one, without a parent, in which it goes on.
    pub goes_to: Option<usize>,
    /// Where its frame is, in slots from the first one's.
    pub frame: i32,
}

/// The code of traces as one function, which is entered where the first one begins.
pub(crate) fn generate_tree(
    compiler: &mut Compiler,
    all: &[Placed<'_>],
    schema: &Schema,
) -> Result<Compiled, NoCode> {
    let place = |at: ExitPoint| {
        let parent = all.iter().position(|member| member.source.number == at.trace)?;
        Some((parent, at.exit.0))
    };
    // Lowering takes a trace without a parent for the first one.
    let parent = |at: ExitPoint| place(at).unwrap_or((usize::MAX, at.exit.0));
    let tree: Vec<Member<'_>> = (all.iter())
        .map(|&Placed { source, goes_to, frame }| Member {
            parent: source.parent.map(parent),
            goes_to,
            frame,
            enters: goes_to.is_some_and(|to| source.enters == Some(all[to].source.number)),
            ..alone(source)
        })
        .collect();
    generate(compiler, &tree, schema)
}

/// What an iteration consists of: the recording is taken apart by a run of its own, without any optional
/// pass.
fn count_operations(
    recorded: &Trace,
    optimized: &Optimized,
    schema: &Schema,
) -> Result<Option<GroupedOps>, NoCode> {
    if recorded.insts.last().is_none_or(|last| last.op != Op::Jump) {
        return Ok(None);
    }
    let none = tracelift_opt::Config::parse("-all").expect("`all` stands for every optional pass");
    let apart = optimize(recorded, schema, &none)?;
    let [before, after] = [&apart, optimized].map(|of| OpCounts::of_loop(&of.trace, schema).into());
    Ok(Some(GroupedOps { before, after }))
}

/// The work of a trace's loop, or of all of it if it has none.
fn work_of_loop(trace: &Trace) -> Work {
    let start = trace.insts.iter().rposition(|inst| inst.op == Op::Label).unwrap_or(0);
    work_of(&trace.insts[start..])
}

/// Whether something in a loop can leave it: a guard, or a call that may jump out of it. What ends otherwise
/// is no loop.
pub(crate) fn can_be_left(trace: &Trace, schema: &Schema) -> bool {
    let Some(jump) = trace.insts.last().filter(|last| last.op == Op::Jump) else { return true };
    let is_head = |inst: &Inst| inst.op == Op::Label && inst.label() == jump.label();
    // What may run any code of the host's may also never come back.
    let may_jump = |inst: &Inst| match inst.payload {
        Payload::Func(func) => schema.func(func).effects.includes(&FuncEffects::anything()),
        _ => false,
    };
    let head = trace.insts.iter().position(is_head).unwrap_or(0);
    trace.insts[head..].iter().any(|inst| inst.is_exit() || may_jump(inst))
}

/// With `verify`, an invalid trace is a bug that tests must see.
fn check(trace: &Trace, schema: &Schema, mode: verify::Mode) -> Result<(), NoCode> {
    let errors = verify::verify(trace, schema, mode);
    match errors.first() {
        None => Ok(()),
        Some(error) => Err((AbortReason::Internal, format!("invalid trace: {error}"))),
    }
}

/// Resume data for people: one line per exit.
fn describe_resume(resume: &ResumeTable, schema: &Schema) -> String {
    let mut out = format!("{} bytes, {} distinct\n", resume.bytes.len(), resume.distinct);
    for (number, exit) in resume.exits.iter().enumerate() {
        out += &format!("exit {number} ({}):", exit.kind.name());
        let Ok(state) = resume.state(number) else { continue };
        for frame in state.frames() {
            let words: Vec<_> =
                frame.words.map(|index| format!("{:?}", resume.pool[index as usize])).collect();
            let slots: Vec<_> = frame
                .slots
                .map(|slot| format!("{}: {} {:?}", slot.slot, schema.tag(slot.tag).name, slot.source))
                .collect();
            out +=
                &format!(" frame {} words [{}] slots [{}]", frame.base, words.join(", "), slots.join(", "));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use tracelift_core::text::parse_file;

    use super::*;

    /// Exits of two kinds go on at the same place, and later ones at another.
    #[test]
    fn exits_that_go_on_at_one_place_have_come_equally_far() {
        let text = "entry [0: int]\nL0(i0):\ni1 = int_add(i0, 1)\n@0 = frame[0: int i0]\nguard_true(i1) @0 collect\n\
            i2 = int_mul(i0, 3)\ni3 = int_sub(i2, 7)\nguard_true(i3) @0\n@1 = frame[0: int i1]\n\
            i4 = int_mul(i3, 5)\nguard_true(i4) @1\nfinish() @1\n";
        let file = parse_file(text, &|_| None).expect("it is a trace");
        let optimized = tracelift_opt::optimize(&file.traces[0], &file.schema, &Default::default());
        let optimized = optimized.expect("it is valid");
        let progress = progress_of(&optimized.trace, &optimized.resume);
        let [first, second, farther, end] = progress[..] else { panic!("{progress:?}") };
        assert_eq!((first, farther), (second, end), "{progress:?}");
        assert!(0.0 < first && first < farther && farther < 1.0, "{progress:?}");
    }
}
