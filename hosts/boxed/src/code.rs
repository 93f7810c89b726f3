//! Bytecode: what the interpreter executes and the recorder records, one operation at a time.
//!
//! Problem: an exit has to resume somewhere exact, and a trace may redo at most one operation; a whole
//! statement such as `res = res.add(y).add(BoxedInteger(-100))` makes three objects. Design: a register code
//! over frame slots (parameters, then other variables, then temporaries), one operation per call, constructor
//! or method. A `while` tests at its end, so that its head is the first operation of its body: that is the
//! loop that the papers trace. Each operation has the set of slots that are live before it. Code may begin at
//! *entries* too, where recursion comes and goes ([`Code::entries`]). Invariant: every slot is written before
//! it is read ([`compile`] rejects other programs), so a slot read holds an object.
//!
//! Example: `while y.is_positive(): y = y.add(step)` becomes
//!
//! ```text
//!    jump 2 · 1: y = add y, step · 2: branch y, to 1 if positive
//! ```

use crate::parse::{Cond, Expr, Function, Stmt};

/// A slot of a frame.
pub type Slot = u8;

/// Slots of a frame at most: live sets are sets of 64 bits.
const MAX_SLOTS: usize = 64;

/// An operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// `dst = BoxedInteger(value)`.
    Integer {
        /// Where it goes.
        dst: Slot,
        /// The number.
        value: i64,
    },
    /// `dst = BoxedFloat(value)`.
    Float {
        /// Where it goes.
        dst: Slot,
        /// The number.
        value: f64,
    },
    /// `dst = src`.
    Move {
        /// Where it goes.
        dst: Slot,
        /// Where it is.
        src: Slot,
    },
    /// `dst = receiver.add(argument)`.
    Add {
        /// Where the result goes.
        dst: Slot,
        /// The receiver.
        receiver: Slot,
        /// The argument.
        argument: Slot,
    },
    /// Goes on at `target`.
    Jump {
        /// An operation's number.
        target: usize,
    },
    /// Goes on at `target` if `src.is_positive()` is `when`.
    Branch {
        /// The receiver.
        src: Slot,
        /// An operation's number.
        target: usize,
        /// The outcome that jumps.
        when: bool,
    },
    /// `dst = function(args)`.
    Call {
        /// Where the result goes.
        dst: Slot,
        /// The function's number.
        function: usize,
        /// The arguments.
        args: Vec<Slot>,
    },
    /// Returns `src` to the caller.
    Return {
        /// The result.
        src: Slot,
    },
    /// At a loop head: stops the program when its fuel is used up, and collects garbage when there is much.
    Poll,
}

/// A compiled function.
#[derive(Clone, PartialEq, Debug)]
pub struct Code {
    /// Its name.
    pub name: String,
    /// Number of parameters, which are in the first slots.
    pub params: usize,
    /// Slots of a frame.
    pub slots: usize,
    /// Operations.
    pub ops: Vec<Op>,
    /// Slots live before each operation.
    pub live: Vec<u64>,
    /// Names of the slots that are variables.
    pub variables: Vec<String>,
    /// Whether it may call itself, also by way of others.
    pub is_recursive: bool,
    /// Whether it is recursive, and neither it nor what it calls has a loop.
    pub is_unit: bool,
    /// The operations that are entries: its first one, if it is recursive, and those after calls of functions
    /// that are, or that call such ones.
    pub entries: Vec<bool>,
}

/// Compiles a program. With `polls`, each loop checks fuel and garbage in every iteration.
pub fn compile(functions: &[Function], polls: bool) -> Result<Vec<Code>, String> {
    let compiled = functions.iter().map(|function| compile_function(function, functions, polls));
    let mut program: Vec<Code> = compiled.collect::<Result<_, _>>()?;
    find_entries(&mut program);
    Ok(program)
}

