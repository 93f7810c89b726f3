//! The C interface under calls at random, good ones and bad ones, in any order.
//!
//! Problem: a host may call anything at any time with anything; a table of mistakes holds those that somebody
//! has thought of. Design: a random case describes a host, mostly well, and then makes some hundred calls
//! with arguments out of pools: numbers that calls have given, numbers of other kinds, 0 and what is far too
//! large; pointers to memory that is there, or null. So it comes to complete recordings as well as to
//! nonsense. What the header leaves to the host is kept: pointers lead to as much memory as is told of, and
//! code is run only where the test has recorded it itself, since a trace of random addresses would read
//! there. With `TL_FLAG_CHECK` and without. Invariant: each call returns; nothing panics; a vm that has seen
//! all this still compiles and runs a loop; and no failure is one of the library's own.
//!
//! Example: `TRACELIFT_CALLS_SECONDS=3600 cargo test --release -p tracelift-runtime --test calls_at_random`
//! goes on for an hour. A failure names the seed; `TRACELIFT_CALLS_SEED=0x...` makes that case again, with a
//! log.

mod abi;
mod calls;

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use abi::*;
use arbitrary::{Result, Unstructured};
use tracelift_runtime::capi::{config as flags, TlConfig};

/// Slots of a frame that is told of at most: the whole stack of frames has 65536.
const SLOTS: usize = 1 << 16;
/// Bytes from slot to slot, at most, of descriptions that are good.
const STRIDE: usize = 32;

/// Memory that pointers lead to: slots above and below the frame, masks and words.
struct Memory {
    stack: Vec<u64>,
    live: Vec<u8>,
    words: [u64; 8],
    counters: [i32; 4],
    code: [u8; 16],
}

impl Memory {
    fn new() -> Memory {
        Memory {
            stack: vec![0; 2 * SLOTS * STRIDE / 8],
            live: vec![0; SLOTS / 8],
            words: [0; 8],
            counters: [0; 4],
            code: [0; 16],
        }
    }

    fn base(&mut self) -> *mut u8 {
        let middle = self.stack.len() / 2;
        self.stack[middle..].as_mut_ptr().cast()
    }
}

extern "C" fn some_function(context: *mut c_void) -> *mut c_void {
    context
}

extern "C" fn reserves(_: *mut c_void, _: u32, items: u32, _: u32, count: u32) -> c_int {
    c_int::from(items < 100 && count < 1000)
}

const SIGNATURES: [&CStr; 11] = [
    c"a>i",
    c"ai>v",
    c"aiii>r",
    c"aaiii>r",
    c"airr>a",
    c"ar>v",
    c"aaa>a",
    c"aaai>a",
    c"f>f",
    c"nonsense",
    c"",
];
const NAMES: [&CStr; 8] = [c"one", c"two", c"three", c"four", c"five", c"six", c"", c"\xff"];

/// A case: the handle, what its calls have given, and the bytes that decide.
struct Case<'a, 'u> {
    vm: Handle,
    u: &'a mut Unstructured<'u>,
    memory: Memory,
    tags: Vec<u32>,
    cells: Vec<u32>,
    classes: Vec<u32>,
    layouts: Vec<u32>,
    fields: Vec<u32>,
    tagged: Vec<u32>,
    funcs: Vec<u32>,
    values: Vec<u32>,
    units: Vec<u32>,
    /// Integers of the recording that this case has begun well.
    ints: Vec<u32>,
    named: u32,
    /// One in so many arguments is any number.
    odds: u32,
    /// Whether descriptions may be wrong, so that nothing is recorded any more.
    spoils: bool,
}

impl Case<'_, '_> {
    /// A number of that kind, mostly; else any.
    fn pick(&mut self, from: fn(&Self) -> &Vec<u32>) -> Result<u32> {
        let known = from(self).len();
        if known > 0 && !self.u.ratio(1, self.odds)? {
            let at = self.u.choose_index(known)?;
            return Ok(from(self)[at]);
        }
        Ok(match self.u.int_in_range(0..=3)? {
            0 => 0,
            1 => self.u.int_in_range(1..=40)?,
            2 => u32::MAX - self.u.int_in_range(0..=2u32)?,
            _ => self.u.arbitrary()?,
        })
    }

    fn tag(&mut self) -> Result<u32> {
        self.pick(|case| &case.tags)
    }
    fn cell(&mut self) -> Result<u32> {
        self.pick(|case| &case.cells)
    }
    fn layout(&mut self) -> Result<u32> {
        self.pick(|case| &case.layouts)
    }
    fn func(&mut self) -> Result<u32> {
        self.pick(|case| &case.funcs)
    }
    fn value(&mut self) -> Result<u32> {
        self.pick(|case| &case.values)
    }

    fn number(&mut self) -> Result<i64> {
        Ok(match self.u.int_in_range(0..=4)? {
            0 | 1 => self.u.int_in_range(0..=9)?,
            2 => self.u.int_in_range(-3..=100)?,
            3 => *self.u.choose(&[i64::MIN, i64::MAX, i32::MAX.into(), i32::MIN.into(), 65535, 65536])?,
            _ => self.u.arbitrary()?,
        })
    }

    fn name(&mut self) -> Result<*const c_char> {
        if self.u.ratio(1, 15)? {
            return Ok(null());
        }
        Ok(self.u.choose(&NAMES)?.as_ptr())
    }

    /// Where the slots are, or null.
    fn base(&mut self) -> Result<*mut u8> {
        Ok(if self.u.ratio(1, 20)? { null_mut() } else { self.memory.base() })
    }

    /// A place of the program, or null.
    fn key(&mut self) -> Result<*const u8> {
        let at = self.u.choose_index(self.memory.code.len() + 1)?;
        Ok(if at == self.memory.code.len() { null() } else { &raw const self.memory.code[at] })
    }

