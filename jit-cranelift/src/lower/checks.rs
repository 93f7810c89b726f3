//! Checks of one entry of a table are made together.
//!
//! Problem: to find a field where it was found before takes three guards: the entry's key has this tag, it is
//! this key, and the value has that tag. They are nearly half of the guards of programs on objects, and each
//! is a branch of its own, which costs Cranelift two blocks. Design: guards that follow one another, leave by
//! the same exit, and look at cells of one entry ([`Schema::entry_of`]) are a *group*: the differences
//! between what was found and what is expected are put together, and one branch tests them. Two cells of a
//! group that lie side by side, as both tags do, are loaded at once. The later loads of a group are made
//! before its earlier guards have held: they read the memory that the first one reads.
//!
//! Invariants: between the guards of a group nothing is done but load cells of that entry, so that the state
//! at its exit is the same for all of them; a value that is loaded together with another is used by its guard
//! alone; the guards are of the plain kind, so that no copy of a loop does without one. Where guards are
//! counted, or made to fail, each still is.
//!
//! ```text
//! i1 = load(a0, entry.key_tag)               v1 = load.i16 (a0 + 8)
//! guard_value(i1, 68) @3
//! p2 = load(a0, entry.key)               =>  v2 = load.i64 (a0 + 16)
//! guard_value(p2, ref:0x7f00) @3
//! i3 = load(a0, entry.tag)
//! guard_value(i3, 19) @3                     brif (v1 ^ 0x4413) | (v2 ^ 0x7f00), way, next
//! ```

use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::{Cell, LayoutId};
use tracelift_core::{ExitKind, Inst, Op, Payload, Schema, Trace, Type, Value};

use super::{Lowering, Result, Ssa};

/// What an instruction has to do with a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Nothing.
    Alone,
    /// A load of a cell and of its neighbour: bytes from the base, and how many.
    Wide { offset: i32, width: u8 },
    /// A guard whose branch the next guard of the group makes, too; the bits that it expects.
    Joined(u64),
    /// The last guard of a group.
    Last(u64),
    /// It is made by others of its group.
    Made,
}

/// A guard on what was loaded from an entry.
struct Check<'a> {
    load: usize,
    guard: usize,
    base: Value,
    /// The layout whose entry it is.
    layout: LayoutId,
    cell: &'a Cell,
    exit: u32,
    expected: u64,
}

/// The roles of all instructions of a trace, or none if there is no group in it.
pub(super) struct Groups {
    roles: Vec<Role>,
}

impl Groups {
    pub(super) fn find(trace: &Trace, schema: &Schema, exits: &[Option<u32>]) -> Groups {
        let mut found = Finder { trace, schema, uses: Vec::new(), roles: Vec::new() };
        let mut group: Vec<Check<'_>> = Vec::new();
        for index in 0..trace.insts.len() {
            let Some(check) = check_at(trace, schema, exits, index) else { continue };
            let follows = group.last().is_some_and(|last| {
                // Nothing lies between but the load.
                (check.guard == last.guard + 1 || check.guard == last.guard + 2 && check.load > last.guard)
                    && (check.exit, check.base, check.layout) == (last.exit, last.base, last.layout)
            });
            if !follows {
                found.add(&group);
                group.clear();
            }
            group.push(check);
        }
        found.add(&group);
        Groups { roles: found.roles }
    }

    /// Whether a guard branches itself.
    pub(super) fn branches(&self, index: usize) -> bool {
        !matches!(self.role(index), Role::Joined(_) | Role::Made)
    }

    pub(super) fn role(&self, index: usize) -> Role {
        self.roles.get(index).copied().unwrap_or(Role::Alone)
    }
}

/// The search for groups.
struct Finder<'t> {
    trace: &'t Trace,
    schema: &'t Schema,
    /// See [`uses`]; empty before the first group.
    uses: Vec<u32>,
    roles: Vec<Role>,
}

impl Finder<'_> {
    fn add(&mut self, group: &[Check<'_>]) {
        if group.len() < 2 {
            return;
        }
        let trace = self.trace;
        if self.roles.is_empty() {
            self.roles = vec![Role::Alone; trace.insts.len()];
            self.uses = uses(trace);
        }
        // The check whose load reads another one's cell as well, with the bits of both; and that other one.
        let (mut wide, mut made) = (None, None);
        if let Some((first, second)) = neighbours(trace, self.schema, &self.uses, group) {
            let (one, other) = (&group[first], &group[second]);
            let width = one.cell.width;
            let bits = 8 * u32::from(width);
            let (low, high) = match one.cell.offset < other.cell.offset {
                true => (one, other),
                false => (other, one),
            };
            self.roles[one.load] = Role::Wide { offset: low.cell.offset, width: 2 * width };
            (self.roles[other.load], self.roles[other.guard]) = (Role::Made, Role::Made);
            let both = match planted(Bug::LowerNeighboursExchanged) {
                false => low.expected | high.expected << bits,
                true => high.expected | low.expected << bits,
            };
            (wide, made) = (Some((one.guard, both)), Some(other.guard));
        }
        let mut guards = group.iter().rev().filter(|check| Some(check.guard) != made);
        let bits = |check: &Check<'_>| match wide {
            Some((guard, both)) if guard == check.guard => both,
            _ => check.expected,
        };
        if let Some(last) = guards.next() {
            self.roles[last.guard] = Role::Last(bits(last));
        }
        guards.for_each(|check| self.roles[check.guard] = Role::Joined(bits(check)));
    }
}

