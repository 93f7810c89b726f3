//! Names that people know: of places in the program, and of the code that is made of them.
//!
//! Problem: a key is an address, and says nothing to those who wrote the program. Design: the host has a
//! function that knows names of places ([`NameOf`]); [`code_name`] puts together what a piece of code is
//! called, and nobody else does: logs, statistics and tools for machine code have the same names. Where the
//! host knows none, what was recorded keeps the name that it has in the text form. Invariant: a name is one
//! line.
//!
//! ```text
//! loop app.lua:12 sum     function app.lua:3 fib     side app.lua:14 sum (exit 3 of trace 0)     loop_7f00
//! ```

use crate::ids::Key;
pub use crate::place::Place;
use crate::reasons::Reasons;
use crate::recorder::Start;

/// The host's function that knows what people call a place: "file:line function".
pub type NameOf = Box<dyn Fn(Place<'_>) -> Option<String>>;

/// Who knows names.
#[derive(Default)]
pub(crate) struct Names {
    host: Option<NameOf>,
    /// What reasons mean.
    pub reasons: Reasons,
}

impl Names {
    pub fn set(&mut self, host: Option<NameOf>) {
        self.host = host;
    }

    /// What the host calls a place.
    pub fn of(&self, place: Place<'_>) -> Option<String> {
        let name = self.host.as_ref()?(place)?;
        let name = name.replace(char::is_control, "?");
        Some(name).filter(|name| !name.is_empty())
    }
}

/// The name of a piece of code that begins so, in the tree of the location `key`; `place` is what the host
/// calls the place where it begins.
pub fn code_name(start: Start, key: Key, place: Option<&str>) -> String {
    let Some(place) = place else { return start.name(key) };
    match start {
        Start::Loop { .. } => format!("loop {place}"),
        Start::Entry => format!("entry {place}"),
        Start::Unit(_) => format!("function {place}"),
        Start::Side(at) => format!("side {place} (exit {} of trace {})", at.exit, at.trace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ExitId, ExitPoint, TraceId};

    #[test]
    fn a_piece_of_code_is_called_after_its_place() {
        let side = Start::Side(ExitPoint { trace: TraceId(0), exit: ExitId(3) });
        assert_eq!(code_name(Start::of_location(false, 2), 0x7f00, Some("a.lua:1 f")), "loop a.lua:1 f");
        assert_eq!(code_name(Start::Entry, 0x7f00, Some("a.lua:1 f")), "entry a.lua:1 f");
        assert_eq!(code_name(side, 0x7f00, Some("a.lua:2 f")), "side a.lua:2 f (exit 3 of trace 0)");
        assert_eq!(code_name(side, 0x7f00, None), "side_0_3");
        assert_eq!(code_name(Start::of_location(false, 0), 0x7f00, None), "loop_7f00");
    }

    #[test]
    fn names_are_lines() {
        let mut names = Names::default();
        assert_eq!(names.of(Place::Key(1)), None);
        names.set(Some(Box::new(|place| match place {
            Place::Key(1) => Some("a\nb".into()),
            Place::Frame([2]) => Some(String::new()),
            _ => None,
        })));
        assert_eq!(names.of(Place::Key(1)).as_deref(), Some("a?b"));
        assert_eq!((names.of(Place::Key(2)), names.of(Place::Frame(&[2]))), (None, None));
    }
}
