//! Which values are wanted where blocks begin and end.
//!
//! Problem: liveness is a set of values for each block. A trace has as many blocks as guards, twice, and
//! thousands of values, so that sets of all values take time by the square. Design: few values are *wide*,
//! used in another block than the one that defines them; the others are live in no set. Wide values have
//! numbers of their own, in the order of the values, and sets are of these.
//!
//! Invariant: a value that is no member of a block's set is not wanted there.
//! Example: of `v2 = load v1; v3 = iconst 3; v4 = icmp v2, v3; brif v4, ...` only `v1` is wide, and a hundred
//! such guards on fields of `v1` have sets of one word.

use cranelift_codegen::ir::{Block, Value};

/// A set of wide values for each block.
#[derive(Default)]
struct Sets {
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    fn reset(&mut self, sets: usize, values: usize) {
        self.words = values.div_ceil(64);
        self.bits.clear();
        self.bits.resize(sets * self.words, 0);
    }

    fn start(&self, set: Block) -> usize {
        set.as_u32() as usize * self.words
    }

    /// The words of a set.
    fn of(&self, set: Block) -> &[u64] {
        &self.bits[self.start(set)..][..self.words]
    }

    fn of_mut(&mut self, set: Block) -> &mut [u64] {
        let start = self.start(set);
        &mut self.bits[start..][..self.words]
    }

    fn insert(&mut self, set: Block, number: u32) {
        let at = self.start(set) + number as usize / 64;
        self.bits[at] |= 1 << (number % 64);
    }

    fn contains(&self, set: Block, number: u32) -> bool {
        self.bits[self.start(set) + number as usize / 64] >> (number % 64) & 1 != 0
    }
}

/// See the file's top.
#[derive(Default)]
pub(super) struct Live {
    /// By value: the block that defines it, and its number among the wide ones.
    homes: Vec<Block>,
    numbers: Vec<u32>,
    wide: Vec<Value>,
    at_start: Sets,
    at_end: Sets,
    defined: Sets,
}

/// The number of a value that is not wide, and what a wide one has until all are known.
const NARROW: u32 = u32::MAX;
const WIDE: u32 = 0;

impl Live {
    /// Forgets all; so many values are to come.
    pub(super) fn reset(&mut self, values: usize) {
        self.homes.clear();
        self.homes.resize(values, Block::from_u32(0));
        self.numbers.clear();
        self.numbers.resize(values, NARROW);
    }

    /// That block defines a value.
    pub(super) fn define(&mut self, value: Value, block: Block) {
        self.homes[value.as_u32() as usize] = block;
    }

    /// That block uses it. All definitions are known.
    pub(super) fn used(&mut self, value: Value, block: Block) {
        let at = value.as_u32() as usize;
        if self.homes[at] != block {
            self.numbers[at] = WIDE;
        }
    }

    /// All uses are known.
    pub(super) fn number(&mut self, blocks: usize) {
        self.wide.clear();
        for (at, number) in self.numbers.iter_mut().enumerate().filter(|(_, number)| **number == WIDE) {
            *number = self.wide.len() as u32;
            self.wide.push(Value::from_u32(at as u32));
        }
        for sets in [&mut self.at_start, &mut self.at_end, &mut self.defined] {
            sets.reset(blocks, self.wide.len());
        }
        for (number, value) in self.wide.iter().enumerate() {
            self.defined.insert(self.homes[value.as_u32() as usize], number as u32);
        }
    }

    /// That block uses it; said once more, as all have numbers now.
    pub(super) fn wanted(&mut self, value: Value, block: Block) {
        let at = value.as_u32() as usize;
        if self.homes[at] != block {
            self.at_start.insert(block, self.numbers[at]);
        }
    }

    /// What a successor wants is wanted at the block's end.
    pub(super) fn lead(&mut self, block: Block, to: Block) {
        for (out, more) in self.at_end.of_mut(block).iter_mut().zip(self.at_start.of(to)) {
            *out |= more;
        }
    }

    /// What is wanted at the block's end, and not defined there, is wanted where it begins; whether that is
    /// news.
    pub(super) fn pass(&mut self, block: Block) -> bool {
        let mut is_news = false;
        let passed = self.at_end.of(block).iter().zip(self.defined.of(block));
        for (wanted, (out, defined)) in self.at_start.of_mut(block).iter_mut().zip(passed) {
            let before = *wanted;
            *wanted |= out & !defined;
            is_news |= before != *wanted;
        }
        is_news
    }

    /// Whether a value is wanted where a block begins.
    pub(super) fn is_at_start(&self, block: Block, value: Value) -> bool {
        let number = self.numbers[value.as_u32() as usize];
        number != NARROW && self.at_start.contains(block, number)
    }

    /// Whether no block uses a value but the one that defines it.
    pub(super) fn is_narrow(&self, value: Value) -> bool {
        self.numbers[value.as_u32() as usize] == NARROW
    }

    /// Whether a value is wanted after a block.
    pub(super) fn is_at_end(&self, block: Block, value: Value) -> bool {
        let number = self.numbers[value.as_u32() as usize];
        number != NARROW && self.at_end.contains(block, number)
    }

    /// The values that are wanted where a block begins, in their order.
    pub(super) fn at_start(&self, block: Block) -> impl Iterator<Item = Value> + '_ {
        self.at_start.of(block).iter().enumerate().flat_map(move |(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(self.wide[at * 64 + bit as usize])
            })
        })
    }
}
