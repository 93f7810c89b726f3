//! The heap of a state (`c/tlua_heap.c`), through the allocator that Lua sees. Blocks keep what is in them
//! and lie apart. What is freed is used again, for other sizes too. A program to which the system refuses
//! memory is told so.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

// What is tested is linked with it.
use tracelift_lua as _;

type Allocate = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize) -> *mut c_void;

extern "C" {
    fn tlua_newstate() -> *mut c_void;
    fn lua_getallocf(state: *mut c_void, user: *mut *mut c_void) -> Allocate;
    fn lua_gc(state: *mut c_void, what: c_int, ...) -> c_int;
    fn lua_close(state: *mut c_void);
    fn tlua_take_whole(heap: *mut c_void, size: usize) -> *mut c_void;
    #[cfg(target_os = "linux")]
    fn madvise(start: *mut c_void, bytes: usize, advice: c_int) -> c_int;
}

/// A state's allocator.
struct Heap {
    state: *mut c_void,
    allocate: Allocate,
    user: *mut c_void,
}

impl Heap {
    fn new() -> Heap {
        let mut user = std::ptr::null_mut();
        // SAFETY: the state is used by this thread only, until it is closed.
        let (state, allocate) = unsafe {
            let state = tlua_newstate();
            assert!(!state.is_null());
            (state, lua_getallocf(state, &mut user))
        };
        Heap { state, allocate, user }
    }

    /// A block of `new` bytes for one of `old` bytes, whose first bytes it has.
    fn resize(&self, block: usize, old: usize, new: usize) -> usize {
        // SAFETY: the block came from here, and had the old size.
        unsafe { (self.allocate)(self.user, block as *mut c_void, old, new) as usize }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: it is open; all blocks of the test's own are freed.
        unsafe { lua_close(self.state) };
    }
}

/// Some tests measure the memory of the process: no other one may take and free much of it meanwhile.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A test that failed says so itself.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn fill(block: usize, size: usize, byte: u8) {
    // SAFETY: the block is the test's own, and so large.
    unsafe { (block as *mut u8).write_bytes(byte, size) };
}

fn holds(block: usize, size: usize, byte: u8) -> bool {
    // SAFETY: as above; the bytes were written.
    let bytes = unsafe { std::slice::from_raw_parts(block as *const u8, size) };
    bytes.iter().all(|&found| found == byte)
}

/// splitmix64.
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 33) as usize
}

/// Most are small, some on the border of what pages hold, few large.
fn size(state: &mut u64) -> usize {
    match random(state) % 16 {
        0 => 505 + random(state) % 16,
        // As parts of tables, of which some are kept.
        2 => (2 + random(state) % 2) << (8 + random(state) % 8),
        1 => 1 + random(state) % 5000,
        _ => 1 + random(state) % 200,
    }
}

#[test]
fn blocks_keep_what_is_in_them() {
    let _alone = alone();
    let heap = Heap::new();
    let mut state = 1;
    let mut blocks: Vec<(usize, usize, u8)> = Vec::new();
    for step in 0..300_000 {
        // Now there are ever more of them, now ever fewer.
        let grows = random(&mut state) % 8 < if step / 30_000 % 2 == 0 { 5 } else { 3 };
        if grows || blocks.is_empty() {
            let (size, byte) = (size(&mut state), random(&mut state) as u8);
            // Lua tells the type of a new object where the old size would be.
            let block = heap.resize(0, random(&mut state) % 10, size);
            assert!(block != 0 && block.is_multiple_of(8), "{block:x}");
            fill(block, size, byte);
            blocks.push((block, size, byte));
            continue;
        }
        let at = random(&mut state) % blocks.len();
        let (block, old, byte) = blocks[at];
        assert!(holds(block, old, byte), "step {step}: {old} bytes at {block:x}");
        if random(&mut state).is_multiple_of(4) {
            let new = size(&mut state);
            let moved = heap.resize(block, old, new);
            assert!(holds(moved, old.min(new), byte), "step {step}: from {old} to {new} bytes");
            fill(moved, new, byte);
            blocks[at] = (moved, new, byte);
        } else {
            assert_eq!(heap.resize(block, old, 0), 0);
            blocks.swap_remove(at);
        }
    }
    for (block, size, byte) in blocks {
        assert!(holds(block, size, byte));
        heap.resize(block, size, 0);
    }
}

