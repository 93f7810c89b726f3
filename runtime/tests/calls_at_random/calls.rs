//! The calls of a case: a description, then anything.
//!
//! Example: `record` may begin a recording, close one that is complete, or give up what there is none of.

use std::ffi::c_void;
use std::ptr::null;

use arbitrary::Result;

use crate::abi::*;
use crate::{reserves, some_function, Case, SIGNATURES, SLOTS, STRIDE};

impl Case<'_, '_> {
    /// A case's calls, in order.
    pub fn calls(&mut self) -> Result<()> {
        self.odds = *self.u.choose(&[3, 12, 60, 1000])?;
        self.spoils = self.u.ratio(1, 4)?;
        self.describe_well()?;
        self.describe_records()?;
        let more = if self.spoils { self.u.int_in_range(0..=30)? } else { 0 };
        for _ in 0..more {
            self.describe()?;
        }
        while !self.u.is_empty() {
            match self.u.int_in_range(0..=19)? {
                0 => self.loops()?,
                1 if self.spoils => self.describe()?,
                1..=4 => self.whole()?,
                5 | 6 => self.run()?,
                7 | 8 => self.begin_or_end()?,
                9 => self.look()?,
                10 => self.units()?,
                11 | 12 => self.frames()?,
                13 | 14 => self.slot_calls()?,
                15 | 16 => self.operations()?,
                _ => self.records()?,
            }
        }
        Ok(())
    }

    /// Records of two layouts, with fields and items, and functions, as they should be.
    fn describe_records(&mut self) -> Result<()> {
        let vm = self.vm;
        let address = some_function as *const c_void;
        // SAFETY: the handle is alive; pointers lead to constants and to these arrays.
        unsafe {
            let class = tl_alias_class(vm, c"header".as_ptr());
            let cell = |name: &std::ffi::CStr, at, ty| tl_add_cell(vm, name.as_ptr(), at, 8, ty, class, 0);
            let (kind, count) = (cell(c"kind", 0, 0), cell(c"count", 8, 0));
            let (items, number) = (cell(c"items", 16, 3), cell(c"number", 24, 0));
            let link = cell(c"link", 32, 2);
            let layout = tl_add_layout(vm, c"record".as_ptr(), 40, kind, 7);
            self.fields.extend([tl_add_field(vm, layout, number), tl_add_field(vm, layout, link)]);
            let value = [self.cells[0], self.cells[1], self.cells[2], self.cells[3]];
            let element =
                Element { stride: 16, value, tag: self.cells[4], untagged: 0, absent: self.tags[4] };
            tl_set_items(vm, layout, count, items, 0, &element);
            let functions = [(c"alloc", c"aiii>r", 4), (c"pure", c"a>i", 0), (c"writes", c"ai>v", 2)];
            for (name, signature, effects) in functions {
                let (name, signature) = (name.as_ptr(), signature.as_ptr());
                self.funcs.push(tl_add_func(vm, name, address, signature, effects, null(), null()));
            }
            let host = tl_add_func(vm, c"host".as_ptr(), address, c"aaa>a".as_ptr(), 8, null(), null());
            self.funcs.push(host);
            tl_set_alloc(vm, layout, self.funcs[0]);
            if self.u.ratio(1, 2)? {
                tl_set_reserve(vm, layout, reserves as *const c_void, std::ptr::null_mut());
            }
            self.layouts.push(layout);
            self.cells.extend([kind, count, items, number, link]);
        }
        Ok(())
    }

