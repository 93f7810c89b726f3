//! Items of small virtual arrays at an index that varies.
//!
//! Problem: `({a, b, c})[i % 3 + 1]` makes an array in each iteration, only because nobody knows which of its
//! items is wanted. Design: the bounds are guarded as they are for a real array; then a read chooses among
//! the items by selects, and a write gives each item a select between what is stored and what it held. So the
//! array stays virtual. Which tag an item has must be known, as one select cannot choose between values of
//! two types: an item that the operation could not read, or not overwrite, is excluded by a guard, as its tag
//! would be in memory. What a select cannot do makes the array real: to choose among virtual objects, or to
//! give an item now one tag and now another. So does a longer array, or one that is asked too often: then
//! memory is faster.
//!
//! A select or comparison has a key of its own for the next iteration ([`crate::peel`]): of which item it is,
//! and which others it chooses among, so that the same key is the same function of index and items.
//!
//! Invariant: all guards come before the first item changes, and leave to where the host does the whole
//! operation. Example, for items that begin at 1:
//!
//! ```text
//! p5 = new(Array, 2)                     i6 = int_sub(i1, 1)
//! put_item(p5, 1, i2; Array:int)         guard_true(uint_lt(i6, 2))
//! put_item(p5, 2, i3; Array:int)    =>   i8 = int_eq(i6, 1)
//! i9 = get_item(p5, i1; Array:int)       i9 = select(i8, i3, i2)
//! ```

use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

use tracelift_core::planted::{planted, Bug};
use tracelift_core::schema::TagId;
use tracelift_core::{Inst, Op, Payload, Value};

use super::{held, may_hold};
use crate::pass::{Cx, Outcome};
use crate::OptError;

/// The longest array whose items are chosen among.
const MOST_ITEMS: u32 = 8;

/// So many items of one array may be looked at on one walk. To make an array costs about as much as eighty
/// selects.
const MOST_LOOKS: u32 = 64;

/// How many items were looked at, by the recorded instruction that makes the array.
#[derive(Default)]
pub(super) struct Chosen {
    looks: HashMap<u32, u32>,
}

/// What the operation may do with an item.
#[derive(Clone, Copy)]
enum Item {
    /// It holds this: nothing under tags that say it all.
    Fits(Option<Value>),
    /// The index is not its, or the trace is left.
    Excluded,
}

type Items = SmallVec<[Item; MOST_ITEMS as usize]>;

impl Chosen {
    /// Answers `get_item`, `set_item` or `put_item` at an index that is no constant; `None`: the array must
    /// be real.
    pub fn item(
        &mut self,
        cx: &mut Cx<'_, '_>,
        inst: &Inst,
        tag: Option<TagId>,
    ) -> Result<Option<Outcome>, OptError> {
        let Some(items) = self.items(cx, inst, tag) else { return Ok(None) };
        let rule = if inst.op == Op::GetItem { "virtual_get_chosen" } else { "virtual_set_chosen" };
        if !cx.st.fire(rule) {
            return Ok(None);
        }
        let index = guarded(cx, inst, &items)?;
        if inst.op == Op::GetItem {
            return read(cx, index, &items).map(Some);
        }
        write(cx, inst, index, &items, tag)?;
        Ok(Some(Outcome::Drop))
    }

    /// The array's items, if the operation can be done by selects.
    fn items(&mut self, cx: &mut Cx<'_, '_>, inst: &Inst, tag: Option<TagId>) -> Option<Items> {
        let st = &mut *cx.st;
        let (name, stored) = (inst.args[0], inst.args.get(2).copied());
        let object = st.facts.statics.get(name)?;
        let (room, made_at) = (object.item_room, object.made_at);
        let part = st.schema.layout(object.layout).items.as_ref()?;
        let looks = self.looks.entry(made_at).or_default();
        let is_cheap = (1..=MOST_ITEMS).contains(&room) && *looks + room <= MOST_LOOKS;
        let can_hold =
            !stored.is_some_and(|stored| st.facts.statics.has(stored)) && may_hold(st, name, stored);
        if !is_cheap || !can_hold {
            return None;
        }
        let absent = part.element.tag.and(part.element.absent);
        let mut items = Items::new();
        for index in 0..room {
            let (has, value) = held(st, name, part, index)?;
            let value = value.map(|value| st.resolve(value));
            let is_absent = absent.is_some() && has == absent;
            items.push(match inst.op {
                Op::GetItem if has != tag => Item::Excluded,
                Op::SetItem if is_absent => Item::Excluded,
                _ if has != tag || value.is_some_and(|value| st.facts.statics.has(value)) => return None,
                _ => Item::Fits(value),
            });
        }
        let fits = items.iter().any(|item| matches!(item, Item::Fits(_)));
        *looks += room;
        fits.then_some(items)
    }
}

