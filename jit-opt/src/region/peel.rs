//! Ark's loop peeling (seed 001): a loop that is left at its header is left at its back edge after that.
//!
//! Problem: where a loop begins with the test that ends it, each iteration is two blocks and two jumps, and
//! what the test proves holds in the second block alone. Design: the seed's two stages, on closed blocks.
//! *Insert the pre-loop*: a clone of the header, without its safepoints, takes all edges into the loop; its
//! exit and the header's lead to a new block, the *resolver*, which goes on outside. *Move the exit point*:
//! the header's instructions move into a new block, the *exit block*, at the back edge; what is left of the
//! header are its arguments, which are now what the pre-loop and the exit block pass to the loop's body.
//! Where the seed adds phis to the header for what the body uses of it, closed blocks pass such values
//! already. [`super::clean_up`] then merges body and exit block, and drops the resolver where it can.
//!
//! The seed's five requirements are [`Refusal`]s. The region's entry counts as entered from outside, as the
//! seed's OSR entries. A loop that consists of its header alone is left at its back edge already.
//!
//! The seed's example has a fault: after it, the safepoint records the result of the subtraction where it
//! recorded the operand before. Here snapshots move with the instructions that they belong to.
//!
//! Invariant: a loop that is refused stays as it is; a value is defined once.
//!
//! ```text
//! L1(a):             jump_if(c, L3, a), jump(L2, a)     L2: ... jump(L1, b)
//! L1_pre(a'):        jump_if(c', L1_out, a'), jump(L1, a')
//! L1(x):             jump(L2, x)                        L2: ... jump(L1_exit, b)
//! L1_exit(a):        jump_if(c, L1_out, a), jump(L1, a)
//! L1_out(y):         jump(L3, y)
//! ```

use std::collections::BTreeSet;

use rustc_hash::FxHashMap as HashMap;

use tracelift_core::ir::Label;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::{ExitKind, Inst, LabelId, Op, Payload, Trace, Value};

use super::graph::{target, Graph, Loop};

/// Why a loop is not peeled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It is entered elsewhere, too.
    Irreducible,
    /// Its header is where the region is entered from outside.
    OsrEntry,
    /// It has more than one back edge.
    SeveralBackEdges,
    /// It is not left by one edge, from its header, which has one other.
    NotLeftAtHeader,
    /// There are loops in it.
    InnerLoops,
    /// It is a block alone.
    LeftAtBackEdge,
}

impl Refusal {
    /// The reason, for listings.
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::Irreducible => "irreducible",
            Refusal::OsrEntry => "the region's entry",
            Refusal::SeveralBackEdges => "several back edges",
            Refusal::NotLeftAtHeader => "not left at its header alone",
            Refusal::InnerLoops => "has inner loops",
            Refusal::LeftAtBackEdge => "left at its back edge",
        }
    }
}

/// What became of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopReport {
    /// The name of its header's label.
    pub header: String,
    /// Why it was not peeled; `None` if it was.
    pub refusal: Option<Refusal>,
}

/// What became of all loops.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PeelReport {
    /// In the order in which they were looked at.
    pub loops: Vec<LoopReport>,
}

impl PeelReport {
    /// How many loops were peeled.
    pub fn peeled(&self) -> usize {
        self.loops.iter().filter(|one| one.refusal.is_none()).count()
    }
}

/// Peels all loops of a region that can be peeled.
pub fn peel_loops(region: &Trace) -> (Trace, PeelReport) {
    let (mut region, mut report) = (region.clone(), PeelReport::default());
    let mut judged = BTreeSet::new();
    loop {
        let graph = Graph::of(&region);
        let loops = graph.loops();
        let Some(next) = loops.iter().find(|one| !judged.contains(&(one.header, one.is_irreducible))) else {
            return (region, report);
        };
        judged.insert((next.header, next.is_irreducible));
        let refusal = refusal(&graph, &loops, next);
        report.loops.push(LoopReport { header: region.labels[next.header].name.clone(), refusal });
        if refusal.is_none() {
            region = Peeling::new(region, &graph, next).peel();
        }
    }
}