    /// A recording as a host makes it, but for a wrong call now and then: bytecodes that read, compute, guard
    /// and write integers, and perhaps records.
    fn whole(&mut self) -> Result<()> {
        let (vm, int, base) = (self.vm, self.tags[0], self.memory.base());
        let key = &raw const self.memory.code[self.u.choose_index(16)?];
        self.memory.live[0] = 0x0f;
        self.ints.clear();
        self.values.clear();
        // SAFETY: as below.
        unsafe {
            tl_record_abort(vm, c"another one".as_ptr());
            if tl_record(vm, key, base) != 0 {
                return Ok(());
            }
            let bytecodes = self.u.int_in_range(1..=6)?;
            for _ in 0..bytecodes {
                self.memory.words[0] = self.u.int_in_range(0..=5)?;
                tl_resume_point(vm, base, self.memory.words.as_ptr(), self.memory.live.as_ptr(), 4);
                let read = tl_slot_read(vm, self.u.int_in_range(0..=3)?, int);
                let constant = tl_const_int(vm, self.number()?);
                self.ints.extend([read, constant]);
                let pick = |case: &mut Self| case.u.choose(&case.ints).copied();
                let (a, b) = (pick(self)?, pick(self)?);
                let op = *self.u.choose(&[0, 1, 2, 4, 11, 12, 13, 20, 21])?;
                self.ints.push(tl_op2(vm, op, a, b));
                if self.u.ratio(2, 3)? {
                    tl_guard(vm, self.u.int_in_range(76..=77)?, pick(self)?, 0, self.u.int_in_range(0..=1)?);
                }
                if self.u.ratio(1, 3)? {
                    let record = tl_new_record(vm, self.layouts[0], 0, 0);
                    tl_set(vm, self.fields[0], record, pick(self)?);
                    tl_set(vm, self.fields[1], record, record);
                    self.keep(record);
                }
                if self.u.ratio(1, self.odds)? {
                    self.records()?;
                }
                tl_slot_write(vm, self.u.int_in_range(0..=3)?, int, pick(self)?);
            }
            let status = match self.u.int_in_range(0..=5)? {
                0 => tl_record_end(vm, c"the end".as_ptr()),
                1 => tl_record_link(vm, self.key()?),
                2 => return Ok(()),
                _ => tl_record_close(vm),
            };
            crate::REACHED.with_borrow_mut(|reached| reached[0] += u64::from(status == 0));
        }
        Ok(())
    }

    /// What a host cannot do without, mostly right.
    fn describe_well(&mut self) -> Result<()> {
        let vm = self.vm;
        let base = self.memory.base();
        let mut tagged = false;
        // SAFETY: the handle is alive; pointers lead to memory of this case, or to constants.
        unsafe {
            let kinds = [(c"int", 0u32), (c"float", 1), (c"ref", 2), (c"addr", 3), (c"nil", 4)];
            for (bits, (name, ty)) in kinds.into_iter().enumerate() {
                self.tags.push(tl_add_tag(vm, name.as_ptr(), bits as u64 + 1, ty));
            }
            match self.u.int_in_range(0..=9)? {
                0 => {
                    tl_set_word_slots(vm, 8, 0);
                    let whole =
                        Word { mask: u64::MAX, low: 0, high: u64::MAX, bias: 0, nan: 0, left: 0, right: 0 };
                    tl_set_word(vm, self.tags[0], &whole);
                }
                1 => {
                    tl_set_slots(vm, 8, 0, 0, 0);
                }
                2 if self.spoils => {}
                _ => {
                    tl_set_slots(vm, 16, 0, 8, 1);
                    tagged = true;
                }
            }
            tl_set_frame_words(vm, if self.spoils { self.u.int_in_range(0..=9)? } else { 1 });
            if !self.u.ratio(1, 4)? {
                let counters = self.memory.counters.as_mut_ptr();
                tl_set_counters(vm, counters, 2);
            }
            if self.u.ratio(1, 2)? {
                let low = base.wrapping_sub(SLOTS * STRIDE / 2);
                tl_check_stack(vm, low, low.wrapping_add(SLOTS * STRIDE));
            }
            let class = tl_alias_class(vm, c"memory".as_ptr());
            self.classes.push(class);
            let views = [c"view.int", c"view.float", c"view.ref", c"view.addr"];
            for (ty, name) in views.into_iter().enumerate() {
                self.cells.push(tl_add_cell(vm, name.as_ptr(), 0, 8, ty as u32, class, 0));
            }
            let tag = tl_add_cell(vm, c"view.tag".as_ptr(), 8, 1, 0, class, 0);
            if tagged {
                tl_set_slot_cells(vm, self.cells.as_ptr(), tag);
            }
            self.cells.push(tag);
        }
        Ok(())
    }

