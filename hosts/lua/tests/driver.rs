//! The driver behaves as the stand-alone interpreter does.
//!
//! Problem: programs see how they were started, and scripts around them see exit codes and messages.
//!
//! Design: small scripts, run with stock Lua and with the patched interpreter; everything they print must be
//! equal, and some of it is also compared with what the manual says.
//!
//! Invariant: nothing a script does makes the driver panic.
//!
//! Example: a missing file gives one line on standard error and code 1.

mod support;

use support::{patched, runlua, script, stock, Outcome};

/// Runs a script both ways, asserts that they agree, and returns what happened.
fn both(name: &str, text: &str, args: &[&str]) -> Outcome {
    let path = script(name, text);
    let expected = stock(&path, args);
    let actual = patched(&path, args, &[("RUNLUA_MODE", "count"), ("RUNLUA_THRESHOLD", "2")]);
    assert_eq!(expected, actual);
    actual
}

#[test]
fn arguments_reach_the_script() {
    let text =
        "print(select('#', ...), ...) print(#arg, arg[1], arg[2], arg[-1], arg[-2], arg[0]:match('[^/]*$'))";
    let outcome = both("arguments.lua", text, &["one", "zwei ü", ""]);
    assert_eq!(outcome.stdout, "3\tone\tzwei ü\t\n3\tone\tzwei ü\tlua\tnil\targuments.lua\n");
    assert_eq!(outcome.code, Some(0));
    let changed = both("changed_arguments.lua", "print(...) arg = 1", &["a"]);
    assert_eq!(changed.stdout, "a\n");
}

#[test]
fn exit_codes_are_those_of_the_script() {
    assert_eq!(both("exit_0.lua", "os.exit(true)", &[]).code, Some(0));
    assert_eq!(both("exit_1.lua", "io.write('kept') os.exit(false)", &[]).stdout, "kept");
    assert_eq!(both("exit_7.lua", "for i = 1, 50 do if i == 33 then os.exit(7) end end", &[]).code, Some(7));
    assert_eq!(both("exit_close.lua", "local x <close> = setmetatable({}, { __close = function() print('closed') end }) os.exit(3, true)", &[]).code, Some(3));
    assert_eq!(both("return.lua", "return 5", &[]).code, Some(0));
}

