//! Which of two NaNs comes out of an operation is the same with the JIT on and off.
//!
//! Problem: of two NaNs a processor hands on the left one, and `print` shows a NaN's sign; but C leaves the
//! order of the operands of a sum or product to the compiler. One compiler with the same flags made stock Lua
//! multiply in the order of the program and our interpreter, whose main loop has a few hooks more, in the
//! other: so stock Lua is no oracle here, and the corpus has no such program. Design: a program of its own,
//! `lua/support/nans.lua`, shows the bits of every result over all pairs of NaNs; its output with the JIT off
//! is what all other ways have to give.
//!
//! Invariant: interpreter (`hosts/lua/c/tlua_num.h`) and compiled code take the order of the program.
//! Example: `nan(1) + nan(2)` is `nan(1)`, in the first iteration and in the last.

use std::path::Path;

#[path = "support/runner.rs"]
mod runner;

fn run(options: &[&str]) -> String {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/support/nans.lua");
    let mut command = runner::command(env!("CARGO_BIN_EXE_tracelift"));
    let output = command.arg("run").args(options).arg(program).output().expect("the command starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{options:?}: {errors}");
    String::from_utf8(output.stdout).expect("the program prints text")
}

#[test]
fn the_same_nan_comes_out_with_the_jit_on_and_off() {
    let expected = run(&["--jit=off"]);
    // The first two NaNs of the program, added to themselves and to one another.
    assert!(expected.contains("\ncarried\t7ff8000000000000\t7ff8000000000000\t"), "{expected}");
    assert!(expected.lines().filter(|line| line.starts_with("carried")).count() == 49, "{expected}");
    let check = |options: &[&str]| {
        let found = run(options);
        let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
        assert!(differs.is_none() && found.len() == expected.len(), "{options:?}: {differs:?}");
    };
    check(&[]);
    for threshold in ["1", "3", "20", "56"] {
        check(&[&format!("--threshold={threshold}"), "--verify"]);
    }
    for pass in tracelift_opt::PASSES.iter().filter(|pass| pass.optional) {
        check(&["--threshold=1", &format!("--opt=-{}", pass.name)]);
    }
    check(&["--threshold=1", "--no-unrolling"]);
    for guard in (1..400).step_by(23) {
        check(&["--threshold=1", &format!("--force-exit={guard}")]);
    }
    for seed in 1..=5 {
        check(&["--threshold=7", &format!("--start-seed={seed}")]);
    }
}
