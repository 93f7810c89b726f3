//! Code memory: reuse after freeing, protections, refusals, injected failures.

mod common;

use common::*;
use tracelift_core::{ir::*, Schema, Type};
use tracelift_cranelift::*;

/// A trace that finishes with a constant.
fn constant(value: i64) -> Trace {
    let mut trace = Trace::new("constant");
    let inputs = trace.input(&[Type::Int]);
    let constant = trace.const_int(value);
    let sum = trace.op(tracelift_core::Op::IntAdd, &[inputs[0], constant], Type::Int);
    trace.finish(&[sum]);
    trace
}

struct Machine {
    compiler: Compiler,
    buffer: Box<[u64; 4]>,
}

impl Machine {
    fn new() -> Machine {
        Machine { compiler: Compiler::new(Options::default()).unwrap(), buffer: Box::new([0; 4]) }
    }

    fn compile(&mut self, value: i64) -> Compiled {
        let request = Request::new(value as u32, self.buffer.as_mut_ptr());
        self.compiler.compile(&constant(value), &Schema::new(), &request).unwrap()
    }

    fn run(&mut self, code: CodePtr) -> u64 {
        self.buffer[0] = 0;
        // SAFETY: the code is installed, and the buffer is its own.
        unsafe { (code.entry())(std::ptr::null_mut(), std::ptr::null_mut()) };
        self.buffer[0]
    }
}

fn options(limit: usize) -> ArenaOptions {
    ArenaOptions { limit, ..ArenaOptions::default() }
}

#[test]
fn trees_are_freed_one_by_one() {
    let mut machine = Machine::new();
    let mut arena = Arena::new(options(1 << 20)).unwrap();
    let mut installed = Vec::new();
    // What the trees own whose numbers are even, and the others; constants may take more code in one than in
    // another.
    let mut owned = [0, 0];
    for tree in 0..20u32 {
        let before = arena.usage().used;
        for side in 0..10 {
            let value = i64::from(tree * 100 + side);
            let compiled = machine.compile(value);
            installed.push((tree, value, arena.install(TreeId(tree), &compiled).unwrap()));
        }
        owned[tree as usize % 2] += arena.usage().used - before;
    }
    for (_, _, code) in &installed {
        assert_eq!(code.address() % 64, 0);
        assert!(arena.contains(code.address()) && !code.is_empty());
    }
    assert_eq!(arena.usage().trees, 20);
    assert!(owned[0] > 0 && owned[1] > 0);
    for tree in (0..20).step_by(2) {
        arena.free(TreeId(tree));
    }
    assert_eq!(arena.usage().used, owned[1]);
    for &(tree, value, code) in &installed {
        if tree % 2 == 1 {
            assert_eq!(machine.run(code), value as u64, "others are untouched");
        }
    }
    // The freed memory is used again before any other.
    let highest = installed.iter().map(|(_, _, code)| code.address()).max().unwrap();
    for tree in (0..20).step_by(2) {
        let compiled = machine.compile(7777);
        let code = arena.install(TreeId(100 + tree), &compiled).unwrap();
        assert!(code.address() < highest);
        assert_eq!(machine.run(code), 7777);
    }
    (0..200).for_each(|tree| arena.free(TreeId(tree)));
    assert_eq!(arena.usage(), ArenaUse { limit: 1 << 20, ..ArenaUse::default() });
}

/// Random installs and frees: pieces never overlap, and everything comes back.
#[test]
fn churn_keeps_the_books() {
    let mut machine = Machine::new();
    let mut arena = Arena::new(options(32 << 10)).unwrap();
    let mut live: Vec<(u32, i64, CodePtr)> = Vec::new();
    let (mut seed, mut refused) = (12345u64, 0);
    for round in 0..2000i64 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let tree = (seed >> 33) as u32 % 40;
        if (seed >> 20) & 3 == 0 {
            arena.free(TreeId(tree));
            live.retain(|&(owner, _, _)| owner != tree);
        } else {
            match arena.install(TreeId(tree), &machine.compile(round)) {
                Ok(code) => live.push((tree, round, code)),
                Err(error) => {
                    assert_eq!(error.reason(), "code_memory_full");
                    refused += 1;
                }
            }
        }
        if round % 100 == 0 {
            let mut pieces: Vec<_> = live.iter().map(|(_, _, code)| (code.address(), code.len())).collect();
            pieces.sort();
            assert!(pieces.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
            for &(_, value, code) in &live {
                assert_eq!(machine.run(code), value as u64);
            }
        }
    }
    assert!(refused > 0, "the arena was small enough to become full");
    (0..40).for_each(|tree| arena.free(TreeId(tree)));
    assert_eq!(arena.usage().used, 0);
}

