//! Code that the host has made itself.
//!
//! Problem: a host may have machine code of its own, say of a baseline compiler. It needs memory that is
//! never writable and executable at once, which the library has.
//!
//! Design: an arena of its own, made for the first piece; each piece is freed alone. So it takes nothing from
//! the room that traces have.
//!
//! Invariant: a piece stays where it is until it is freed.
//!
//! Example: `const void *code = tl_host_code(vm, bytes, size, &id);  …  tl_host_code_free(vm, id);`

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;

use tracelift_cranelift::{room_for_host, Arena, ArenaOptions, TreeId};

use super::{enter, TlVm};
use crate::config::Config;
use crate::debug::Owner;
use crate::stats::HostCodeUse;
use crate::vm::Vm;

/// The host's pieces of code.
#[derive(Default)]
pub(super) struct HostCode {
    arena: Option<Arena>,
    /// The number of the next one.
    next: u32,
    /// Of all that were ever made.
    code_bytes: usize,
    refused: u64,
    /// Where the pieces lie, if somebody watches.
    pieces: HashMap<u32, (usize, usize)>,
}

impl HostCode {
    fn add(&mut self, vm: &Vm, code: &[u8]) -> Result<(*const c_void, u32), String> {
        let added = self.try_add(vm.config(), code);
        if let (Some(arena), Ok(_)) = (&self.arena, &added) {
            vm.code_bounds().host.set(arena.range());
        }
        if let (true, &Ok((address, id))) = (vm.config().tools.any(), &added) {
            self.pieces.insert(id, (address as usize, code.len()));
        }
        self.refused += u64::from(added.is_err());
        added
    }

    fn try_add(&mut self, config: &Config, code: &[u8]) -> Result<(*const c_void, u32), String> {
        let arena = match &mut self.arena {
            Some(arena) => arena,
            none => none.insert(
                Arena::new(ArenaOptions {
                    limit: config.code_bytes,
                    is_anonymous: config.tools.perf_map,
                    // Nobody asks hosts for landing pads.
                    has_landing_pads: false,
                    refuse_executable: config.refuse_executable_memory,
                    fail_allocation: None,
                })
                .map_err(|error| error.to_string())?,
            ),
        };
        let id = self.next;
        let room = if config.tools.any() { room_for_host(code.len()) } else { code.len() };
        let installed = arena.install_with_room(TreeId(id), code, room).map_err(|error| error.to_string())?;
        self.next = id.checked_add(1).ok_or("there is no number left for a piece of code")?;
        self.code_bytes += code.len();
        Ok((installed.address() as *const c_void, id))
    }

    /// What was made, for the statistics; nothing if none ever was.
    pub(super) fn usage(&self) -> Option<HostCodeUse> {
        let HostCode { next, code_bytes, refused, .. } = *self;
        (next > 0 || refused > 0).then_some(HostCodeUse { pieces: next, code_bytes, refused })
    }

    /// The address and the length of a piece, if somebody watches.
    pub(super) fn piece(&self, id: u32) -> Option<(usize, usize)> {
        self.pieces.get(&id).copied()
    }

    fn free(&mut self, id: u32) {
        self.pieces.remove(&id);
        if let Some(arena) = &mut self.arena {
            arena.free(TreeId(id));
        }
    }
}

/// See `tracelift.h`.
///
/// # Safety
/// `code` points to `size` bytes, `id` to a number.
#[no_mangle]
pub unsafe extern "C" fn tl_host_code(
    vm: *mut TlVm,
    code: *const u8,
    size: usize,
    id: *mut u32,
) -> *const c_void {
    enter(vm, ptr::null(), |handle| {
        if code.is_null() || size == 0 || id.is_null() {
            return Err("tl_host_code needs code, and a place for its number".into());
        }
        // SAFETY: promised by the caller.
        let code = unsafe { std::slice::from_raw_parts(code, size) };
        let (address, number) = handle.host_code.add(&handle.vm, code)?;
        handle.vm.runs_host_code();
        // SAFETY: promised by the caller.
        unsafe { *id = number };
        Ok(address)
    })
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_host_code_free(vm: *mut TlVm, id: u32) {
    enter(vm, (), |handle| {
        if let Some(watch) = handle.vm.watch() {
            watch.freed(Owner::Host(id));
        }
        handle.host_code.free(id);
        Ok(())
    });
}

/// See `tracelift.h`.
#[no_mangle]
pub extern "C" fn tl_host_code_refused(vm: *mut TlVm) {
    enter(vm, (), |handle| {
        handle.host_code.refused += 1;
        Ok(())
    });
}