/// The first blocks of the sizes that small functions have differ in their low 16 bits, by which the counters
/// of their loops are chosen.
#[test]
fn first_blocks_of_pages_have_different_low_bits() {
    let _alone = alone();
    let heap = Heap::new();
    let blocks: Vec<(usize, usize)> =
        (24..=512).step_by(8).map(|size| (heap.resize(0, 0, size), size)).collect();
    let low: BTreeSet<usize> = blocks.iter().map(|(block, _)| block & 0xffff).collect();
    for &(block, size) in &blocks {
        heap.resize(block, size, 0);
    }
    assert!(low.len() * 20 >= blocks.len() * 17, "{} of {} are different", low.len(), blocks.len());
}

/// Blocks as large as parts of tables are used again, also where one becomes another; and as fewer are in
/// use, fewer are kept.
#[test]
fn parts_of_tables_are_kept_within_bounds() {
    let _alone = alone();
    let heap = Heap::new();
    let first = heap.resize(0, 0, 4096);
    fill(first, 4096, 7);
    let larger = heap.resize(first, 4096, 8192);
    assert!(larger != first && holds(larger, 4096, 7));
    assert_eq!(heap.resize(0, 0, 4096), first, "it was kept");
    heap.resize(first, 4096, 0);
    heap.resize(larger, 8192, 0);
    assert_eq!(heap.resize(0, 0, 8192), larger);
    heap.resize(larger, 8192, 0);

    const COUNT: usize = 4000;
    let before = resident();
    for round in 0..3 {
        let blocks: Vec<usize> = (0..COUNT).map(|_| heap.resize(0, 0, 24 << 9)).collect();
        blocks.iter().for_each(|&block| fill(block, 24 << 9, round));
        assert!(resident() >= before + COUNT * (24 << 9) / 2);
        blocks.iter().for_each(|&block| assert_eq!(heap.resize(block, 24 << 9, 0), 0));
        let after = resident();
        assert!(after < before + (24 << 20), "{} KiB more", (after - before) >> 10);
    }
}

/// Chunks of 4 MiB in which some blocks lie.
fn chunks(blocks: &[usize]) -> BTreeSet<usize> {
    blocks.iter().map(|block| block >> 22).collect()
}

/// Bytes of memory that this process has.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the system tells");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("in pages") * 4096
}

#[test]
fn what_is_let_go_is_used_again_for_other_sizes() {
    let _alone = alone();
    let heap = Heap::new();
    let many = |size: usize| (0..20_000_000 / size).map(|_| heap.resize(0, 0, size)).collect::<Vec<_>>();
    let before = resident();
    for size in (1..=32).map(|n| n * 16) {
        let blocks = many(size);
        assert!(chunks(&blocks).len() <= 6, "20 MB");
        assert!(resident() < before + 40_000_000, "{} bytes after {before}, size {size}", resident());
        // From both ends: pages become empty in another order than they were filled.
        let (first, second) = blocks.split_at(blocks.len() / 2);
        first.iter().rev().chain(second).for_each(|&block| assert_eq!(heap.resize(block, size, 0), 0));
    }
    let blocks: Vec<usize> = (0..2_000_000).map(|_| heap.resize(0, 0, 64)).collect();
    blocks.iter().for_each(|&block| fill(block, 64, 1));
    assert!(resident() > before + 128_000_000);
    blocks.iter().for_each(|&block| assert_eq!(heap.resize(block, 64, 0), 0));
    drop(blocks);
    assert!(resident() < before + 60_000_000, "most of it went back to the system: {}", resident());
    let blocks = many(24);
    let every = |keep: usize| blocks.iter().enumerate().filter(move |(n, _)| (n % 1000 == 0) == (keep == 0));
    every(1).for_each(|(_, &block)| assert_eq!(heap.resize(block, 24, 0), 0));
    // One block in each page, or nearly so, keeps it: the same size finds room there.
    let again = many(24);
    assert!(chunks(&again).is_subset(&chunks(&blocks)) || chunks(&again).len() <= 7);
    again.iter().for_each(|&block| assert_eq!(heap.resize(block, 24, 0), 0));
    every(0).for_each(|(_, &block)| assert_eq!(heap.resize(block, 24, 0), 0));
}