    /// One more thing that is described, or is refused.
    fn describe(&mut self) -> Result<()> {
        let vm = self.vm;
        // Names are used up soon.
        self.named += 1;
        let made = std::ffi::CString::new(format!("name {}", self.named)).expect("there is no NUL");
        let name = if self.u.ratio(1, 6)? { self.name()? } else { made.as_ptr() };
        let (layout, func, tag) = (self.layout()?, self.func()?, self.tag()?);
        let (one, two, three) = (self.cell()?, self.cell()?, self.cell()?);
        let class = self.pick(|case| &case.classes)?;
        let number = self.number()?;
        let element = self.element()?;
        let element = if self.u.ratio(1, 20)? { null() } else { &raw const element };
        // SAFETY: the handle is alive; pointers lead to memory of this case, or to constants.
        unsafe {
            match self.u.int_in_range(0..=17)? {
                0 => self.classes.push(tl_alias_class(vm, name)),
                1 | 2 => {
                    let width = *self.u.choose(&[1, 2, 4, 8, 8, 8, 3, 0])?;
                    let (ty, flags) = (self.u.int_in_range(0..=5)?, self.u.int_in_range(0..=17)?);
                    let at = if self.u.ratio(1, 8)? { number as i32 } else { (number & 24) as i32 };
                    self.cells.push(tl_add_cell(vm, name, at, width, ty, class, flags));
                }
                3 => self.layouts.push(tl_add_layout(vm, name, (number & 63) as u32, one, number as u64)),
                4 => self.layouts.push(tl_add_layout(vm, name, 64, 0, 0)),
                5 | 6 => self.fields.push(tl_add_field(vm, layout, one)),
                7 => {
                    let cells = if self.u.ratio(1, 20)? { null() } else { self.cells.as_ptr() };
                    self.tagged.push(tl_add_tagged_field(vm, layout, cells, one));
                }
                8 => {
                    tl_set_items(vm, layout, one, two, number, element);
                }
                9 => {
                    let (key, key_tag, insert) = (three, self.cell()?, self.func()?);
                    let bits = number as u64;
                    tl_set_keys(vm, layout, one, two, element, key, key_tag, bits, func, insert);
                    tl_set_key_next(vm, layout, one);
                }
                10 => {
                    tl_set_alloc(vm, layout, func);
                }
                11 => {
                    tl_set_alloc_in_frame(vm, layout, func);
                }
                12 => {
                    let function = reserves as *const c_void;
                    let function = if self.u.ratio(1, 10)? { null() } else { function };
                    tl_set_reserve(vm, layout, function, std::ptr::null_mut());
                }
                13 => {
                    tl_set_barrier(vm, layout, one, number, two, 1);
                    tl_set_barrier_call(vm, layout, func);
                }
                14 | 15 => {
                    let signature = *self.u.choose(&SIGNATURES)?;
                    let address = if self.u.ratio(1, 20)? { null() } else { some_function as *const c_void };
                    let effects = self.u.int_in_range(0..=16)?;
                    let classes = [self.classes[0], 0];
                    let func =
                        tl_add_func(vm, name, address, signature.as_ptr(), effects, null(), classes.as_ptr());
                    self.funcs.push(func);
                }
                16 => {
                    let word = Word {
                        mask: self.number()? as u64,
                        low: self.number()? as u64,
                        high: self.number()? as u64,
                        bias: self.number()? as u64,
                        nan: self.number()? as u64,
                        left: self.u.int_in_range(0..=64)?,
                        right: self.u.int_in_range(0..=64)?,
                    };
                    let good = Word {
                        mask: u64::MAX,
                        low: 0,
                        high: u64::MAX >> 1,
                        nan: 0,
                        left: 0,
                        right: 0,
                        bias: 0,
                    };
                    // Those that `loops` counts with keep all their bits: 1000 is to be reached.
                    let is_any = self.u.ratio(1, 4)? && tag != self.tags[0];
                    tl_set_word(vm, tag, if is_any { &word } else { &good });
                }
                _ => {
                    let ty = self.u.int_in_range(0..=5)?;
                    self.tags.push(tl_add_tag(vm, name, number as u64, ty));
                }
            }
        }
        Ok(())
    }