/// Says which functions are recursive, which of them may be units, and where entries are.
fn find_entries(program: &mut [Code]) {
    let calls: Vec<Vec<usize>> = program.iter().map(|code| code.callees().collect()).collect();
    let below = |start: usize| {
        let (mut found, mut todo) = (vec![false; calls.len()], calls[start].clone());
        while let Some(function) = todo.pop() {
            if !std::mem::replace(&mut found[function], true) {
                todo.extend(&calls[function]);
            }
        }
        found
    };
    let below: Vec<Vec<bool>> = (0..program.len()).map(below).collect();
    let recursive: Vec<bool> = (0..program.len()).map(|function| below[function][function]).collect();
    let leads_to_one =
        |function: usize| (0..recursive.len()).any(|other| recursive[other] && below[function][other]);
    let loops: Vec<bool> = program.iter().map(Code::has_loop).collect();
    for (number, code) in program.iter_mut().enumerate() {
        code.is_recursive = recursive[number];
        code.is_unit =
            recursive[number] && !(0..loops.len()).any(|other| loops[other] && below[number][other]);
        code.entries = vec![false; code.ops.len()];
        code.entries[0] = code.is_recursive;
        for index in 1..code.ops.len() {
            let Op::Call { function, .. } = code.ops[index - 1] else { continue };
            code.entries[index] = leads_to_one(function);
        }
    }
}

fn compile_function(function: &Function, all: &[Function], polls: bool) -> Result<Code, String> {
    let mut variables = function.params.clone();
    collect_variables(&function.body, &mut variables);
    let first_temp = variables.len();
    let mut builder =
        Builder { all, polls, variables, ops: Vec::new(), next_temp: first_temp, slots: first_temp };
    let in_function = |message: String| format!("function {}: {message}", function.name);
    builder.block(&function.body).map_err(in_function)?;
    if builder.falls_through(&function.body) {
        return Err(in_function("it can end without a return".into()));
    }
    let Builder { ops, slots, variables, .. } = builder;
    if slots > MAX_SLOTS {
        return Err(in_function(format!("it needs {slots} slots, at most {MAX_SLOTS} are possible")));
    }
    let live = liveness(&ops);
    let undefined = live[0] >> function.params.len();
    if undefined != 0 {
        let slot = function.params.len() + undefined.trailing_zeros() as usize;
        return Err(in_function(format!("{} may be read before it is assigned", variables[slot])));
    }
    Ok(Code {
        name: function.name.clone(),
        params: function.params.len(),
        slots,
        ops,
        live,
        variables,
        is_recursive: false,
        is_unit: false,
        entries: Vec::new(),
    })
}

impl Code {
    fn has_loop(&self) -> bool {
        self.ops.iter().enumerate().any(|(at, op)| match *op {
            Op::Jump { target } | Op::Branch { target, .. } => target <= at,
            _ => false,
        })
    }

    /// The functions that it calls.
    fn callees(&self) -> impl Iterator<Item = usize> + '_ {
        self.ops.iter().filter_map(|op| match op {
            Op::Call { function, .. } => Some(*function),
            _ => None,
        })
    }
}

fn collect_variables(body: &[Stmt], variables: &mut Vec<String>) {
    for statement in body {
        match statement {
            Stmt::Assign(name, _) if !variables.contains(name) => variables.push(name.clone()),
            Stmt::While(_, body) => collect_variables(body, variables),
            Stmt::If(_, body, otherwise) => {
                collect_variables(body, variables);
                collect_variables(otherwise, variables);
            }
            _ => {}
        }
    }
}

struct Builder<'a> {
    all: &'a [Function],
    polls: bool,
    variables: Vec<String>,
    ops: Vec<Op>,
    next_temp: usize,
    slots: usize,
}

