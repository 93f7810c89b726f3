//! The statistics for people: a few lines of text.
//!
//! Problem: the counters of a run are many, and most of them are zero in most runs. Design: one function for
//! each topic (compiling, entries, time, recordings) writes its lines; what is always of interest has a line
//! in each run, what is rare only when it has happened. Invariant: the text shows nothing that the JSON form
//! lacks, and says "not counted" where a counter was not configured.
//!
//! ```text
//! entered 51 times, left: 3 guard, 48 loop_end; 0 entries refused
//! code that did not pay rested 8 times; 1 loops retired
//! ```

use std::fmt::{Result, Write};

use crate::stats::{
    CompileStats, Costs, Evicted, GroupedOps, GuardCosts, Helpers, HintUse, HostCodeUse, RegionUse, Stats,
    ThreadUse, Time, UnitUse, VentureUse,
};

impl Stats {
    /// The statistics for people: a few lines.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write_text(&mut out).expect("writing to a string does not fail");
        out
    }

    fn write_text(&self, out: &mut String) -> Result {
        writeln!(out, "jit: {}", self.jit)?;
        write_compile(&self.compile, out)?;
        if let Some(costs) = self.costs {
            write_costs(costs, out)?;
        }
        self.write_traces(out)?;
        self.write_entries(out)?;
        self.write_time(out)?;
        self.write_recordings(out)
    }

    /// What came of compiling.
    fn write_traces(&self, out: &mut String) -> Result {
        let CompileStats { places_forgotten, side_traces, operations, ref by_cranelift, .. } = self.compile;
        if places_forgotten > 0 {
            writeln!(
                out,
                "places of memory that the optimizer forgot, for want of room: {places_forgotten}"
            )?;
        }
        if side_traces > 0 {
            writeln!(out, "side traces among them: {side_traces}")?;
        }
        for (reason, traces) in by_cranelift {
            writeln!(out, "by Cranelift's code generator: {traces} ({reason})")?;
        }
        if self.outgrown > 0 {
            writeln!(out, "long loops compiled again with a preamble: {}", self.outgrown)?;
        }
        if self.unhoisted > 0 {
            writeln!(out, "loops compiled again without guards before the loop: {}", self.unhoisted)?;
        }
        if self.outdated > 0 {
            writeln!(out, "traces given up with what they had assumed: {}", self.outdated)?;
        }
        if let Some(HintUse { known, hastened, avoided, refused }) = &self.hints {
            let refused = refused.as_ref().map(|why| format!("; refused: {why}")).unwrap_or_default();
            writeln!(out, "hints of earlier runs: {known}, {hastened} followed, {avoided} heeded{refused}")?;
        }
        if let Some(Evicted { trees, traces, bytes, reasons }) = &self.evicted {
            let reasons: Vec<_> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
            let reasons = reasons.join(", ");
            writeln!(
                out,
                "made room for other code: {trees} trees of {traces} traces, {bytes} bytes ({reasons})"
            )?;
        }
        if let Some(Helpers { functions, code_bytes, us }) = self.helpers {
            writeln!(out, "permanent helpers: {functions} functions, {code_bytes} bytes of code, {us} us")?;
        }
        if let Some(HostCodeUse { pieces, code_bytes, refused }) = self.host_code {
            writeln!(out, "code of the host's own: {pieces} pieces, {code_bytes} bytes, {refused} refused")?;
        }
        if let Some(UnitUse { compiled, retired, left, calls, callers_left, deepest }) = self.units {
            write!(out, "functions called natively: {compiled}, {retired} of them retired; ")?;
            if let Some(calls) = calls {
                let share = callers_left as f64 / calls.max(1) as f64 * 100.0;
                write!(out, "{calls} calls, of which {share:.2} % did not return; ")?;
            }
            writeln!(out, "left {left} times, with {callers_left} callers, at most {deepest} at once")?;
        }
        if let Some(RegionUse { made, traces, refused, ns, .. }) = self.regions {
            let us = ns / 1000;
            writeln!(
                out,
                "trees made one function: {made}, of {traces} traces, in {us} us; {refused} refused"
            )?;
        }
        if let Some(ThreadUse { handed_over, cancelled, waited_for, ns }) = self.thread {
            writeln!(
                out,
                "compiled on another thread: {handed_over}, in {} us of its own; the program waited for \
                 {waited_for}, {cancelled} were cancelled",
                ns / 1000
            )?;
        }
        if !self.ends.is_empty() {
            let ends: Vec<_> = self.ends.iter().map(|(what, count)| format!("{count} {what}")).collect();
            writeln!(out, "traces that end before: {}", ends.join(", "))?;
        }
        if !self.host_calls.is_empty() {
            let calls: Vec<_> =
                self.host_calls.iter().map(|(what, count)| format!("{count} {what}")).collect();
            writeln!(out, "recorded as calls of the host: {}", calls.join(", "))?;
        }
        operations.map_or(Ok(()), |operations| write_operations(operations, out))
    }

    /// How code was entered and left.
    fn write_entries(&self, out: &mut String) -> Result {
        let exits: Vec<_> = self.exits.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let exits =
            if exits.is_empty() { "never left".to_string() } else { format!("left: {}", exits.join(", ")) };
        writeln!(out, "entered {} times, {exits}; {} entries refused", self.entries, self.refused_entries)?;
        if let Some(iterations) = self.iterations_per_entry {
            writeln!(out, "iterations per entry: {iterations:.1}")?;
        }
        if self.unsecured_entries > 0 {
            writeln!(
                out,
                "{} entries put off: no memory for the objects of an exit",
                self.unsecured_entries
            )?;
        }
        if self.declined_entries > 0 {
            writeln!(out, "{} entries declined: no room for stack, frames or calls", self.declined_entries)?;
        }
        if !self.never_virtual.is_empty() {
            let layouts = self.never_virtual.join(", ");
            let why = "no memory is held for exits, or their parts overlap";
            writeln!(out, "always made, since {why}: {layouts}")?;
        }
        Ok(())
    }

    /// Where iterations ran, and how long.
    fn write_time(&self, out: &mut String) -> Result {
        let interpreted = self.interpreted_back_edges;
        match (self.compiled_iterations, self.compiled_share) {
            (Some(iterations), Some(share)) => writeln!(
                out,
                "loop iterations: {iterations} as machine code, {interpreted} interpreted: {:.2} % as machine code",
                share * 100.0
            )?,
            _ => writeln!(out, "loop iterations: {interpreted} interpreted, as machine code not counted")?,
        }
        let Time { program, machine, machine_share, saved, recording, compiling } = self.time;
        writeln!(
            out,
            "time: {program:.3} s, {machine:.3} s ({:.1} %) of it in machine code, which saved {saved:.3} s; \
             recording {recording:.4} s, compiling {compiling:.4} s",
            machine_share * 100.0,
        )?;
        match self.guards_executed {
            Some(guards) => writeln!(out, "guards executed: {guards}"),
            None => writeln!(out, "guards executed: not counted"),
        }
    }

    /// What was recorded, and what was not.
    fn write_recordings(&self, out: &mut String) -> Result {
        let Stats { postponed_recordings, rests, retired, recordings, ventures, .. } = self;
        if *postponed_recordings > 0 {
            writeln!(out, "recordings put off {postponed_recordings} times: compiling had taken its share")?;
        }
        if *rests > 0 {
            writeln!(out, "code that did not pay rested {rests} times; {retired} loops retired")?;
        }
        if let Some(VentureUse { over, paid }) = ventures {
            writeln!(
                out,
                "code bought before it had earned its price: {over} ventures, of which {paid} paid"
            )?;
        }
        let aborts: Vec<_> = self.aborts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        if aborts.is_empty() {
            writeln!(out, "recordings: {recordings}, none given up")
        } else {
            writeln!(out, "recordings: {recordings}, given up: {}", aborts.join(", "))
        }
    }
}