    /// Asks what to do, and does nothing of it.
    fn run(&mut self) -> Result<()> {
        let vm = self.vm;
        let (key, other, base, counter) = (self.key()?, self.key()?, self.base()?, self.counter()?);
        let number = self.number()?;
        let mut run = Run { enter: None, code: null(), stack_slots: 0, frames: 0 };
        let place = if self.u.ratio(1, 20)? { std::ptr::null_mut() } else { &raw mut run };
        // SAFETY: the handle is alive; pointers lead to memory of this case, or are null.
        unsafe {
            match self.u.int_in_range(0..=14)? {
                0..=3 => {
                    if !counter.is_null() {
                        *counter = -1;
                    }
                    if tl_hot(vm, key, counter, base, place) == 1 {
                        tl_declined(vm);
                    }
                }
                4 => {
                    if tl_next(vm, base, place) == 1 {
                        tl_declined(vm);
                    }
                }
                5 => {
                    let left = Left { exit: number as u64, base };
                    let mut info = std::mem::zeroed::<ExitInfo>();
                    tl_exit(vm, left, std::ptr::null_mut(), &mut info);
                    assert!(info.kind == 5 && info.nframes == 0, "no code was called");
                }
                6 => tl_declined(vm),
                7 => tl_tick(vm, counter),
                8 => tl_look_after(vm, counter, number as u32),
                9 => {
                    tl_add_counter(vm, counter);
                }
                10 => tl_drop_counter(vm, counter),
                11 => tl_forget(vm, key.min(other), key.max(other)),
                12 => tl_forget(vm, key, other),
                13 => {
                    let texts =
                        [c"threshold=3", c"side-threshold=1", c"-fold", c"+fold", c"threshold=x", c"\xff"];
                    tl_set_option(vm, self.u.choose(&texts)?.as_ptr());
                }
                _ => {
                    tl_leave_to(vm, key);
                    tl_asks_ahead(vm);
                    tl_foresee(vm, key, number as u64);
                }
            }
        }
        Ok(())
    }

    fn begin_or_end(&mut self) -> Result<()> {
        let vm = self.vm;
        let (key, base) = (self.key()?, self.base()?);
        // SAFETY: as above.
        unsafe {
            match self.u.int_in_range(0..=11)? {
                0..=3 => {
                    tl_record(vm, key, base);
                }
                4 => {
                    tl_record_side(vm, base);
                }
                5 | 6 => {
                    if tl_record_close(vm) == 0 {
                        crate::REACHED.with_borrow_mut(|reached| reached[0] += 1);
                    }
                }
                7 => {
                    tl_record_link(vm, key);
                }
                8 => {
                    tl_record_end(vm, self.name()?);
                }
                9 => tl_record_abort(vm, self.name()?),
                10 => {
                    let number = tl_record_aside(vm);
                    tl_record_wake(vm, if self.u.ratio(1, 3)? { 77 } else { number });
                }
                _ => tl_record_owner(vm, key),
            }
        }
        Ok(())
    }

    fn look(&mut self) -> Result<()> {
        let (vm, key, base) = (self.vm, self.key()?, self.base()?);
        // SAFETY: as above.
        unsafe {
            match self.u.int_in_range(0..=5)? {
                0 => {
                    assert!(!tl_stats_text(vm).is_null() && !tl_summary(vm).is_null());
                }
                1 => {
                    tl_last_abort(vm, key);
                    tl_aborts(vm, key);
                    tl_back_edges_of(vm, key);
                }
                2 => {
                    tl_has_loop(vm, key);
                    tl_goes_on_at(vm, key, 1);
                }
                3 => {
                    tl_loop_fits(vm, key, base);
                }
                4 => {
                    tl_room_cell(vm, key);
                    tl_is_watched(vm);
                    tl_get_calls(vm);
                }
                _ => {
                    tl_recording(vm);
                    tl_may_guard(vm);
                    tl_frame_depth(vm);
                    tl_tree_key(vm);
                    tl_records_unit(vm);
                }
            }
        }
        Ok(())
    }

    fn units(&mut self) -> Result<()> {
        let (vm, key, base) = (self.vm, self.key()?, self.base()?);
        let (tag, value, args, slots) = (self.tag()?, self.value()?, self.arguments()?, self.slots()?);
        let slot = self.number()? as i32;
        // SAFETY: as above.
        unsafe {
            match self.u.int_in_range(0..=7)? {
                0 => {
                    tl_record_unit(vm, key, base);
                    let argument = tl_unit_argument(vm, slot, tag);
                    self.keep(argument);
                }
                1 => {
                    tl_unit_return(vm, tag, value);
                }
                2 => {
                    let arguments = [Argument { slot: 0, tag }, Argument { slot, tag }];
                    let count = self.u.int_in_range(0..=2)?;
                    self.units.push(tl_find_unit(vm, key, arguments.as_ptr(), count));
                }
                3 => {
                    let unit = self.pick(|case| &case.units)?;
                    let (nargs, n) = (args.len() as u32, slots.len() as u32);
                    tl_call_unit(vm, unit, args.as_ptr(), nargs, slot, slots.as_ptr(), n);
                }
                4 => {
                    let result = tl_unit_returned(vm, tag);
                    self.keep(result);
                }
                5 => {
                    tl_unit_depth(vm, if slot < 0 { u32::MAX } else { slot as u32 & 0xfff });
                    tl_unit_limit(vm);
                }
                6 => tl_drop_entries(vm, key),
                _ => {
                    tl_has_unit(vm, key);
                }
            }
        }
        Ok(())
    }

