//! The C ABI: every `extern "C"` of the library stands in this folder; `include/tracelift.h` is its contract.
//!
//! Problem: a C host can pass anything, and a Rust panic must never unwind into C. Design: every entry point
//! goes through `enter`, which checks the handle's magic word and catches panics; ids cross the border plus
//! one, so that 0 is "none". A failed check leaves a sentence for `tl_last_error`. What fails in a
//! description or a recording stays failed, with its first sentence, so that a host need not look at each
//! call's result. Invariant: no entry point calls back into the host, except that `tl_exit` may call the
//! host's allocation functions to lift virtual objects, that `tl_hot`, `tl_record_close` and `tl_forget` may
//! call its `tl_reserve` functions, and that all may ask for a name.

mod advice;
mod check;
pub mod config;
mod describe;
mod element;
pub mod hints;
mod host_code;
mod names;
mod record;
mod service;
mod tagged;
mod tools;
mod units;
mod version;
mod view;
mod words;

use std::ffi::{c_char, CStr, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};

use tracelift_core::schema::{CellId, ClassId, FieldId, FuncId, LayoutId, TagId};
use tracelift_core::{Schema, Type};

use crate::exit::MAX_WORDS;
use crate::vm::Vm;
use check::{Check, Entered};
pub use config::TlConfig;
use describe::Description;
use host_code::HostCode;
use tagged::Tagged;
use words::Words;

/// What a live handle begins with.
const MAGIC: u64 = 0x7472_6163_656c_6966;

/// The handle behind `tl_vm`.
#[repr(C)]
pub struct TlVm {
    magic: u64,
    vm: Vm,
    last_error: CString,
    text: CString,
    description: Description,
    /// How often code was handed out that has not come back by `tl_exit` so far; code that a `longjmp` left
    /// never does.
    runs: u32,
    host_code: HostCode,
    check: Check,
    words: Words,
    tagged: Vec<Tagged>,
    /// Those that `tl_take_hints` has given last.
    hints: Vec<u8>,
}

/// `tl_status`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlStatus {
    /// Done.
    Ok = 0,
    /// The call broke a rule of the interface.
    Misuse = 1,
    /// The recording was given up for a normal reason.
    Aborted = 2,
    /// Record again at once.
    Again = 3,
    /// A bug of the library's.
    Internal = 4,
}

/// The handle, and a note that it is in use: `None` for one that is none, or that cannot be used now.
fn entered<'a>(handle: *mut TlVm) -> Option<(&'a mut TlVm, Entered)> {
    if !check::is_known(handle) {
        return None;
    }
    if handle.is_null() {
        return None;
    }
    // SAFETY: the host passes what tl_new gave it; the magic word catches freed and wrong pointers as far as
    // memory can still be read there. Nothing but shared counts is looked at before the call has begun, since
    // another one may be in progress.
    unsafe {
        if (&raw const (*handle).magic).read() != MAGIC {
            return None;
        }
        let entered = (*handle).check.entry.enter()?;
        Some((&mut *handle, entered))
    }
}

/// Runs `f` on the handle's state. A bad handle gives `otherwise`; so do an error of `f`, whose sentence is
/// kept, and a panic, which is counted as a bug.
fn enter<T>(handle: *mut TlVm, otherwise: T, f: impl FnOnce(&mut TlVm) -> Result<T, String>) -> T {
    let Some((handle, _entered)) = entered(handle) else { return otherwise };
    match catch_unwind(AssertUnwindSafe(|| f(handle))) {
        Ok(Ok(value)) => value,
        Ok(Err(sentence)) => {
            handle.fail(&sentence);
            otherwise
        }
        Err(_) => {
            note_panic(handle);
            otherwise
        }
    }
}

/// The same for what comes with each entry and exit of compiled code, and has no error to tell.
#[inline]
fn enter_often<T>(handle: *mut TlVm, otherwise: T, f: impl FnOnce(&mut TlVm) -> T) -> T {
    let Some((handle, _entered)) = entered(handle) else { return otherwise };
    match catch_unwind(AssertUnwindSafe(|| f(handle))) {
        Ok(value) => value,
        Err(_) => {
            note_panic(handle);
            otherwise
        }
    }
}

impl TlVm {
    /// A call was wrong: why.
    #[cold]
    fn fail(&mut self, sentence: &str) {
        self.last_error = c_string(sentence);
        self.check.note(sentence);
    }
}

#[cold]
fn note_panic(handle: &mut TlVm) {
    handle.last_error = c"a bug in Tracelift: it panicked".into();
    handle.vm.count_internal_error();
}

/// Text for C: NUL bytes inside are dropped.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// A C string as Rust text.
///
/// # Safety
/// `text` is null or NUL-terminated.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, String> {
    if text.is_null() {
        return Err("a text is null".into());
    }
    // SAFETY: promised by the caller.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| "a text is not UTF-8".into())
}

/// A C array as a slice; null is empty.
///
/// # Safety
/// `start` is null or points to `count` initialized elements.
unsafe fn slice<'a, T>(start: *const T, count: usize) -> &'a [T] {
    if start.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(start, count) }
}

/// A name that something is declared by.
///
/// # Safety
/// `name` is null or NUL-terminated.
unsafe fn name<'a>(name: *const c_char) -> Result<&'a str, String> {
    // SAFETY: promised by the caller.
    match unsafe { text(name) }? {
        "" => Err("a name is empty".into()),
        name => Ok(name),
    }
}

/// Refuses null, where `what` is expected.
fn not_null<T>(pointer: *const T, what: &str) -> Result<(), String> {
    match pointer.is_null() {
        true => Err(format!("{what} is null")),
        false => Ok(()),
    }
}

fn type_of(number: u32) -> Result<Option<Type>, String> {
    match number {
        4 => Ok(None),
        _ => {
            Type::ALL.get(number as usize).copied().map(Some).ok_or_else(|| format!("{number} is no tl_type"))
        }
    }
}

macro_rules! ids {
    ($($name:ident: $id:ident in $table:ident, $what:literal;)*) => {$(
        fn $name(schema: &Schema, number: u32) -> Result<$id, String> {
            match number.checked_sub(1) {
                Some(index) if (index as usize) < schema.$table().len() => Ok($id(index)),
                _ => Err(format!(concat!("{} is no ", $what, " of this vm"), number)),
            }
        }
    )*};
}

ids! {
    tag_id: TagId in tags, "tag";
    class_id: ClassId in classes, "alias class";
    cell_id: CellId in cells, "cell";
    field_id: FieldId in fields, "field";
    func_id: FuncId in funcs, "function";
}

/// Layouts keep their number across the border, since host functions get it from compiled code: `tl_new`
/// declares an unused layout 0.
fn layout_id(schema: &Schema, number: u32) -> Result<LayoutId, String> {
    match number {
        1.. if (number as usize) < schema.layouts().len() => Ok(LayoutId(number)),
        _ => Err(format!("{number} is no layout of this vm")),
    }
}

/// An id that may be 0 for "none".
fn optional<T>(number: u32, id: impl FnOnce(u32) -> Result<T, String>) -> Result<Option<T>, String> {
    if number == 0 {
        Ok(None)
    } else {
        id(number).map(Some)
    }
}
