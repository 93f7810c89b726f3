//! Text into lines of tokens.
//!
//! Problem: the trace language is made of lines, since a listing is, but a layout or a snapshot is too long
//! for one. Design: a *logical* line goes on while a bracket is open. Inside braces a line break separates
//! entries as a comma does; inside `(` and `[` it is a blank. Comments (`#` and `;`) end at the end of the
//! line; those that begin with `;` are kept as [`Directive`]s, since tests speak through them (`; test …`,
//! `; error: …`).
//!
//! Invariant: no input panics; every token knows its line and column (both from 1, the column in characters).
//! Example: `i4 = i2 + -3 # sum` is the tokens `i4`, `=`, `i2`, `+`, `-`, `3`.

use super::ParseError;

/// A token's kind.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Tok {
    /// A bare name; keywords are bare names.
    Ident(String),
    /// A name in quotes: never a keyword.
    Quoted(String),
    /// An integer without sign, and whether it was written in hexadecimal.
    Int(u64, bool),
    /// A double without sign.
    Float(f64),
    /// Punctuation; a line break inside braces is `"\n"`.
    Punct(&'static str),
}

/// A token and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Token {
    pub tok: Tok,
    pub line: usize,
    pub column: usize,
}

/// A logical line.
#[derive(Debug)]
pub(super) struct Line {
    /// Number of its first line in the source, from 1.
    pub number: usize,
    /// Blanks before its first token.
    pub indent: usize,
    /// At least one token.
    pub tokens: Vec<Token>,
}

/// A comment that begins with `;`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directive {
    /// Its line, from 1.
    pub line: usize,
    /// What follows the `;`, without one leading blank and without trailing ones.
    pub text: String,
    /// Whether it stands alone on its line.
    pub alone: bool,
}

/// Longest first, so that `>>>` is not read as `>>` and `>`.
const PUNCTUATION: [&str; 26] = [
    ">>>", "->", "<<", ">>", "==", "!=", "<=", ">=", "(", ")", "[", "]", "{", "}", ",", ":", "=", "@", "+",
    "-", "*", "&", "|", "^", "<", ">",
];

/// Splits a source into logical lines; `directives` gets its `;` comments.
pub(super) fn lex(source: &str, directives: &mut Vec<Directive>) -> Result<Vec<Line>, ParseError> {
    let mut lines: Vec<Line> = Vec::new();
    let mut open: Vec<Token> = Vec::new();
    for (index, text) in source.lines().enumerate() {
        let number = index + 1;
        let mut tokens = Vec::new();
        lex_line(text, number, &mut tokens, directives)?;
        let goes_on = !open.is_empty();
        if let Some(Token { tok: Tok::Punct("{"), .. }) = open.last() {
            tokens.insert(0, Token { tok: Tok::Punct("\n"), line: number, column: 1 });
        }
        for token in &tokens {
            match token.tok {
                Tok::Punct("(" | "[" | "{") => open.push(token.clone()),
                Tok::Punct(")" | "]" | "}") if open.pop().is_none() => {
                    return Err(ParseError::at(token, "this bracket closes nothing"));
                }
                _ => {}
            }
        }
        match lines.last_mut() {
            Some(line) if goes_on => line.tokens.extend(tokens),
            _ if tokens.is_empty() => {}
            _ => {
                let indent = text.chars().take_while(|c| *c == ' ').count();
                lines.push(Line { number, indent, tokens });
            }
        }
    }
    match open.first() {
        Some(token) => Err(ParseError::at(token, "this bracket is never closed")),
        None => Ok(lines),
    }
}

