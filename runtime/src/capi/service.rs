//! `tl_new` to `tl_forget`: making, running, leaving, looking.

use std::cell::RefCell;
use std::ffi::{c_char, c_void, CString};
use std::mem::offset_of;
use std::panic::{catch_unwind, AssertUnwindSafe};

use super::{c_string, enter, enter_often, slice, text, TlStatus, TlVm, MAGIC};
use crate::exit::ExitFrame;
use tracelift_core::schema::LayoutSpec;
use tracelift_core::ExitKind;
use tracelift_cranelift::Enter;

use crate::config::{Config, DEFAULT_THRESHOLD};
use crate::hot::Action;
use crate::log::Stage;
use crate::vm::Vm;

/// The version that this library implements (`TL_ABI_VERSION`).
const ABI_VERSION: u32 = 1;

const FLAG_OFF: u32 = 1;
const FLAG_VERIFY: u32 = 2;
const FLAG_COUNT_ITERATIONS: u32 = 4;
const FLAG_COUNT_GUARDS: u32 = 8;
const FLAG_NO_EXEC: u32 = 16;
const FLAG_NO_UNROLLING: u32 = 32;
const FLAG_NO_PREFETCHING: u32 = 64;

/// `tl_config`.
#[repr(C)]
pub struct TlConfig {
    abi: u32,
    threshold: u32,
    max_ops: u32,
    max_snapshots: u32,
    max_frames: u32,
    flags: u32,
    side_threshold: u32,
    max_sides: u32,
    code_bytes: u64,
    force_exit: u64,
    passes: *const c_char,
    log: *const c_char,
    log_file: *const c_char,
    start_seed: u64,
}

/// `tl_run`.
#[repr(C)]
pub struct TlRun {
    enter: Option<Enter>,
    code: *const u8,
    stack_slots: u32,
    frames: u32,
}

/// `tl_exit_info`.
#[repr(C)]
pub struct TlExitInfo {
    kind: u32,
    nframes: u32,
    frames: *const ExitFrame,
}

// Both sides of the border agree; tests/capi/header.c has the other side of this.
const _: () = {
    assert!(size_of::<TlConfig>() == 80 && offset_of!(TlConfig, abi) == 0);
    assert!(offset_of!(TlConfig, threshold) == 4 && offset_of!(TlConfig, max_ops) == 8);
    assert!(offset_of!(TlConfig, max_snapshots) == 12 && offset_of!(TlConfig, max_frames) == 16);
    assert!(offset_of!(TlConfig, flags) == 20 && offset_of!(TlConfig, side_threshold) == 24);
    assert!(offset_of!(TlConfig, max_sides) == 28 && offset_of!(TlConfig, code_bytes) == 32);
    assert!(offset_of!(TlConfig, force_exit) == 40 && offset_of!(TlConfig, passes) == 48);
    assert!(offset_of!(TlConfig, log) == 56 && offset_of!(TlConfig, log_file) == 64);
    assert!(offset_of!(TlConfig, start_seed) == 72);
    assert!(size_of::<TlRun>() == 24 && offset_of!(TlRun, enter) == 0 && offset_of!(TlRun, code) == 8);
    assert!(offset_of!(TlRun, stack_slots) == 16 && offset_of!(TlRun, frames) == 20);
    assert!(size_of::<ExitFrame>() == 72 && offset_of!(ExitFrame, base) == 0);
    assert!(offset_of!(ExitFrame, words) == 8 && crate::exit::MAX_WORDS == 8);
    assert!(size_of::<TlExitInfo>() == 16 && offset_of!(TlExitInfo, kind) == 0);
    assert!(offset_of!(TlExitInfo, nframes) == 4 && offset_of!(TlExitInfo, frames) == 8);
    assert!(size_of::<TlStatus>() == 4);
};

thread_local! {
    static CONFIG_ERROR: RefCell<CString> = RefCell::default();
}

