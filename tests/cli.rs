//! The command line: what it prints, what it refuses, and how.
//!
//! Bad input of every kind gives one line on standard error and an exit code that is not 0; the program's own
//! output and exit code are untouched by what the command adds.

use std::path::{Path, PathBuf};
use std::process::Output;

#[path = "support/runner.rs"]
mod runner;

fn tracelift(args: &[&str]) -> Output {
    runner::command(env!("CARGO_BIN_EXE_tracelift")).args(args).output().expect("the command starts")
}

/// A file with this content, in a folder of its own for each name.
fn file(name: &str, content: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cli");
    std::fs::create_dir_all(&folder).expect("the test folder can be made");
    let path = folder.join(name);
    std::fs::write(&path, content).expect("the test file can be written");
    path
}

fn text(path: &std::path::Path) -> &str {
    path.to_str().expect("test paths are UTF-8")
}

/// One line on standard error that contains `needle`, nothing on standard output, exit code not 0.
fn refuses(args: &[&str], needle: &str) {
    let output = tracelift(args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{args:?} succeeded");
    assert!(output.status.code().is_some(), "{args:?} was killed: {errors}");
    assert_eq!(errors.lines().count(), 1, "{args:?}: {errors}");
    assert!(errors.contains(needle), "{args:?}: {errors}");
    assert!(!errors.contains("panicked"), "{args:?}: {errors}");
    assert!(output.stdout.is_empty(), "{args:?}");
}

const LOOP: &str = "local s = 0\nfor i = 1, 1000 do s = s + i end\nprint(s)\n";

#[test]
fn bad_input_is_one_line() {
    let program = file("loop.lua", LOOP);
    let program = text(&program);
    let syntax = file("syntax.lua", "for i = 1 do\n");
    refuses(&["run", "no-such-file.lua"], "no-such-file.lua");
    refuses(&["run", env!("CARGO_TARGET_TMPDIR")], "directory");
    refuses(&["run", text(&syntax)], "syntax.lua:1:");
    refuses(&["run", "--opt=-nonsense", program], "`nonsense`");
    refuses(&["run", "--opt=fold", program], "`fold`");
    refuses(&["run", "--opt=-expand", program], "`expand`");
    refuses(&["run", "--threshold=0", program], "--threshold");
    refuses(&["run", "--threshold=many", program], "many");
    refuses(&["run", "--threshold=99999999999", program], "99999999999");
    refuses(&["run", "--force-exit=0", program], "--force-exit");
    refuses(&["run", "--start-seed=0", program], "--start-seed");
    refuses(&["run", "--jit=maybe", program], "maybe");
    refuses(&["run", "--stats=xml", program], "xml");
    refuses(&["run", "--count-guards", program], "--stats");
    refuses(&["run", "--log=recrod", program], "'recrod'");
    refuses(&["run", "--log=record", "--log-file=/no/such/folder/log", program], "/no/such/folder/log");
    refuses(&["run", "--no-such-flag", program], "--no-such-flag");
    refuses(&["walk"], "walk");
    refuses(&["opt", "no-such-file.trace"], "no-such-file.trace");
    refuses(&["opt", "--opt=-nonsense", program], "");
}

#[test]
fn a_malformed_trace_is_named_by_its_line() {
    for (name, content, line, needle) in [
        ("op.trace", "L0(i0):\ni1 = int_ad(i0, 1)\njump(L0, i1)\n", "line 2", "int_ad"),
        ("undefined.trace", "L0(i0):\ni1 = int_add(i0, i7)\njump(L0, i1)\n", "line 2", "i7"),
        ("type.trace", "L0(i0, f1):\ni2 = int_add(i0, f1)\njump(L0, i2, f1)\n", "line 2", "int_add"),
        ("end.trace", "L0(i0):\ni1 = int_add(i0, 1)\n", "", ""),
        ("empty.trace", "", "", "no trace"),
        (
            "run.trace",
            "L0(i0):\ni1 = int_add(i0, 1)\nfinish(i1)\nrun: 3 -> finish(5)\n",
            "line 4",
            "not what the file says",
        ),
    ] {
        let path = file(name, content);
        let output = tracelift(&["opt", text(&path)]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{name}");
        assert_eq!(errors.lines().count(), 1, "{name}: {errors}");
        assert!(errors.contains(line) && errors.contains(needle), "{name}: {errors}");
    }
}

#[test]
fn opt_shows_stages_runs_and_counts() {
    let path = file(
        "count.trace",
        "L0(i0):\ni1 = int_add(i0, 0)\ni2 = int_mul(i1, 2)\nfinish(i2)\nrun: 3 -> finish(6)\n",
    );
    let output = tracelift(&["opt", text(&path)]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for needle in
        ["after recorded", "after fold", "optimized", "add_zero 1", "finish with 1 values", "3 -> 2 33%"]
    {
        assert!(shown.contains(needle), "{needle} is missing in:\n{shown}");
    }
}

/// A control flow graph is peeled as Ark's document says, and what became of its loops is told.
#[test]
fn opt_shows_regions() {
    let region = "L0(i0):\njump(L1, i0, 0)\nL1(i0, i1):\ni2 = int_lt(i1, i0)\njump_if(i2, L2, i0, i1)\n\
                  finish(i1)\nL2(i0, i1):\ni3 = int_add(i1, 2)\njump(L1, i0, i3)\n";
    let path = file("region.trace", &format!("{region}run: 5 -> finish(6)\n"));
    let shown = |args: &[&str]| {
        let output = tracelift(&[&["opt"], args, &[text(&path)]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let told = "; loop L1: peeled\n; run (line 10): finish with 1 values; \
                instructions executed: 24 before, 16 after\n";
    assert!(shown(&[]).ends_with(told), "{}", shown(&[]));
    assert_eq!(shown(&["--stage=recorded"]), region);
    assert_eq!(shown(&["--stage=optimized", "--opt=-peel,-dce"]), region);
    refuses(&["opt", "--stage=fold", text(&path)], "no stage `fold`");
    let wrong = [
        ("wrong_end.trace", "finish(6)", "finish(7)", "line 10: result 1 is not what the file says"),
        (
            "late.trace",
            "finish(i1)\n",
            "i4 = i1 + 1\nfinish(i4)\n",
            "line 6: int_add stands between a jump_if",
        ),
        ("nowhere.trace", "jump_if(i2, L2", "jump_if(i2, L7", "line 5, column 13: unknown label 'L7'"),
        ("condition.trace", "jump_if(i2, L2, i0, i1)", "jump_if(L2, i0, i1)", "line 5"),
    ];
    for (name, before, after, message) in wrong {
        let path = file(name, &format!("{region}run: 5 -> finish(6)\n").replace(before, after));
        refuses(&["opt", text(&path)], message);
    }
}

/// A guard that was put before the loop may leave before the one that it stands for: no wrong result.
#[test]
fn opt_takes_early_exits_of_hoisted_guards() {
    let path = file(
        "early.trace",
        "cell row.count: int @8 width 4 class row.count\nlayout Row { count: int }\n\
         object row = Row { count: 5 }\ntrace walk\nL0(p0, i1, i2):\n\
         @0 = frame[0: int i1]\ni3 = load(p0, row.count)\ni4 = uint_lt(i1, i3)\n\
         guard_true(i4) @0\nguard_true(i2) @0 loop_end\ni5 = int_sub(i2, 1)\ni6 = int_add(i1, 1)\n\
         jump(L0, p0, i6, i5)\nrun: @row, 0, 4\nrun: @row, 0, 10\n",
    );
    let output = tracelift(&["opt", text(&path)]);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let runs: Vec<&str> = shown.lines().filter(|line| line.starts_with("; run")).collect();
    let [inside, beyond] = &runs[..] else { panic!("two runs in:\n{shown}") };
    let ends = |line: &str| line.split("optimized: ").map(str::to_string).collect::<Vec<_>>();
    assert!(ends(inside)[1].starts_with("loop_end exit"), "{inside}");
    assert!(
        ends(beyond)[0].contains("guard exit") && ends(beyond)[1].starts_with("hoisted exit"),
        "{beyond}"
    );
    assert!(beyond.ends_with("in iteration 0"), "{beyond}");
}

#[test]
fn opt_shows_single_stages_as_they_stand_in_a_paper() {
    let recorded = "L0(i0):\ni1 = int_add(i0, 1)\n  call(print, i1)\njump(L0, i0)\n";
    let path = file("stages.trace", &format!("func print(int) writes out\ntrace t\n# a comment\n{recorded}"));
    let shown = |args: &[&str]| {
        let output = tracelift(&[&["opt"], args, &[text(&path)]].concat());
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let peeled = "L0(i0):\ni1 = int_add(i0, 1)\n  call(print, i1)\njump(L1, i0, i1)\nL1(i0, i1):\n  call(print, i1)\njump(L1, i0, i1)\n";
    assert_eq!(shown(&["--stage=recorded"]), recorded);
    assert_eq!(shown(&["--stage=peel"]), peeled);
    assert_eq!(shown(&["--stage=optimized"]), peeled);
    let both = format!("# recorded\n{recorded}\n# peel\n{peeled}");
    assert_eq!(shown(&["--stage=recorded,peel"]), both);
    refuses(
        &["opt", "--stage=pell", text(&path)],
        "the stages are recorded, virtuals, expand, ranges, fold, cse, guards, bounds, heap, peel, optimized",
    );
    refuses(
        &["opt", "--stage=fold", "--opt=-fold", text(&path)],
        "trace t: no stage `fold`: the pass is off",
    );
    refuses(
        &["opt", "--stage=peel", "--opt=-peel", text(&path)],
        "trace t: no stage `peel`: the trace was not peeled",
    );
    refuses(&["opt", "--stage=", text(&path)], "no stage ``");
}

/// An allocator without a body is no failed run.
#[test]
fn opt_does_not_evaluate_what_has_no_body() {
    let path = file(
        "opaque.trace",
        "func make(addr, int, int, int) -> ref allocates\nlayout Box { value: int, alloc make }\n\
         L0(i0):\np1 = new(Box)\nset(p1, value, i0)\ni2 = get(p1, value)\nfinish(i2)\nrun: 3\n",
    );
    let output = tracelift(&["opt", text(&path)]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("not evaluated: `make` has no body here"));
}

#[test]
fn a_program_gets_its_arguments_and_keeps_its_exit_code() {
    let path = file("arguments.lua", "print(...)\nprint(arg[1], #arg)\nos.exit(tonumber((...)))\n");
    let output = tracelift(&["run", "--stats", text(&path), "7", "--jit=off", "-x"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "7\t--jit=off\t-x\n7\t3\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("jit: on"), "statistics come after os.exit too");
}

/// Whatever they look like, words after the program are its own, and those before it are in `arg`, too.
#[test]
fn words_after_the_program_are_never_options() {
    let program = "for i = -4, #arg do print(i, arg[i] and arg[i]:match('[^/]*$')) end\n";
    let path = file("words.lua", program);
    for (options, before) in [(&[][..], "-2\ttracelift\n"), (&["--jit=off"], "-2\trun\n-1\t--jit=off\n")] {
        let mut words = vec!["run"];
        words.extend(options);
        words.extend([text(&path), "--help", "-h", "--version", "--", "--stats", "-"]);
        let output = tracelift(&words);
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(printed.contains(before), "{printed}");
        let after = "0\twords.lua\n1\t--help\n2\t-h\n3\t--version\n4\t--\n5\t--stats\n6\t-\n";
        assert!(printed.ends_with(after), "{printed}");
    }
}

#[test]
fn an_error_of_the_program_is_reported_as_lua_does() {
    let path = file("error.lua", "local t\nfor i = 1, 100 do if i == 90 then t.x = 1 end end\n");
    let output = tracelift(&["run", "--threshold=1", text(&path)]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("error.lua:2: attempt to index a nil value (local 't')"), "{errors}");
    assert!(errors.contains("stack traceback:"), "{errors}");
}

/// As with stock Lua, a program that prints for ever does not survive whoever reads it.
#[cfg(unix)]
#[test]
fn a_program_ends_with_its_reader() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    let program = file("for_ever.lua", "while true do print('on') end");
    let mut child = runner::command(env!("CARGO_BIN_EXE_tracelift"))
        .args(["run", text(&program)])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut line = String::new();
    let mut reader = BufReader::new(child.stdout.take().expect("it is piped"));
    reader.read_line(&mut line).expect("it prints");
    assert_eq!(line, "on\n");
    drop(reader);
    let ended = (0..600).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        child.try_wait().expect("it can be waited for")
    });
    // A minute is long enough; what goes on is not left behind.
    child.kill().ok();
    assert_eq!(ended.expect("it ends").signal(), Some(13), "SIGPIPE");
}

fn stats(args: &[&str]) -> (String, serde_json::Value) {
    let output = tracelift(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let json = serde_json::from_slice(&output.stderr).expect("the statistics are JSON");
    (String::from_utf8_lossy(&output.stdout).into_owned(), json)
}

#[test]
fn statistics_add_up() {
    let program = file("counted.lua", LOOP);
    let program = text(&program);
    let (printed, json) = stats(&["run", "--threshold=56", "--stats=json", program]);
    assert_eq!(printed, "500500\n");
    assert_eq!(json["jit"], "on");
    assert_eq!(json["compile"]["traces"], 1);
    // A loop of 1000 iterations takes 999 back edges and one look at the end of the loop.
    let interpreted = json["interpreted_back_edges"].as_u64().expect("a number");
    let compiled = json["compiled_iterations"].as_u64().expect("a number");
    assert_eq!(interpreted + compiled, 999, "{json}");
    assert!(compiled > 900, "{json}");
    assert_eq!(json["exits"]["loop_end"], 1);
    assert!(json["guards_executed"].is_null(), "{json}");
    let (_, json) = stats(&["run", "--threshold=56", "--stats=json", "--count-guards", program]);
    // Each iteration looks whether it is the last one.
    assert!(json["guards_executed"].as_u64().is_some_and(|guards| guards > compiled), "{json}");
    let forced = tracelift(&["run", "--threshold=56", "--stats", "--force-exit=900000", program]);
    assert!(String::from_utf8_lossy(&forced.stderr).contains("guards executed: "));
    let uncounted = tracelift(&["run", "--threshold=56", "--stats", program]);
    let uncounted = String::from_utf8_lossy(&uncounted.stderr);
    assert!(uncounted.contains("guards executed: not counted"), "{uncounted}");
    assert!(
        uncounted.contains("us for each operation left") && uncounted.contains("us for each guard"),
        "{uncounted}"
    );
    let (printed, json) = stats(&["run", "--stats=json", "--jit=off", program]);
    assert_eq!(printed, "500500\n");
    assert_eq!((&json["jit"], &json["interpreted_back_edges"]), (&"off".into(), &999.into()));
}

/// What the command is built for has quick code, and says why other code is not.
#[test]
fn who_makes_machine_code_is_told() {
    let program = file("maker.lua", LOOP);
    let by = |flags: &[&str]| {
        stats(&[&["run", "--threshold=56", "--stats=json"], flags, &[text(&program)]].concat())
    };
    let has_quick_code = cfg!(all(target_arch = "x86_64", target_os = "linux"));
    let usual =
        if has_quick_code { serde_json::json!({}) } else { serde_json::json!({ "another machine": 1 }) };
    let asked = serde_json::json!({ "it is not wanted": 1 });
    for (flags, expected) in [(&[][..], usual), (&["--no-quick-code"], asked)] {
        let (printed, json) = by(flags);
        assert_eq!((printed.as_str(), &json["compile"]["by_cranelift"]), ("500500\n", &expected));
    }
    let told = tracelift(&["run", "--threshold=56", "--stats", "--no-quick-code", text(&program)]);
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("by Cranelift's code generator: 1 (it is not wanted)"), "{told}");
}

/// Code is entered at jumps back: a loop with code that is met for one iteration, or for none, is not the end
/// of the way for the loop around it.
#[test]
fn a_compiled_loop_of_one_iteration_does_not_keep_the_loop_around_it_in_the_interpreter() {
    let program = "local t = {} for i = 1, 64 do t[i] = i end
        local function sum(n, step)
          local s = 0
          for k = 1, n do for i = k, n, step do s = s + t[i] end end
          return s
        end
        local s = 0
        for _ = 1, 20 do s = s + sum(64, 1) end
        for _ = 1, 2000 do s = s + sum(64, 64) end
        for _ = 1, 2000 do s = s + sum(64, -64) end
        for _ = 1, 2000 do s = s + sum(64, 32) end
        print(s)";
    let program = file("once.lua", program);
    let (printed, json) = stats(&["run", "--threshold=10", "--stats=json", text(&program)]);
    assert_eq!(printed, "13340800\n");
    let share = json["compiled_share"].as_f64().expect("iterations are counted");
    assert!(share > 0.95, "{json}");
}

/// A short loop in a called function belongs to the trace of the loop that calls it: code of its own would be
/// left at once, and what comes after its end lies in another frame. A function that calls itself has code of
/// its own, and nothing is given up for it.
#[test]
fn a_short_loop_of_a_called_function_is_part_of_the_trace() {
    let program = "local function dot(a, b) local s = 0 for i = 1, 3 do s = s + a[i] * b[i] end return s end
        local u, v, sum = { 1, 2, 3 }, { 4, 5, 6 }, 0
        for n = 1, 3000 do u[1] = n; sum = sum + dot(u, v) end
        print(sum)";
    let program = file("dot.lua", program);
    for threshold in ["--threshold=10", "--threshold=11", "--threshold=12"] {
        let (printed, json) = stats(&["run", threshold, "--stats=json", text(&program)]);
        assert_eq!(printed, "18090000\n");
        assert_eq!(
            (&json["compile"]["traces"], &json["entries"]),
            (&1.into(), &1.into()),
            "{threshold}: {json}"
        );
    }
    let program = "local function tree(n) local s = 1 for _ = 1, n do s = s + tree(n - 1) end return s end
        local sum = 0
        for n = 1, 500 do sum = sum + tree(n % 5) end
        print(sum)";
    let program = file("tree.lua", program);
    let (printed, json) = stats(&["run", "--threshold=10", "--stats=json", text(&program)]);
    assert_eq!(printed, "8900\n");
    assert_eq!(json["aborts"], serde_json::json!({}), "{json}");
    let names = json["traces"].as_array().expect("a list").iter().map(|trace| trace["name"].as_str());
    assert!(names.flatten().any(|name| name.starts_with("entry_")), "{json}");
}

/// What closes the variables of an iteration is called from the code, which stays: a guard that cannot hold
/// was left in the trace once, and each iteration was a side trace of its own.
#[test]
fn a_loop_that_closes_its_variables_stays_in_its_code() {
    let program = "local sum, last = 0
        for i = 1, 3000 do
          local k = i % 7
          last = function() return k + 1 end
          sum = sum + last()
        end
        print(sum, last())";
    let program = file("closes.lua", program);
    let (printed, json) = stats(&["run", "--threshold=10", "--stats=json", text(&program)]);
    assert_eq!(printed, "11998\t5\n");
    // It makes closures that somebody keeps, so that it leaves for the collector now and then.
    assert!(json["exits"]["guard"].as_u64().unwrap_or(0) < 20, "{json}");
    assert!(json["compiled_share"].as_f64().is_some_and(|share| share > 0.95), "{json}");
}

/// Whichever of the two loops is hot first, and wherever in the inner one that is.
/// A recording waits for the resumption, and the code goes on there: both sides of a generator are compiled.
#[test]
fn a_generator_is_compiled_across_its_yields() {
    let program = "local function numbers(n)
      local x = 0
      for i = 1, n do
        x = (x * 3 + i) % 1000
        coroutine.yield(x)
      end
    end
    local sum, n = 0, 2000
    local next_number = coroutine.wrap(numbers)
    for i = 1, n do sum = (sum + next_number(n) * i) % 1000003 end
    print(sum)
    ";
    let program = file("generator.lua", program);
    let flags = ["run", "--threshold=20", "--side-threshold=10", "--stats=json", text(&program)];
    let (printed, json) = stats(&flags);
    assert_eq!(printed, "703497\n");
    assert!(json["compiled_share"].as_f64().is_some_and(|share| share > 0.95), "{json}");
    assert!(json["aborts"].as_object().is_some_and(serde_json::Map::is_empty), "{json}");
}

/// The loop's code takes a float for `sum`, which is an integer in each call's first iteration: what leads to
/// the loop passes that one, instead of leaving to the interpreter before the loop.
#[test]
fn what_leads_to_a_loop_passes_a_first_iteration_of_other_types() {
    let program = "local t = {} for i = 1, 10 do t[i] = i / 2 end
    local function dot(n, k) local sum = 0 for j = 1, n do sum = sum + t[j] * k end return sum end
    local all = 0
    for i = 1, 5000 do all = all + dot(10, i) end
    print(all)
    ";
    let program = file("first_iteration.lua", program);
    let flags = ["run", "--threshold=20", "--side-threshold=10", "--stats=json", text(&program)];
    let (printed, json) = stats(&flags);
    assert_eq!(printed, "343818750.0\n");
    let finish = json["exits"]["finish"].as_u64().unwrap_or(0);
    assert!(finish < 100 && json["entries"].as_u64().is_some_and(|entries| entries < 500), "{json}");
}

/// Now and then a closure is kept, and what it shares is still open where its block ends: that is a way of
/// its own. A test for it that no other way could ever pass made a side trace of each side trace.
#[test]
fn a_variable_that_is_open_now_and_then_is_one_more_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = root.join("tests/lua/closure_kept_now_and_then.lua");
    let flags = ["run", "--threshold=56", "--side-threshold=10", "--stats=json", text(&program)];
    let (printed, json) = stats(&flags);
    let (interpreted, _) = stats(&["run", "--jit=off", "--stats=json", text(&program)]);
    assert_eq!(printed, interpreted);
    let traces = json["compile"]["traces"].as_u64().expect("it is counted");
    assert!((3..30).contains(&traces), "{traces} traces: {json}");
    assert!(json["exits"]["guard"].as_u64().is_some_and(|exits| exits < 5000), "{json}");
}

/// A region that finds no code memory is not made again for ever.
#[test]
fn regions_give_up_where_memory_is_full() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lua/regions_in_little_memory.lua");
    let interpreted = tracelift(&["run", "--jit=off", program]).stdout;
    let options = ["--code-limit=100", "--threshold=10", "--side-threshold=3", "--stats=json"];
    let (output, stats) = stats(&[&["run"], &options[..], &[program]].concat());
    assert_eq!(output.as_bytes(), interpreted);
    let refused = stats["regions"]["refused"].as_u64().expect("it is a number");
    assert!((1..500).contains(&refused), "{refused}");
}

/// Where a call has another function each time, side traces do not follow one another without end.
#[test]
fn a_call_of_many_functions_has_few_side_traces() {
    let program = file(
        "functions.lua",
        "local functions, sum = {}, 0
         for n = 1, 100 do
           functions[n] = load(('return function(i) return i %% %d end'):format(n))()
         end
         for i = 1, 20000 do sum = sum + functions[i % 100 + 1](i) end
         print(sum)",
    );
    let (output, stats) =
        stats(&["run", "--threshold=10", "--side-threshold=2", "--stats=json", text(&program)]);
    assert_eq!(output, "537349\n");
    let traces = stats["compile"]["traces"].as_u64().expect("it is a number");
    assert!((10..=40).contains(&traces), "{traces}");
}

#[test]
fn a_loop_of_several_ways_becomes_one_function() {
    let program = "local a, b, c = { 0 }, { 0.5 }, { 0 }
    for i = 1, 200000 do
      local kind = i % 7
      if kind < 2 then a[1] = a[1] + i elseif kind < 4 then b[1] = b[1] * 0.5 + i else c[1] = c[1] ~ i end
    end
    print(a[1], b[1], c[1])
    ";
    let program = file("ways.lua", program);
    let flags = ["run", "--threshold=20", "--side-threshold=10", "--stats=json", text(&program)];
    let (printed, json) = stats(&flags);
    let count = |of: &str| json["regions"][of].as_u64().unwrap_or(0);
    assert!(count("made") > 0 && count("traces") >= 3 && count("refused") == 0, "{json}");
    let (linked, json) = stats(&[&["run", "--no-regions"], &flags[1..]].concat());
    assert_eq!((linked, json["regions"].is_null()), (printed, true));
}

#[test]
fn a_loop_of_few_iterations_belongs_to_the_loop_around_it() {
    let few = "local sum = 0\nfor i = 1, 3000 do for j = 1, 3 do sum = sum + i * j end end\nprint(sum)\n";
    let program = file("few.lua", few);
    for threshold in 10..=15 {
        let threshold = format!("--threshold={threshold}");
        let (printed, json) = stats(&["run", &threshold, "--stats=json", text(&program)]);
        assert_eq!(printed, "27009000\n");
        assert_eq!(
            (&json["compile"]["traces"], &json["entries"]),
            (&1.into(), &1.into()),
            "{threshold}: {json}"
        );
    }
    // The inner loops are too long to be recorded one after the other: they get code of their own in the end.
    let program = file(
        "more.lua",
        &few.replace("= 1, 3 do", "= 1, 4 do for k = 1, 4 do").replace("end end", "end end end"),
    );
    let (printed, json) = stats(&["run", "--threshold=2", "--stats=json", text(&program)]);
    assert_eq!(printed, "180060000\n");
    assert!(json["aborts"]["loop of few iterations"].as_u64().is_some_and(|count| count >= 8), "{json}");
    assert!(json["compile"]["traces"].as_u64().is_some_and(|count| count > 0), "{json}");
}

/// Tests that only choose numbers make no side traces, whichever way they go.
#[test]
fn choices_have_one_trace() {
    for (name, body, sum) in [
        ("alternating.lua", "if i & 1 == 0 then a = a + i else b = b - 1 end", "250000"),
        (
            "three_ways.lua",
            "if i < 300 then a = a + 1 elseif i < 600 then b = b + 2 else a = a - b end",
            "-239701",
        ),
        ("doubles.lua", "if i & 3 < 2 then x = x + 0.5 else x = x * 0.5 - a end", "0"),
        ("both.lua", "if i > 10 and i & 3 == 1 then a = a + 1 end b = a > b and a or b", "494"),
    ] {
        let source = format!("local a, b, x = 0, 0, 0.0\nfor i = 1, 1000 do {body} end\nprint(a + b)\n");
        let program = file(name, &source);
        let (printed, json) = stats(&["run", "--threshold=5", "--stats=json", text(&program)]);
        assert_eq!(printed.trim_end(), sum, "{name}");
        assert_eq!(json["compile"]["traces"], 1, "{name}: {json}");
    }
}

/// What C code of the interpreter calls has two paths, of which the second gets a side trace.
#[test]
fn side_traces_begin_below_c() {
    let paths = "if i % 3 == 0 then t.a = t.a + 1 return i + 1, i end t.b = t.b + 1 return i + 1, -1";
    let (index, other) = ("if i % 3 == 0 then t.a = t.a + 1 return i end", "t.b = t.b + 1 return -1");
    let step = format!("function(t, i) if i >= 2000 then return end {paths} end");
    for (name, body) in [
        ("step.lua", format!("for i, v in {step}, {{ a = 0, b = 0 }}, 0 do n = n + v end")),
        (
            "callable.lua",
            format!(
                "local t, step = {{ a = 0, b = 0 }}, {step}
                for i, v in setmetatable({{}}, {{ __call = function(_, t, i) return step(t, i) end }}), t, 0 do
                  n = n + v
                end"
            ),
        ),
        (
            "index.lua",
            format!(
                "local t = setmetatable({{ a = 0, b = 0 }}, {{ __index = function(t, i) {index} {other} end }})
                for i = 0, 1999 do n = n + t[i] end"
            ),
        ),
        (
            "less.lua",
            format!(
                "local t = setmetatable({{ a = 0, b = 0 }}, {{ __lt = function(t, i) {index} t.b = i end }})
                for i = 0, 1999 do if t < i then n = n + i else n = n - 1 end end"
            ),
        ),
    ] {
        let program = file(name, &format!("local n = 0\n{body}\nprint(n)\n"));
        let (printed, json) = stats(&["run", "--threshold=5", "--stats=json", text(&program)]);
        assert_eq!(printed.trim_end(), "665000", "{name}");
        // Functions that C calls are asked for on their own, too, and have nowhere to go on.
        let aborts = json["aborts"].as_object().expect("reasons and counts");
        assert!(aborts.keys().all(|reason| reason == "short function"), "{name}: {json}");
        assert!(json["compiled_share"].as_f64().is_some_and(|share| share > 0.9), "{name}: {json}");
    }
}

/// New keys that find no free node: the trace builds the table anew, and goes on.
#[test]
fn loops_that_grow_tables_have_one_trace() {
    for (name, body, printed) in [
        ("rows.lua", "local r = {} r[#r + 1] = i; r[#r + 1] = r; r[#r + 1] = 0.5; n = n + #r", "3000"),
        ("mixed_row.lua", "local row = { n = i } row[1] = i; row[2] = row.n; n = n + #row", "2000"),
        (
            "new_fields.lua",
            "local p = {} p.x = i; p.y = 1.5; p[i] = p; p[i + 0.25] = p.x; n = n + p.x + p.y // 1",
            "501500.0",
        ),
        ("flags.lua", "local f = {} f[i > 0] = i; f[i < 0] = f; n = n + i", "500500"),
        // The trace begins where there is no free node, and serves where there are some.
        ("reals.lua", "t[i + 0.5] = i; n = n + t[i + 0.5]", "500500"),
    ] {
        let source = format!("local n, t = 0, {{}}\nfor i = 1, 1000 do {body} end\nprint(n)\n");
        let program = file(name, &source);
        let (found, json) = stats(&["run", "--threshold=5", "--stats=json", text(&program)]);
        assert_eq!(found.trim_end(), printed, "{name}");
        assert_eq!(json["aborts"], serde_json::json!({}), "{name}: {json}");
        assert_eq!(json["compile"]["traces"], 1, "{name}: {json}");
        assert!(json["compiled_share"].as_f64().is_some_and(|share| share > 0.9), "{name}: {json}");
    }
    // Growth is seldom here: a side trace of the loop that stores into the array part.
    let program = file("append.lua", "local t = {}\nfor i = 1, 3000 do t[#t + 1] = i end\nprint(#t)\n");
    let (found, json) =
        stats(&["run", "--threshold=40", "--side-threshold=2", "--stats=json", text(&program)]);
    assert_eq!(found, "3000\n");
    assert_eq!(json["compile"]["traces"], 2, "{json}");
    assert_eq!(json["aborts"], serde_json::json!({}), "{json}");
}

#[test]
fn refused_memory_means_the_interpreter_and_says_why() {
    let program = file("refused.lua", LOOP);
    let (printed, json) = stats(&["run", "--threshold=56", "--stats=json", "--no-exec", text(&program)]);
    assert_eq!(printed, "500500\n");
    assert!(json["jit"].as_str().is_some_and(|jit| jit.contains("no executable memory")), "{json}");
    let many: String =
        (0..40).map(|n| format!("local s{n} = 0\nfor i = 1, 200 do s{n} = s{n} + i end\n")).collect();
    let program = file("full.lua", &format!("{many}print(s0, s39)\n"));
    let (printed, json) = stats(&["run", "--threshold=56", "--stats=json", "--code-limit=4", text(&program)]);
    assert_eq!(printed, "20100\t20100\n");
    assert!(json["evicted"]["trees"].as_u64().is_some_and(|count| count > 30), "{json}");
    // What no eviction can make room for.
    let long: String = (1..151).map(|n| format!("s = s + t[i * {n} % 300 + 1] ")).collect();
    let program = file(
        "too_large.lua",
        &format!(
            "local s, t = 0, {{}}\nfor i = 1, 300 do t[i] = 1 end\nfor i = 1, 2000 do {long}end\nprint(s)\n"
        ),
    );
    let (printed, json) = stats(&["run", "--threshold=56", "--stats=json", "--code-limit=4", text(&program)]);
    assert_eq!(printed, "300000\n");
    assert!(json["aborts"]["code memory full"].as_u64().is_some_and(|count| count > 0), "{json}");
}

/// A program whose loops do not fit all at once, in phases and in turn.
#[test]
fn loops_make_room_for_one_another() {
    let program = file(
        "rounds.lua",
        "local fs, t = {}, ' for i = 1, 400 do s = s + i % 9 end return s'\n\
         for n = 1, 60 do fs[n] = load('local s = ' .. n .. t) end\n\
         local sum = 0\n\
         for n = 1, 60 do for i = 1, 20 do sum = sum + fs[n]() end end\n\
         for i = 1, 20 do for n = 1, 60 do sum = sum + fs[n]() end end\nprint(sum)\n",
    );
    let run = |limit: &str| {
        let (printed, json) =
            stats(&["run", "--threshold=56", "--baseline=off", "--stats=json", limit, text(&program)]);
        assert_eq!(printed, "3898800\n");
        let traces = json["compile"]["traces"].as_u64().expect("traces are counted");
        (traces, json["evicted"].clone(), json["compiled_share"].as_f64().expect("iterations are counted"))
    };
    let (all, evicted, share) = run("--code-limit=1024");
    assert!(all < 70 && evicted.is_null() && share > 0.95, "{all} {evicted} {share}");
    let (traces, evicted, share) = run("--code-limit=32");
    let [trees, of_traces, bytes] = ["trees", "traces", "bytes"].map(|what| evicted[what].as_u64().unwrap());
    let reasons = evicted["reasons"].as_object().expect("there are reasons").values();
    assert_eq!(reasons.map(|count| count.as_u64().unwrap()).sum::<u64>(), trees, "{evicted}");
    assert!(trees <= of_traces && of_traces < traces && bytes >= 1024 * of_traces, "{evicted}");
    // In phases all but the beginning of each is machine code; in turn it is a part of the loops.
    assert!(share > 0.5 && traces < 8 * all, "{share} {traces}");
}

/// What runs once, and what runs seldom, is not worth code: a script's main chunk is the commonest such
/// function, whatever short loop it begins with.
#[test]
fn what_runs_seldom_has_no_baseline_code() {
    let lines: String = (0..500).map(|n| format!("t.field_{n} = f({n})\n")).collect();
    let program = file(
        "seldom.lua",
        &format!(
            "local t, s = {{}}, 0\nfor i = 1, 3 do s = s + i end\nlocal function f(x) return x + s end\n\
             local function g() local n = 0 for k in pairs(t) do n = n + 1 end return n end\n{lines}\
             print(t.field_499, g())\n"
        ),
    );
    let (printed, json) = stats(&["run", "--stats=json", text(&program)]);
    assert_eq!(printed, "505\t500\n");
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        // Of the two functions that are called often, or loop often: not of the chunk.
        assert_eq!(json["host_code"]["pieces"], 2, "{}", json["host_code"]);
    }
}

#[test]
fn functions_that_are_called_often_have_baseline_code() {
    let program = file(
        "called.lua",
        "local function f(x) return x + 1 end\nlocal s = 0\nfor i = 1, 500 do s = f(s) end\nprint(s)\n",
    );
    let counted = |args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--stats=json", text(&program)]).collect();
        let (printed, json) = stats(&args);
        assert_eq!(printed, "500\n");
        json["host_code"].clone()
    };
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        let code = counted(&["run"]);
        // The function, and the chunk for its loop.
        assert_eq!(code["pieces"], 2, "{code}");
        assert!(code["code_bytes"].as_u64().is_some_and(|bytes| (200..3000).contains(&bytes)), "{code}");
        assert!(counted(&["run", "--no-exec"])["refused"].as_u64().is_some_and(|refused| refused > 0));
    }
    assert!(counted(&["run", "--baseline=off"]).is_null());
    assert!(counted(&["run", "--jit=off"]).is_null());
}

/// No form of a program is without baseline code: each instruction has it, wherever its jumps lead.
#[test]
fn all_functions_of_real_programs_have_baseline_code() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let short = root.join("benches/short").read_dir().expect("the folder is there");
    let mut programs: Vec<PathBuf> = short.map(|entry| entry.expect("readable").path()).collect();
    let corpus = ["ops", "loops", "calls", "lib", "fields"];
    programs.extend(corpus.map(|name| root.join(format!("tests/lua/baseline_{name}.lua"))));
    programs.push(root.join("benches/standing/trees_alt.lua"));
    for program in programs {
        let (_, json) = stats(&["run", "--stats=json", text(&program)]);
        assert_eq!(json["host_code"]["refused"], 0, "{}: {}", program.display(), json["host_code"]);
    }
}

