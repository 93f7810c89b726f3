//! `tl_new` to `tl_forget`: making, running, leaving, looking.

use std::cell::RefCell;
use std::ffi::{c_char, c_void, CString};
use std::mem::offset_of;
use std::panic::{catch_unwind, AssertUnwindSafe};

use super::check::{self, Check};
use super::config::read;
use super::describe::Description;
use super::host_code::HostCode;
use super::words::Words;
use super::{c_string, enter, enter_often, not_null, text, TlConfig, TlStatus, TlVm, MAGIC};
use crate::exit::ExitFrame;
use tracelift_core::schema::LayoutSpec;
use tracelift_core::ExitKind;
use tracelift_cranelift::{Enter, LeftBy};

use crate::ids::TraceId;
use crate::open_calls::Calls;
use crate::run::{Action, Run};
use crate::stats::Stats;
use crate::vm::Vm;

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
    base: *mut u8,
    owner: usize,
    outer: u32,
}

// Both sides of the border agree; tests/capi/header.c has the other side of this.
const _: () = {
    assert!(size_of::<TlRun>() == 24 && offset_of!(TlRun, enter) == 0 && offset_of!(TlRun, code) == 8);
    assert!(offset_of!(TlRun, stack_slots) == 16 && offset_of!(TlRun, frames) == 20);
    assert!(size_of::<ExitFrame>() == 72 && offset_of!(ExitFrame, base) == 0);
    assert!(offset_of!(ExitFrame, words) == 8 && crate::exit::MAX_WORDS == 8);
    assert!(size_of::<LeftBy>() == 16 && offset_of!(LeftBy, exit) == 0 && offset_of!(LeftBy, base) == 8);
    assert!(
        size_of::<TlExitInfo>() == 40
            && offset_of!(TlExitInfo, outer) == 32
            && offset_of!(TlExitInfo, owner) == 24
            && offset_of!(TlExitInfo, base) == 16
    );
    assert!(offset_of!(TlExitInfo, kind) == 0);
    assert!(offset_of!(TlExitInfo, nframes) == 4 && offset_of!(TlExitInfo, frames) == 8);
    assert!(offset_of!(Calls, depth) == 8 && offset_of!(Calls, until_timed) == 12);
    assert!(offset_of!(Calls, timed_depth) == 16 && offset_of!(Calls, has_overflowed) == 20);
    assert!(offset_of!(Calls, open) == 24 && size_of::<Calls>() == 24 + 8 * 400);
    assert!(size_of::<TlStatus>() == 4 && size_of::<TlAction>() == 4);
};

thread_local! {
    static CONFIG_ERROR: RefCell<CString> = RefCell::default();
}

