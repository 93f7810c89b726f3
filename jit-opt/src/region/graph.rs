//! The control flow graph of a region: order, dominators, loops.
//!
//! Problem: what may be done with a loop depends on how control enters and leaves it. Design: blocks are
//! numbered by their labels. The reverse post-order of a depth-first walk comes first; dominators are found
//! in that order, in rounds, as Cooper, Harvey and Kennedy do it ("A Simple, Fast Dominance Algorithm",
//! 2001); an edge to a dominator is a *back edge*, and the blocks that reach it without passing its target
//! are the loop. An edge against the order to a block that does not dominate is one of an *irreducible* loop,
//! which has more than one entry.
//!
//! Invariant: nothing here changes a region, and blocks that control cannot reach are in no loop.
//!
//! ```text
//! L0: jump(L2)   L2: jump_if(c, L4), jump(L3)   L3: jump(L2)   L4: finish()
//! order L0 L2 L4 L3; dominators L0 <- L2 <- L3, L4; one loop: L2, L3, with the back edge L3 -> L2
//! ```

use std::collections::BTreeSet;
use std::ops::Range;

use tracelift_core::{Inst, LabelId, Op, Trace};

/// A region's blocks and edges, by label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    /// The instructions of each block, its label included.
    pub blocks: Vec<Range<usize>>,
    /// Where control goes from it: the `jump_if`s in their order, then its end.
    pub successors: Vec<Vec<usize>>,
    /// Whether it may leave the region at its end.
    pub is_end: Vec<bool>,
    /// Where it comes from, once for each edge.
    pub predecessors: Vec<Vec<usize>>,
    /// Blocks that can be reached, in reverse post-order.
    pub order: Vec<usize>,
    /// The block that each one is immediately dominated by; the entry and what cannot be reached: none.
    pub dominators: Vec<Option<usize>>,
}

/// A loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Where it is entered; of an irreducible one, one of these places.
    pub header: usize,
    /// Blocks with an edge back to the header, once for each edge.
    pub back_edges: Vec<usize>,
    /// All blocks in it.
    pub blocks: BTreeSet<usize>,
    /// Whether it can be entered elsewhere.
    pub is_irreducible: bool,
}

/// The label that an instruction may go on at.
pub(super) fn target(inst: &Inst) -> Option<LabelId> {
    inst.label().filter(|_| matches!(inst.op, Op::Jump | Op::JumpIf))
}

impl Graph {
    /// The graph of a region that the verifier accepts.
    pub fn of(region: &Trace) -> Graph {
        let count = region.labels.len();
        let mut blocks = vec![0..0; count];
        let mut current = 0;
        for (index, inst) in region.insts.iter().enumerate() {
            if let (Op::Label, Some(label)) = (inst.op, inst.label()) {
                current = label.index();
                blocks[current] = index..index;
            }
            if let Some(block) = blocks.get_mut(current) {
                block.end = index + 1;
            }
        }
        let targets = |block: &Range<usize>| -> Vec<usize> {
            region.insts[block.clone()].iter().filter_map(target).map(|label| label.index()).collect()
        };
        let successors: Vec<Vec<usize>> = blocks.iter().map(targets).collect();
        let mut predecessors = vec![Vec::new(); count];
        for (block, to) in successors.iter().enumerate() {
            to.iter().for_each(|&to| predecessors[to].push(block));
        }
        let is_end =
            |block: &Range<usize>| region.insts[block.clone()].last().is_none_or(|last| last.op != Op::Jump);
        let is_end = blocks.iter().map(is_end).collect();
        let order = reverse_post_order(&successors);
        let dominators = dominators(&order, &predecessors);
        Graph { blocks, successors, is_end, predecessors, order, dominators }
    }

    /// Whether every way from the entry to `block` passes `by`. A block dominates itself.
    pub fn is_dominated(&self, block: usize, by: usize) -> bool {
        let mut at = Some(block);
        while let Some(block) = at {
            if block == by {
                return true;
            }
            at = self.dominators[block];
        }
        false
    }

    /// All loops, by header in the order of the blocks; natural loops with one header are one.
    pub fn loops(&self) -> Vec<Loop> {
        let mut position = vec![usize::MAX; self.blocks.len()];
        self.order.iter().enumerate().for_each(|(at, &block)| position[block] = at);
        let mut loops: Vec<Loop> = Vec::new();
        for &header in &self.order {
            // What goes against the order, or to itself.
            let goes_back = |from: &&usize| (position[header]..usize::MAX).contains(&position[**from]);
            let from = self.predecessors[header].iter().filter(goes_back);
            let (back_edges, sideways): (Vec<usize>, Vec<usize>) =
                from.partition(|&&from| self.is_dominated(from, header));
            for (edges, is_irreducible) in [(back_edges, false), (sideways, true)] {
                if !edges.is_empty() {
                    let blocks = self.blocks_of(header, &edges);
                    loops.push(Loop { header, back_edges: edges, blocks, is_irreducible });
                }
            }
        }
        loops
    }

