//! The papers' programs on Tracelift: what is recorded, what the optimizer makes of it, and how it runs.
//!
//! `cargo run --release -p tracelift-boxed --example papers [N]` runs `f(BoxedInteger(N))` of both papers,
//! first as they are printed (no polls, to show the figures' traces), then with the JIT and without it.

use std::error::Error;
use std::time::Instant;

use tracelift_boxed::{Machine, Number, Options, SEED_000, SEED_002};
use tracelift_runtime::{Config, Stage};

fn main() -> Result<(), Box<dyn Error>> {
    let count: i64 = std::env::args().nth(1).map_or(Ok(2_000_000), |arg| arg.parse())?;
    for (name, source, ends) in [("Seed 000", SEED_000, false), ("Seed 002", SEED_002, true)] {
        println!("==== {name}, Figure 1\n\n{source}");
        println!("==== recorded and optimized, without polls\n\n{}", traces(source)?);
        println!("==== f(BoxedInteger({count}))\n");
        // The endless program stops when its fuel is used up.
        let fuel = if ends { i64::MAX } else { count };
        let counting = Config { count_iterations: true, ..Config::default() };
        for (what, options) in [
            ("interpreter", Options::interpreter()),
            ("JIT", Options::default()),
            ("JIT, counting", Options { config: counting, ..Options::default() }),
        ] {
            let mut machine = Machine::new(source, options)?;
            let start = Instant::now();
            let outcome = machine.run("f", &[Number::Integer(count)], fuel)?;
            let seconds = start.elapsed().as_secs_f64();
            let heap = machine.heap();
            println!(
                "{what}: {outcome:?} in {seconds:.3} s; {} objects, {} collections",
                heap.made, heap.collections
            );
            if what != "interpreter" {
                println!("{}", machine.vm().stats().text());
            }
        }
    }
    Ok(())
}

/// The log of the stages that print traces.
fn traces(source: &str) -> Result<String, Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("tracelift-papers-{}.log", std::process::id()));
    let log = vec![Stage::Record, Stage::Opt];
    let config = Config { threshold: 2, log, log_file: Some(file.clone()), ..Config::exact() };
    let options = Options { config, polls: false, stop_when_recorded: true, ..Options::default() };
    Machine::new(source, options)?.run("f", &[Number::Integer(10)], 0)?;
    let text = std::fs::read_to_string(&file)?;
    std::fs::remove_file(&file)?;
    Ok(text)
}