    fn counter(&mut self) -> Result<*mut i32> {
        let at = self.u.choose_index(self.memory.counters.len() + 1)?;
        let counters = self.memory.counters.as_mut_ptr();
        Ok(if at == self.memory.counters.len() { null_mut() } else { counters.wrapping_add(at) })
    }

    /// A mask of live slots and how many it is for.
    fn live(&mut self) -> Result<(*const u8, u32)> {
        let bits = *self.u.choose(&[0x00u8, 0xff, 0x0f, 0x3f])?;
        self.memory.live[..8].fill(bits);
        let nslots = *self.u.choose(&[0, 4, 6, 8, 8, 8, 20, 65536, 65537, u32::MAX])?;
        let is_null = self.u.ratio(1, 20)?;
        Ok((if is_null { null() } else { self.memory.live.as_ptr() }, nslots))
    }

    fn words(&mut self) -> Result<*const u64> {
        self.memory.words[0] = self.u.int_in_range(0..=9)?;
        Ok(if self.u.ratio(1, 20)? { null() } else { self.memory.words.as_ptr() })
    }

    fn op(&mut self) -> Result<u32> {
        Ok(if self.u.ratio(1, 10)? { self.u.arbitrary()? } else { self.u.int_in_range(0..=92)? })
    }

    /// A recording's value, or 0, which is kept out of the pool.
    fn keep(&mut self, value: u32) {
        if value != 0 {
            self.values.push(value);
        }
        if self.values.len() > 40 {
            self.values.remove(0);
        }
    }

    fn element(&mut self) -> Result<Element> {
        let value = [self.cell()?, self.cell()?, self.cell()?, self.cell()?];
        let (tag, absent) = (self.cell()?, self.tag()?);
        let untagged = self.u.int_in_range(0..=5)?;
        Ok(Element { stride: *self.u.choose(&[0, 8, 16, 24, u32::MAX])?, value, tag, untagged, absent })
    }

    fn arguments(&mut self) -> Result<Vec<u32>> {
        let count = self.u.int_in_range(0..=7)?;
        (0..count).map(|_| self.value()).collect()
    }

    fn slots(&mut self) -> Result<Vec<i32>> {
        let count = self.u.int_in_range(0..=3)?;
        (0..count).map(|_| Ok(self.number()? as i32)).collect()
    }
}

/// How often something has panicked.
static PANICS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// What was reached: recordings that closed, misuses, code that ran.
    static REACHED: RefCell<[u64; 3]> = const { RefCell::new([0; 3]) };
}

fn case(u: &mut Unstructured<'_>) -> Result<()> {
    let set = [flags::FLAG_CHECK, flags::FLAG_VERIFY, flags::FLAG_OFF, flags::FLAG_CODE_MAP];
    let odds = [2, 2, 20, 4];
    let mut all = 0;
    for (flag, odds) in set.into_iter().zip(odds) {
        all |= if u.ratio(1, odds)? { flag } else { 0 };
    }
    let threshold = u.int_in_range(1..=4)?;
    let log = match std::env::var_os("TRACELIFT_CALLS_SEED") {
        Some(_) => c"record,opt,abort".as_ptr(),
        None => null(),
    };
    let config = TlConfig { threshold, flags: all, max_ops: 200, log, ..TlConfig::default() };
    // SAFETY: the configuration is one.
    let vm = unsafe { tl_new(&config) };
    assert!(!vm.is_null());
    let (memory, none) = (Memory::new(), Vec::new);
    let mut case = Case {
        vm,
        u,
        memory,
        tags: none(),
        cells: none(),
        classes: none(),
        layouts: none(),
        fields: none(),
        tagged: none(),
        funcs: none(),
        values: none(),
        units: none(),
        ints: none(),
        named: 0,
        odds: 12,
        spoils: false,
    };
    let made = case.calls();
    // SAFETY: the handle is alive; the texts are read before the next call.
    unsafe {
        let stats = CStr::from_ptr(tl_stats_json(vm)).to_string_lossy().into_owned();
        let error = CStr::from_ptr(tl_last_error(vm)).to_string_lossy().into_owned();
        assert!(!stats.contains("internal"), "a bug of the library's: {error}\n{stats}");
        REACHED.with_borrow_mut(|reached| {
            reached[1] += tl_misuses(vm);
        });
        tl_free(vm);
    }
    assert_eq!(PANICS.load(Ordering::Relaxed), 0, "something has panicked");
    made
}

#[test]
fn each_call_returns() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        hook(info);
    }));
    let seconds = std::env::var("TRACELIFT_CALLS_SECONDS").map_or(5, |text| {
        text.parse::<u64>().unwrap_or_else(|_| panic!("TRACELIFT_CALLS_SECONDS is no number: {text}"))
    });
    let mut cases = 0u64;
    let mut all = arbtest::arbtest(|u| {
        cases += 1;
        case(u)
    })
    .size_min(2_000)
    .size_max(20_000);
    all = match std::env::var("TRACELIFT_CALLS_SEED") {
        Ok(seed) => {
            let digits = seed.trim_start_matches("0x");
            all.seed(
                u64::from_str_radix(digits, 16).expect("a seed is a number, as the failure has shown it"),
            )
        }
        Err(_) => all.budget_ms(seconds * 1000),
    };
    drop(all);
    let [closed, misuses, ran] = REACHED.with_borrow(|reached| *reached);
    println!("{cases} cases, {misuses} misuses, {closed} recordings closed, {ran} loops run");
    if std::env::var_os("TRACELIFT_CALLS_SEED").is_none() {
        assert!(cases > 20 && misuses > 100 && closed > 5 && ran > 20, "too little was reached");
    }
}