#[test]
fn a_block_that_moves_to_and_fro_stays_the_same() {
    let _alone = alone();
    let heap = Heap::new();
    let mut block = heap.resize(0, 0, 8);
    fill(block, 8, 7);
    let sizes = [8, 512, 513, 100_000, 512, 520, 8, 5_000_000, 16];
    for pair in sizes.windows(2) {
        block = heap.resize(block, pair[0], pair[1]);
        assert!(holds(block, 8, 7), "{pair:?}");
    }
    assert_eq!(heap.resize(block, 16, 0), 0);
    assert_eq!(heap.resize(0, 0, 0), 0, "nothing of nothing");
}

/// From 1.5 MiB on blocks are mapped, where the system's large pages begin: they grow, shrink, and become
/// smaller ones. What they took goes back, but for 16 MiB.
#[test]
fn the_largest_blocks_are_mapped_and_keep_what_is_in_them() {
    let _alone = alone();
    const MIB: usize = 1 << 20;
    const FROM: usize = 3 * MIB / 2;
    let borders = [FROM, FROM - 1, 2 * MIB, 2 * MIB + 1, 3 * MIB, 3 * MIB + 1, 4 * MIB - 1, 5 * MIB / 2];
    let heap = Heap::new();
    let before = resident();
    let mut state = 7;
    let mut blocks: Vec<(usize, usize, u8)> = Vec::new();
    for step in 0..400 {
        let new = match random(&mut state) % 4 {
            0 => borders[random(&mut state) % borders.len()],
            1 => MIB + random(&mut state) % MIB,
            _ => FROM + random(&mut state) % (6 * MIB),
        };
        let byte = random(&mut state) as u8;
        if blocks.len() < 8 {
            let block = heap.resize(0, 0, new);
            assert!(block != 0 && (new < FROM || block.is_multiple_of(2 * MIB)), "{new} bytes at {block:x}");
            fill(block, new, byte);
            blocks.push((block, new, byte));
            continue;
        }
        let at = random(&mut state) % blocks.len();
        let (block, old, was) = blocks[at];
        assert!(holds(block, old, was), "step {step}: {old} bytes at {block:x}");
        let moved = heap.resize(block, old, new);
        assert!(holds(moved, old.min(new), was), "step {step}: from {old} to {new} bytes");
        fill(moved, new, byte);
        blocks[at] = (moved, new, byte);
    }
    let mut large = heap.resize(0, 0, 33 * MIB);
    fill(large, 33 * MIB, 9);
    for (old, new) in [(33, 70), (70, 71), (71, 40), (40, 80), (80, 1)] {
        large = heap.resize(large, old * MIB, new * MIB);
        assert!(holds(large, old.min(new).min(33) * MIB, 9), "from {old} to {new} MiB");
    }
    blocks.push((large, MIB, 9));
    for (block, size, byte) in blocks {
        assert!(holds(block, size, byte));
        assert_eq!(heap.resize(block, size, 0), 0);
    }
    assert!(resident() < before + 28 * MIB, "{} bytes after {before}", resident());
    assert_eq!(heap.resize(0, 0, usize::MAX / 2), 0, "there is no such memory");
    assert_eq!(heap.resize(0, 0, usize::MAX - 4096), 0);
}

