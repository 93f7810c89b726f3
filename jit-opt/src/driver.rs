//! The driver: walks a source trace through the chain of passes, once or several times.
//!
//! Problem: the preamble and the loop of a peeled trace are the same operations, optimized with different
//! knowledge. Design: the driver feeds one recorded operation after another into the chain ([`crate::pass`]),
//! with its operands mapped to output values; where to begin and end, and what the inputs are mapped to, is
//! for the caller to say, so that the same driver can walk the same trace again ([`crate::peel`]).
//! Invariant: all passes have been told of what was committed before the next operation is walked.
//!
//! ```text
//! recorded i7 = int_add(i3, i5), where i3 is mapped to i2 and i5 is known to be 0
//!     =>  int_add(i2, 0) enters the chain  =>  folding answers `Equal(i2)`  =>  i7 is mapped to i2
//! ```

use std::collections::BTreeSet;

use tracelift_core::effects::Effects;
use tracelift_core::ir::ValueData;
use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::LayoutId;
use tracelift_core::{Inst, Op, Payload, Schema, Trace, Value};

use crate::pass::{catch_up, run_chain, Cx, Pass, Slot};
use crate::passes::virtuals::{lift, make_those};
use crate::state::{State, Walked};
use crate::{Config, OptError};

/// Walks a source trace through a chain of passes.
pub(crate) struct Driver<'s> {
    pub st: State<'s>,
    chain: Vec<Slot>,
    /// Arguments of the last jump; only the planted bug looks at them.
    last_jump: Vec<Value>,
}