/// How many instructions before a guard its value may be loaded at most.
const NEAR: usize = 8;

/// The check that this guard is, if it is one: its value was loaded from an entry, and is no double.
fn check_at<'a>(trace: &Trace, schema: &'a Schema, exits: &[Option<u32>], index: usize) -> Option<Check<'a>> {
    let guard = &trace.insts[index];
    if guard.op != Op::GuardValue || guard.exit != ExitKind::Guard {
        return None;
    }
    let (&value, &wanted) = (guard.args.first()?, guard.args.get(1)?);
    let expected = trace.bits_of(wanted).filter(|_| trace.ty(value) != Type::Float)?;
    let load = (index.saturating_sub(NEAR)..index).rev().find(|&at| trace.insts[at].result == Some(value))?;
    let inst = &trace.insts[load];
    let Payload::Cell(cell) = inst.payload else { return None };
    let layout = schema.entry_of(cell).filter(|_| inst.op == Op::Load)?;
    let (&base, exit) = (inst.args.first()?, exits[index]?);
    Some(Check { load, guard: index, base, layout, cell: schema.cell(cell), exit, expected })
}

/// Two checks of a group whose cells can be loaded at once: they lie side by side, nobody else uses what was
/// loaded, and nothing is written there between the places of both loads.
fn neighbours(trace: &Trace, schema: &Schema, uses: &[u32], group: &[Check<'_>]) -> Option<(usize, usize)> {
    let fits = |check: &Check<'_>| {
        let result = trace.insts[check.load].result;
        let is_alone = result.is_some_and(|result| uses[result.index()] == 1);
        let is_narrow = !check.cell.signed && !check.cell.volatile && check.cell.width <= 4;
        is_alone && is_narrow && check.expected >> (8 * u32::from(check.cell.width)) == 0
    };
    let commute = |one: &Check<'_>, other: &Check<'_>| {
        let between = one.load.min(other.load) + 1..one.load.max(other.load);
        let writes = |inst: &Inst| inst.effects(schema).writes.contains(other.cell.class);
        one.cell.width == other.cell.width
            && one.cell.offset.abs_diff(other.cell.offset) == u32::from(one.cell.width)
            && !trace.insts[between].iter().any(writes)
    };
    let fitting = || group.iter().enumerate().filter(|(_, check)| fits(check));
    fitting().find_map(|(first, one)| {
        let (second, _) = fitting().find(|&(second, other)| second > first && commute(one, other))?;
        Some((first, second))
    })
}

/// How often each value is used, snapshots included.
fn uses(trace: &Trace) -> Vec<u32> {
    let mut uses = vec![0; trace.values.len()];
    trace.insts.iter().flat_map(|inst| &inst.args).for_each(|arg| uses[arg.index()] += 1);
    for snapshot in &trace.snapshots {
        snapshot.for_each_value(|value| uses[value.index()] += 1);
    }
    uses
}

impl Lowering<'_, '_, '_> {
    /// Makes an instruction that has this role in a group.
    pub(super) fn in_group(&mut self, inst: &Inst, exit: u32, role: Role) -> Result<()> {
        match role {
            Role::Wide { offset, width } => self.load_wide(inst, offset, width),
            Role::Joined(expected) => {
                let differs = self.difference(inst, expected)?;
                self.differs = Some(differs);
                Ok(())
            }
            Role::Last(expected) => {
                let differs = self.difference(inst, expected)?;
                self.differs = None;
                self.leave_if(differs, inst, exit)
            }
            Role::Made | Role::Alone => Ok(()),
        }
    }

    /// What is not as expected, here and in the guards of the group before: not 0 if there is anything.
    fn difference(&mut self, inst: &Inst, expected: u64) -> Result<Ssa> {
        let found = self.operand(inst, 0)?;
        let differs = match expected {
            0 => found,
            _ => {
                let expected = self.iconst(expected as i64);
                self.b.bxor(found, expected)
            }
        };
        Ok(match self.differs.filter(|_| !planted(Bug::LowerCheckForgotten)) {
            Some(before) => self.b.bor(before, differs),
            None => differs,
        })
    }
}