/// An array that follows one that was dropped takes its memory from the start, and grows there. One that has
/// begun elsewhere moves there when that makes room for it.
#[test]
fn what_a_large_block_had_serves_the_next_one_that_grows() {
    let _alone = alone();
    const MIB: usize = 1 << 20;
    let heap = Heap::new();
    let first = heap.resize(0, 0, 16 * MIB);
    fill(first, 16 * MIB, 1);
    let late = heap.resize(0, 0, 2 * MIB);
    fill(late, 2 * MIB, 2);
    assert_eq!(heap.resize(first, 16 * MIB, 0), 0);
    let next = heap.resize(late, 2 * MIB, 4 * MIB);
    assert!(next == first && holds(next, 2 * MIB, 2));
    fill(next, 4 * MIB, 3);
    for size in [8, 16] {
        assert_eq!(heap.resize(next, size / 2 * MIB, size * MIB), first);
        assert!(holds(next, size / 2 * MIB, 3));
        fill(next, size * MIB, 3);
    }
    let beside = heap.resize(0, 0, 3 * MIB);
    assert!(beside + 3 * MIB <= first || beside >= first + 16 * MIB);
    fill(beside, 3 * MIB, 4);
    let moved = heap.resize(next, 16 * MIB, 32 * MIB);
    assert!(holds(moved, 16 * MIB, 3) && holds(beside, 3 * MIB, 4));
    assert_eq!(heap.resize(beside, 3 * MIB, 0), 0);
    assert_eq!(heap.resize(moved, 32 * MIB, 0), 0);
}

/// What is kept makes no process larger than it was when most was in use.
#[test]
fn large_blocks_are_kept_within_what_was_in_use() {
    let _alone = alone();
    const MIB: usize = 1 << 20;
    let heap = Heap::new();
    let before = resident();
    let filled = |mib: usize| {
        let block = heap.resize(0, 0, mib * MIB);
        fill(block, mib * MIB, 1);
        (block, mib)
    };
    let drop = |(block, mib): (usize, usize)| assert_eq!(heap.resize(block, mib * MIB, 0), 0);
    let blocks = [filled(60), filled(20), filled(20)];
    let [large, others @ ..] = blocks;
    drop(large);
    assert!(resident() < before + 104 * MIB);
    // Larger than each piece: what is kept gives way.
    let larger = filled(62);
    assert!(resident() < before + 106 * MIB, "{} after {before}", resident());
    others.into_iter().for_each(drop);
    drop(larger);
    assert!(resident() < before + 20 * MIB, "{} after {before}", resident());
}

/// The system cannot move a block whose parts have different advice, and enlarge it: it is copied.
#[test]
#[cfg(target_os = "linux")]
fn a_large_block_that_cannot_be_moved_is_copied() {
    let _alone = alone();
    const MIB: usize = 1 << 20;
    const DONTFORK: c_int = 10;
    let heap = Heap::new();
    let block = heap.resize(0, 0, 4 * MIB);
    fill(block, 4 * MIB, 5);
    // SAFETY: the block is the test's own, and the advice changes nothing that is in it.
    assert_eq!(unsafe { madvise((block + MIB) as *mut c_void, MIB, DONTFORK) }, 0);
    let grown = heap.resize(block, 4 * MIB, 9 * MIB);
    assert!(grown.is_multiple_of(2 * MIB) && holds(grown, 4 * MIB, 5));
    fill(grown, 9 * MIB, 6);
    let again = heap.resize(grown, 9 * MIB, 12 * MIB);
    assert!(holds(again, 9 * MIB, 6));
    assert_eq!(heap.resize(again, 12 * MIB, 0), 0);
}

