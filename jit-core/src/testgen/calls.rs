//! Calls of the standard test functions, each with the arguments it wants.
//!
//! Problem: calls differ in effects, and a call that may do anything ends most knowledge. Design: one arm per
//! function; those with small effects come more often. Invariant: records are passed with the class that the
//! function expects, and a `try_call` that would fail in the shadow is rare.
//!
//! Example: `test.bump(p3)` comes after `guard_class(p3, BoxedInteger)`.

use super::{Generator, Made};
use crate::ir::{Inst, Payload, Value};
use crate::ops::Op;
use crate::testbed::every::Combination;
use crate::types::Type;

impl Generator {
    pub(super) fn call_with(&mut self, op: Op, name: &str, args: &[Value]) -> Made<Option<Value>> {
        let func = self.schema.find_func(name).expect("a standard function");
        let result = self.emit(Inst::new(op, args).with(Payload::Func(func)))?;
        result.into_iter().for_each(|value| self.add_var(value));
        Ok(result)
    }

    /// What a barrier asks for, now and then.
    pub(super) fn mend(&mut self) -> Made {
        let table = self.layout("Table");
        let args = [self.operand(Type::Int), self.record(table)?];
        self.call_with(Op::Mend, "test.mend", &args)?;
        Ok(())
    }

    /// A call that cannot fail.
    pub(super) fn call(&mut self) -> Made {
        let boxed = self.layout("BoxedInteger");
        match self.rng.below(24) {
            0 | 1 => {
                let x = self.operand(Type::Float);
                self.call_with(Op::Call, "math.sin", &[x])
            }
            2 | 3 => {
                let args = [self.operand(Type::Float), self.operand(Type::Float)];
                self.call_with(Op::Call, "math.fmod", &args)
            }
            4 | 5 => {
                let args = [self.operand(Type::Int), self.operand(Type::Float)];
                self.call_with(Op::Call, "test.mix", &args)
            }
            6 => {
                let func = self.schema.find_func("test.wide").expect("a standard function");
                let params = self.schema.func(func).params.clone();
                let args: Vec<Value> = params.iter().map(|&ty| self.operand(ty)).collect();
                self.call_with(Op::Call, "test.wide", &args)
            }
            7 | 8 => {
                let args = [self.stored(Type::Ref), self.operand(Type::Ref)];
                self.call_with(Op::Call, "test.same", &args)
            }
            9 | 10 => {
                let record = self.record(boxed)?;
                self.call_with(Op::Call, "test.bump", &[record])
            }
            11 | 12 => {
                let record = self.record(boxed)?;
                self.call_with(Op::Call, "test.peek", &[record])
            }
            13 => {
                let pair = self.layout("Pair");
                let args = [self.record(pair)?, self.stored(Type::Ref)];
                self.call_with(Op::Call, "test.keep", &args)
            }
            14 | 15 => {
                let pair = self.layout("Pair");
                let record = self.record(pair)?;
                self.call_with(Op::Call, "test.look", &[record])
            }
            16 | 17 => {
                let context = self.context()?;
                self.call_with(Op::Call, "test.anything", &[context])
            }
            _ => self.every(Op::Call, "does"),
        }?;
        Ok(())
    }

    /// A call of a function with any combination of effects; often something is asked again after it.
    fn every(&mut self, op: Op, prefix: &str) -> Made<Option<Value>> {
        let number = self.rng.below(Combination::all().count() as u64) as usize;
        let name = Combination::all().nth(number).expect("one of them").name(prefix);
        let layout = *self.rng.pick(&["BoxedInteger", "Pair", "Square", "Circle", "Table"]);
        let object = match self.rng.chance(60) {
            true => {
                let layout = self.layout(layout);
                self.record(layout)?
            }
            false => self.stored(Type::Ref),
        };
        let told = self.trace.const_int(number as i64);
        let args = [self.context()?, told, self.operand(Type::Int), object];
        let result = self.call_with(op, &name, &args)?;
        if self.rng.chance(50) {
            let _ = self.guard_again();
        }
        Ok(result)
    }

    /// A call that may fail.
    pub(super) fn try_call(&mut self) -> Made {
        let boxed = self.layout("BoxedInteger");
        match self.rng.below(6) {
            0 => {
                let x = self.operand(Type::Int);
                self.call_with(Op::TryCall, "test.maybe", &[x])?;
            }
            1 => {
                let args = [self.record(boxed)?, self.operand(Type::Int)];
                self.call_with(Op::TryCall, "test.maybe_bump", &args)?;
            }
            2 => {
                let args = [self.context()?, self.operand(Type::Int)];
                let made = self.call_with(Op::TryCall, "test.boxed", &args)?;
                made.into_iter().for_each(|value| self.learn(value, Some(boxed)));
            }
            3 | 4 => drop(self.every(Op::TryCall, "tries")?),
            _ => {
                // What `new` is expanded to, by hand.
                let pair = self.layout("Pair");
                let (id, none) = (self.trace.const_int(pair.0 as i64), self.trace.const_int(0));
                let args = [self.context()?, id, none, none];
                let made = self.call_with(Op::TryCall, "world.alloc", &args)?;
                made.into_iter().for_each(|value| self.learn(value, Some(pair)));
            }
        }
        Ok(())
    }
}
