//! An application declares C functions of its own, which compiled loops then call.
//!
//! Problem: what an application promises with `tlua_declare_safe` cannot be checked by machine; what the
//! compiler makes of the promise can. Design: a state is made as an application makes it, by Lua's own C
//! interface, with functions written here. Each program runs without and with the compiler, and must give the
//! same text; the compiler's report says that loops were compiled, or why not.
//!
//! Invariant: a function that changes something is called exactly once for each call in the program.
//!
//! Example: `declare(L, distance, 0)` and `for i = 1, 100 do s = s + distance(i, 4) end`.

#![allow(unsafe_op_in_unsafe_fn)] // the C functions below are calls of C functions from end to end

use std::ffi::{c_char, c_int, c_uint, c_void, CStr, CString};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use tracelift_lua as _; // the interpreter is linked with it

type State = *mut c_void;
type Function = unsafe extern "C-unwind" fn(State) -> c_int;
type Hook = unsafe extern "C-unwind" fn(State, *mut c_void);

/// `TluaConfig` of `c/tlua.h`.
#[repr(C)]
struct RawConfig {
    mode: u32,
    threshold: u32,
    period: u32,
    reserved: u32,
    seed: u64,
    jit: *const c_void,
}

const MODE_OFF: u32 = 0;
const MODE_JIT: u32 = 4;
const READS: c_uint = 1;
const ACTS: c_uint = 2;

extern "C-unwind" {
    fn luaL_newstate() -> State;
    #[cfg(not(feature = "lua55"))]
    fn luaL_openlibs(state: State);
    #[cfg(feature = "lua55")]
    fn luaL_openselectedlibs(state: State, load: c_int, preload: c_int);
    fn luaL_loadstring(state: State, text: *const c_char) -> c_int;
    fn luaL_checkinteger(state: State, n: c_int) -> i64;
    fn luaL_checknumber(state: State, n: c_int) -> f64;
    fn luaL_checktype(state: State, n: c_int, kind: c_int);
    fn lua_pcallk(
        state: State,
        args: c_int,
        results: c_int,
        handler: c_int,
        context: isize,
        k: *const c_void,
    ) -> c_int;
    fn lua_tolstring(state: State, n: c_int, length: *mut usize) -> *const c_char;
    fn lua_pushinteger(state: State, value: i64);
    fn lua_pushnumber(state: State, value: f64);
    fn lua_pushvalue(state: State, n: c_int);
    fn lua_pushcclosure(state: State, function: Function, upvalues: c_int);
    fn lua_setglobal(state: State, name: *const c_char);
    fn lua_gettop(state: State) -> c_int;
    fn lua_rawgeti(state: State, n: c_int, index: i64) -> c_int;
    fn lua_rawseti(state: State, n: c_int, index: i64);
    fn lua_rawlen(state: State, n: c_int) -> u64;
    fn lua_tointegerx(state: State, n: c_int, is_integer: *mut c_int) -> i64;
    fn lua_createtable(state: State, items: c_int, keys: c_int);
    fn lua_yieldk(state: State, results: c_int, context: isize, k: *const c_void) -> c_int;
    fn lua_tothread(state: State, n: c_int) -> State;
    fn lua_sethook(state: State, hook: Option<Hook>, mask: c_int, count: c_int);
    fn lua_close(state: State);
    fn tlua_open(state: State, config: *const RawConfig) -> c_int;
    fn tlua_declare_safe(state: State, function: Function, flags: c_uint) -> c_int;
    fn tlua_jit_stats_text(state: State) -> *const c_char;
}

const TABLE: c_int = 5;
const REGISTRY: c_int = if cfg!(feature = "lua55") { -(c_int::MAX / 2 + 1000) } else { -1_000_000 - 1000 };
const UPVALUE_1: c_int = REGISTRY - 1;

// The functions below may be left by a longjmp: they own nothing.

/// Two numbers: a number.
unsafe extern "C-unwind" fn distance(state: State) -> c_int {
    let (x, y) = (luaL_checknumber(state, 1), luaL_checknumber(state, 2));
    lua_pushnumber(state, (x * x + y * y).sqrt());
    1
}