/// Why this loop is not peeled, if it is not.
fn refusal(graph: &Graph, loops: &[Loop], this: &Loop) -> Option<Refusal> {
    let header = this.header;
    let is_entered_elsewhere = loops.iter().any(|other| other.header == header && other.is_irreducible);
    if is_entered_elsewhere {
        return Some(Refusal::Irreducible);
    }
    if header == 0 {
        return Some(Refusal::OsrEntry);
    }
    if this.back_edges.len() > 1 && !planted(Bug::ArkBackEdges) {
        return Some(Refusal::SeveralBackEdges);
    }
    let exits = |block: usize| {
        let edges = graph.successors[block].iter().filter(|to| !this.blocks.contains(to)).count();
        edges + usize::from(graph.is_end[block])
    };
    let others = this.blocks.iter().filter(|&&block| block != header);
    let is_left_elsewhere = others.map(|&block| exits(block)).sum::<usize>() > 0;
    let ways = graph.successors[header].len() + usize::from(graph.is_end[header]);
    if exits(header) != 1 || is_left_elsewhere || ways != 2 {
        return Some(Refusal::NotLeftAtHeader);
    }
    if loops.iter().any(|other| other.header != header && this.blocks.contains(&other.header)) {
        return Some(Refusal::InnerLoops);
    }
    this.back_edges.contains(&header).then_some(Refusal::LeftAtBackEdge)
}

/// Whether an instruction only waits for interrupts or the collector.
fn is_safepoint(inst: &Inst) -> bool {
    inst.op.is_guard()
        && inst.result.is_none()
        && matches!(inst.exit, ExitKind::Interrupt | ExitKind::Collect)
}

/// A loop that is being peeled.
struct Peeling {
    region: Trace,
    header: usize,
    back_edge: usize,
    blocks: BTreeSet<usize>,
    /// The region's blocks in the order of the text, each with its instructions.
    parts: Vec<(usize, Vec<Inst>)>,
    pre: LabelId,
    exit: LabelId,
    /// The resolver; a loop that leaves the region needs none.
    out: Option<LabelId>,
}

impl Peeling {
    fn new(mut region: Trace, graph: &Graph, this: &Loop) -> Peeling {
        let mut order: Vec<usize> = (0..graph.blocks.len()).collect();
        order.sort_by_key(|&block| graph.blocks[block].start);
        let insts = |block: usize| region.insts[graph.blocks[block].clone()].to_vec();
        let parts = order.into_iter().map(|block| (block, insts(block))).collect();
        let name = region.labels[this.header].name.clone();
        let mut label = |kind: &str| {
            let wanted = format!("{name}_{kind}");
            let is_free = |name: &String| region.labels.iter().all(|label| label.name != *name);
            let numbered = (2..).map(|n| format!("{wanted}{n}"));
            let name = std::iter::once(wanted.clone()).chain(numbered).find(is_free).unwrap_or_default();
            region.labels.push(Label { name, args: Vec::new() });
            LabelId(region.labels.len() as u32 - 1)
        };
        let [pre, exit] = ["pre", "exit"].map(&mut label);
        let out = (!graph.is_end[this.header]).then(|| label("out"));
        Peeling {
            region,
            header: this.header,
            back_edge: this.back_edges[0],
            blocks: this.blocks.clone(),
            parts,
            pre,
            exit,
            out,
        }
    }

