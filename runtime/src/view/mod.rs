//! The view: one page that says what became of a program's loops, and why.
//!
//! Problem: "why is my loop slow?" is asked by people who do not read dumps. The answer lies in many places:
//! what was recorded and when, what was given up and at which line, how often each exit was taken, what the
//! interpreter still does. Design: with [`Config::view`](crate::Config) the service notes what it would
//! forget (texts of traces, failed attempts, back edges of each loop), and its code counts entries and
//! iterations trace by trace. The host tells of each function that it loads where its instructions lie, and
//! of which lines they are. At the end all of it becomes a [`model`] of plain data, which is given out as
//! JSON or rendered as a page of HTML. Invariant: without the setting nothing is kept and no code is changed.
//!
//! ```text
//! notes (record.rs, functions.rs) --end of the program--> model.rs (gather.rs, heat.rs, verdict.rs)
//!   --> JSON, or a page (render/)
//! ```

mod exits;
pub mod functions;
mod gather;
mod heat;
pub mod model;
pub(crate) mod notes;
pub mod render;
pub(crate) mod text;
mod verdict;