/// A table with its parts is one block, which the table gives back: not its parts, which may grow and move
/// away before, or be given back before or after.
#[test]
fn a_part_of_a_table_goes_with_the_table() {
    let _alone = alone();
    if cfg!(feature = "lua55") {
        return; // its tables are as large as two nodes, and have blocks of their own
    }
    const TABLE: usize = 56;
    let heap = Heap::new();
    // SAFETY: the state has a heap of its own, which is what its allocator is called with.
    let whole = |parts: usize| unsafe { tlua_take_whole(heap.user, TABLE + parts) as usize };
    let tables: Vec<usize> = (0..2000).map(|_| whole(48 + 32)).collect();
    assert_eq!(tables.iter().collect::<BTreeSet<_>>().len(), tables.len());
    for (n, &table) in tables.iter().enumerate() {
        fill(table, TABLE + 48, 1);
        fill(table + TABLE + 48, 32, n as u8);
        let array = heap.resize(table + TABLE + 48, 32, 64);
        assert!(array < table || array >= table + TABLE + 80, "it has moved");
        assert!(holds(array, 32, n as u8) && holds(table, TABLE + 48, 1));
        fill(array, 64, 2);
        assert_eq!(heap.resize(array, 64, 0), 0);
        if n % 2 == 0 {
            heap.resize(table + TABLE, 48, 0);
        }
        assert!(holds(table, TABLE, 1), "it is there as long as it is not given back");
    }
    let others: Vec<usize> = (0..2000).map(|_| heap.resize(0, 0, TABLE + 80)).collect();
    let taken: BTreeSet<_> = tables.iter().chain(&others).collect();
    assert_eq!(taken.len(), 4000, "nobody else has got their places");
    tables.iter().step_by(2).for_each(|&table| assert_eq!(heap.resize(table, TABLE, 0), 0));
    let again: BTreeSet<usize> = (0..1000).map(|_| whole(48 + 32)).collect();
    let used_again = tables.iter().step_by(2).filter(|table| again.contains(table)).count();
    assert!(used_again >= 500, "all but what is left of a page: {used_again}");
    again.iter().filter(|table| !tables.contains(table)).for_each(|&table| {
        heap.resize(table, TABLE, 0);
    });
    let in_use = tables.iter().enumerate().filter(|(n, table)| n % 2 == 1 || again.contains(table));
    in_use.for_each(|(_, &table)| assert_eq!(heap.resize(table, TABLE, 0), 0));
    others.iter().for_each(|&block| assert_eq!(heap.resize(block, TABLE + 80, 0), 0));
}

#[test]
fn heaps_know_nothing_of_each_other() {
    let _alone = alone();
    let threads = (0..4).map(|_| {
        std::thread::spawn(|| {
            for _ in 0..50 {
                let heap = Heap::new();
                let blocks: Vec<usize> = (0..1000).map(|n| heap.resize(0, 0, 8 + n % 500)).collect();
                // SAFETY: the state is open: a whole collection.
                unsafe { lua_gc(heap.state, 2, 0) };
                blocks.iter().zip(0..).for_each(|(&block, n)| {
                    heap.resize(block, 8 + n % 500, 0);
                });
            }
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().expect("no heap is damaged"));
}

/// A chunk is cut out of a larger mapping, which begins somewhere else in each process. What lies beside it
/// stays whole: Lua's assertions are compiled in, and the process ends well.
#[test]
fn chunks_lie_in_what_was_mapped() {
    let script = std::env::temp_dir().join(format!("tracelift-chunks-{}.lua", std::process::id()));
    std::fs::write(&script, "io.write('whole')").expect("it can be written");
    for _ in 0..500 {
        let output = Command::new(env!("CARGO_BIN_EXE_runlua")).arg(&script).output().expect("it starts");
        assert!(output.status.success() && output.stdout == b"whole", "{output:?}");
    }
    std::fs::remove_file(&script).expect("it can be removed");
}

/// The system refuses memory for good; the program notices, and goes on with less.
#[test]
fn a_program_is_told_that_there_is_no_memory() {
    let folder = std::env::temp_dir().join(format!("tracelift-heap-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is a folder for it");
    let script = folder.join("full.lua");
    let source = "local function fill()\n\
                  local t = {} for i = 1, 1e9 do t[#t % 1000 + 1] = {i, t, {}} t = {t} end end\n\
                  for _ = 1, 3 do print(pcall(fill)) collectgarbage() end\n\
                  local t = {} for i = 1, 1e5 do t[i] = {i} end print(#t)\n";
    std::fs::write(&script, source).expect("it can be written");
    let runlua = env!("CARGO_BIN_EXE_runlua");
    for mode in ["off", "jit"] {
        let limited = "ulimit -v 400000; exec \"$0\" \"$1\"";
        let mut command = Command::new("sh");
        command.args(["-c", limited, runlua]).arg(&script);
        let output =
            command.env("RUNLUA_MODE", mode).env("RUNLUA_THRESHOLD", "50").output().expect("sh runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let told = "false\tnot enough memory\n".repeat(3) + "100000\n";
        assert_eq!(text, told, "{mode}: {}", String::from_utf8_lossy(&output.stderr));
    }
    std::fs::remove_dir_all(&folder).expect("it can be removed");
}