/// A closure: adds its upvalue.
unsafe extern "C-unwind" fn shifted(state: State) -> c_int {
    let n = luaL_checkinteger(state, 1);
    lua_pushinteger(state, n.wrapping_add(lua_tointegerx(state, UPVALUE_1, null_mut())));
    1
}

/// A new table with the arguments.
unsafe extern "C-unwind" fn list(state: State) -> c_int {
    let count = lua_gettop(state);
    lua_createtable(state, count, 0);
    for n in 1..=count {
        lua_pushvalue(state, n);
        lua_rawseti(state, -2, i64::from(n));
    }
    1
}

/// The sum of a table's integers: it reads what programs change.
unsafe extern "C-unwind" fn total(state: State) -> c_int {
    luaL_checktype(state, 1, TABLE);
    let mut sum = 0i64;
    for n in 1..=lua_rawlen(state, 1) as i64 {
        lua_rawgeti(state, 1, n);
        sum = sum.wrapping_add(lua_tointegerx(state, -1, null_mut()));
        lua_pushvalue(state, 1);
    }
    lua_pushinteger(state, sum);
    1
}

static NOTED: AtomicU64 = AtomicU64::new(0);

/// Appends to a table, and counts: it must not be called twice.
unsafe extern "C-unwind" fn note(state: State) -> c_int {
    luaL_checktype(state, 1, TABLE);
    let value = luaL_checkinteger(state, 2);
    let length = lua_rawlen(state, 1) as i64;
    NOTED.fetch_add(1, Ordering::Relaxed);
    lua_pushinteger(state, value);
    lua_rawseti(state, 1, length + 1);
    0
}

/// Nobody says anything about it.
unsafe extern "C-unwind" fn unknown(state: State) -> c_int {
    lua_pushinteger(state, 1);
    1
}

/// Yields its arguments; what comes after the yield is never reached.
unsafe extern "C-unwind" fn pause(state: State) -> c_int {
    lua_yieldk(state, lua_gettop(state), 0, null());
    unreachable!("a yield without a continuation does not come back");
}

unsafe extern "C-unwind" fn yield_in_hook(state: State, _activation: *mut c_void) {
    lua_yieldk(state, 0, 0, null());
}

/// A thread, and after how many instructions it yields each time.
unsafe extern "C-unwind" fn interrupt(state: State) -> c_int {
    const COUNT: c_int = 1 << 3;
    lua_sethook(lua_tothread(state, 1), Some(yield_in_hook), COUNT, luaL_checkinteger(state, 2) as c_int);
    0
}

/// As the macro of 5.5.
///
/// # Safety
/// As the function of this name of 5.4.
#[cfg(feature = "lua55")]
#[allow(non_snake_case, reason = "the name is the C function's")]
unsafe fn luaL_openlibs(state: State) {
    // SAFETY: promised by the caller.
    unsafe { luaL_openselectedlibs(state, !0, 0) }
}