/// See `tracelift.h`.
///
/// # Safety
/// `config` points to a `tl_config`.
#[no_mangle]
pub unsafe extern "C" fn tl_new(config: *const TlConfig) -> *mut TlVm {
    let made = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: promised by the caller.
        let config = unsafe { config.as_ref().ok_or("the configuration is null").map(|c| read(c)) }??;
        Vm::new(config).map_err(|error| error.to_string())
    }));
    let result = made.unwrap_or_else(|_| Err("a bug in Tracelift: it panicked".into()));
    match result {
        Ok(mut vm) => {
            vm.schema_mut().add_layout(LayoutSpec { name: "(none)".into(), size: 0 });
            let checks = vm.config.check;
            let handle = Box::into_raw(Box::new(TlVm {
                magic: MAGIC,
                vm,
                last_error: CString::default(),
                text: CString::default(),
                description: Description::default(),
                runs: 0,
                host_code: HostCode::default(),
                check: Check::new(checks),
                words: Words::default(),
                tagged: Vec::new(),
                hints: Vec::new(),
            }));
            check::made(handle, checks);
            handle
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
    if !check::is_known(vm) {
        return;
    }
    // SAFETY: promised by the caller.
    let Some(handle) = (unsafe { vm.as_mut() }).filter(|handle| handle.magic == MAGIC) else { return };
    // A call in progress would go on with what is gone.
    let Some(_entered) = handle.check.entry.enter() else { return };
    check::freed(vm);
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
    match (unsafe { vm.as_ref() }).filter(|handle| check::is_known(vm) && handle.magic == MAGIC) {
        Some(handle) => handle.last_error.as_ptr(),
        None => c"the handle is null or was freed".as_ptr(),
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `counters` points to `count` counters that live as long as the vm.
#[no_mangle]
pub unsafe extern "C" fn tl_set_counters(vm: *mut TlVm, counters: *mut i32, count: u32) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        if counters.is_null() || count == 0 {
            return Err("tl_set_counters needs at least one counter".into());
        }
        if !counters.is_aligned() {
            return Err("tl_set_counters: the counters are not aligned".into());
        }
        if handle.vm.counters.has_any() {
            return Err("tl_set_counters: there are counters already, which locations use".into());
        }
        // SAFETY: promised by the caller.
        unsafe { handle.vm.set_counters(counters, count as usize) };
        Ok(TlStatus::Ok)
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `counter` lives until it is dropped.
#[no_mangle]
pub unsafe extern "C" fn tl_add_counter(vm: *mut TlVm, counter: *mut i32) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        if counter.is_null() || !counter.is_aligned() {
            return Err("tl_add_counter: the counter is null or not aligned".into());
        }
        // SAFETY: promised by the caller.
        unsafe { handle.vm.add_counter(counter) };
        Ok(TlStatus::Ok)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_drop_counter(vm: *mut TlVm, counter: *const i32) {
    enter(vm, (), |handle| {
        handle.vm.drop_counter(counter);
        Ok(())
    });
}

/// `tl_action`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlAction {
    /// Go on interpreting.
    Nothing = 0,
    /// Run the code.
    Run = 1,
    /// Start a recording.
    Record = 2,
}

impl TlVm {
    /// An action for C, and the code that goes with it.
    ///
    /// # Safety
    /// `run` is null or points to a `tl_run`.
    unsafe fn answer(&mut self, action: Action, run: *mut TlRun) -> TlAction {
        match action {
            Action::Nothing => TlAction::Nothing,
            Action::Run(code) => {
                // SAFETY: promised by the caller.
                match unsafe { run.as_mut() } {
                    Some(run) => self.run(code, run),
                    None => self.refuse("there is no tl_run to fill"),
                }
            }
            Action::Record => TlAction::Record,
        }
    }

    #[inline]
    fn run(&mut self, Run { code, needs }: Run, run: &mut TlRun) -> TlAction {
        let (stack_slots, frames) = (needs.slots, needs.frames);
        *run = TlRun { enter: Some(code.enter), code: code.code, stack_slots, frames };
        self.runs = self.runs.saturating_add(1);
        TlAction::Run
    }

    /// A wrong call: nothing is to be done.
    #[cold]
    fn refuse(&mut self, sentence: &str) -> TlAction {
        self.fail(sentence);
        TlAction::Nothing
    }

    /// Why a counter is none, if so.
    fn check_counter(&self, counter: *const i32) -> Result<(), String> {
        match self.vm.counters.owns(counter) {
            true => Ok(()),
            false => {
                Err("the counter is none of those that tl_set_counters and tl_add_counter were told".into())
            }
        }
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
    counter: *mut i32,
    base: *const u8,
    run: *mut TlRun,
) -> TlAction {
    // SAFETY: promised by the caller, for both.
    if let (Some(handle), Some(run)) = unsafe { (vm.as_mut(), run.as_mut()) } {
        if handle.magic == MAGIC && !base.is_null() && !handle.check.is_on {
            // SAFETY: promised by the caller.
            match unsafe { handle.vm.pass(key as usize, counter) } {
                Some(Action::Run(code)) => return handle.run(code, run),
                Some(_) => return TlAction::Nothing,
                None => {}
            }
        }
    }
    // SAFETY: passed on from the caller.
    unsafe { hot(vm, key, counter, base, run) }
}

/// The long way of `tl_hot`, with the checks that the short way need not make: no gate leads from what is
/// none of the host's keys or counters.
///
/// # Safety
/// As for [`tl_hot`].
#[cold]
#[inline(never)]
unsafe fn hot(
    vm: *mut TlVm,
    key: *const c_void,
    counter: *mut i32,
    base: *const u8,
    run: *mut TlRun,
) -> TlAction {
    enter_often(vm, TlAction::Nothing, |handle| {
        let checked =
            not_null(key, "tl_hot: the key").and_then(|()| not_null(base, "tl_hot: the frame's base"));
        let checked = checked.and_then(|()| handle.check.frame("tl_hot", base as usize, 0, 0));
        if let Err(sentence) = checked {
            return handle.refuse(&sentence);
        }
        // SAFETY: promised by the caller.
        let action = unsafe { handle.vm.hot(key as usize, counter, base) };
        if let (Action::Nothing, Err(sentence)) = (action, handle.check_counter(counter)) {
            return handle.refuse(&sentence);
        }
        // SAFETY: promised by the caller.
        unsafe { handle.answer(action, run) }
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `base` points to the innermost frame's slots, all frames are those of the last exit; `run` points to a
/// `tl_run`.
#[no_mangle]
pub unsafe extern "C" fn tl_next(vm: *mut TlVm, base: *const u8, run: *mut TlRun) -> TlAction {
    // SAFETY: promised by the caller.
    let handle = unsafe { vm.as_ref() };
    let can_be_used = |handle: &TlVm| handle.magic == MAGIC && !handle.check.is_on;
    if handle.is_some_and(|handle| can_be_used(handle) && !base.is_null() && !handle.vm.has_next()) {
        return TlAction::Nothing;
    }
    enter_often(vm, TlAction::Nothing, |handle| {
        let checked = not_null(base, "tl_next: the frame's base")
            .and_then(|()| handle.check.goes_on_at("tl_next", base as usize));
        if let Err(sentence) = checked {
            return handle.refuse(&sentence);
        }
        // SAFETY: promised by the caller, for both.
        unsafe {
            let action = handle.vm.next(base);
            handle.answer(action, run)
        }
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_get_calls(vm: *mut TlVm) -> *mut Calls {
    enter(vm, std::ptr::null_mut(), |handle| Ok(handle.vm.calls()))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_call_begin_slowly(vm: *mut TlVm, stack: *const c_void) -> u64 {
    enter_often(vm, 0, |handle| handle.vm.begin_call(stack as usize))
}

/// See `tracelift.h`.
///
/// # Safety
/// `site` is what the function was called with.
#[no_mangle]
pub unsafe extern "C" fn tl_call_end_slowly(
    vm: *mut TlVm,
    site: *const u32,
    stack: *const c_void,
    epoch: u64,
) -> i32 {
    enter_often(vm, 0, |handle| {
        // SAFETY: promised by the caller.
        let Some(site) = (unsafe { site.as_ref() }) else { return 0 };
        // SAFETY: a call site has the trace's number as its second word.
        let trace = TraceId(unsafe { *std::ptr::from_ref(site).add(1) });
        i32::from(handle.vm.end_call(trace, stack as usize, epoch))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_room_cell(vm: *mut TlVm, key: *const c_void) -> *const u64 {
    enter(vm, std::ptr::null(), |handle| {
        not_null(key, "tl_room_cell: the key")?;
        Ok(handle.vm.room_cell(key as usize))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_goes_on_at(vm: *mut TlVm, key: *const c_void, is_long: i32) -> i32 {
    enter(vm, 0, |handle| Ok(i32::from(handle.vm.goes_on_at(key as usize, is_long != 0))))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_has_loop(vm: *mut TlVm, key: *const c_void) -> i32 {
    enter(vm, 0, |handle| Ok(i32::from(handle.vm.has_loop(key as usize))))
}

/// See `tracelift.h`.
///
/// # Safety
/// `base` points to the slots of the frame that the loop runs in.
#[no_mangle]
pub unsafe extern "C" fn tl_loop_fits(vm: *mut TlVm, key: *const c_void, base: *const u8) -> i32 {
    enter(vm, 0, |handle| {
        not_null(base, "tl_loop_fits: the frame's base")?;
        // SAFETY: promised by the caller.
        Ok(i32::from(unsafe { handle.vm.loop_fits(key as usize, base) }))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_leave_to(vm: *mut TlVm, outer: *const c_void) -> i32 {
    enter(vm, 0, |handle| {
        not_null(outer, "tl_leave_to: the key of the loop around")?;
        Ok(i32::from(handle.vm.leave_to(outer as usize)))
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_asks_ahead(vm: *mut TlVm) -> i32 {
    enter(vm, 0, |handle| Ok(i32::from(handle.vm.asks_ahead())))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_foresee(vm: *mut TlVm, counted: *const c_void, left: u64) {
    enter(vm, (), |handle| {
        not_null(counted, "tl_foresee: what the loop is known by")?;
        handle.vm.foresee(counted as usize, left);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_declined(vm: *mut TlVm) {
    enter(vm, (), |handle| {
        handle.runs =
            handle.runs.checked_sub(1).ok_or("tl_declined: there is no code that was to be called")?;
        handle.vm.declined();
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_tick(vm: *mut TlVm, counter: *mut i32) {
    enter(vm, (), |handle| {
        handle.check_counter(counter)?;
        handle.vm.tick(counter);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_back_edges_of(vm: *mut TlVm, key: *const c_void) -> u64 {
    enter(vm, 0, |handle| Ok(handle.vm.back_edges_of(key as usize)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_look_after(vm: *mut TlVm, counter: *mut i32, back_edges: u32) {
    enter(vm, (), |handle| {
        handle.check_counter(counter)?;
        handle.vm.look_after(counter, back_edges);
        Ok(())
    });
}

/// Ends the process when an exit panics, after the panic's message: its frames are half restored, so that
/// there is no state in which the host could go on.
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
        ExitKind::Hoisted | ExitKind::Assumed => ExitKind::Guard as u32,
        kind => kind as u32,
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `left` was returned by this vm's code, called with this `context`; `info` points to a `tl_exit_info`.
#[no_mangle]
pub unsafe extern "C" fn tl_exit(vm: *mut TlVm, left: LeftBy, context: *mut c_void, info: *mut TlExitInfo) {
    let Some((handle, _entered)) = super::entered(vm) else { return };
    // SAFETY: as above.
    let Some(info) = (unsafe { info.as_mut() }) else {
        handle.refuse("tl_exit needs a tl_exit_info to fill");
        return;
    };
    let refused = TL_EXIT_REFUSED;
    *info = TlExitInfo {
        kind: refused,
        nframes: 0,
        frames: std::ptr::null(),
        base: left.base,
        owner: 0,
        outer: 0,
    };
    if left.base.is_null() {
        handle.refuse("tl_exit: the frame's base is null");
        return;
    }
    let Some(runs) = handle.runs.checked_sub(1) else {
        handle.refuse("tl_exit: there is no code that was called");
        return;
    };
    handle.runs = runs;
    if let Err(sentence) = handle.vm_fits(left) {
        handle.refuse(&sentence);
        return;
    }
    // No panic comes back from here, so that there is nothing to catch.
    let whole = AbortUnlessWhole;
    // SAFETY: as above.
    let exit = unsafe { handle.vm.exit(left, context) };
    std::mem::forget(whole);
    *info = TlExitInfo {
        kind: exit.kind().map_or(TL_EXIT_REFUSED, kind_for_host),
        nframes: exit.frames.len() as u32,
        frames: exit.frames.as_ptr(),
        base: exit.base,
        owner: exit.owner,
        outer: exit.outer,
    };
    if handle.check.is_on {
        handle.note_exit(info);
    }
}

impl TlVm {
    /// Whether the slots that an exit may write lie in the host's stack.
    fn vm_fits(&self, left: LeftBy) -> Result<(), String> {
        if !self.check.is_on {
            return Ok(());
        }
        let stride = self.vm.schema.slots().stride;
        self.check.frame("tl_exit", left.base as usize, self.vm.room_of_exit(left).into(), stride)
    }

    /// Where the program goes on after an exit.
    fn note_exit(&mut self, info: &TlExitInfo) {
        let innermost = (info.nframes > 0).then(|| {
            // SAFETY: so many frames were just restored.
            let frame = unsafe { &*info.frames.add(info.nframes as usize - 1) };
            let distance = frame.base as isize * self.vm.schema.slots().stride as isize;
            info.base.wrapping_offset(distance) as usize
        });
        self.check.left_at(innermost);
    }
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_forget(vm: *mut TlVm, low: *const c_void, high: *const c_void) {
    enter(vm, (), |handle| {
        if low > high {
            return Err("tl_forget: the first key lies above the last one".into());
        }
        handle.vm.forget(low as usize, high as usize);
        Ok(())
    });
}

pub(super) fn stats_of(handle: &TlVm) -> Stats {
    Stats { host_code: handle.host_code.usage(), ..handle.vm.stats() }
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_stats_json(vm: *mut TlVm) -> *const c_char {
    enter(vm, std::ptr::null(), |handle| {
        let json = serde_json::to_string_pretty(&stats_of(handle)).map_err(|error| error.to_string())?;
        handle.text = c_string(&json);
        Ok(handle.text.as_ptr())
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_stats_text(vm: *mut TlVm) -> *const c_char {
    enter(vm, std::ptr::null(), |handle| {
        handle.text = c_string(&stats_of(handle).text());
        Ok(handle.text.as_ptr())
    })
}

/// See `tracelift.h`.
///
/// # Safety
/// `option` is null or NUL-terminated.
#[no_mangle]
pub unsafe extern "C" fn tl_set_option(vm: *mut TlVm, option: *const c_char) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        // SAFETY: promised by the caller.
        handle.vm.set_option(unsafe { text(option) }?)?;
        Ok(TlStatus::Ok)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_summary(vm: *mut TlVm) -> *const c_char {
    enter(vm, std::ptr::null(), |handle| {
        handle.text = c_string(&stats_of(handle).summary());
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