/// An operation on one item: the next iteration has the same, if it chooses among the same ones.
fn part(cx: &mut Cx<'_, '_>, op: Op, args: &[Value], item: usize, among: i32) -> Result<Value, OptError> {
    let value = cx.emit_value(Inst::new(op, args))?;
    cx.st.note_part((op, Payload::Scale { stride: item as u32, offset: among }), value);
    Ok(value)
}

/// Guards that the index, which is counted from 0 afterwards, is that of an item that fits.
fn guarded(cx: &mut Cx<'_, '_>, inst: &Inst, items: &Items) -> Result<Value, OptError> {
    let st = &cx.st;
    let layout = st.facts.statics.get(inst.args[0]).map(|object| st.schema.layout(object.layout));
    let first = layout.and_then(|layout| layout.items.as_ref()).map_or(0, |part| part.first);
    let (first, room) = (cx.int(first), cx.int(items.len() as i64));
    let index = cx.emit_value(Inst::new(Op::IntSub, &[inst.args[1], first]))?;
    if !planted(Bug::VirtualChosenUnchecked) {
        let inside = cx.emit_value(Inst::new(Op::UintLt, &[index, room]))?;
        cx.guard(Op::GuardTrue, &[inside], inst)?;
    }
    for (item, _) in items.iter().enumerate().filter(|(_, item)| matches!(item, Item::Excluded)) {
        if planted(Bug::VirtualChosenOther) {
            break;
        }
        let is_it = is_item(cx, index, item)?;
        cx.guard(Op::GuardFalse, &[is_it], inst)?;
    }
    Ok(index)
}

fn is_item(cx: &mut Cx<'_, '_>, index: Value, item: usize) -> Result<Value, OptError> {
    let number = cx.int(item as i64);
    part(cx, Op::IntEq, &[index, number], item, 0)
}

/// What the item at this index holds.
fn read(cx: &mut Cx<'_, '_>, index: Value, items: &Items) -> Result<Outcome, OptError> {
    let (mut chosen, mut among) = (None, 0);
    for (item, held) in items.iter().enumerate() {
        let Item::Fits(Some(value)) = *held else { continue };
        among |= 1 << item;
        chosen = Some(match chosen {
            None => value,
            Some(chosen) => {
                let is_it = is_item(cx, index, item)?;
                part(cx, Op::Select, &[is_it, value, chosen], item, among)?
            }
        });
    }
    Ok(chosen.map_or(Outcome::Drop, Outcome::Equal))
}

/// Gives each item the value, if the index is its.
fn write(
    cx: &mut Cx<'_, '_>,
    inst: &Inst,
    index: Value,
    items: &Items,
    tag: Option<TagId>,
) -> Result<(), OptError> {
    let Some(&stored) = inst.args.get(2) else { return Ok(()) };
    let mut written = SmallVec::<[(u32, Value); MOST_ITEMS as usize]>::new();
    for (item, held) in items.iter().enumerate() {
        let Item::Fits(Some(value)) = *held else { continue };
        let is_it = is_item(cx, index, item)?;
        let chosen = match planted(Bug::VirtualChosenAll) {
            true => stored,
            false => part(cx, Op::Select, &[is_it, stored, value], item, -1)?,
        };
        debug_assert_eq!(cx.st.out.ty(value), cx.st.out.ty(stored), "one tag has values of one type");
        written.push((item as u32, chosen));
    }
    let Some(object) = cx.st.facts.statics.get_mut(inst.args[0]) else { return Ok(()) };
    object.items.extend(written.into_iter().map(|(item, value)| (item, (tag, Some(value)))));
    cx.st.facts.version += 1;
    Ok(())
}