/// What the program returns, and the compiler's report.
fn run(mode: u32, program: &str) -> (String, String) {
    let text = CString::new(program).expect("programs have no zero bytes");
    // SAFETY: the calls are those of an application in C, in the order that Lua's manual asks for; errors are
    // caught by lua_pcallk, and no value of Rust lives in a frame that they leave.
    unsafe {
        let state = luaL_newstate();
        assert!(!state.is_null());
        luaL_openlibs(state);
        assert_eq!(tlua_declare_safe(state, distance, 0), 1); // there is no compiler yet: nothing is done
        let config = RawConfig { mode, threshold: 2, period: 0, reserved: 0, seed: 0, jit: null() };
        assert_eq!(tlua_open(state, &config), 1);
        let functions: [(&str, Function, Option<c_uint>); 8] = [
            ("pause", pause, None),
            ("interrupt", interrupt, None),
            ("distance", distance, Some(0)),
            ("shifted", shifted, Some(0)),
            ("list", list, Some(0)),
            ("total", total, Some(READS)),
            ("note", note, Some(ACTS)),
            ("unknown", unknown, None),
        ];
        for (name, function, flags) in functions {
            let upvalues = c_int::from(name == "shifted");
            if upvalues > 0 {
                lua_pushinteger(state, 1000);
            }
            lua_pushcclosure(state, function, upvalues);
            lua_setglobal(state, CString::new(name).expect("a name").as_ptr());
            if let Some(flags) = flags {
                assert_eq!(tlua_declare_safe(state, function, flags), 1, "{name}");
                assert_eq!(
                    tlua_declare_safe(state, function, flags),
                    c_int::from(mode == MODE_OFF),
                    "{name} again"
                );
            }
        }
        assert_eq!(tlua_declare_safe(state, unknown, 64), c_int::from(mode == MODE_OFF));
        assert_eq!(luaL_loadstring(state, text.as_ptr()), 0);
        let status = lua_pcallk(state, 0, 1, 0, 0, null());
        let result = lua_tolstring(state, -1, null_mut());
        assert!(!result.is_null(), "the program returns no text");
        let result = CStr::from_ptr(result).to_string_lossy().into_owned();
        assert_eq!(status, 0, "{result}");
        let report = CStr::from_ptr(tlua_jit_stats_text(state)).to_string_lossy().into_owned();
        lua_close(state);
        (result, report)
    }
}

/// Runs a program both ways; the compiler's report.
fn agree(program: &str) -> String {
    let (expected, _) = run(MODE_OFF, program);
    let (found, report) = run(MODE_JIT, program);
    assert_eq!(found, expected, "{report}");
    report
}

fn compiles(program: &str) {
    let report = agree(program);
    assert!(report.contains("none given up") && report.contains("compiled: "), "{program}\n{report}");
    assert!(!report.contains("compiled: 0 traces"), "{program}\n{report}");
}

#[test]
fn functions_without_effects_are_called() {
    compiles("local s = 0 for i = 1, 200 do s = s + distance(i, 4) end return tostring(s)");
    compiles("local s = 0 for i = 1, 200 do s = s + shifted(i) end return tostring(s)");
    compiles("local s = 0 for i = 1, 200 do local t = list(i, 2.5, 'x') s = s + t[1] + t[2] + #t + #t[3] end return tostring(s)");
}

#[test]
fn functions_that_read_see_every_store() {
    compiles(
        "local t, s = { 1, 2, 3 }, 0 for i = 1, 200 do t[2] = i s = s + total(t) t[2] = -i s = s + total(t) end return tostring(s)",
    );
    compiles("local s = 0 for i = 1, 200 do local t = { i, 2 } s = s + total(t) end return tostring(s)");
}

#[test]
fn functions_that_act_do_it_once() {
    let program = "local t, s = { 1 }, 0
        for i = 1, 300 do local before = t[1] t[1] = i note(t, i * 2) s = s + #t + t[#t] + t[1] - before end
        return s .. ' ' .. #t .. ' ' .. table.concat(t, ',')";
    NOTED.store(0, Ordering::Relaxed);
    let report = agree(program);
    assert_eq!(NOTED.load(Ordering::Relaxed), 2 * 300);
    assert!(!report.contains("compiled: 0 traces"), "{report}");
}

#[test]
fn errors_are_raised_by_the_interpreter() {
    let report = agree(
        "local lines = {}
        for round = 1, 3 do
          lines[round] = tostring(select(2, pcall(function()
            local s = 0
            for i = 1, 100 do
              s = s + distance(i, i < 90 + round and 1 or {})
            end
          end)))
        end
        return table.concat(lines, '\\n')",
    );
    assert!(!report.contains("compiled: 0 traces"), "{report}");
}

#[test]
fn results_of_other_types_leave_the_trace() {
    agree(
        "local n = 0 for i = 1, 200 do n = n + #list(i, i % 7 == 0 and 'x' or i % 3) end return tostring(n)",
    );
    agree("local n = 0 for i = 1, 200 do local t = list(i) if i % 50 == 0 then t = {} end n = n + #t end return tostring(n)");
}