/// # Safety
/// The texts of `config` are null or NUL-terminated.
unsafe fn read_config(c: &TlConfig) -> Result<Config, String> {
    if c.abi != ABI_VERSION {
        return Err(format!("the host was compiled for interface version {}, this is {ABI_VERSION}", c.abi));
    }
    // SAFETY: promised by the caller.
    let optional = |t: *const c_char| if t.is_null() { Ok("") } else { unsafe { text(t) } };
    let (passes, log, log_file) = (optional(c.passes)?, optional(c.log)?, optional(c.log_file)?);
    let default = Config::default();
    let or = |value: u32, default: usize| if value == 0 { default } else { value as usize };
    Ok(Config {
        enabled: c.flags & FLAG_OFF == 0,
        threshold: if c.threshold == 0 { DEFAULT_THRESHOLD } else { c.threshold },
        // A threshold that is set is exact: the same is recorded in each run.
        compile_share: default.compile_share.filter(|_| c.threshold == 0),
        side_threshold: match (c.side_threshold, c.threshold) {
            (0, 0) => default.side_threshold,
            (0, threshold) => threshold.min(default.side_threshold),
            (threshold, _) => threshold,
        },
        max_sides: or(c.max_sides, default.max_sides),
        max_ops: or(c.max_ops, default.max_ops),
        max_snapshots: or(c.max_snapshots, default.max_snapshots),
        max_frames: or(c.max_frames, default.max_frames),
        code_bytes: if c.code_bytes == 0 { default.code_bytes } else { c.code_bytes as usize },
        opt: tracelift_opt::Config::parse(passes).map_err(|error| error.to_string())?,
        verify: c.flags & FLAG_VERIFY != 0,
        force_exit: (c.force_exit != 0).then_some(c.force_exit),
        start_seed: (c.start_seed != 0).then_some(c.start_seed),
        count_guards: c.flags & FLAG_COUNT_GUARDS != 0,
        count_iterations: c.flags & FLAG_COUNT_ITERATIONS != 0,
        refuse_executable_memory: c.flags & FLAG_NO_EXEC != 0,
        no_unrolling: c.flags & FLAG_NO_UNROLLING != 0,
        no_prefetching: c.flags & FLAG_NO_PREFETCHING != 0,
        log: Stage::parse_list(log)?,
        log_file: (!log_file.is_empty()).then(|| log_file.into()),
        ..default
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `config` points to a `tl_config`.
#[no_mangle]
pub unsafe extern "C" fn tl_new(config: *const TlConfig) -> *mut TlVm {
    let made = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: promised by the caller.
        let config = unsafe { config.as_ref().ok_or("the configuration is null").map(|c| read_config(c)) }??;
        Vm::new(config).map_err(|error| error.to_string())
    }));
    let result = made.unwrap_or_else(|_| Err("a bug in Tracelift: it panicked".into()));
    match result {
        Ok(mut vm) => {
            vm.schema.add_layout(LayoutSpec { name: "(none)".into(), size: 0 });
            Box::into_raw(Box::new(TlVm {
                magic: MAGIC,
                vm,
                last_error: CString::default(),
                text: CString::default(),
            }))
        }
        Err(sentence) => {
            CONFIG_ERROR.set(c_string(&sentence));
            std::ptr::null_mut()
        }
    }
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_config_error() -> *const c_char {
    CONFIG_ERROR.with_borrow(|error| error.as_ptr())
}

/// See `tracelift.h`.
///
/// # Safety
/// `vm` is null or came from `tl_new` and is not used again.
#[no_mangle]
pub unsafe extern "C" fn tl_free(vm: *mut TlVm) {
    // SAFETY: promised by the caller.
    let Some(handle) = (unsafe { vm.as_mut() }).filter(|handle| handle.magic == MAGIC) else { return };
    handle.magic = 0;
    // SAFETY: it came from `Box::into_raw` in `tl_new`, and the magic word said that it was not freed yet.
    let handle = unsafe { Box::from_raw(vm) };
    // A panic while dropping must not reach C; the process goes on without what could not be freed.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
}

/// See `tracelift.h`.
///
/// # Safety
/// `vm` came from `tl_new`.
#[no_mangle]
pub unsafe extern "C" fn tl_last_error(vm: *const TlVm) -> *const c_char {
    // SAFETY: promised by the caller.
    match (unsafe { vm.as_ref() }).filter(|handle| handle.magic == MAGIC) {
        Some(handle) => handle.last_error.as_ptr(),
        None => c"the handle is null or was freed".as_ptr(),
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `counters` points to `count` counters that live as long as the vm.
#[no_mangle]
pub unsafe extern "C" fn tl_set_counters(vm: *mut TlVm, counters: *mut u32, count: u32) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        if counters.is_null() || count == 0 {
            return Err("tl_set_counters needs at least one counter".into());
        }
        // SAFETY: promised by the caller.
        unsafe { handle.vm.set_counters(counters, count as usize) };
        Ok(TlStatus::Ok)
    })
}