#[test]
fn a_full_arena_says_so_and_recovers() {
    let mut machine = Machine::new();
    let mut arena = Arena::new(options(4096)).unwrap();
    let compiled = machine.compile(5);
    let mut installed = 0;
    let error = loop {
        match arena.install(TreeId(installed), &compiled) {
            Ok(_) => installed += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, CodeMemory::Full { limit: 4096, free: 0, .. }), "{error}");
    assert_eq!(installed, 4);
    arena.free(TreeId(2));
    let code = arena.install(TreeId(9), &compiled).unwrap();
    assert_eq!(machine.run(code), 5);
}

#[test]
fn failures_can_be_injected() {
    let mut machine = Machine::new();
    let compiled = machine.compile(5);
    let mut arena = Arena::new(ArenaOptions { fail_allocation: Some(2), ..options(1 << 16) }).unwrap();
    let results: Vec<bool> = (0..4).map(|tree| arena.install(TreeId(tree), &compiled).is_ok()).collect();
    assert_eq!(results, [true, false, true, true]);
    let refused = Arena::new(ArenaOptions { refuse_executable: true, ..ArenaOptions::default() });
    assert!(matches!(refused, Err(CodeMemory::Refused(_))));
    // A limit beyond the address space is refused by the system itself.
    assert!(matches!(Arena::new(options(1 << 60)), Err(CodeMemory::Refused(_))));
}

/// No mapping is writable and executable, and the address that is handed out cannot be written.
#[test]
fn write_xor_execute() {
    let mut machine = Machine::new();
    let mut arena = Arena::new(options(1 << 16)).unwrap();
    let code = arena.install(TreeId(0), &machine.compile(5)).unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux describes the mappings");
    let mut found = None;
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (range, protection) = (words.next().unwrap(), words.next().unwrap());
        assert!(!(protection.contains('w') && protection.contains('x')), "{line}");
        let (start, end) = range.split_once('-').unwrap();
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        if (number(start)..number(end)).contains(&code.address()) {
            found = Some(protection.to_string());
        }
    }
    assert_eq!(found.as_deref(), Some("r-xs"));
}

#[test]
fn dropping_an_arena_unmaps_it() {
    let mapped = || std::fs::read_to_string("/proc/self/maps").expect("Linux describes the mappings");
    // Other tests map arenas at the same time; the file's inode tells ours.
    let inode = {
        let mut arena = Arena::new(options(1 << 16)).unwrap();
        let code = arena.install(TreeId(0), &Machine::new().compile(5)).unwrap();
        let start = format!("{:x}-", code.address());
        let maps = mapped();
        let line = maps.lines().find(|line| line.starts_with(&start)).expect("the arena is mapped");
        line.split_whitespace().nth(4).expect("a line names its file").to_string()
    };
    assert!(!mapped().lines().any(|line| line.split_whitespace().nth(4) == Some(&inode)));
}

#[test]
fn compiling_on_another_thread() {
    let mut arena = Arena::new(options(1 << 16)).unwrap();
    let mut machine = std::thread::spawn(|| {
        let mut machine = Machine::new();
        (machine.compile(41), machine)
    })
    .join()
    .map(|(compiled, machine)| (arena.install(TreeId(0), &compiled).unwrap(), machine))
    .unwrap();
    assert_eq!(machine.1.run(machine.0), 41);
}

/// On aarch64 an indirect branch into guarded memory that leads to no landing pad is a fault; where the
/// processor knows none, it is as any other. Under emulation it does.
#[test]
#[cfg(target_arch = "aarch64")]
fn only_landing_pads_are_jumped_to() {
    let options = Compiler::new(Options::default()).unwrap().arena_options();
    let is_emulated = std::env::var_os("TRACELIFT_EXPECT_ARCH").is_some();
    assert!(options.has_landing_pads || !is_emulated, "the emulator's processor has them");
    let mut arena = Arena::new(options).unwrap();
    let mut ending_of = |words: &[u32]| {
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let code = arena.install_code(TreeId(1), &code).unwrap();
        // SAFETY: the child calls code that only returns, and ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                (code.entry())(std::ptr::null_mut(), std::ptr::null_mut());
                libc::_exit(7);
            }
            let mut status = 0;
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            (libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)), libc::WIFSIGNALED(status))
        }
    };
    let (ret, pad) = (0xd65f_03c0, 0xd503_245f);
    assert_eq!(ending_of(&[pad, ret]), (Some(7), false));
    let expected = if options.has_landing_pads { (None, true) } else { (Some(7), false) };
    assert_eq!(ending_of(&[ret, pad]), expected);
}
