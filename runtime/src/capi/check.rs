//! `TL_FLAG_CHECK` at the border: which handles there are, who uses one, and where frames may lie.
//!
//! Problem: what a host does wrong between two calls is seen by neither: it uses a handle that it has freed,
//! calls from a function that the library is calling, or goes on in a frame that lies elsewhere. Design:
//! handles are registered, and from the first one that checks on each call looks its handle up. Such a handle
//! notes that it is in use while a call lasts, so that a call within a call, or from another thread at the
//! same time, is refused. The host may say where its frames lie; bases, and the slots that exits write, are
//! compared with that. What recordings are checked for is in `recorder/check.rs`.
//!
//! Invariants: without such a handle a call costs one load more; nothing that a check refuses has changed
//! anything. Example: `tl_forget` within an allocation function says "... is called by a function of the
//! host's that the library is calling".

use std::collections::HashSet;
use std::ffi::c_void;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{enter, TlStatus, TlVm};

/// Whether any handle of this process has checked.
static IS_CHECKING: AtomicBool = AtomicBool::new(false);
/// The handles that there are.
static HANDLES: Mutex<Option<HashSet<usize>>> = Mutex::new(None);

/// A handle was made.
pub(super) fn made(handle: *mut TlVm, checks: bool) {
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    handles.get_or_insert_default().insert(handle as usize);
    if checks {
        IS_CHECKING.store(true, Ordering::Release);
    }
}

/// A handle is gone.
pub(super) fn freed(handle: *mut TlVm) {
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    handles.get_or_insert_default().remove(&(handle as usize));
}

/// Whether there is such a handle, as far as anybody wants to know.
#[inline]
pub(super) fn is_known(handle: *const TlVm) -> bool {
    !IS_CHECKING.load(Ordering::Acquire) || is_registered(handle)
}

#[cold]
fn is_registered(handle: *const TlVm) -> bool {
    let handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    handles.as_ref().is_some_and(|handles| handles.contains(&(handle as usize)))
}

/// Which thread this is, as a number that is not 0.
fn this_thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// Whether a call is in progress, and how many were wrong: what two threads may look at at once.
#[derive(Debug, Default)]
pub(super) struct Entry {
    is_on: bool,
    /// The thread whose call is in progress, 0 if there is none.
    user: Arc<AtomicU64>,
    misuses: AtomicU64,
}

/// A call in progress.
pub(super) struct Entered(Option<Arc<AtomicU64>>);

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(user) = &self.0 {
            user.store(0, Ordering::Release);
        }
    }
}

impl Entry {
    /// A call begins; `None` if it must not.
    #[inline]
    pub fn enter(&self) -> Option<Entered> {
        match self.is_on {
            false => Some(Entered(None)),
            true => self.enter_checked(),
        }
    }

    #[cold]
    fn enter_checked(&self) -> Option<Entered> {
        let me = this_thread();
        match self.user.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(Entered(Some(self.user.clone()))),
            Err(user) => {
                let is_first = self.misuses.fetch_add(1, Ordering::Relaxed) == 0;
                let sentence = match user == me {
                    true => "a call by a function of the host's that the library is calling",
                    false => "two threads use one tl_vm at the same time",
                };
                if is_first {
                    tell(sentence);
                }
                None
            }
        }
    }
}

/// Who checks wants to read of what is wrong at once. Where it cannot be written nobody reads it.
fn tell(sentence: &str) {
    let _ = writeln!(std::io::stderr(), "tracelift: {sentence}");
}

/// What a handle checks.
#[derive(Debug, Default)]
pub(super) struct Check {
    pub is_on: bool,
    pub entry: Entry,
    /// Where the frames lie, if the host has said so.
    stack: Option<(usize, usize)>,
    /// Where the innermost frame of the last exit lies.
    exit: Option<usize>,
    /// What was told of wrong calls last.
    told: String,
}

impl Check {
    pub fn new(is_on: bool) -> Check {
        Check { is_on, entry: Entry { is_on, ..Entry::default() }, ..Check::default() }
    }

    /// A call was wrong.
    pub fn note(&mut self, sentence: &str) {
        self.entry.misuses.fetch_add(1, Ordering::Relaxed);
        if self.is_on && self.told != sentence {
            self.told = sentence.into();
            tell(sentence);
        }
    }

    /// Whether a frame with so many slots may lie there.
    pub fn frame(&self, call: &str, base: usize, slots: u64, stride: u32) -> Result<(), String> {
        let Some((low, high)) = self.stack else { return Ok(()) };
        let bytes = slots.saturating_mul(stride.into());
        let end = (base as u64).saturating_add(bytes);
        match base >= low && base <= high && end <= high as u64 {
            true => Ok(()),
            false => Err(format!(
                "{call}: a frame of {slots} slots at {base:#x} lies outside of the stack from {low:#x} to \
                 {high:#x}"
            )),
        }
    }

    /// The innermost frame of an exit lies there.
    pub fn left_at(&mut self, base: Option<usize>) {
        self.exit = base;
    }

    /// What comes after an exit is done in its innermost frame, unless the stack has moved since.
    pub fn goes_on_at(&self, call: &str, base: usize) -> Result<(), String> {
        match self.exit {
            Some(exit) if self.stack.is_some() && exit != base => Err(format!(
                "{call}: the frame's base is {base:#x}, but that of the last exit's innermost frame {exit:#x}"
            )),
            _ => Ok(()),
        }
    }
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_misuses(vm: *mut TlVm) -> u64 {
    enter(vm, 0, |handle| Ok(handle.check.entry.misuses.load(Ordering::Relaxed)))
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_check_stack(vm: *mut TlVm, low: *const c_void, high: *const c_void) -> TlStatus {
    enter(vm, TlStatus::Misuse, |handle| {
        if low > high {
            return Err("tl_check_stack: the stack's end lies below its beginning".into());
        }
        handle.check.exit = None;
        handle.check.stack = (!high.is_null() && handle.check.is_on).then_some((low as usize, high as usize));
        Ok(TlStatus::Ok)
    })
}