/// The number of an action (`tl_action`), and the code that goes with it.
///
/// # Safety
/// `run` is null or points to a `tl_run`.
unsafe fn answer(handle: &mut TlVm, action: Action, run: *mut TlRun) -> u32 {
    match action {
        Action::Nothing => 0,
        Action::Run { code, needs: (stack_slots, frames) } => {
            // SAFETY: promised by the caller.
            let Some(run) = (unsafe { run.as_mut() }) else {
                handle.last_error = c_string("there is no tl_run to fill");
                return 0;
            };
            *run = TlRun { enter: Some(code.enter), code: code.code, stack_slots, frames };
            1
        }
        Action::Record => 2,
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `base` points to the frame's slots; `run` to a `tl_run`.
#[no_mangle]
pub unsafe extern "C" fn tl_hot(
    vm: *mut TlVm,
    key: *const c_void,
    counter: *mut u32,
    base: *const u8,
    run: *mut TlRun,
) -> u32 {
    enter_often(vm, 0, |handle| {
        // SAFETY: promised by the caller, for both.
        unsafe {
            let action = handle.vm.hot(key as usize, counter, base);
            answer(handle, action, run)
        }
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `base` points to the entry frame's slots, all frames are those of the last exit; `run` points to a `tl_run`.
#[no_mangle]
pub unsafe extern "C" fn tl_next(vm: *mut TlVm, base: *const u8, run: *mut TlRun) -> u32 {
    enter_often(vm, 0, |handle| {
        // SAFETY: promised by the caller, for both.
        unsafe {
            let action = handle.vm.next(base);
            answer(handle, action, run)
        }
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_has_loop(vm: *mut TlVm, key: *const c_void) -> i32 {
    enter(vm, 0, |handle| Ok(i32::from(handle.vm.has_loop(key as usize))))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_leave_to(vm: *mut TlVm, outer: *const c_void) -> i32 {
    enter(vm, 0, |handle| Ok(i32::from(handle.vm.leave_to(outer as usize))))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_declined(vm: *mut TlVm) {
    enter(vm, (), |handle| {
        handle.vm.declined();
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_tick(vm: *mut TlVm, counter: *mut u32) {
    enter(vm, (), |handle| {
        handle.vm.tick(counter);
        Ok(())
    });
}

/// Ends the process when an exit panics, behind the panic's message: its frames are half restored, so that there is
/// no state in which the host could go on.
struct AbortUnlessWhole;

impl Drop for AbortUnlessWhole {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// `TL_EXIT_REFUSED`.
const TL_EXIT_REFUSED: u32 = 5;

/// A host need not know that the optimizer has guards of its own.
fn kind_for_host(kind: ExitKind) -> u32 {
    match kind {
        ExitKind::Hoisted => ExitKind::Guard as u32,
        kind => kind as u32,
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `left` was returned by this vm's code, called with this `context` and `base`; `info` points to a `tl_exit_info`.
#[no_mangle]
pub unsafe extern "C" fn tl_exit(
    vm: *mut TlVm,
    left: u64,
    context: *mut c_void,
    base: *mut u8,
    info: *mut TlExitInfo,
) {
    // SAFETY: promised by the caller, for all below; the magic word is checked as everywhere.
    let handle = unsafe { vm.as_mut() }.filter(|handle| handle.magic == MAGIC);
    let Some(handle) = handle else { return };
    // SAFETY: as above.
    let Some(info) = (unsafe { info.as_mut() }) else {
        handle.last_error = c_string("tl_exit needs a tl_exit_info to fill");
        return;
    };
    // No panic comes back from here, so that there is nothing to catch.
    let whole = AbortUnlessWhole;
    // SAFETY: as above.
    let exit = unsafe { handle.vm.exit(left, context, base) };
    std::mem::forget(whole);
    *info = TlExitInfo {
        kind: exit.kind.map_or(TL_EXIT_REFUSED, kind_for_host),
        nframes: exit.frames.len() as u32,
        frames: exit.frames.as_ptr(),
    };
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_forget(vm: *mut TlVm, low: *const c_void, high: *const c_void) {
    enter(vm, (), |handle| {
        handle.vm.forget(low as usize, high as usize);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_stats_json(vm: *mut TlVm) -> *const c_char {
    enter(vm, std::ptr::null(), |handle| {
        let json = serde_json::to_string_pretty(&handle.vm.stats()).map_err(|error| error.to_string())?;
        handle.text = c_string(&json);
        Ok(handle.text.as_ptr())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_stats_text(vm: *mut TlVm) -> *const c_char {
    enter(vm, std::ptr::null(), |handle| {
        handle.text = c_string(&handle.vm.stats().text());
        Ok(handle.text.as_ptr())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_last_abort(vm: *mut TlVm, key: *const c_void) -> *const c_char {
    enter(vm, std::ptr::null(), |handle| {
        let Some(reason) = handle.vm.last_abort(key as usize) else { return Ok(std::ptr::null()) };
        handle.text = c_string(reason.name());
        Ok(handle.text.as_ptr())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_aborts(vm: *mut TlVm, key: *const c_void) -> u32 {
    enter(vm, 0, |handle| Ok(handle.vm.aborts(key as usize)))
}

/// The bytes of a bit map over `nslots` slots.
///
/// # Safety
/// `live` points to that many bits.
pub(super) unsafe fn live_bytes<'a>(live: *const u8, nslots: u32) -> &'a [u8] {
    // SAFETY: promised by the caller.
    unsafe { slice(live, (nslots as usize).div_ceil(8)) }
}
