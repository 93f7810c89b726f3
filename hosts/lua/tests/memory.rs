//! Programs whose allocator refuses, at every request in turn.
//!
//! Problem: compiled code leaves tables out and makes them when it is left, and that must not fail. Design:
//! each program runs once for each request for memory that it makes, with that request refused, with a few,
//! and with all from it on. The interpreter raises "not enough memory" where an allocation of its own fails,
//! and programs catch it; every line that is printed is that error or what stock Lua prints there. [`WORKS`]
//! are programs of a few lines about one feature each.
//!
//! Invariant: no run crashes, none prints anything else, and some exits were given memory that was held for
//! them.
//!
//! Environment: `TRACELIFT_REFUSED_EVERY` is how many requests apart those are that are refused (1), where
//! programs start slowly; whether exits were given memory is then not asked. `TRACELIFT_TURN` shifts them.
//!
//! Example: `RUNLUA_MODE=jit RUNLUA_THRESHOLD=2 RUNLUA_REFUSE=700 runlua tests/memory/objects.lua`.

mod support;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use support::{count, patched, script, stock, Outcome};

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/memory").join(name)
}

fn run(program: &Path, passes: &str, settings: &[(&str, String)]) -> Outcome {
    let fixed = [("RUNLUA_MODE", "jit"), ("RUNLUA_THRESHOLD", "2"), ("RUNLUA_REPORT", "1")];
    let mut all: Vec<(&str, &str)> = fixed.to_vec();
    all.push(("RUNLUA_PASSES", passes));
    all.extend(settings.iter().map(|(name, value)| (*name, value.as_str())));
    patched(program, &[], &all)
}

/// Each line is what stock Lua prints, or the error; an error that nobody caught may come in the middle of
/// the last one.
fn check(what: &str, expected: &Outcome, found: &Outcome) {
    const ERROR: &str = "not enough memory";
    let lines: Vec<&str> = found.stdout.lines().collect();
    for (number, (line, wanted)) in lines.iter().zip(expected.stdout.lines()).enumerate() {
        let is_error = line.ends_with(ERROR);
        let is_cut = number + 1 == lines.len() && found.code == Some(1) && wanted.starts_with(line);
        assert!(*line == wanted || is_error || is_cut, "{what}: {line}\ninstead of {wanted}");
    }
    match found.code {
        Some(0) => assert_eq!(lines.len(), expected.stdout.lines().count(), "{what}"),
        Some(1) => assert!(found.stderr.contains(ERROR), "{what}: {}", found.stderr),
        // The state, or the library's part of it, could not be made.
        Some(2) => {
            // 5.5 tells of finalizers that fail.
            let mut told = found.stderr.lines().skip_while(|line| line.starts_with("Lua warning: "));
            let explains = told.next().is_some_and(|line| line.starts_with("lua: "));
            assert!(found.stdout.is_empty() && explains, "{what}: {}", found.stderr)
        }
        code => panic!("{what}: ended with {code:?}: {}", found.stderr),
    }
}

/// The requests to be refused of those from `first` to `last`.
fn requests(first: u64, last: u64) -> impl Iterator<Item = u64> {
    let number = |name: &str| std::env::var(name).map_or(0, |text| text.parse().expect("a number"));
    (first + number("TRACELIFT_TURN") % every() as u64..=last).step_by(every())
}

/// How far apart they are.
fn every() -> usize {
    std::env::var("TRACELIFT_REFUSED_EVERY").map_or(1, |text| text.parse().expect("a number from 1 on"))
}

/// Refuses `refused` requests (0: all) from each on; the blocks given to exits and the entries put off.
fn refuse(name: &str, refused: u64) -> (u64, u64) {
    let program = program(name);
    let expected = stock(&program, &[]);
    assert_eq!(expected.code, Some(0), "{}", expected.stderr);
    let counted = run(&program, "", &[("RUNLUA_REFUSE", u64::MAX.to_string())]);
    assert_eq!(counted.stdout, expected.stdout);
    assert!(count(&counted, "compiled") > 0, "{}", counted.stderr);
    let (mut given, mut put_off) = (0, 0);
    for from in requests(1, count(&counted, "requests")) {
        let settings = [("RUNLUA_REFUSE", from.to_string()), ("RUNLUA_REFUSE_COUNT", refused.to_string())];
        let found = run(&program, "", &settings);
        check(&format!("{name}: {refused} refused from {from} on"), &expected, &found);
        if matches!(found.code, Some(0 | 1)) {
            given += count(&found, "spare_blocks");
            put_off += u64::from(found.stderr.contains("entries put off"));
        }
    }
    (given, put_off)
}