impl Builder<'_> {
    fn falls_through(&self, body: &[Stmt]) -> bool {
        match body.last() {
            Some(Stmt::Return(_) | Stmt::While(Cond::True, _)) => false,
            Some(Stmt::If(_, body, otherwise)) => self.falls_through(body) || self.falls_through(otherwise),
            _ => true,
        }
    }

    fn block(&mut self, body: &[Stmt]) -> Result<(), String> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Stmt) -> Result<(), String> {
        self.next_temp = self.variables.len();
        match statement {
            Stmt::Assign(name, value) => {
                let dst = self.variable(name)?;
                self.expr_into(value, dst)
            }
            Stmt::Return(value) => {
                let src = self.expr(value)?;
                self.ops.push(Op::Return { src });
                Ok(())
            }
            Stmt::While(cond, body) => self.while_loop(cond, body),
            Stmt::If(Cond::True, body, _) => self.block(body),
            Stmt::If(Cond::Positive(value), body, otherwise) => {
                let src = self.expr(value)?;
                let branch = self.ops.len();
                self.ops.push(Op::Branch { src, target: 0, when: false });
                self.block(body)?;
                let skip = self.ops.len();
                if !otherwise.is_empty() {
                    self.ops.push(Op::Jump { target: 0 });
                }
                self.patch(branch);
                if !otherwise.is_empty() {
                    self.block(otherwise)?;
                    self.patch(skip);
                }
                Ok(())
            }
        }
    }

    fn while_loop(&mut self, cond: &Cond, body: &[Stmt]) -> Result<(), String> {
        let entry = self.ops.len();
        if let Cond::Positive(_) = cond {
            self.ops.push(Op::Jump { target: 0 });
        }
        let head = self.ops.len();
        if self.polls {
            self.ops.push(Op::Poll);
        }
        self.block(body)?;
        match cond {
            Cond::True => self.ops.push(Op::Jump { target: head }),
            Cond::Positive(value) => {
                self.patch(entry);
                self.next_temp = self.variables.len();
                let src = self.expr(value)?;
                self.ops.push(Op::Branch { src, target: head, when: true });
            }
        }
        Ok(())
    }

    /// The jump at `index` goes to the next operation.
    fn patch(&mut self, index: usize) {
        let next = self.ops.len();
        if let Op::Jump { target } | Op::Branch { target, .. } = &mut self.ops[index] {
            *target = next;
        }
    }

    fn variable(&self, name: &str) -> Result<Slot, String> {
        let position = self.variables.iter().position(|variable| variable == name);
        position.map(|slot| slot as Slot).ok_or_else(|| format!("there is no variable '{name}'"))
    }

    fn temp(&mut self) -> Slot {
        self.next_temp += 1;
        self.slots = self.slots.max(self.next_temp);
        (self.next_temp - 1).min(255) as Slot
    }

    fn expr(&mut self, value: &Expr) -> Result<Slot, String> {
        if let Expr::Var(name) = value {
            return self.variable(name);
        }
        let dst = self.temp();
        self.expr_into(value, dst)?;
        Ok(dst)
    }

    fn expr_into(&mut self, value: &Expr, dst: Slot) -> Result<(), String> {
        let op = match value {
            Expr::Var(name) => Op::Move { dst, src: self.variable(name)? },
            Expr::Integer(value) => Op::Integer { dst, value: *value },
            Expr::Float(value) => Op::Float { dst, value: *value },
            Expr::Add(receiver, argument) => {
                let receiver = self.expr(receiver)?;
                let argument = self.expr(argument)?;
                Op::Add { dst, receiver, argument }
            }
            Expr::Call(name, args) => {
                let function = self.all.iter().position(|function| function.name == *name);
                let function = function.ok_or_else(|| format!("there is no function '{name}'"))?;
                let expected = self.all[function].params.len();
                if args.len() != expected {
                    return Err(format!("{name} takes {expected} arguments, not {}", args.len()));
                }
                let args = args.iter().map(|arg| self.expr(arg)).collect::<Result<_, _>>()?;
                Op::Call { dst, function, args }
            }
        };
        self.ops.push(op);
        Ok(())
    }
}