impl<'s> Driver<'s> {
    /// A driver with nothing walked yet.
    pub fn new(
        source: &'s Trace,
        schema: &'s Schema,
        config: &Config,
        chain: Vec<Box<dyn Pass>>,
    ) -> Driver<'s> {
        let st = State::new(source, schema, config);
        Driver { st, chain: chain.into_iter().map(Slot::new).collect(), last_jump: Vec::new() }
    }

    /// The same with these recorded `new`s made real.
    pub fn with_real(mut self, real: BTreeSet<u32>) -> Driver<'s> {
        self.st.make_real(real);
        self
    }

    /// Walks the whole source trace.
    pub fn run(mut self) -> Result<Walked, OptError> {
        if self.st.source.insts.first().map(|inst| inst.op) != Some(Op::Label) {
            return Err(OptError::Malformed("a trace begins with a label"));
        }
        self.walk(0..self.st.source.insts.len())?;
        Ok(self.walked())
    }

    /// Walks these instructions.
    pub fn walk(&mut self, range: std::ops::Range<usize>) -> Result<(), OptError> {
        let source = self.st.source;
        for (index, inst) in source.insts.iter().enumerate().take(range.end).skip(range.start) {
            self.st.advance(index, inst.depth);
            match inst.op {
                Op::Label => self.label(inst, index == 0)?,
                Op::JumpIf | Op::EnterLoop => return Err(OptError::Malformed("a region is no trace")),
                _ => self.step(inst)?,
            }
        }
        Ok(())
    }

    /// Tells all passes what was committed.
    pub fn catch_up(&mut self) {
        catch_up(&mut self.st, &mut self.chain);
    }

    /// Told that another iteration of a peeled trace begins.
    pub fn next_walk(&mut self) {
        let st = &self.st;
        self.chain.iter_mut().for_each(|slot| slot.pass.next_walk(st));
    }

    /// Told that it is the loop's. An object that the walks before kept virtual may have to be made in the
    /// loop; what its allocator writes (the collector's accounts, say) is not known from the preamble.
    pub fn enter_loop(&mut self) {
        let (schema, source) = (self.st.schema, self.st.source);
        let mut layouts: Vec<LayoutId> = Vec::new();
        for inst in &source.insts {
            match inst.payload {
                Payload::New { layout, .. } if !layouts.contains(&layout) => layouts.push(layout),
                _ => {}
            }
        }
        for func in layouts.into_iter().filter_map(|layout| schema.layout(layout).alloc) {
            let effects = Effects::of_call(func, schema);
            self.chain.iter_mut().for_each(|slot| slot.pass.loop_writes(schema, &effects.writes));
        }
    }

    /// What the pass that keeps objects virtual has after it.
    fn after_virtuals(&mut self) -> Cx<'_, 's> {
        let after = self.chain.iter().position(|slot| slot.pass.makes_objects()).map_or(0, |at| at + 1);
        Cx { st: &mut self.st, rest: &mut self.chain[after..] }
    }

    /// Makes a virtual object real.
    pub fn lift(&mut self, value: Value) -> Result<Value, OptError> {
        self.st.map_resume_point()?;
        lift(&mut self.after_virtuals(), value)
    }

    /// Makes those of the stores that wait that are wanted, by position.
    pub fn make_delayed(&mut self, wanted: impl Fn(&State<'_>, usize) -> bool) -> Result<(), OptError> {
        self.st.map_resume_point()?;
        make_those(&mut self.after_virtuals(), wanted)
    }

    /// Ends the walk.
    pub fn walked(self) -> Walked {
        self.st.walked()
    }

    /// Walks one instruction.
    fn step(&mut self, inst: &Inst) -> Result<(), OptError> {
        catch_up(&mut self.st, &mut self.chain);
        if let Some(snap) = inst.snap.filter(|_| self.st.can_be_redone()) {
            self.st.set_resume_point(snap);
        }
        let mut copy = inst.clone();
        copy.result = None;
        for arg in &mut copy.args {
            *arg = self.st.mapped(*arg)?;
        }
        if planted(Bug::GuardForgottenAcrossLabel) && inst.op == Op::Jump {
            self.last_jump = copy.args.to_vec();
        }
        let made_before = self.st.out.values.len();
        let result = run_chain(&mut self.st, &mut self.chain, copy)?;
        let Some(source_result) = inst.result else { return Ok(()) };
        let result = result.ok_or(OptError::Malformed("an instruction lost its result"))?;
        let before = self.st.at.map[source_result.index()].replace(result);
        let known = self.st.resolve(result);
        if before.map(|before| self.st.resolve(before)) == Some(known) && self.st.is_preamble(known) {
            self.st.walks.steady.insert(known);
        }
        if result.index() >= made_before {
            self.keep_name(source_result, result);
        }
        Ok(())
    }

    /// Walks a label: its arguments become new values, and unless it is the entry, everything known is void.
    fn label(&mut self, inst: &Inst, is_entry: bool) -> Result<(), OptError> {
        catch_up(&mut self.st, &mut self.chain);
        let label = inst.label().ok_or(OptError::Malformed("a label without a number"))?;
        let mut copy = inst.clone();
        for arg in &mut copy.args {
            let value = self.st.out.new_value(self.st.source.ty(*arg));
            self.st.at.map[arg.index()] = Some(value);
            self.keep_name(*arg, value);
            *arg = value;
        }
        if !is_entry {
            self.forget(&copy);
        }
        self.st.out.labels[label.index()].args = copy.args.to_vec();
        self.st.out.insts.push(copy);
        Ok(())
    }

    fn forget(&mut self, label: &Inst) {
        if planted(Bug::GuardForgottenAcrossLabel) {
            for (&from, &to) in self.last_jump.iter().zip(&label.args) {
                match self.st.out.constant_of(from) {
                    Some(_) => self.st.facts.learn_constant(to, from),
                    None => self.st.facts.inherit(from, to),
                }
            }
        } else {
            self.st.facts.forget();
        }
        self.st.forget_places();
        self.chain.iter_mut().for_each(|slot| slot.pass.label());
    }

    fn keep_name(&mut self, source: Value, out: Value) {
        let name = match &self.st.at.names {
            Some(names) => &names[source.index()],
            None => &self.st.source.values[source.index()].name,
        };
        let data: &mut ValueData = &mut self.st.out.values[out.index()];
        if data.name.is_none() && data.constant.is_none() {
            data.name.clone_from(name);
        }
    }
}