#[test]
fn one_request_refused() {
    let (given, _) = refuse("objects.lua", 1);
    assert!(given > 0 || every() > 1);
}

#[test]
fn some_requests_refused() {
    let (given, put_off) = refuse("objects.lua", 30);
    assert!(
        (given > 0 && put_off > 0) || every() > 1,
        "{given} blocks given, {put_off} runs put entries off"
    );
}

#[test]
fn all_requests_refused_from_one_on() {
    let (given, _) = refuse("objects.lua", 0);
    assert!(given > 0 || every() > 1);
}

/// Functions of the library make strings here; none of them may be lost or cut when there is no memory for
/// it.
#[test]
fn memory_of_library_functions_refused() {
    refuse("library.lua", 1);
}

/// A name, and the body of a function of `n` that is called in protected mode, three times, with hot loops.
const WORKS: [(&str, &str); 32] = [
    ("append", "local t = {} for i = 1, 3 * n do t[#t + 1] = i end return #t, t[n]"),
    ("array", "local t = {} for i = 1, n do t[i] = i * 0.5 end local s = 0 for i = 1, n do s = s + t[i] end return s"),
    ("rows", "local s = 0 for i = 1, n do local r = {} for j = 1, 9 do r[j] = { i + j } end s = s + #r + r[9][1] end return s"),
    ("sets", "local s, c = {}, 0 for i = 1, 3 * n do s[i * 0.5] = i; s[{}] = i; s[i << 20] = 's' .. i; s['k' .. i] = s end \
              for _ in pairs(s) do c = c + 1 end return c, #s, s[n << 20]"),
    ("growing", "local p for i = 1, n do p = {} p.x = i; p.y = p; p.z = 'z' .. i; p[1] = i; p[2.5] = i; p[true] = p end \
                 return p.x, p.z, p[1], p[true] == p.y"),
    ("fields", "local t = {} for i = 1, n do t.a = i; t.b = i; if i == 9 then t.c, t.d = 1, 2 end end return t.b, t.d"),
    ("keys", "local t = {} for i = 1, n do local k = 'k' .. i % 5 t[k] = (t[k] or 0) + i end return t.k0, t.k4"),
    ("strings", "local s = '' for i = 1, n do s = s .. i .. ',' end return s"),
    ("long", "local s = ('x'):rep(60) local l = 0 for i = 1, n do local t = s .. i; l = l + #t end return l"),
    ("records", "local p = { x = 0, y = 0 } for i = 1, n do p = { x = p.x + i, y = p.x } end return p.x, p.y"),
    ("list", "local h for i = 1, n do h = { v = i, next = h } end local s = 0 while h do s = s + h.v; h = h.next end return s"),
    ("nested", "local t = {} for i = 1, n do t[i] = {} for j = 1, 5 do t[i][j] = i * j end end return t[n][5], #t"),
    ("constructor", "local s = 0 for i = 1, n do local t = { i, { i, k = i }, 'x' } s = s + t[2].k + #t end return s"),
    ("closures", "local f = {} for i = 1, n do local j = i f[i] = function() j = j + 1 return j end end return f[1]() + f[n]()"),
    ("counter", "local c = 0 local function up(d) c = c + d return c end for i = 1, n do up(i) end return c"),
    ("methods", "local C = {} C.__index = C function C:add(d) self.v = self.v + d end \
                 local o = setmetatable({ v = 0 }, C) for i = 1, n do o:add(i) end return o.v"),
    ("vectors", "local function add(a, b) return { x = a.x + b.x } end local v = { x = 0 } \
                 for i = 1, n do v = add(v, { x = i }) end return v.x"),
    ("recursion", "local function f(k) if k == 0 then return 0 end return k + f(k - 1) end \
                   local s = 0 for i = 1, n do s = s + f(i) end return s"),
    ("deep", "local function f(k) if k == 0 then return 0 end return 1 + f(k - 1) end \
              local s = 0 for i = 1, 4 do for j = 1, n do s = s + j end s = s + f(40 * i) end return s"),
    ("coroutines", "local g = coroutine.wrap(function() for i = 1, 2 * n do coroutine.yield({ i }) end end) \
                    local s = 0 for i = 1, n do s = s + g()[1] end return s"),
    ("errors", "local c = 0 for i = 1, n do local ok, e = pcall(function() if i % 3 == 0 then error({ i }) end return i end) \
                if ok then c = c + 1 elseif type(e) == 'table' then c = c + e[1] else error(e, 0) end end return c"),
    ("varargs", "local function f(...) local t = { ... } return #t end local s = 0 for i = 1, n do s = s + f(i, i, i) end return s"),
    ("metamethods", "local m = {} m.__add = function(a, b) return setmetatable({ a[1] + b }, m) end \
                     local o = setmetatable({ 0 }, m) for i = 1, n do o = o + i end return o[1]"),
    ("pairs", "local t, s = {}, 0 for i = 1, n do t['f' .. i] = i end for _, v in pairs(t) do s = s + v end return s"),
    ("formats", "local s = '' for i = 1, n do s = string.format('%s%d,%5.2f;', s, i, i / 2) end return #s, s:sub(-20)"),
    ("searches", "local l = 0 for i = 1, n do local a, b = ('k' .. i .. '=v'):match('(%w+)=(%w+)') l = l + #a + #b end return l"),
    ("words", "local l, s = 0, ('ab cde '):rep(n) for w, p in s:gmatch('(%a+)()') do l = l + #w * p end return l"),
    ("rawsets", "local t = {} for i = 1, 3 * n do rawset(t, i, i) rawset(t, 'k' .. i, i) end return #t, t['k' .. n]"),
    ("positions", "local t = {} for i = 1, 3 * n do table.insert(t, 1, i) if i % 3 == 0 then table.remove(t, 2) end end \
                   return #t, table.concat(t, ' ')"),
    ("sort", "local t = {} for i = 1, n do t[i] = (i * 7) % 11 end table.sort(t, function(a, b) return a > b end) \
              return table.concat(t, ' ')"),
    ("close", "local c = 0 for i = 1, n do local x <close> = setmetatable({}, { __close = function() c = c + 1 end }) end return c"),
    ("load", "local s = 0 for i = 1, 3 do local f, e = load('local s = 0 for i = 1, 9 do s = s + i end return s') \
              if not f then error(e, 0) end s = s + f() end return s"),
];

