//! A host's frame slots as memory: reading tags, writing payloads and tags.
//!
//! The slot layout is the schema's. Invariant: only the payload and the tag of the named slot are touched;
//! padding between them belongs to the host. Example: with 16-byte slots and a one-byte tag at 8, slot 2 of a
//! frame at `base` has its payload at `base + 32` and its tag at `base + 40`.

use tracelift_core::schema::SlotLayout;

fn at(slot: i32, layout: &SlotLayout, offset: u32) -> isize {
    slot as isize * layout.stride as isize + offset as isize
}

/// The bits of a slot's tag, if slots are tagged.
///
/// # Safety
/// `base` points to a frame that has the slot.
pub(crate) unsafe fn read_tag(base: *const u8, slot: i32, layout: &SlotLayout) -> Option<u64> {
    let (offset, width) = layout.tag?;
    // SAFETY: promised by the caller.
    unsafe {
        let at = base.offset(at(slot, layout, offset));
        Some(match width {
            1 => u64::from(*at),
            2 => u64::from(at.cast::<u16>().read_unaligned()),
            4 => u64::from(at.cast::<u32>().read_unaligned()),
            _ => at.cast::<u64>().read_unaligned(),
        })
    }
}

/// What lies at an address, in so many bytes; `None` if there is no memory that can be read. Asks the system,
/// which takes some hundred nanoseconds.
pub(crate) fn read_safely(address: u64, width: u8) -> Option<u64> {
    let mut bits = 0u64;
    let to = libc::iovec { iov_base: (&raw mut bits).cast(), iov_len: width.into() };
    let from = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: width.into() };
    // SAFETY: the system writes `width` bytes, at most 8, into `bits`, and checks the address that it reads.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) };
    if read < 0 && !matches!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EFAULT)) {
        return read_by_pipe(address, width);
    }
    (read == isize::from(width)).then_some(bits)
}

/// The same where that call is not to be had, as in some containers and under emulation: the system looks at
/// what is written to a pipe.
fn read_by_pipe(address: u64, width: u8) -> Option<u64> {
    let (mut ends, mut bits) = ([-1; 2], 0u64);
    // SAFETY: there is room for two descriptors, which are closed here, and for 8 bytes; the system checks
    // the address that it reads.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return None;
        }
        let wanted = isize::from(width);
        let is_there = libc::write(ends[1], address as *const libc::c_void, width.into()) == wanted
            && libc::read(ends[0], (&raw mut bits).cast(), width.into()) == wanted;
        ends.iter().for_each(|&end| _ = libc::close(end));
        is_there.then_some(bits)
    }
}

/// Writes a slot's tag, and its payload if it has one.
///
/// # Safety
/// `base` points to a frame that has the slot.
pub(crate) unsafe fn write_slot(
    base: *mut u8,
    slot: i32,
    layout: &SlotLayout,
    tag: u64,
    payload: Option<u64>,
) {
    // SAFETY: promised by the caller.
    unsafe {
        if let Some(payload) = payload {
            base.offset(at(slot, layout, layout.payload)).cast::<u64>().write_unaligned(payload);
        }
        if let Some((offset, width)) = layout.tag {
            write_cell(base.offset(at(slot, layout, offset)), width, tag);
        }
    }
}

/// Writes the low `width` bytes of `bits`.
///
/// # Safety
/// `at` points to that many writable bytes.
pub(crate) unsafe fn write_cell(at: *mut u8, width: u8, bits: u64) {
    // SAFETY: promised by the caller.
    unsafe {
        match width {
            1 => at.write(bits as u8),
            2 => at.cast::<u16>().write_unaligned(bits as u16),
            4 => at.cast::<u32>().write_unaligned(bits as u32),
            _ => at.cast::<u64>().write_unaligned(bits),
        }
    }
}

/// Reads an 8-byte cell.
///
/// # Safety
/// `at` points to 8 readable bytes.
pub(crate) unsafe fn read_word(at: *const u8) -> u64 {
    // SAFETY: promised by the caller.
    unsafe { at.cast::<u64>().read_unaligned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_not_read() {
        let number = 0x1122_3344_5566_7788u64;
        for read in [read_safely, read_by_pipe] {
            for width in [1, 2, 4, 8] {
                let mask = u64::MAX >> (64 - 8 * u32::from(width));
                assert_eq!(read(&raw const number as u64, width), Some(number & mask));
                assert_eq!(read(8, width), None);
            }
        }
    }
}