/// How much was compiled.
fn write_compile(compile: &CompileStats, out: &mut String) -> Result {
    writeln!(
        out,
        "compiled: {} trace{} ({} operations recorded, {} after optimization), {} guards, \
         {} bytes of code, {} bytes of resume data, {} us",
        compile.traces,
        if compile.traces == 1 { "" } else { "s" },
        compile.ops_recorded,
        compile.ops_optimized,
        compile.guards,
        compile.code_bytes,
        compile.resume_bytes,
        compile.optimize_us + compile.codegen_us,
    )
}

/// What an operation and a guard cost.
fn write_costs(costs: Costs, out: &mut String) -> Result {
    let Costs { optimize_us_per_op, build_us_per_op, machine_us_per_op, per_guard } = costs;
    writeln!(
        out,
        "compile time: {:.1} us for each operation left (optimizer {optimize_us_per_op:.1}, \
         Cranelift's input {build_us_per_op:.1}, machine code {machine_us_per_op:.1})",
        optimize_us_per_op + build_us_per_op + machine_us_per_op,
    )?;
    let Some(per_guard) = per_guard else { return Ok(()) };
    let GuardCosts { optimize_us, build_us, machine_us, code_bytes, resume_bytes } = per_guard;
    writeln!(
        out,
        "by guards: {:.1} us for each guard (optimizer {optimize_us:.1}, Cranelift's input {build_us:.1}, \
         machine code {machine_us:.1}), {code_bytes:.0} bytes of code, {resume_bytes:.0} bytes of \
         resume data",
        optimize_us + build_us + machine_us,
    )
}

/// What an iteration consists of.
fn write_operations(GroupedOps { before, after }: GroupedOps, out: &mut String) -> Result {
    writeln!(
        out,
        "operations per iteration, before -> after: new {} -> {}, get/set {} -> {}, guards {} -> {}, \
         all {} -> {}",
        before.new,
        after.new,
        before.get_set,
        after.get_set,
        before.guard,
        after.guard,
        before.all,
        after.all
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is rare is said when it happens, and only then.
    #[test]
    fn rare_counts_are_shown_when_there_are_any() {
        let compile = CompileStats { places_forgotten: 3, ..CompileStats::default() };
        let host_calls = [("metamethod in C".to_string(), 2)].into();
        let some =
            Stats { compile, rests: 7, postponed_recordings: 5, host_calls, ..Stats::default() }.text();
        let none = Stats::default().text();
        for (word, line) in [
            ("forgot", "for want of room: 3"),
            ("did not pay", "rested 7 times; 0 loops retired"),
            ("put off", "put off 5 times"),
            ("calls of the host", "recorded as calls of the host: 2 metamethod in C"),
        ] {
            assert!(some.contains(line), "{line}: {some}");
            assert!(!none.contains(word), "{word}: {none}");
        }
    }
}