#[test]
fn functions_that_nobody_declared_are_called_and_counted() {
    let counted = |name: &str, body: &str| {
        let report = agree(&format!("local n = 0 for i = 1, 200 do {body} end return tostring(n)"));
        assert!(!report.contains("compiled: 0 traces"), "{report}");
        let line = report.lines().find(|line| line.starts_with("recorded as calls of the host: "));
        assert!(line.is_some_and(|line| line.contains(&format!("call of {name}"))), "{report}");
    };
    counted("unknown", "n = n + unknown()");
    counted("coroutine.running", "coroutine.running() n = n + i");
    counted("FILE*.flush", "local flush = io.stdout.flush flush(io.stdout) n = n + i");
    counted("pcall", "n = n + (pcall(next) and 1 or 2)");
}

/// A tail call of such a function ends the recording.
#[test]
fn functions_that_nobody_declared_are_named() {
    let named = |function: &str| {
        let report = agree(&format!(
            "local function call() return {function} end
            local n = 0 for i = 1, 200 do local r = call() n = n + (r and 1 or 2) end return tostring(n)"
        ));
        let name = function.split('(').next().unwrap_or_default();
        assert!(report.contains(&format!("call of {name}")), "{report}");
    };
    named("unknown()");
    named("coroutine.running()");
    named("pcall(next)");
}

/// A C function's yield jumps over it; 'coroutine.yield' may return. Hooks yield between instructions.
#[test]
fn all_ways_to_yield_lead_to_the_resume() {
    for every in [0, 3, 50] {
        let program = format!(
            "local function body(n)
              local s = 0
              for i = 1, n do
                s = s + coroutine.yield(i)
                if i % 3 == 0 then s = s + pause(i) end
                if i % 5 == 0 then s = s + select(2, pcall(coroutine.yield, i)) end
              end
              return s
            end
            local co = coroutine.create(body)
            if {every} > 0 then interrupt(co, {every}) end
            local sum, hooked = 0, 0
            local ok, got = coroutine.resume(co, 300)
            while coroutine.status(co) == 'suspended' do
              if got == nil then
                hooked = hooked + 1
                ok, got = coroutine.resume(co)
              else
                sum = sum + got
                ok, got = coroutine.resume(co, got)
              end
            end
            return tostring(ok) .. ' ' .. tostring(got == sum) .. ' ' .. sum .. ' ' .. tostring(hooked > 20)"
        );
        let sum: u64 = (1..=300).map(|i| i * (1 + u64::from(i % 3 == 0) + u64::from(i % 5 == 0))).sum();
        let expected = format!("true true {sum} {}", every > 0);
        for mode in [MODE_OFF, MODE_JIT] {
            assert_eq!(run(mode, &program).0, expected, "interrupted after {every} instructions");
        }
    }
}

/// A program may have run for a while when it gets the compiler: its loops are hot as soon as any.
#[test]
fn loops_that_ran_before_the_compiler_came_are_compiled() {
    let text =
        CString::new("local n = 0 for i = 1, 1000 do n = n + i end return tostring(n)").expect("a text");
    // SAFETY: as in `run`.
    unsafe {
        let state = luaL_newstate();
        luaL_openlibs(state);
        assert_eq!(luaL_loadstring(state, text.as_ptr()), 0);
        for opens in [false, true] {
            if opens {
                let config =
                    RawConfig { mode: MODE_JIT, threshold: 50, period: 0, reserved: 0, seed: 0, jit: null() };
                assert_eq!(tlua_open(state, &config), 1);
            }
            lua_pushvalue(state, 1);
            assert_eq!(lua_pcallk(state, 0, 1, 0, 0, null()), 0);
            assert_eq!(CStr::from_ptr(lua_tolstring(state, -1, null_mut())).to_string_lossy(), "500500");
        }
        let report = CStr::from_ptr(tlua_jit_stats_text(state)).to_string_lossy().into_owned();
        assert!(report.contains("compiled: 1 trace "), "{report}");
        // 50 until it is hot, the one that is recorded, and the one that enters the code.
        assert!(report.contains("loop iterations: 52 interpreted"), "{report}");
        lua_close(state);
    }
}
