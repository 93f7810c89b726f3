//! From an optimized trace to installed code.
//!
//! Problem: what code generation needs lies all over the VM (counters, the exit buffer, links, what the
//! interpreter takes for an iteration), and each step may fail. Design: a request names the cells that the
//! code writes; the code generator makes the code, with a net below its panics; the arena installs it; and
//! what is kept of the trace is put together at the end. Invariant: whichever step fails, nothing has to be
//! taken back: of all that can fail, code memory is asked for last.
//!
//! ```text
//! trace 3, 2 exits: its links lead to the glue's way out at first; its exits have counts of 0 and no plan
//! ```

use std::panic::{catch_unwind, AssertUnwindSafe};

use tracelift_core::{Op, Schema, Trace};
use tracelift_cranelift::{CodeMemory, CompileError, Compiled, Compiler, Links, Replaced, Request};
use tracelift_opt::{Optimized, ResumeTable};

use crate::abort::AbortReason;
use crate::backend::{Backend, EXIT_BUFFER_CELLS};
use crate::ids::TraceId;
use crate::log::Stage;
use crate::plan::Plan;
use crate::policy::{self, Work};
use crate::recorder::work_of;
use crate::reserve::WorstCase;
use crate::run::Room;
use crate::traces::{ExitCell, TraceData, Worth};
use crate::tree::{Reach, Tree};
use crate::vm::Vm;

/// Why there is no code: the reason and a sentence.
type NoCode = (AbortReason, String);

impl Vm {
    /// Makes and installs the code of a trace, and puts together what is kept of it.
    pub(crate) fn generate(
        &mut self,
        number: TraceId,
        recorded: &Trace,
        optimized: Optimized,
        needs: Room,
        tree: Tree,
    ) -> Result<TraceData, NoCode> {
        let Optimized { trace, resume, loops, .. } = optimized;
        let Some(worst) = WorstCase::of(&resume) else {
            return Err((AbortReason::Internal, "resume data does not decode".into()));
        };
        let Some(pool) = resume.pool_bits() else {
            return Err((AbortReason::Internal, "resume data names an object of a test world".into()));
        };
        self.code.ready(&self.config);
        let replaced = self.locations.get(&tree.key).and_then(|location| location.pace.amount());
        let request = self.request(number, &tree, replaced);
        let ready = match &mut self.code.backend {
            Backend::Ready(ready) => ready,
            Backend::Refused(reason, sentence) => return Err((reason.clone(), sentence.clone())),
            Backend::Pending => return Err((AbortReason::Internal, "there is no code generator".into())),
        };
        let glue = ready.glue().map_err(|sentence| (AbortReason::CodeMemoryFull, sentence))?;
        let links = vec![glue.leave(); trace.exits().count()].into_boxed_slice();
        let request = request.know_loops(loops).link(Links {
            cells: links.as_ptr(),
            finish_writes_slots: tree.link.is_some(),
            edges_per_jump: tree.edges,
        });
        let compiled = run_compiler(&mut ready.compiler, &trace, &self.schema, &request)?;
        let code = ready.arena.install(number.tree(), &compiled).map_err(|error| match error {
            CodeMemory::Full { .. } => (AbortReason::CodeMemoryFull, error.to_string()),
            _ => (AbortReason::NoExecutableMemory, error.to_string()),
        })?;
        self.log_code(number, &recorded.name, &compiled);
        self.exits.state.reserve(&worst);
        let lifts = self.reserves.want(&worst);
        let seen = self.locations.get(&tree.key).filter(|_| tree.parent.is_none());
        let worth = Worth {
            ops: (recorded.op_count() as u64, trace.op_count() as u64),
            saved_per_ns: saved_per_ns(&trace, tree.work, seen.and_then(|location| location.pace.ns())),
            replaced,
            compile_ns: 0,
        };
        Ok(TraceData {
            name: recorded.name.clone(),
            code,
            entry_code: glue.entry(code),
            links,
            reach: Reach::new(needs, &lifts),
            entry: recorded.entry.iter().chain(&recorded.entry_tags).copied().collect(),
            lifts,
            entries: 0,
            has_refused: false,
            exits: exit_cells(&compiled, &tree, &resume, &pool),
            worth,
            tree,
            generated: compiled.stats,
            resume,
            pool,
        })
    }

    /// What the code of a trace counts, and where.
    fn request(&mut self, number: TraceId, tree: &Tree, replaced: Option<u32>) -> Request {
        let counts_guards = self.counts_guards();
        let cells = &mut self.code.cells;
        let mut request = Request::new(number.0, cells.exit_buffer.as_mut_ptr());
        request = request.count_for_collections(&mut *cells.collect);
        if counts_guards {
            request = request.force(&mut *cells.force);
        }
        if self.config.count_iterations {
            request = request.count_iterations(&mut *cells.iterations);
        }
        let Some(iteration) = replaced else { return request };
        let root = self.traces.get(tree.root);
        let iterations = root.map_or(0.0, |root| policy::iterations_of_side(tree.work, root.tree.work));
        let finish = (f64::from(iteration) * iterations) as u32;
        request.count_replaced(Replaced { total: &raw mut *cells.replaced, iteration, finish })
    }

    fn log_code(&mut self, number: TraceId, name: &str, compiled: &Compiled) {
        self.log.entry(Stage::Clif, &format!("trace {number} {name} clif"), || {
            compiled.clif.clone().unwrap_or_default()
        });
        self.log.entry(Stage::Asm, &format!("trace {number} {name} machine code"), || {
            compiled.disasm.clone().unwrap_or_default()
        });
        self.log.entry(Stage::Code, &format!("trace {number} {name} with its machine code"), || {
            compiled.listing.clone().unwrap_or_default()
        });
    }
}

/// The machine code of a trace, not yet in executable memory.
fn run_compiler(
    compiler: &mut Compiler,
    trace: &Trace,
    schema: &Schema,
    request: &Request,
) -> Result<Compiled, NoCode> {
    let compiled = match catch_unwind(AssertUnwindSafe(|| compiler.compile(trace, schema, request))) {
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

/// The exits of a new trace, none of them taken so far.
fn exit_cells(compiled: &Compiled, tree: &Tree, resume: &ResumeTable, pool: &[u64]) -> Box<[ExitCell]> {
    let cell = |kind| ExitCell { count: 0, quiet_until: 0, plan: None, kind };
    let mut exits: Box<[ExitCell]> = compiled.exits.iter().map(|exit| cell(exit.kind)).collect();
    if let (Some(_), Some(finish)) = (tree.link, compiled.exits.len().checked_sub(1)) {
        // The code has written the slots itself.
        exits[finish].plan = Plan::of_frames(resume, pool, finish).map(Box::new);
    }
    exits
}

/// What a nanosecond in the code of this trace saves: by its loop, if it has one.
fn saved_per_ns(trace: &Trace, recorded: Work, seen: Option<f64>) -> f64 {
    let start = trace.insts.iter().rposition(|inst| inst.op == Op::Label).unwrap_or(0);
    policy::saved_per_ns(recorded, work_of(&trace.insts[start..]), seen)
}