    /// The header, and what reaches these edges without passing it. What the header does not reach is not in
    /// the loop: there is such a block where it does not dominate.
    fn blocks_of(&self, header: usize, back_edges: &[usize]) -> BTreeSet<usize> {
        let reached = closure(&self.successors[header], None, &self.successors);
        let mut blocks = closure(back_edges, Some(header), &self.predecessors);
        blocks.retain(|block| reached.contains(block) && self.order.contains(block));
        blocks.insert(header);
        blocks
    }
}

/// These blocks, and what they lead to without passing `not_past`.
fn closure(from: &[usize], not_past: Option<usize>, edges: &[Vec<usize>]) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut todo = from.to_vec();
    while let Some(block) = todo.pop() {
        if found.insert(block) && Some(block) != not_past {
            todo.extend(&edges[block]);
        }
    }
    found
}

/// The blocks that the first one reaches, each after as many of its predecessors as possible.
fn reverse_post_order(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    if let Some(entry) = seen.first_mut() {
        *entry = true;
        path.push((0, 0));
    }
    while let Some((block, next)) = path.last_mut() {
        match successors[*block].get(*next) {
            Some(&to) => {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            }
            None => {
                order.push(*block);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Immediate dominators. In rounds, until nothing changes: two for what people write.
fn dominators(order: &[usize], predecessors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut position = vec![usize::MAX; predecessors.len()];
    order.iter().enumerate().for_each(|(at, &block)| position[block] = at);
    let mut found: Vec<Option<usize>> = vec![None; predecessors.len()];
    let Some(&entry) = order.first() else { return found };
    found[entry] = Some(entry);
    let mut has_changed = true;
    while std::mem::take(&mut has_changed) {
        for &block in &order[1..] {
            let known = predecessors[block].iter().copied().filter(|&from| found[from].is_some());
            let common = known.reduce(|x, y| meet(&found, &position, x, y));
            if found[block] != common {
                (found[block], has_changed) = (common, true);
            }
        }
    }
    found[entry] = None;
    found
}

/// The last block that dominates both, as far as dominators are known.
fn meet(found: &[Option<usize>], position: &[usize], mut x: usize, mut y: usize) -> usize {
    while x != y {
        let later = if position[x] > position[y] { &mut x } else { &mut y };
        match found[*later] {
            Some(above) => *later = above,
            None => break,
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracelift_core::text::parse_file;

    fn graph(text: &str) -> Graph {
        let file = parse_file(text, &|_| None).unwrap_or_else(|error| panic!("{error}"));
        Graph::of(&file.traces[0])
    }

    const DIAMOND_IN_LOOP: &str = "L0(i0):\njump(L1, i0)\nL1(i1):\njump_if(i1, L5, i1)\njump(L2, i1)\n\
        L2(i2):\njump_if(i2, L3, i2)\njump(L4, i2)\nL3(i3):\njump(L4, i3)\nL4(i4):\njump(L1, i4)\n\
        L5(i5):\nfinish(i5)\nL6(i6):\njump(L1, i6)\n";

    #[test]
    fn dominators_are_what_every_way_passes() {
        let graph = graph(DIAMOND_IN_LOOP);
        assert_eq!(graph.dominators, [None, Some(0), Some(1), Some(2), Some(2), Some(1), None]);
        assert_eq!(graph.order[0], 0);
        assert!(!graph.order.contains(&6), "nothing leads there");
        for (at, &block) in graph.order.iter().enumerate() {
            let before = |from: &&usize| graph.order[..at].contains(*from);
            let ways_in = graph.predecessors[block].iter();
            assert!(at == 0 || ways_in.filter(before).count() >= 1, "L{block} comes after a way to it");
        }
    }

    #[test]
    fn a_natural_loop_is_what_reaches_its_back_edge() {
        let loops = graph(DIAMOND_IN_LOOP).loops();
        let blocks = BTreeSet::from([1, 2, 3, 4]);
        assert_eq!(loops, [Loop { header: 1, back_edges: vec![4], blocks, is_irreducible: false }]);
    }

    #[test]
    fn a_loop_with_two_entries_is_irreducible() {
        let text = "L0(i0):\njump_if(i0, L1, i0)\njump(L2, i0)\nL1(i1):\njump(L2, i1)\nL2(i2):\n\
            jump_if(i2, L1, i2)\nfinish(i2)\n";
        let loops = graph(text).loops();
        assert_eq!(loops.len(), 1);
        assert!(loops[0].is_irreducible && loops[0].blocks == BTreeSet::from([1, 2]), "{loops:?}");
    }

    #[test]
    fn a_block_may_be_a_loop_alone() {
        let loops = graph("L0(i0):\njump(L1, i0)\nL1(i1):\njump_if(i1, L1, i1)\nfinish(i1)\n").loops();
        assert_eq!((loops[0].header, &loops[0].back_edges), (1, &vec![1]));
        assert_eq!(loops[0].blocks, BTreeSet::from([1]));
    }
}