/// Refuses one request, and then it and the one that the interpreter makes after a full collection.
fn refuse_each(name: &str, body: &str, before: u64) {
    let text = format!(
        "local function work(n)\n  {body}\nend\nfor round = 1, 3 do print(pcall(work, 8 + 3 * round)) end\n"
    );
    let program = script(&format!("memory_{name}.lua"), &text);
    let expected = stock(&program, &[]);
    assert_eq!(expected.code, Some(0), "{}", expected.stderr);
    assert!(!expected.stdout.contains("false"), "{name}: {}", expected.stdout);
    let counted = run(&program, "", &[("RUNLUA_REFUSE", u64::MAX.to_string())]);
    assert_eq!(counted.stdout, expected.stdout);
    let last = count(&counted, "requests");
    assert!(last > before, "{name} makes {last} requests");
    let mut caught = 0;
    for from in requests(before + 1, last) {
        for refused in 1..=2 {
            let settings =
                [("RUNLUA_REFUSE", from.to_string()), ("RUNLUA_REFUSE_COUNT", refused.to_string())];
            let found = run(&program, "", &settings);
            check(&format!("{name}: {refused} refused from {from} on"), &expected, &found);
            // Memory is there again, so that the other calls do their work.
            let failed = found.stdout.lines().filter(|line| line.starts_with("false")).count();
            assert!(failed as u64 <= refused, "{name}: {refused} refused from {from} on: {}", found.stdout);
            caught += failed;
        }
    }
    assert!(caught > 0 || every() > 1, "{name}: no call failed");
}

#[test]
fn each_request_of_many_programs_refused() {
    // A state alone makes so many.
    let empty = run(&script("memory_empty.lua", ""), "", &[("RUNLUA_REFUSE", u64::MAX.to_string())]);
    let before = count(&empty, "requests");
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, body)) = WORKS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    refuse_each(name, body, before);
                }
            });
        }
    });
}