/// The tokens of one line of the source.
fn lex_line(
    text: &str,
    line: usize,
    tokens: &mut Vec<Token>,
    directives: &mut Vec<Directive>,
) -> Result<(), ParseError> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let column = text[..text.len() - rest.len()].chars().count() + 1;
        let Some(first) = rest.chars().next() else { return Ok(()) };
        if first == '#' {
            return Ok(());
        }
        if let Some(comment) = rest.strip_prefix(';') {
            let text = comment.strip_prefix(' ').unwrap_or(comment).trim_end().to_string();
            directives.push(Directive { line, text, alone: tokens.is_empty() });
            return Ok(());
        }
        let fail = |message: String| ParseError { line, column, message };
        let (tok, length) = if is_name_start(first) {
            let length = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
            (Tok::Ident(rest[..length].to_string()), length)
        } else if first.is_ascii_digit() {
            number(rest).map_err(fail)?
        } else if first == '"' {
            quoted(rest).ok_or_else(|| fail("this quoted name is never closed".to_string()))?
        } else if let Some(punct) = PUNCTUATION.into_iter().find(|p| rest.starts_with(p)) {
            (Tok::Punct(punct), punct.len())
        } else {
            return Err(fail(format!("unexpected character {first:?}")));
        };
        tokens.push(Token { tok, line, column });
        rest = &rest[length..];
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// Whether a name can be written without quotes.
pub(super) fn is_bare_name(name: &str) -> bool {
    name.starts_with(is_name_start) && name.chars().all(is_name_char)
}

/// An integer or a double at the start of `rest`.
fn number(rest: &str) -> Result<(Tok, usize), String> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    if let Some(hex) = rest.strip_prefix("0x") {
        let length = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        let value = u64::from_str_radix(&hex[..length], 16).map_err(|_| "not a 64-bit hexadecimal number")?;
        return Ok((Tok::Int(value, true), length + 2));
    }
    let mut end = digits(0);
    let mut is_float = false;
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(end + 1);
        is_float = true;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = matches!(bytes.get(end + 1), Some(b'+' | b'-')) as usize;
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
            is_float = true;
        }
    }
    let text = &rest[..end];
    if rest[end..].starts_with(is_name_char) {
        return Err(format!("'{text}' runs into a name"));
    }
    if is_float {
        let value = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
        return Ok((Tok::Float(value), end));
    }
    let value = text.parse().map_err(|_| format!("'{text}' does not fit in 64 bits"))?;
    Ok((Tok::Int(value, false), end))
}

/// A quoted name at the start of `rest`; `None` if it has no end.
fn quoted(rest: &str) -> Option<(Tok, usize)> {
    let mut name = String::new();
    let mut escaped = false;
    for (index, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => {
                name.push(if c == 'n' { '\n' } else { c });
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Some((Tok::Quoted(name), index + 1)),
            _ => name.push(c),
        }
    }
    None
}