impl Op {
    /// The slots that it reads and the slot that it writes, as sets.
    fn uses(&self) -> (u64, u64) {
        let bit = |slot: Slot| 1u64.checked_shl(slot.into()).unwrap_or(0);
        match self {
            Op::Integer { dst, .. } | Op::Float { dst, .. } => (0, bit(*dst)),
            Op::Move { dst, src } => (bit(*src), bit(*dst)),
            Op::Add { dst, receiver, argument } => (bit(*receiver) | bit(*argument), bit(*dst)),
            Op::Call { dst, args, .. } => (args.iter().fold(0, |set, &arg| set | bit(arg)), bit(*dst)),
            Op::Branch { src, .. } | Op::Return { src } => (bit(*src), 0),
            Op::Jump { .. } | Op::Poll => (0, 0),
        }
    }

    /// The slot that it writes.
    pub fn dst(&self) -> Option<Slot> {
        match self {
            Op::Integer { dst, .. } | Op::Float { dst, .. } | Op::Move { dst, .. } => Some(*dst),
            Op::Add { dst, .. } | Op::Call { dst, .. } => Some(*dst),
            _ => None,
        }
    }
}

/// The slots live before each operation, by going backwards until nothing changes.
fn liveness(ops: &[Op]) -> Vec<u64> {
    let mut live = vec![0u64; ops.len() + 1];
    loop {
        let mut changed = false;
        for (index, op) in ops.iter().enumerate().rev() {
            let after = match op {
                Op::Jump { target } => live[*target],
                Op::Branch { target, .. } => live[*target] | live[index + 1],
                Op::Return { .. } => 0,
                _ => live[index + 1],
            };
            let (reads, writes) = op.uses();
            let before = after & !writes | reads;
            changed |= live[index] != before;
            live[index] = before;
        }
        if !changed {
            live.truncate(ops.len());
            return live;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[test]
    fn while_loops_test_at_their_end() {
        let source = "def f(y, step):\n  while y.is_positive():\n    y = y.add(step)\n  return y\n";
        let code = compile(&parse(source).unwrap(), false).unwrap().remove(0);
        assert_eq!(
            code.ops,
            [
                Op::Jump { target: 2 },
                Op::Add { dst: 0, receiver: 0, argument: 1 },
                Op::Branch { src: 0, target: 1, when: true },
                Op::Return { src: 0 },
            ]
        );
        assert_eq!(code.live, [0b11, 0b11, 0b11, 0b01]);
    }

    #[test]
    fn entries_are_where_recursion_passes() {
        let source = "\
def odd(n):
    if n.is_positive():
        return even(n.add(BoxedInteger(-1)))
    return n
def even(n):
    if n.is_positive():
        return odd(n.add(BoxedInteger(-1)))
    return BoxedInteger(1)
def plain(n):
    return n.add(n)
def f(n):
    x = plain(n)
    x = even(x)
    return plain(x)
";
        let program = compile(&parse(source).unwrap(), true).unwrap();
        let is_recursive: Vec<_> = program.iter().map(|code| code.is_recursive).collect();
        assert_eq!(is_recursive, [true, true, false, false]);
        let entries =
            |code: &Code| -> Vec<_> { (0..code.ops.len()).filter(|&at| code.entries[at]).collect() };
        assert_eq!(
            program.iter().map(entries).collect::<Vec<_>>(),
            [vec![0, 4], vec![0, 4], vec![], vec![2]]
        );
        assert!(matches!(program[0].ops[3], Op::Call { function: 1, .. }));
    }

    #[test]
    fn errors_are_sentences() {
        let error = |source: &str| compile(&parse(source).unwrap(), true).unwrap_err();
        assert_eq!(error("def f(y):\n  y = y\n"), "function f: it can end without a return");
        assert_eq!(error("def f(y):\n  return z\n"), "function f: there is no variable 'z'");
        assert_eq!(error("def f(y):\n  return g(y)\n"), "function f: there is no function 'g'");
        assert_eq!(error("def f(y):\n  return f()\n"), "function f: f takes 1 arguments, not 0");
        let maybe = "def f(y):\n  if y.is_positive():\n    z = y\n  return z\n";
        assert_eq!(error(maybe), "function f: z may be read before it is assigned");
    }
}
