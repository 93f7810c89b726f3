//! The hook points and the liveness of registers, on whole programs.
//!
//! Problem: hooks must be invisible, whatever starts or stops recording where, and a dead register must be
//! dead.
//!
//! Design: each program runs with stock Lua and with random recordings, with and without poison in dead
//! registers; outputs are equal and no rule was broken. A sabotaged run shows that the comparison can fail.
//!
//! Invariant: the random numbers are seeded; a failure names the seed.
//!
//! Example: `RUNLUA_MODE=poison RUNLUA_THRESHOLD=2 RUNLUA_PERIOD=1 RUNLUA_SEED=4 runlua
//! tests/programs/loops.lua`.

mod support;

use support::{count, patched, programs, script, stock};

#[path = "../build/insertions.rs"]
mod insertions;
#[path = "../build/insertions55.rs"]
mod insertions55;
#[path = "../build/version.rs"]
mod version;

#[test]
fn insertions_are_counted() {
    let is_55 = cfg!(feature = "lua55");
    let version = version::chosen(is_55).unwrap();
    let (count, lines) = if is_55 { (105, "287") } else { (111, "257") };
    assert_eq!(insertions::INSERTIONS.len(), 111);
    assert_eq!(version.insertions.len(), count);
    assert_eq!(tracelift_lua::VERSION, version.name);
    assert_eq!(tracelift_lua::INSERTIONS, count.to_string());
    assert_eq!(tracelift_lua::INSERTED_LINES, lines);
    for insertion in version.insertions {
        assert!(!insertion.why.is_empty() && !insertion.anchor.is_empty(), "{insertion:?}");
        assert!(insertion.file.ends_with(".c") || insertion.file.ends_with(".h"), "{insertion:?}");
        let (side, text) = (insertion.place, insertion.text);
        assert!(!text.is_empty(), "an insertion {side:?} {:?} inserts nothing", insertion.anchor);
    }
}

/// Whatever 5.5 does without is named, and nothing else is left out.
#[test]
fn what_another_version_lacks_is_named() {
    let [other, own] = [true, false].map(|is_55| version::chosen(is_55).unwrap());
    let mut left_out: Vec<_> = other.left_out.iter().map(|(row, _)| row.file).collect();
    left_out.dedup();
    assert_eq!(left_out, ["lstate.c", "ltable.c", "lvm.c", "ltablib.c"]);
    assert!(other.left_out.iter().all(|(_, why)| !why.is_empty()) && own.left_out.is_empty());
    let built = if cfg!(feature = "lua55") { &other } else { &own };
    assert_eq!(tracelift_lua::LEFT_OUT, built.left_out.len().to_string());
    let ours = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    for name in other.without {
        assert!(ours.join(name).is_file(), "{name} is left out, but there is no such file");
    }
    assert!(other.own.is_some_and(|folder| ours.join(folder).is_dir()));
    assert!(own.without.is_empty() && own.own.is_none() && own.has_baseline && !other.has_baseline);
    assert_ne!((own.folder, own.compatible), (other.folder, other.compatible));
}

/// Runs all programs in a mode and returns the sum of a count over all of them.
fn agree(mode: &str, threshold: &str, period: &str, seeds: std::ops::Range<u32>, summed: &str) -> u64 {
    let mut sum = 0;
    for program in programs() {
        let expected = stock(&program, &[]);
        assert_eq!(expected.code, Some(0), "{}: {}", program.display(), expected.stderr);
        for seed in seeds.clone() {
            let settings = [
                ("RUNLUA_MODE", mode),
                ("RUNLUA_THRESHOLD", threshold),
                ("RUNLUA_PERIOD", period),
                ("RUNLUA_SEED", &seed.to_string()),
                ("RUNLUA_REPORT", "1"),
            ];
            let actual = patched(&program, &[], &settings);
            assert_eq!(expected.code, actual.code, "{} {settings:?}: {}", program.display(), actual.stderr);
            assert_eq!(expected.stdout, actual.stdout, "{} {settings:?}", program.display());
            assert_eq!(count(&actual, "violations"), 0, "{} {settings:?}", program.display());
            sum += count(&actual, summed);
        }
    }
    sum
}

#[test]
fn idle_hooks_change_nothing() {
    assert_eq!(agree("off", "1", "1", 0..1, "hot_loops"), 0);
    assert!(agree("count", "1", "1", 0..1, "hot_loops") > 10_000);
}

#[test]
fn random_recordings_change_nothing() {
    assert!(agree("stress", "2", "1", 1..4, "recordings") > 10_000);
    assert!(agree("stress", "40", "1", 4..6, "recordings_closed") > 1_000);
}

#[test]
fn dead_registers_are_dead() {
    assert!(agree("poison", "2", "1", 1..3, "poisoned_registers") > 500_000);
    assert!(agree("poison", "3", "7", 3..6, "poisoned_registers") > 50_000);
}

#[test]
fn lost_live_registers_are_noticed() {
    let text = "local i, s = 0, 0 while i < 2000 do i = i + 1 s = s + i end print(s)";
    let program = script("sabotage.lua", text);
    let settings = |mode| [("RUNLUA_MODE", mode), ("RUNLUA_THRESHOLD", "2"), ("RUNLUA_PERIOD", "2")];
    assert_eq!(stock(&program, &[]), patched(&program, &[], &settings("poison")));
    assert_ne!(stock(&program, &[]).code, patched(&program, &[], &settings("sabotage")).code);
}

#[test]
fn programs_see_no_trace_of_a_recording() {
    let text = "
        local seen = {}
        local co
        for i = 1, 200 do
          local hook, mask, count = debug.gethook()
          seen[tostring(hook) .. mask .. count] = true
          co = coroutine.wrap(function() seen[select(2, debug.gethook())] = true; coroutine.yield() end)
          co()
          local f = load('return 1')
          seen[#string.dump(f)] = true
        end
        for key in pairs(seen) do print(key) end
        local lines = {}
        for i = 1, 30 do
          if i == 20 then debug.sethook(function(_, line) lines[#lines + 1] = line end, 'l') end
          local x = i
          if i == 23 then debug.sethook() end
        end
        print(table.concat(lines, ' '))";
    let program = script("invisible.lua", text);
    for seed in 0..8 {
        let seed = seed.to_string();
        let settings = [("RUNLUA_MODE", "stress"), ("RUNLUA_THRESHOLD", "1"), ("RUNLUA_SEED", &seed)];
        let actual = patched(&program, &[], &settings);
        let mut actual_lines: Vec<&str> = actual.stdout.lines().collect();
        let expected = stock(&program, &[]);
        let mut expected_lines: Vec<&str> = expected.stdout.lines().collect();
        actual_lines.sort_unstable();
        expected_lines.sort_unstable();
        assert_eq!(expected_lines, actual_lines, "seed {seed}: {}", actual.stderr);
    }
}

/// What is explained is said somewhere.
#[test]
fn reasons_that_are_explained_are_given() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("it is a source file");
    let mut others = String::new();
    for entry in std::fs::read_dir(&folder).expect("there is the folder") {
        let path = entry.expect("it can be read").path();
        if path.extension().is_some_and(|end| end == "c") && !path.ends_with("tlua_rec_meanings.c") {
            others += &read(&path);
        }
    }
    let table = read(&folder.join("tlua_rec_meanings.c"));
    let reasons: Vec<&str> =
        table.lines().filter_map(|line| line.strip_prefix("  { \"")?.split('"').next()).collect();
    assert!(reasons.len() > 15, "{reasons:?}");
    for reason in reasons {
        assert!(others.contains(&format!("\"{reason}\"")), "{reason}");
    }
}