/// A name as it is written: in quotes when it is no bare name or is one of `keywords`.
pub(super) fn write_name(name: &str, keywords: &[&str]) -> String {
    if is_bare_name(name) && !keywords.contains(&name) {
        return name.to_string();
    }
    let escaped = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// A place in a logical line.
pub(super) struct Cursor<'a> {
    pub tokens: &'a [Token],
    pub pos: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(line: &'a Line) -> Cursor<'a> {
        Cursor { tokens: &line.tokens, pos: 0 }
    }

    /// The token `ahead` tokens further.
    pub fn peek_at(&self, ahead: usize) -> Option<&'a Tok> {
        self.tokens.get(self.pos + ahead).map(|token| &token.tok)
    }

    /// The next token.
    pub fn peek(&self) -> Option<&'a Tok> {
        self.peek_at(0)
    }

    /// Whether the next token is this punctuation.
    pub fn is(&self, punct: &str) -> bool {
        matches!(self.peek(), Some(Tok::Punct(p)) if *p == punct)
    }

    /// Takes the next token if it is this punctuation.
    pub fn eat(&mut self, punct: &str) -> bool {
        let hit = self.is(punct);
        self.pos += hit as usize;
        hit
    }

    /// Whether the next token is this keyword.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Tok::Ident(name)) if name == word)
    }

    /// Takes the next token if it is this keyword.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let hit = self.is_word(word);
        self.pos += hit as usize;
        hit
    }

    /// Takes this punctuation or fails.
    pub fn expect(&mut self, punct: &str) -> Result<(), ParseError> {
        if self.eat(punct) {
            return Ok(());
        }
        Err(self.error(format!("expected '{punct}', found {}", self.found())))
    }

    /// Takes this keyword or fails.
    pub fn expect_word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.eat_word(word) {
            return Ok(());
        }
        Err(self.error(format!("expected '{word}', found {}", self.found())))
    }

    /// Takes a name, bare or quoted.
    pub fn name(&mut self, what: &str) -> Result<String, ParseError> {
        match self.peek() {
            Some(Tok::Ident(name) | Tok::Quoted(name)) => {
                self.pos += 1;
                Ok(name.clone())
            }
            _ => Err(self.error(format!("expected {what}, found {}", self.found()))),
        }
    }

    /// Takes an integer with an optional sign.
    pub fn int(&mut self, what: &str) -> Result<i64, ParseError> {
        let negative = self.is("-");
        let Some(Tok::Int(magnitude, hex)) = self.peek_at(negative as usize) else {
            return Err(self.error(format!("expected {what}, found {}", self.found())));
        };
        let value = match (negative, hex) {
            (true, _) => 0i64.checked_sub_unsigned(*magnitude),
            (false, true) => Some(*magnitude as i64),
            (false, false) => i64::try_from(*magnitude).ok(),
        };
        let value = value.ok_or_else(|| self.error(format!("{what} does not fit in 64 bits")))?;
        self.pos += 1 + negative as usize;
        Ok(value)
    }

    /// Takes an unsigned 64-bit integer.
    pub fn u64(&mut self, what: &str) -> Result<u64, ParseError> {
        match self.peek() {
            Some(Tok::Int(value, _)) => {
                self.pos += 1;
                Ok(*value)
            }
            _ => Err(self.error(format!("expected {what}, found {}", self.found()))),
        }
    }

    /// Takes an integer that fits in `T`.
    pub fn small<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T, ParseError> {
        let start = self.pos;
        let value = self.int(what)?;
        T::try_from(value).map_err(|_| {
            self.pos = start;
            self.error(format!("{value} is out of range for {what}"))
        })
    }

    /// Calls `entry` for each entry of a list up to `close`; entries are separated by commas or (in braces)
    /// lines.
    pub fn list(
        &mut self,
        close: &str,
        mut entry: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        loop {
            while self.eat("\n") {}
            if self.eat(close) {
                return Ok(());
            }
            entry(self)?;
            let mut separated = self.eat("\n");
            while self.eat("\n") {}
            separated |= self.eat(",");
            if !separated && !self.is(close) {
                return Err(self.error(format!("expected ',' or '{close}', found {}", self.found())));
            }
        }
    }

    /// Fails unless the line is at its end.
    pub fn end(&self) -> Result<(), ParseError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error(format!("expected the end of the line, found {}", self.found()))),
        }
    }

    /// An error at the next token (or just after the last one).
    pub fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.pos, message)
    }

    /// An error at the token with that index.
    pub fn error_at(&self, index: usize, message: impl Into<String>) -> ParseError {
        match (self.tokens.get(index), self.tokens.last()) {
            (Some(token), _) => ParseError::at(token, message),
            (None, Some(last)) => ParseError { column: last.column + 1, ..ParseError::at(last, message) },
            (None, None) => ParseError { line: 0, column: 0, message: message.into() },
        }
    }

    /// The next token in words.
    pub fn found(&self) -> String {
        match self.peek() {
            None => "the end of the line".to_string(),
            Some(Tok::Ident(name)) => format!("'{name}'"),
            Some(Tok::Quoted(name)) => format!("{name:?}"),
            Some(Tok::Int(value, _)) => format!("'{value}'"),
            Some(Tok::Float(value)) => format!("'{value:?}'"),
            Some(Tok::Punct("\n")) => "a new line".to_string(),
            Some(Tok::Punct(punct)) => format!("'{punct}'"),
        }
    }
}