    fn frames(&mut self) -> Result<()> {
        let vm = self.vm;
        let (base, words, (live, nslots)) = (self.base()?, self.words()?, self.live()?);
        let number = self.number()? as i32;
        // SAFETY: as above; the mask has bits for all frames that are not refused.
        unsafe {
            match self.u.int_in_range(0..=11)? {
                0..=6 => tl_resume_point(vm, base, words, live, nslots),
                7 | 8 => tl_frame_push(vm, number, words, live, nslots),
                9 => tl_frame_pop(vm),
                10 => tl_frame_return(vm, number),
                _ => {
                    tl_needs_slots(vm, number);
                    tl_back_edge(vm, self.key()?, number & 1);
                    tl_loop_skipped(vm, self.key()?);
                    tl_link_frames(vm);
                }
            }
        }
        Ok(())
    }

    fn slot_calls(&mut self) -> Result<()> {
        let (vm, tag, value) = (self.vm, self.tag()?, self.value()?);
        let slot = if self.u.ratio(1, 12)? { self.number()? as i32 } else { self.u.int_in_range(0..=7)? };
        // SAFETY: as above.
        unsafe {
            match self.u.int_in_range(0..=9)? {
                0..=3 => {
                    let read = tl_slot_read(vm, slot, tag);
                    self.keep(read);
                }
                4..=6 => tl_slot_write(vm, slot, tag, value),
                7 => tl_slot_known(vm, slot, tag, value),
                8 => tl_store_slots(vm),
                _ => {
                    tl_slot_is_known(vm, slot);
                    tl_slot_is_forgotten(vm, slot);
                }
            }
        }
        Ok(())
    }

    fn operations(&mut self) -> Result<()> {
        let vm = self.vm;
        let (a, b, c, op, number) = (self.value()?, self.value()?, self.value()?, self.op()?, self.number()?);
        let (tag, func, args, slots) = (self.tag()?, self.func()?, self.arguments()?, self.slots()?);
        let (nargs, n) = (args.len() as u32, slots.len() as u32);
        let (mut int, mut object) = (0, null());
        let base = self.base()?;
        // SAFETY: as above.
        let made = unsafe {
            match self.u.int_in_range(0..=19)? {
                0 | 1 => tl_const_int(vm, number),
                2 => tl_const_float(vm, f64::from_bits(number as u64)),
                3 => tl_const_ref(vm, base),
                4 => tl_const_addr(vm, base),
                5 => tl_op1(vm, op, a),
                6 | 7 => tl_op2(vm, op, a, b),
                8 => tl_op3(vm, op, a, b, c),
                9 => tl_context(vm),
                10 => tl_frame_base(vm),
                11 => tl_item_addr(vm, a, b, number as u32, number as i32),
                12 => tl_decode(vm, tag, a),
                13 => tl_encode(vm, tag, a),
                14 => {
                    let (op, kind) = (self.u.int_in_range(75..=82)?, self.u.int_in_range(0..=7)?);
                    tl_guard(vm, op, a, if self.u.ratio(1, 3)? { b } else { 0 }, kind);
                    0
                }
                15 => tl_call(vm, func, args.as_ptr(), nargs),
                16 => tl_try_call(vm, func, args.as_ptr(), nargs),
                17 => {
                    tl_mend(vm, func, args.as_ptr(), nargs);
                    tl_note_call(vm, self.name()?);
                    0
                }
                18 => {
                    tl_host_call(vm, func, args.as_ptr(), nargs, slots.as_ptr(), n);
                    0
                }
                _ => {
                    tl_is_const_int(vm, a, &mut int);
                    tl_is_const_ref(vm, a, &mut object);
                    0
                }
            }
        };
        self.keep(made);
        Ok(())
    }

