//! The functions and structs of `tracelift.h` that the calls at random use, as a host declares them.
//!
//! Example: `tl_slot_read(vm, 0, tag)` reads slot 0 of the recording in progress.

use std::ffi::{c_char, c_int, c_void};

use tracelift_runtime::capi::TlConfig;

pub type Handle = *mut c_void;
pub type Cells = [u32; 4];

#[repr(C)]
pub struct Element {
    pub stride: u32,
    pub value: Cells,
    pub tag: u32,
    pub untagged: u32,
    pub absent: u32,
}

#[repr(C)]
pub struct Word {
    pub mask: u64,
    pub low: u64,
    pub high: u64,
    pub bias: u64,
    pub nan: u64,
    pub left: u32,
    pub right: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Left {
    pub exit: u64,
    pub base: *mut u8,
}

#[repr(C)]
pub struct Run {
    pub enter: Option<extern "C" fn(*mut c_void, *mut u8, *const u8) -> Left>,
    pub code: *const u8,
    pub stack_slots: u32,
    pub frames: u32,
}

#[repr(C)]
pub struct ExitInfo {
    pub kind: u32,
    pub nframes: u32,
    pub frames: *const c_void,
    pub base: *mut u8,
    pub owner: *const c_void,
    pub outer: u32,
}

#[repr(C)]
pub struct Argument {
    pub slot: i32,
    pub tag: u32,
}

// As `tracelift.h` declares them.
#[allow(improper_ctypes, reason = "addresses of functions are passed on as pointers")]
extern "C" {
    pub fn tl_new(config: *const TlConfig) -> Handle;
    pub fn tl_free(vm: Handle);
    pub fn tl_last_error(vm: Handle) -> *const c_char;
    pub fn tl_misuses(vm: Handle) -> u64;
    pub fn tl_check_stack(vm: Handle, low: *const u8, high: *const u8) -> u32;
    pub fn tl_add_tag(vm: Handle, name: *const c_char, bits: u64, ty: u32) -> u32;
    pub fn tl_set_slots(vm: Handle, stride: u32, payload: u32, tag: u32, width: u32) -> u32;
    pub fn tl_set_word_slots(vm: Handle, stride: u32, offset: u32) -> u32;
    pub fn tl_set_word(vm: Handle, tag: u32, word: *const Word) -> u32;
    pub fn tl_set_frame_words(vm: Handle, words: u32) -> u32;
    pub fn tl_set_slot_cells(vm: Handle, value: *const u32, tag: u32) -> u32;
    pub fn tl_alias_class(vm: Handle, name: *const c_char) -> u32;
    pub fn tl_add_cell(
        vm: Handle,
        name: *const c_char,
        at: i32,
        width: u32,
        ty: u32,
        class: u32,
        flags: u32,
    ) -> u32;
    pub fn tl_add_layout(vm: Handle, name: *const c_char, size: u32, word: u32, value: u64) -> u32;
    pub fn tl_add_field(vm: Handle, layout: u32, cell: u32) -> u32;
    pub fn tl_add_tagged_field(vm: Handle, layout: u32, value: *const u32, tag: u32) -> u32;
    pub fn tl_set_items(
        vm: Handle,
        layout: u32,
        count: u32,
        base: u32,
        first: i64,
        element: *const Element,
    ) -> u32;
    pub fn tl_set_keys(
        vm: Handle,
        layout: u32,
        size: u32,
        base: u32,
        element: *const Element,
        key: u32,
        key_tag: u32,
        bits: u64,
        find: u32,
        insert: u32,
    ) -> u32;
    pub fn tl_set_key_next(vm: Handle, layout: u32, next: u32) -> u32;
    pub fn tl_set_alloc(vm: Handle, layout: u32, func: u32) -> u32;
    pub fn tl_set_alloc_in_frame(vm: Handle, layout: u32, func: u32) -> u32;
    pub fn tl_set_reserve(vm: Handle, layout: u32, reserve: *const c_void, context: *mut c_void) -> u32;
    pub fn tl_set_barrier(
        vm: Handle,
        layout: u32,
        object: u32,
        mask: i64,
        value: u32,
        value_mask: i64,
    ) -> u32;
    pub fn tl_set_barrier_call(vm: Handle, layout: u32, func: u32) -> u32;
    pub fn tl_add_func(
        vm: Handle,
        name: *const c_char,
        address: *const c_void,
        signature: *const c_char,
        effects: u32,
        reads: *const u32,
        writes: *const u32,
    ) -> u32;
    pub fn tl_set_counters(vm: Handle, counters: *mut i32, count: u32) -> u32;
    pub fn tl_add_counter(vm: Handle, counter: *mut i32) -> u32;
    pub fn tl_drop_counter(vm: Handle, counter: *const i32);
    pub fn tl_hot(vm: Handle, key: *const u8, counter: *mut i32, base: *const u8, run: *mut Run) -> u32;
    pub fn tl_leave_to(vm: Handle, outer: *const u8) -> c_int;
    pub fn tl_asks_ahead(vm: Handle) -> c_int;
    pub fn tl_foresee(vm: Handle, counted: *const u8, left: u64);
    pub fn tl_declined(vm: Handle);
    pub fn tl_tick(vm: Handle, counter: *mut i32);
    pub fn tl_look_after(vm: Handle, counter: *mut i32, edges: u32);
    pub fn tl_back_edges_of(vm: Handle, key: *const u8) -> u64;
    pub fn tl_exit(vm: Handle, left: Left, context: *mut c_void, info: *mut ExitInfo);
    pub fn tl_next(vm: Handle, base: *const u8, run: *mut Run) -> u32;
    pub fn tl_has_loop(vm: Handle, key: *const u8) -> c_int;
    pub fn tl_goes_on_at(vm: Handle, key: *const u8, is_long: c_int) -> c_int;
    pub fn tl_loop_fits(vm: Handle, key: *const u8, base: *const u8) -> c_int;
    pub fn tl_room_cell(vm: Handle, key: *const u8) -> *const u64;
    pub fn tl_forget(vm: Handle, low: *const u8, high: *const u8);
    pub fn tl_set_option(vm: Handle, text: *const c_char) -> u32;
    pub fn tl_record(vm: Handle, key: *const u8, base: *const u8) -> u32;
    pub fn tl_recording(vm: Handle) -> c_int;
    pub fn tl_resume_point(vm: Handle, base: *const u8, words: *const u64, live: *const u8, nslots: u32);
    pub fn tl_frame_push(vm: Handle, base: i32, words: *const u64, live: *const u8, nslots: u32);
    pub fn tl_needs_slots(vm: Handle, slots: i32);
    pub fn tl_frame_pop(vm: Handle);
    pub fn tl_frame_return(vm: Handle, base: i32);
    pub fn tl_frame_depth(vm: Handle) -> u32;
    pub fn tl_record_owner(vm: Handle, owner: *const u8);
    pub fn tl_may_guard(vm: Handle) -> c_int;
    pub fn tl_slot_read(vm: Handle, slot: i32, tag: u32) -> u32;
    pub fn tl_slot_is_known(vm: Handle, slot: i32) -> c_int;
    pub fn tl_slot_known(vm: Handle, slot: i32, tag: u32, value: u32);
    pub fn tl_slot_is_forgotten(vm: Handle, slot: i32) -> u32;
    pub fn tl_slot_write(vm: Handle, slot: i32, tag: u32, value: u32);
    pub fn tl_const_int(vm: Handle, value: i64) -> u32;
    pub fn tl_const_float(vm: Handle, value: f64) -> u32;
    pub fn tl_const_ref(vm: Handle, object: *const u8) -> u32;
    pub fn tl_const_addr(vm: Handle, address: *const u8) -> u32;
    pub fn tl_nth_made(vm: Handle, layout: u32, n: u32, items: *mut u32) -> u32;
    pub fn tl_is_made(vm: Handle, object: u32) -> c_int;
    pub fn tl_key_room(vm: Handle, record: u32) -> u32;
    pub fn tl_set_key_room(vm: Handle, record: u32, keys: u32);
    pub fn tl_is_in_use(vm: Handle, object: u32, slot: i32) -> c_int;
    pub fn tl_is_const_int(vm: Handle, value: u32, number: *mut i64) -> c_int;
    pub fn tl_is_const_ref(vm: Handle, value: u32, object: *mut *const u8) -> c_int;
    pub fn tl_op1(vm: Handle, op: u32, a: u32) -> u32;
    pub fn tl_op2(vm: Handle, op: u32, a: u32, b: u32) -> u32;
    pub fn tl_op3(vm: Handle, op: u32, a: u32, b: u32, c: u32) -> u32;
    pub fn tl_context(vm: Handle) -> u32;
    pub fn tl_frame_base(vm: Handle) -> u32;
    pub fn tl_item_addr(vm: Handle, base: u32, index: u32, stride: u32, offset: i32) -> u32;
    pub fn tl_decode(vm: Handle, tag: u32, word: u32) -> u32;
    pub fn tl_encode(vm: Handle, tag: u32, value: u32) -> u32;
    pub fn tl_load(vm: Handle, cell: u32, base: u32) -> u32;
    pub fn tl_store(vm: Handle, cell: u32, base: u32, value: u32);
    pub fn tl_guard(vm: Handle, op: u32, a: u32, b: u32, kind: u32);
    pub fn tl_new_record(vm: Handle, layout: u32, items: u32, keys: u32) -> u32;
    pub fn tl_guard_class(vm: Handle, layout: u32, record: u32);
    pub fn tl_get(vm: Handle, field: u32, record: u32) -> u32;
    pub fn tl_set(vm: Handle, field: u32, record: u32, value: u32);
    pub fn tl_get_tagged(vm: Handle, field: u32, tag: u32, record: u32) -> u32;
    pub fn tl_set_tagged(vm: Handle, field: u32, tag: u32, record: u32, value: u32);
    pub fn tl_item_count(vm: Handle, layout: u32, record: u32) -> u32;
    pub fn tl_get_item(vm: Handle, layout: u32, tag: u32, record: u32, index: u32) -> u32;
    pub fn tl_set_item(vm: Handle, layout: u32, tag: u32, record: u32, index: u32, value: u32);
    pub fn tl_put_item(vm: Handle, layout: u32, tag: u32, record: u32, index: u32, value: u32);
    pub fn tl_get_key(vm: Handle, layout: u32, tag: u32, record: u32, key: u32, size: u32, entry: u32)
        -> u32;
    pub fn tl_guard_key_absent(
        vm: Handle,
        layout: u32,
        record: u32,
        key: u32,
        size: u32,
        entry: u32,
        followed: u32,
    );
    pub fn tl_set_key(
        vm: Handle,
        layout: u32,
        tag: u32,
        record: u32,
        key: u32,
        value: u32,
        size: u32,
        entry: u32,
    );
    pub fn tl_insert_key(vm: Handle, layout: u32, tag: u32, record: u32, key: u32, value: u32);
    pub fn tl_call(vm: Handle, func: u32, args: *const u32, nargs: u32) -> u32;
    pub fn tl_try_call(vm: Handle, func: u32, args: *const u32, nargs: u32) -> u32;
    pub fn tl_mend(vm: Handle, func: u32, args: *const u32, nargs: u32);
    pub fn tl_host_call(vm: Handle, func: u32, args: *const u32, nargs: u32, changed: *const i32, n: u32);
    pub fn tl_note_call(vm: Handle, what: *const c_char);
    pub fn tl_record_unit(vm: Handle, key: *const u8, base: *const u8) -> u32;
    pub fn tl_unit_argument(vm: Handle, slot: i32, tag: u32) -> u32;
    pub fn tl_unit_return(vm: Handle, tag: u32, value: u32) -> u32;
    pub fn tl_records_unit(vm: Handle) -> u32;
    pub fn tl_find_unit(vm: Handle, key: *const u8, arguments: *const Argument, count: u32) -> u32;
    pub fn tl_drop_entries(vm: Handle, key: *const u8);
    pub fn tl_has_unit(vm: Handle, key: *const u8) -> c_int;
    pub fn tl_call_unit(
        vm: Handle,
        unit: u32,
        args: *const u32,
        nargs: u32,
        slot: i32,
        changed: *const i32,
        n: u32,
    );
    pub fn tl_unit_returned(vm: Handle, tag: u32) -> u32;
    pub fn tl_unit_limit(vm: Handle) -> *mut c_void;
    pub fn tl_unit_depth(vm: Handle, slots: u32) -> u32;
    pub fn tl_get_calls(vm: Handle) -> *mut c_void;
    pub fn tl_store_slots(vm: Handle);
    pub fn tl_record_aside(vm: Handle) -> u32;
    pub fn tl_record_wake(vm: Handle, number: u32) -> c_int;
    pub fn tl_record_close(vm: Handle) -> u32;
    pub fn tl_record_side(vm: Handle, base: *const u8) -> u32;
    pub fn tl_back_edge(vm: Handle, key: *const u8, around: c_int);
    pub fn tl_loop_skipped(vm: Handle, key: *const u8);
    pub fn tl_tree_key(vm: Handle) -> *const u8;
    pub fn tl_link_frames(vm: Handle);
    pub fn tl_record_link(vm: Handle, key: *const u8) -> u32;
    pub fn tl_record_end(vm: Handle, reason: *const c_char) -> u32;
    pub fn tl_record_abort(vm: Handle, reason: *const c_char);
    pub fn tl_is_watched(vm: Handle) -> c_int;
    pub fn tl_stats_json(vm: Handle) -> *const c_char;
    pub fn tl_stats_text(vm: Handle) -> *const c_char;
    pub fn tl_summary(vm: Handle) -> *const c_char;
    pub fn tl_last_abort(vm: Handle, key: *const u8) -> *const c_char;
    pub fn tl_aborts(vm: Handle, key: *const u8) -> u32;
}