#[test]
fn errors_have_a_message_a_traceback_and_code_1() {
    let outcome = both("error.lua", "local function f() local x = nil; return x.y end\nf()", &[]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stderr.starts_with("lua: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("attempt to index a nil value (local 'x')"), "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with("\t[C]: in ?\n"), "{}", outcome.stderr);
    both("error_table.lua", "error({})", &[]);
    both("error_nil.lua", "error()", &[]);
    both("error_object.lua", "error(setmetatable({}, { __tostring = function() return 'spoken' end }))", &[]);
    both(
        "error_close.lua",
        "local x <close> = setmetatable({}, { __close = function() error('second') end }) error('first')",
        &[],
    );
    both(
        "error_gc.lua",
        "setmetatable({}, { __gc = function() error('late') end }) warn('@on') collectgarbage() print('on')",
        &[],
    );
    both("error_deep.lua", "local function f() return 1 + f() end f()", &[]);
    both("error_size.lua", "return ('x'):rep(math.maxinteger)", &[]);
}

#[test]
fn files_that_cannot_run_give_one_clear_line() {
    let missing = std::path::Path::new("/nonexistent/no.lua");
    let outcome = patched(missing, &[], &[]);
    assert_eq!(outcome, stock(missing, &[]));
    assert_eq!(outcome.code, Some(1));
    assert_eq!(outcome.stderr.lines().count(), 1);
    assert!(outcome.stderr.contains("cannot open /nonexistent/no.lua"), "{}", outcome.stderr);
    let outcome = both("syntax.lua", "local x = = 1", &[]);
    assert_eq!((outcome.code, outcome.stderr.lines().count()), (Some(1), 1));
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    assert_eq!(patched(folder, &[], &[]), stock(folder, &[]));
}

#[test]
fn shebang_lines_and_byte_order_marks_are_skipped() {
    assert_eq!(
        both("shebang.lua", "#!/usr/bin/env lua\nprint('line', debug.getinfo(1, 'l').currentline)", &[])
            .stdout,
        "line\t2\n"
    );
    assert_eq!(both("mark.lua", "\u{feff}print('ok')", &[]).stdout, "ok\n");
}

#[test]
fn the_state_is_set_up_as_by_the_stand_alone_interpreter() {
    let outcome = both("setup.lua", "warn('hidden') print(collectgarbage('incremental'), _VERSION, #package.path > 0) print(pcall(require, 'nowhere'))", &[]);
    let beginning = format!("generational\tLua {}\ttrue\n", tracelift_lua::VERSION);
    assert!(outcome.stdout.starts_with(&beginning), "{}", outcome.stdout);
    both(
        "libraries.lua",
        "local n = {} for k in pairs(_G) do n[#n + 1] = k end table.sort(n) print(table.concat(n, ' '))",
        &[],
    );
    both("output.lua", "io.stdout:setvbuf('full') io.write('a') io.stderr:write('b') print('c')", &[]);
}

#[test]
fn the_library_reports_instead_of_panicking() {
    use tracelift_lua::{Config, Error, Lua};
    let lua = Lua::new(Config { prefix: String::new(), ..Config::default() });
    assert!(matches!(lua.run_file("a\0b", &[""; 0]), Err(Error::ZeroByte(_))));
    let status = lua.run_file(script("quiet.lua", "assert(arg[-1] == 'tracelift' and ... == 'x')"), &["x"]);
    assert_eq!(status.expect("the script starts").code, 0);
}

/// Starts a script in some mode that says "ready" and goes on without end, and interrupts it.
#[cfg(unix)]
fn interrupt_script(name: &str, source: &str, mode: &str, threshold: &str) {
    use std::io::Read;
    use std::process::Stdio;
    let mut child = runlua()
        .arg(script(name, source))
        .env("RUNLUA_MODE", mode)
        .env("RUNLUA_THRESHOLD", threshold)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the interpreter was built");
    let mut ready = [0; 6];
    child.stdout.as_mut().expect("piped").read_exact(&mut ready).expect("the script says that it is ready");
    // SAFETY: a signal to a process of our own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let outcome: Outcome = child.wait_with_output().expect("the process ends").into();
    assert_eq!(outcome.code, Some(1), "{mode}");
    assert!(outcome.stderr.contains("interrupted!"), "{mode}: {}", outcome.stderr);
}

/// An endless loop. The first call makes it hot, so that the second one is compiled code from its first back
/// edge on.
#[cfg(unix)]
fn interrupt(mode: &str) {
    let source = "local function spin(n) while true do n = n - 1 if n == 0 then return end end end
         spin(1000) print('ready') io.stdout:flush() spin(-1)";
    interrupt_script(&format!("endless-{mode}.lua"), source, mode, "10");
}

/// Back edges, and calls without loops and returns, look for the hook that an interrupt sets.
#[cfg(unix)]
#[test]
fn an_interrupt_stops_baseline_code() {
    let ready = "print('ready') io.stdout:flush()";
    let spin = format!("local function spin(n) while n ~= 0 do n = n - 1 end end spin(9) {ready} spin(-1)");
    interrupt_script("endless-baseline.lua", &spin, "jit", "2000000000");
    let call = format!(
        "local function call(n) if n == 0 then return end return call(n - 1) end call(9) {ready} call(-1)"
    );
    interrupt_script("endless-calls.lua", &call, "jit", "2000000000");
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_a_loop() {
    interrupt("count");
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_compiled_code() {
    interrupt("jit");
}