/// A function that is too large for baseline code stays with the interpreter, and is counted.
#[test]
fn functions_without_baseline_code_are_counted() {
    let body = "n = n + 1.5 ".repeat(30_000);
    let program = file(
        "large.lua",
        &format!("local function f(n) {body} return n end\nfor i = 1, 40 do f(i) end\nprint(f(0))\n"),
    );
    let (printed, json) = stats(&["run", "--stats=json", text(&program)]);
    assert_eq!(printed, "45000.0\n");
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        assert_eq!(json["host_code"]["refused"], 1, "{}", json["host_code"]);
    }
}

#[test]
fn the_log_holds_each_stage() {
    let program = file("logged.lua", LOOP);
    let log = file("log.txt", "");
    let output = tracelift(&[
        "run",
        "--threshold=56",
        "--log=all",
        &format!("--log-file={}", text(&log)),
        text(&program),
    ]);
    assert!(output.status.success() && output.stderr.is_empty());
    let log = std::fs::read_to_string(&log).expect("the log was written");
    for needle in ["recorded", "optimized", "resume data", "clif", "machine code", "all exits:", "loop_end"] {
        assert!(log.contains(needle), "{needle} is missing");
    }
    let compares = if cfg!(target_arch = "x86_64") { "cmp $" } else { "cmp x" };
    assert!(log.contains(compares) && !log.contains("no disassembler"), "code is shown as instructions");
}

/// Loops ask early for memory if they were seen to have a long way to go through it.
#[test]
fn long_walks_ask_early_for_their_memory() {
    let prefetches = |items: usize| {
        let program = format!(
            "local t, sum = {{}}, 0
             for i = 1, {items} do t[i] = i end
             for _ = 1, 3 do
               for i = 1, #t do sum = sum + t[i] end
             end
             print(sum)"
        );
        let program = file(&format!("walk_{items}.lua"), &program);
        let output = tracelift(&["run", "--threshold=200", "--log=code", text(&program)]);
        String::from_utf8_lossy(&output.stderr).matches("prefetcht0").count()
    };
    assert_eq!(prefetches(400), 0);
    if cfg!(target_arch = "x86_64") {
        assert!(prefetches(100_000) > 0);
    }
}

/// Output that cannot be written is an error like any other.
#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_told_in_one_line() {
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/traces/ops/comparisons.trace");
    for arguments in [&["opt", traces][..], &["opt", "--stage=optimized", traces]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = runner::command(env!("CARGO_BIN_EXE_tracelift"))
            .args(arguments)
            .stdout(full)
            .output()
            .expect("the command starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.starts_with("tracelift: cannot write to standard output"), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}
