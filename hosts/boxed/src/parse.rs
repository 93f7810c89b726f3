//! The little language's text form: the part of Python in which the papers write their examples.
//!
//! Problem: the papers' programs should run as they are printed. Design: lines are parsed by indentation into
//! statements; expressions are names, `BoxedInteger(-1)`, `BoxedFloat(0.5)`, calls `g(x, y)` and `x.add(y)`;
//! conditions are `True` and `x.is_positive()`. Invariant: parsing never panics; an error names its line.
//!
//! ```
//! use tracelift_boxed::parse::{parse, Stmt};
//! let program = "def f(y):\n  while y.is_positive():\n    y = y.add(BoxedInteger(-1))\n  return y\n";
//! let functions = parse(program).unwrap();
//! assert_eq!(functions[0].params, ["y"]);
//! assert!(matches!(functions[0].body[0], Stmt::While(..)));
//! assert_eq!(parse("def f(y):\n  x y\n").unwrap_err(), "line 2: expected '=' after 'x'");
//! ```

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A variable.
    Var(String),
    /// `BoxedInteger(n)`.
    Integer(i64),
    /// `BoxedFloat(x)`.
    Float(f64),
    /// `receiver.add(argument)`.
    Add(Box<Expr>, Box<Expr>),
    /// `function(arguments)`.
    Call(String, Vec<Expr>),
}

/// A condition.
#[derive(Clone, PartialEq, Debug)]
pub enum Cond {
    /// `True`.
    True,
    /// `expression.is_positive()`.
    Positive(Expr),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// `name = expression`.
    Assign(String, Expr),
    /// `while condition:`.
    While(Cond, Vec<Stmt>),
    /// `if condition:` and `else:`.
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// `return expression`.
    Return(Expr),
}

/// A function.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<String>,
    /// Its statements.
    pub body: Vec<Stmt>,
}

/// A line that is not empty: number, indentation, text.
type Line<'a> = (usize, usize, &'a str);

/// Parses a program.
pub fn parse(source: &str) -> Result<Vec<Function>, String> {
    let lines: Vec<Line> = source
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.split('#').next().unwrap_or("").trim_end()))
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| (number, line.len() - line.trim_start().len(), line.trim_start()))
        .collect();
    let mut parser = Parser { lines: &lines };
    let mut functions = Vec::new();
    while let Some(&(number, _, line)) = parser.lines.first() {
        parser.lines = &parser.lines[1..];
        let at = |message: String| format!("line {number}: {message}");
        let mut text = Text { rest: line };
        let (name, params) = text.function_head().map_err(at)?;
        functions.push(Function { name, params, body: parser.block(0, number)? });
    }
    Ok(functions)
}

struct Parser<'a> {
    lines: &'a [Line<'a>],
}

impl Parser<'_> {
    /// The statements indented deeper than `outer`, all alike.
    fn block(&mut self, outer: usize, head: usize) -> Result<Vec<Stmt>, String> {
        let indent = match self.lines.first() {
            Some(&(_, indent, _)) if indent > outer => indent,
            _ => return Err(format!("line {head}: an indented block is missing")),
        };
        let mut body = Vec::new();
        while let Some(&(number, found, line)) = self.lines.first() {
            if found < indent {
                break;
            }
            if found > indent {
                return Err(format!("line {number}: unexpected indentation"));
            }
            self.lines = &self.lines[1..];
            let statement = self.statement(indent, number, &mut Text { rest: line })?;
            body.push(statement);
        }
        Ok(body)
    }

    fn statement(&mut self, indent: usize, number: usize, text: &mut Text) -> Result<Stmt, String> {
        let at = |message: String| format!("line {number}: {message}");
        let name = text.name().map_err(at)?;
        match name.as_str() {
            "while" | "if" => {
                let cond = text.cond().map_err(at)?;
                text.end().map_err(at)?;
                let body = self.block(indent, number)?;
                if name == "while" {
                    return Ok(Stmt::While(cond, body));
                }
                let otherwise = match self.lines.first() {
                    Some(&(number, found, "else:")) if found == indent => {
                        self.lines = &self.lines[1..];
                        self.block(indent, number)?
                    }
                    _ => Vec::new(),
                };
                Ok(Stmt::If(cond, body, otherwise))
            }
            "return" => {
                let value = text.expr().map_err(at)?;
                text.end().map_err(at)?;
                Ok(Stmt::Return(value))
            }
            _ => {
                if !text.eat("=") {
                    return Err(at(format!("expected '=' after '{name}'")));
                }
                let value = text.expr().map_err(at)?;
                text.end().map_err(at)?;
                Ok(Stmt::Assign(name, value))
            }
        }
    }
}

/// A piece of a line.
struct Text<'a> {
    rest: &'a str,
}

impl Text<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) {
            Ok(())
        } else {
            Err(format!("expected '{token}' at '{}'", self.rest))
        }
    }

    fn end(&mut self) -> Result<(), String> {
        if self.rest.trim().is_empty() {
            Ok(())
        } else {
            Err(format!("unexpected '{}'", self.rest.trim()))
        }
    }

    fn word(&mut self, accept: impl Fn(char) -> bool) -> String {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !accept(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_string()
    }

    fn name(&mut self) -> Result<String, String> {
        let name = self.word(|c| c.is_alphanumeric() || c == '_');
        match name.chars().next() {
            Some(first) if !first.is_ascii_digit() => Ok(name),
            _ => Err(format!("expected a name at '{name}{}'", self.rest)),
        }
    }

    fn function_head(&mut self) -> Result<(String, Vec<String>), String> {
        if self.name()? != "def" {
            return Err("expected 'def'".into());
        }
        let name = self.name()?;
        self.expect("(")?;
        let mut params = Vec::new();
        while !self.eat(")") {
            params.push(self.name()?);
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        self.expect(":")?;
        self.end()?;
        Ok((name, params))
    }

    /// A condition and its colon.
    fn cond(&mut self) -> Result<Cond, String> {
        if self.eat("True:") {
            return Ok(Cond::True);
        }
        let value = self.expr()?;
        self.expect(".is_positive():")?;
        Ok(Cond::Positive(value))
    }

    fn expr(&mut self) -> Result<Expr, String> {
        let name = self.name()?;
        let mut value = if self.eat("(") { self.call(name)? } else { Expr::Var(name) };
        while self.eat(".add(") {
            let argument = self.expr()?;
            self.expect(")")?;
            value = Expr::Add(value.into(), argument.into());
        }
        Ok(value)
    }

    fn call(&mut self, name: String) -> Result<Expr, String> {
        let number = |text: &mut Self| text.word(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        match name.as_str() {
            "BoxedInteger" => {
                let number = number(self);
                self.expect(")")?;
                number.parse().map(Expr::Integer).map_err(|_| format!("'{number}' is no integer"))
            }
            "BoxedFloat" => {
                let number = number(self);
                self.expect(")")?;
                number.parse().map(Expr::Float).map_err(|_| format!("'{number}' is no number"))
            }
            _ => {
                let mut args = Vec::new();
                while !self.eat(")") {
                    args.push(self.expr()?);
                    if !self.eat(",") {
                        self.expect(")")?;
                        break;
                    }
                }
                Ok(Expr::Call(name, args))
            }
        }
    }
}