    fn peel(mut self) -> Trace {
        let header = LabelId(self.header as u32);
        let at = self.parts.iter().position(|(block, _)| *block == self.header).unwrap_or(0);
        let old = std::mem::take(&mut self.parts[at].1);
        let ways = [0, 1].map(|way| &old[old.len() - 2 + way]);
        let inside = ways.map(|way| target(way).is_some_and(|to| self.blocks.contains(&to.index())));
        let [stays, leaves] = if inside[0] { ways } else { [ways[1], ways[0]] };
        let (body, outer) = (target(stays), target(leaves));
        let passed = passed(stays).to_vec();

        let pre = self.pre_loop(&old, body, outer);
        let resolver = self.resolver(outer);
        let new_header = self.block(header, passed.iter().map(|&arg| self.region.ty(arg)).collect());
        let to_body = Inst::new(Op::Jump, &new_header.args);
        let to_body = to_body.with(body.map_or(Payload::None, Payload::Label));
        let mut exit = old;
        exit[0].payload = Payload::Label(self.exit);
        self.region.labels[self.exit.index()].args = exit[0].args.to_vec();
        self.lead_out(&mut exit, body, outer);

        let mut insts = Vec::with_capacity(self.region.insts.len() + pre.len() + 4);
        for (block, mut part) in std::mem::take(&mut self.parts) {
            let entered = match self.blocks.contains(&block) {
                true if block == self.back_edge => self.exit,
                true => header,
                false => self.pre,
            };
            part.iter_mut().filter(|inst| target(inst) == Some(header)).for_each(|inst| {
                inst.payload = Payload::Label(entered);
            });
            if block == self.header {
                insts.extend(pre.iter().cloned());
                insts.extend([new_header.clone(), to_body.clone()]);
            }
            insts.extend(part);
            if block == self.back_edge {
                insts.append(&mut exit);
                insts.extend(resolver.iter().flatten().cloned());
            }
        }
        self.region.insts = insts;
        self.region
    }

    /// The header's clone, without safepoints.
    fn pre_loop(&mut self, header: &[Inst], body: Option<LabelId>, outer: Option<LabelId>) -> Vec<Inst> {
        let mut names: HashMap<Value, Value> = HashMap::default();
        let mut clone = Vec::with_capacity(header.len());
        for inst in header.iter().filter(|inst| !is_safepoint(inst)) {
            let mut inst = inst.clone();
            let defined = if inst.op == Op::Label { &inst.args[..] } else { inst.result.as_slice() };
            for &value in defined {
                names.insert(value, self.region.new_value(self.region.ty(value)));
            }
            let renamed = |value: Value| names.get(&value).copied().unwrap_or(value);
            inst.args.iter_mut().for_each(|arg| *arg = renamed(*arg));
            inst.result = inst.result.map(renamed);
            inst.snap = inst.snap.map(|snap| {
                let mut snapshot = self.region.snapshots[snap.index()].clone();
                if !planted(Bug::ArkSnapshotShared) {
                    snapshot.map_values(renamed);
                }
                self.region.add_snapshot(snapshot)
            });
            clone.push(inst);
        }
        clone[0].payload = Payload::Label(self.pre);
        self.region.labels[self.pre.index()].args = clone[0].args.to_vec();
        self.lead_out(&mut clone, body, outer);
        clone
    }

    /// The last two instructions lead to the loop's header in place of its body, and to the resolver.
    fn lead_out(&self, block: &mut [Inst], body: Option<LabelId>, outer: Option<LabelId>) {
        let tail = block.len() - 2;
        for inst in &mut block[tail..] {
            let to = target(inst);
            if to.is_some() && to == outer {
                inst.payload = self.out.map_or(Payload::None, Payload::Label);
                if planted(Bug::ArkResolverReversed) {
                    let first = usize::from(inst.op == Op::JumpIf);
                    inst.args[first..].reverse();
                }
            } else if to.is_some() && to == body {
                inst.payload = Payload::Label(LabelId(self.header as u32));
            }
        }
    }

    /// What goes on outside with whatever it gets.
    fn resolver(&mut self, outer: Option<LabelId>) -> Option<[Inst; 2]> {
        let (out, outer) = (self.out?, outer?);
        let types = self.region.labels[outer.index()].args.iter().map(|&arg| self.region.ty(arg)).collect();
        let label = self.block(out, types);
        let jump = Inst::new(Op::Jump, &label.args).with(Payload::Label(outer));
        Some([label, jump])
    }

    /// A label with new arguments of these types.
    fn block(&mut self, label: LabelId, types: Vec<tracelift_core::Type>) -> Inst {
        let args: Vec<Value> = types.into_iter().map(|ty| self.region.new_value(ty)).collect();
        self.region.labels[label.index()].args.clone_from(&args);
        Inst::new(Op::Label, &args).with(Payload::Label(label))
    }
}

/// What a jump passes to its label.
pub(super) fn passed(inst: &Inst) -> &[Value] {
    match inst.op {
        Op::JumpIf => inst.args.get(1..).unwrap_or_default(),
        _ => &inst.args,
    }
}