    fn records(&mut self) -> Result<()> {
        let vm = self.vm;
        let (layout, tag, cell) = (self.layout()?, self.tag()?, self.cell()?);
        let (record, index, value) = (self.value()?, self.value()?, self.value()?);
        let field = self.pick(|case| &case.fields)?;
        let tagged = self.pick(|case| &case.tagged)?;
        let number = self.number()? as u32;
        let mut items = 0;
        // SAFETY: as above.
        let made = unsafe {
            match self.u.int_in_range(0..=16)? {
                0 | 1 => tl_new_record(vm, layout, if number > 99 { number } else { 0 }, 0),
                2 => tl_get(vm, field, record),
                3 => tl_get_tagged(vm, tagged, tag, record),
                4 => tl_item_count(vm, layout, record),
                5 => tl_get_item(vm, layout, tag, record, index),
                6 => tl_get_key(vm, layout, tag, record, index, number, number),
                7 => tl_load(vm, cell, record),
                8 => tl_nth_made(vm, layout, number & 3, &mut items),
                other => {
                    match other {
                        9 => tl_store(vm, cell, record, value),
                        10 => tl_set(vm, field, record, value),
                        11 => tl_set_tagged(vm, tagged, tag, record, value),
                        12 => tl_set_item(vm, layout, tag, record, index, value),
                        13 => tl_put_item(vm, layout, tag, record, index, value),
                        14 => tl_set_key(vm, layout, tag, record, index, value, number, number),
                        15 => {
                            tl_insert_key(vm, layout, tag, record, index, value);
                            tl_guard_key_absent(vm, layout, record, index, number, 0, number & 3);
                            tl_guard_class(vm, layout, record);
                        }
                        _ => {
                            tl_is_made(vm, record);
                            tl_key_room(vm, record);
                            tl_set_key_room(vm, record, number);
                            tl_is_in_use(vm, record, number as i32);
                        }
                    }
                    0
                }
            }
        };
        self.keep(made);
        Ok(())
    }

    /// A whole loop, `while (slot0 < 1000) slot0 += 1`, which is recorded and run, whatever came before,
    /// where the slots' memory can be read as these integers.
    fn loops(&mut self) -> Result<()> {
        let (vm, int, base) = (self.vm, self.tags[0], self.memory.base());
        let key = &raw const self.memory.code[self.u.choose_index(8)?];
        let counter = self.memory.counters.as_mut_ptr();
        let slot = base.cast::<u64>();
        self.memory.words = [3; 8];
        self.memory.live[0] = 1;
        let (live, words) = (self.memory.live.as_ptr(), self.memory.words.as_ptr());
        // SAFETY: as above; the slot lies in the stack.
        unsafe {
            tl_record_abort(vm, c"another loop".as_ptr());
            tl_forget(vm, key, key.wrapping_add(1));
            (*slot, *slot.add(1)) = (5, 1);
            if tl_record(vm, key, base) != 0 {
                return Ok(());
            }
            tl_resume_point(vm, base, words, live, 1);
            let value = tl_slot_read(vm, 0, int);
            let sum = tl_op2(vm, 0, value, tl_const_int(vm, 1));
            let more = tl_op2(vm, 20, value, tl_const_int(vm, 1000));
            tl_guard(vm, 76, more, 0, 1);
            tl_slot_write(vm, 0, int, sum);
            *slot = 6;
            if tl_record_close(vm) != 0 {
                return Ok(());
            }
            let mut run = Run { enter: None, code: null(), stack_slots: 0, frames: 0 };
            for _ in 0..20 {
                *counter = -1;
                if tl_hot(vm, key, counter, base, &mut run) != 1 {
                    continue;
                }
                let Some(enter) = run.enter else { panic!("there is no code") };
                let left = enter(std::ptr::null_mut(), base, run.code);
                let mut info = std::mem::zeroed::<ExitInfo>();
                tl_exit(vm, left, std::ptr::null_mut(), &mut info);
                assert!(info.kind == 1 && *slot == 1000, "kind {}, {} in the slot", info.kind, *slot);
                crate::REACHED.with_borrow_mut(|reached| reached[2] += 1);
                break;
            }
        }
        Ok(())
    }
}
