//! Choosing operands: variables, constants at edges, records of a wanted class.
//!
//! Problem: uniformly random operands make dull traces: every value is used once and nothing repeats. Design:
//! recent variables are preferred, constants come from lists of edges, and a record may be an object of the
//! world, a fresh one, or anything of the right class in the shadow that a guard then proves. Invariant: a
//! record that is handed out is of its class in every iteration.
//!
//! Example: asked for a `Pair`, it may answer with `@p0`, or emit `guard_nonnull(p3)`, `guard_class(p3,
//! Pair)`.

use super::{spec, Generator, Made, Refused};
use crate::ir::{Const, Inst, Payload, Value};
use crate::ops::Op;
use crate::schema::LayoutId;
use crate::types::Type;

impl Generator {
    /// A variable of that type, recent ones preferred.
    pub(super) fn var(&mut self, ty: Type) -> Made<Value> {
        let fitting: Vec<Value> = self.vars.iter().filter(|var| var.ty == ty).map(|var| var.value).collect();
        if fitting.is_empty() {
            return Err(Refused);
        }
        let last = fitting.len() as u64 - 1;
        let back = match self.rng.chance(60) {
            true => self.rng.below(last.min(4) + 1),
            false => self.rng.below(last + 1),
        };
        Ok(fitting[(last - back) as usize])
    }

    /// A constant of that type.
    pub(super) fn constant(&mut self, ty: Type) -> Value {
        match ty {
            Type::Int => {
                let int = super::numbers::random_int(&mut self.rng);
                self.trace.const_int(int)
            }
            Type::Float => {
                let float = super::numbers::random_float(&mut self.rng);
                self.trace.const_float(float)
            }
            Type::Ref if self.rng.chance(80) => {
                let number = self.rng.below(self.spec.objects.len() as u64) as u32;
                self.trace.constant(Type::Ref, Const::Object(number))
            }
            Type::Ref => self.trace.const_ref(0),
            Type::Addr => self.trace.const_addr(0),
        }
    }

    /// An operand of that type: mostly a variable.
    pub(super) fn operand(&mut self, ty: Type) -> Value {
        if self.rng.chance(80) {
            if let Ok(value) = self.var(ty) {
                return value;
            }
        }
        self.constant(ty)
    }

    /// Whether a value is proved to be of that class.
    pub(super) fn class_of(&self, value: Value) -> Option<LayoutId> {
        if let Some(Const::Object(number)) = self.trace.constant_of(value) {
            return Some(self.spec.objects[number as usize].layout);
        }
        self.vars.iter().rev().find(|var| var.value == value).and_then(|var| var.class)
    }

    pub(super) fn is_nonnull(&self, value: Value) -> bool {
        self.class_of(value).is_some() || self.vars.iter().any(|var| var.value == value && var.nonnull)
    }

    /// Notes what a guard has proved.
    pub(super) fn learn(&mut self, value: Value, class: Option<LayoutId>) {
        for var in self.vars.iter_mut().filter(|var| var.value == value) {
            var.nonnull = true;
            var.class = class.or(var.class);
        }
    }

    /// The class that a reference has in the shadow; none for null.
    pub(super) fn shadow_class(&self, value: Value) -> Option<LayoutId> {
        self.shadow(value).and_then(|bits| self.shadow.layout_at(bits))
    }

    /// Guards that a reference is not null, unless that is known (and sometimes even then).
    pub(super) fn prove_nonnull(&mut self, value: Value) -> Made {
        if !self.is_nonnull(value) || self.rng.chance(10) {
            self.emit(Inst::new(Op::GuardNonnull, &[value]))?;
            self.learn(value, None);
        }
        Ok(())
    }

    /// Guards that a reference is of that class, unless that is known (and sometimes even then).
    pub(super) fn prove_class(&mut self, value: Value, layout: LayoutId) -> Made {
        // Where the class word may be rewritten, a program would test it again.
        let again = if self.is_rewritable(layout) { 70 } else { 10 };
        if self.class_of(value) == Some(layout) && !self.rng.chance(again) {
            return Ok(());
        }
        self.prove_nonnull(value)?;
        self.emit(Inst::new(Op::GuardClass, &[value]).with(Payload::Layout(layout)))?;
        self.learn(value, Some(layout));
        Ok(())
    }

    /// Whether the class of such a record may change.
    fn is_rewritable(&self, layout: LayoutId) -> bool {
        self.schema.layout(layout).class_word.is_some_and(|(cell, _)| !self.schema.cell(cell).immutable)
    }

    /// A record of that layout.
    pub(super) fn record(&mut self, layout: LayoutId) -> Made<Value> {
        let proved: Vec<Value> =
            self.vars.iter().filter(|var| var.class == Some(layout)).map(|var| var.value).collect();
        if !proved.is_empty() && self.rng.chance(60) {
            let recent = proved.len().saturating_sub(4);
            let value = *self.rng.pick(&proved[recent..]);
            if self.is_rewritable(layout) {
                self.prove_class(value, layout)?;
            }
            return Ok(value);
        }
        let fitting: Vec<Value> = self
            .vars
            .iter()
            .filter(|var| var.ty == Type::Ref && var.class.is_none())
            .map(|var| var.value)
            .filter(|&value| self.shadow_class(value) == Some(layout))
            .collect();
        if !fitting.is_empty() && self.rng.chance(60) {
            let value = *self.rng.pick(&fitting);
            self.prove_class(value, layout)?;
            return Ok(value);
        }
        let objects = spec::objects_of(&self.spec, layout);
        if !objects.is_empty() && self.rng.chance(40) {
            let number = *self.rng.pick(&objects);
            return Ok(self.trace.constant(Type::Ref, Const::Object(number)));
        }
        self.fresh(layout)
    }

    /// A layout by name.
    pub(super) fn layout(&self, name: &str) -> LayoutId {
        self.schema.find_layout(name).expect("a standard layout")
    }

    /// The context pointer.
    pub(super) fn context(&mut self) -> Made<Value> {
        match self.context {
            Some(context) if !self.rng.one_in(10) => Ok(context),
            _ => {
                let context = self.hidden(Inst::new(Op::Context, &[]))?;
                self.context = Some(context);
                Ok(context)
            }
        }
    }

    /// A constant object that serves as a key.
    pub(super) fn key(&mut self) -> Value {
        let number = self.rng.below(spec::KEYS as u64) as u32;
        self.trace.constant(Type::Ref, Const::Object(number))
    }
}
