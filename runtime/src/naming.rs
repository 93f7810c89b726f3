//! What the service calls things when it tells of them.
//!
//! Problem: a location's name is wanted when its code is told of, also after the host has forgotten the
//! function; an exit's and an operation's when something begins or ends there. Design: a location's name is
//! asked for once and kept with it, a trace keeps its own title, and others are asked for when there is
//! something to tell. Invariant: the host is asked only while what is named is there.
//!
//! ```text
//! trace 1 side app.lua:14 sum (exit 3 of trace 0), goes on at loop app.lua:12 sum
//! ```

use crate::ids::{ExitPoint, Key, TraceId};
use crate::log::Stage;
use crate::names::{code_name, NameOf, Place};
use crate::reasons::MeaningOf;
use crate::recorder::{Recorder, Start};
use crate::tree::Tree;
use crate::vm::Vm;

impl Vm {
    /// Whom to ask for names of places; see `tl_set_name_of`.
    pub fn set_name_of(&mut self, host: Option<NameOf>) {
        self.names.set(host);
    }

    /// Whom to ask what the host's own reasons mean; see `tl_set_meanings`.
    pub fn set_meaning_of(&mut self, host: Option<MeaningOf>) {
        self.names.reasons.set(host);
    }

    /// What the host calls a location.
    pub(crate) fn place_of(&mut self, key: Key) -> Option<String> {
        let kept = self.locations.get(&key).and_then(|location| location.place.clone());
        if kept.is_some() {
            return kept;
        }
        let place = self.names.of(Place::Key(key));
        if let Some(location) = self.locations.get_mut(&key) {
            location.place.clone_from(&place);
        }
        place
    }

    /// What the host calls the place where the program goes on after an exit.
    pub(crate) fn place_of_exit(&self, at: ExitPoint) -> Option<String> {
        self.traces.get(at.trace)?.place_of_exit(at.exit, &self.names)
    }

    /// What the host calls the place of the operation that is recorded.
    pub(crate) fn place_of_recording(&self, recorder: &Recorder) -> Option<String> {
        self.names.of(recorder.place()?)
    }

    /// The name of code that begins so, in the tree of the location `key`.
    pub(crate) fn name_of_code(&mut self, start: Start, key: Key) -> String {
        let place = match start {
            Start::Side(at) => self.place_of_exit(at),
            _ => self.place_of(key),
        };
        code_name(start, key, place.as_deref())
    }

    /// The name of the code of a location.
    pub(crate) fn name_of_location(&mut self, key: Key) -> String {
        let is_entry = self.locations.get(&key).is_some_and(|location| location.is_entry);
        self.name_of_code(Start::of_location(is_entry, 0), key)
    }

    /// The name of the code of a trace that will be at this place in a tree.
    pub(crate) fn title_of(&mut self, tree: &Tree) -> String {
        match (tree.parent, tree.unit) {
            (Some(at), _) => self.name_of_code(Start::Side(at), tree.key),
            (None, Some(unit)) => self.name_of_code(Start::Unit(unit), tree.key),
            (None, None) => self.name_of_location(tree.key),
        }
    }

    /// A trace with its name.
    pub(crate) fn shown(&self, number: TraceId) -> String {
        match self.traces.get(number) {
            Some(trace) => format!("trace {number} {}", trace.title),
            None => format!("trace {number}"),
        }
    }

    /// Tells of code in a line of the log, if it is wanted.
    pub(crate) fn tell(&mut self, line: impl FnOnce(&mut Vm) -> String) {
        if self.log.wants(Stage::Trace) {
            let line = line(self);
            self.log.entry(Stage::Trace, &line, String::new);
        }
    }

    /// An exit with its name.
    pub(crate) fn shown_exit(&self, at: ExitPoint) -> String {
        let place = self.place_of_exit(at).map(|place| format!(" ({place})")).unwrap_or_default();
        format!("exit {} of trace {}{place}", at.exit, at.trace)
    }
}
