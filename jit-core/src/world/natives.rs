//! Native functions that serve every layout of a world: what `alloc`, `find` and `insert` of a test schema
//! call.
//!
//! Problem: a layout names three host functions, and a test has no host. Design: they get the world by the
//! context pointer and the layout by its id, as hosts' own do. Invariant: they never panic (a panic would
//! have to cross machine code) and never touch memory outside the world; what makes no sense returns null.
//!
//! Example: `world_alloc(context, 4, 3, 0)` makes a record of layout 4 with room for three items, or returns
//! 0.

use super::Context;
use crate::schema::LayoutId;

/// Makes an empty record: `alloc(context, layout id, items, keys) -> Ref`, null when there is no memory.
///
/// # Safety
/// `context` is the context pointer of a living [`World`](super::World), and no other thread uses that world.
pub unsafe extern "C" fn world_alloc(context: u64, layout: u64, items: u64, keys: u64) -> u64 {
    let (Ok(layout), Ok(items), Ok(keys)) = (layout.try_into(), items.try_into(), keys.try_into()) else {
        return 0;
    };
    // SAFETY: the caller gives a world's context pointer, and worlds hold no reference while native code
    // runs.
    let context = unsafe { &mut *(context as usize as *mut Context) };
    context.allocate(LayoutId(layout), items, keys).unwrap_or(0)
}

/// Makes a record that refers to the frame: `alloc(context, frame base, layout id, site, keys) -> Ref`.
///
/// # Safety
/// As for [`world_alloc`].
pub unsafe extern "C" fn world_alloc_in_frame(
    context: u64,
    base: u64,
    layout: u64,
    site: u64,
    keys: u64,
) -> u64 {
    // SAFETY: as in `world_alloc`.
    let context = unsafe { &mut *(context as usize as *mut Context) };
    context.allocate_in_frame(base, LayoutId(layout as u32), site as u32, keys as u32).unwrap_or(0)
}

/// Finds a key's entry: `find(context, layout id, record, key) -> Addr`, null when the key is absent.
///
/// # Safety
/// As for [`world_alloc`].
pub unsafe extern "C" fn world_find(context: u64, layout: u64, record: u64, key: u64) -> u64 {
    // SAFETY: as in `world_alloc`.
    let context = unsafe { &*(context as usize as *const Context) };
    context.find(LayoutId(layout as u32), record, key).unwrap_or(0)
}

/// Adds a key: `insert(context, layout id, record, key) -> Addr` of its entry, null when there is no memory.
///
/// # Safety
/// As for [`world_alloc`].
pub unsafe extern "C" fn world_insert(context: u64, layout: u64, record: u64, key: u64) -> u64 {
    // SAFETY: as in `world_alloc`.
    let context = unsafe { &mut *(context as usize as *mut Context) };
    context.insert(LayoutId(layout as u32), record, key).unwrap_or(0)
}
