//! Round trips of random states, damaged data, sharing, and the planted bugs.

use smallvec::SmallVec;
use tracelift_core::planted::{with_planted, Bug};
use tracelift_core::schema::{CellId, FieldId, LayoutId, TagId};
use tracelift_core::snapshot::{Frame, Pending, SlotValue, Source, Virtual};
use tracelift_core::{live_values, Const, Inst, Op, Snapshot, Trace, Type, Value};

use super::*;
use crate::tests::random::Random;

/// What a decoded state says, with sources as trace values again, in the shape of a snapshot.
fn rebuild(trace: &Trace, table: &ResumeTable, exit: usize) -> (Snapshot, Vec<Source>) {
    let state = table.state(exit).unwrap();
    let inst = &trace.insts[table.exits[exit].inst as usize];
    let live = live_values(trace, inst);
    let source = |source: ResumeSource| match source {
        ResumeSource::Nothing => Source::Nothing,
        ResumeSource::InPlace => Source::InPlace,
        ResumeSource::Virtual(index) => Source::Virtual(index),
        ResumeSource::Buffer(index) => Source::Value(live[index as usize]),
        ResumeSource::Constant(index) => {
            // Equal bits of different types share a place in the pool: only the bits can be compared.
            let constant = table.pool[index as usize];
            Source::Value(Value(
                trace.values.iter().position(|data| data.constant == Some(constant)).unwrap() as u32,
            ))
        }
    };
    let value = |s: ResumeSource| source(s).value().unwrap_or(Value(u32::MAX));
    let word = |index: u32| match table.pool[index as usize] {
        Const::Bits(bits) => bits,
        Const::Object(_) => panic!("a word that is an object"),
    };
    let virtuals = state.virtuals().map(|object| Virtual {
        layout: object.layout,
        fields: object.fields.map(|(field, s)| (field, source(s))).collect(),
        items: object.items,
        item_values: object.item_values.map(|(index, tag, s)| (index, tag, source(s))).collect(),
        keys: object.keys,
        entries: object.entries.map(|(key, tag, s)| (value(key), tag, source(s))).collect(),
    });
    let pending = state.pending().map(|store| Pending {
        address: value(store.address),
        cell: store.cell,
        source: source(store.source),
    });
    let frames = state.frames().map(|frame| Frame {
        base: frame.base,
        words: frame.words.map(word).collect(),
        slots: frame
            .slots
            .map(|slot| SlotValue { slot: slot.slot, tag: slot.tag, source: source(slot.source) })
            .collect(),
    });
    let snapshot = Snapshot {
        origin: state.origin.unwrap_or(u32::MAX),
        position: 0,
        edges: 0,
        frames: frames.collect(),
        virtuals: virtuals.collect(),
        pending: pending.collect(),
    };
    (snapshot, state.results().map(source).collect())
}

/// A trace with one guard per random snapshot. All constants have different bits, so that they can be told
/// apart.
fn random_trace(random: &mut Random) -> Trace {
    let mut trace = Trace::new("resume");
    let inputs: Vec<Value> = (0..4).map(|n| trace.new_value(Type::ALL[n % 4])).collect();
    trace.add_label("L0", &inputs);
    let mut values = inputs.clone();
    values.extend((0..4).map(|n| trace.const_int(random.next() as i64 ^ n)));
    values.push(trace.constant(Type::Ref, Const::Object(3)));
    for _ in 0..1 + random.below(6) {
        let snapshot = random_snapshot(random, &values);
        let snap = trace.add_snapshot(snapshot);
        trace.push(Inst::new(Op::GuardTrue, &inputs[..1]).at(Some(snap)), None);
    }
    trace.push(Inst::new(Op::GuardTrue, &inputs[..1]), None);
    let results: Vec<Value> = (0..3).map(|_| random.pick(&values)).collect();
    trace.push(Inst::new(Op::Finish, &results), None);
    trace
}

fn some<T>(random: &mut Random, limit: usize, mut make: impl FnMut(&mut Random) -> T) -> Vec<T> {
    let count = random.below(limit + 1);
    (0..count).map(|_| make(random)).collect()
}

fn random_snapshot(random: &mut Random, values: &[Value]) -> Snapshot {
    let virtual_count = random.below(3) as u32;
    let source = |random: &mut Random| match random.below(5) {
        0 => Source::Nothing,
        4 => Source::InPlace,
        1 if virtual_count > 0 => Source::Virtual(random.below(virtual_count as usize) as u32),
        _ => Source::Value(random.pick(values)),
    };
    let tag = |random: &mut Random| random.percent(60).then(|| TagId(random.below(200) as u32));
    let value = |random: &mut Random| random.pick(values);
    Snapshot {
        origin: random.below(1000) as u32,
        position: 0,
        edges: 0,
        frames: some(random, 3, |random| Frame {
            base: random.below(300) as i32 - 100,
            words: SmallVec::from_vec(some(random, 3, |random| random.next())),
            slots: some(random, 5, |random| SlotValue {
                slot: random.next() as i32 >> random.below(31),
                tag: TagId(random.below(300) as u32),
                source: source(random),
            }),
        }),
        virtuals: (0..virtual_count)
            .map(|_| Virtual {
                layout: LayoutId(random.below(500) as u32),
                fields: some(random, 3, |random| (FieldId(random.below(99) as u32), source(random))),
                items: random.below(9) as u32,
                item_values: some(random, 3, |random| (random.below(9) as u32, tag(random), source(random))),
                keys: random.below(9) as u32,
                entries: some(random, 3, |random| (value(random), tag(random), source(random))),
            })
            .collect(),
        pending: some(random, 3, |random| Pending {
            address: value(random),
            cell: CellId(random.below(99) as u32),
            source: source(random),
        }),
    }
}

fn check_round_trip(seed: u64) -> Result<(), String> {
    let trace = random_trace(&mut Random::new(seed));
    let table = encode(&trace);
    for (exit, (_, inst)) in trace.exits().enumerate() {
        let (found, results) = rebuild(&trace, &table, exit);
        let mut expected =
            trace.snapshot_of(inst).cloned().unwrap_or(Snapshot { origin: u32::MAX, ..Snapshot::default() });
        expected.position = 0;
        if found != expected {
            return Err(format!("seed {seed}, exit {exit}: {expected:?} became {found:?}"));
        }
        let finish: Vec<Source> = match inst.op {
            Op::Finish => inst.args.iter().map(|&arg| Source::Value(arg)).collect(),
            _ => Vec::new(),
        };
        if results != finish {
            return Err(format!("seed {seed}, exit {exit}: {finish:?} became {results:?}"));
        }
    }
    Ok(())
}

#[test]
fn decoding_gives_back_what_was_encoded() {
    (0..2_000).try_for_each(check_round_trip).unwrap();
}

#[test]
fn planted_bugs_are_seen() {
    for bug in [Bug::ResumeSlotShifted, Bug::ResumeConstantDropped] {
        let result = with_planted(bug, || (0..50).try_for_each(check_round_trip));
        assert!(result.is_err(), "{bug:?} was not seen");
    }
}

#[test]
fn exits_with_equal_state_share_their_bytes() {
    let mut trace = Trace::new("shared");
    let i0 = trace.new_value(Type::Int);
    trace.add_label("L0", &[i0]);
    let slot = SlotValue { slot: 3, tag: TagId(0), source: Source::Value(i0) };
    let frame = Frame { base: 0, words: SmallVec::new(), slots: vec![slot] };
    let state = Snapshot { origin: 6, frames: vec![frame], ..Snapshot::default() };
    let snap = trace.add_snapshot(state.clone());
    for _ in 0..5 {
        let other = trace.add_snapshot(state.clone());
        trace.push(Inst::new(Op::GuardTrue, &[i0]).at(Some(snap)), None);
        trace.push(Inst::new(Op::GuardTrue, &[i0]).at(Some(other)), None);
    }
    trace.push(Inst::new(Op::Finish, &[]).at(Some(snap)), None);
    let table = encode(&trace);
    assert_eq!(
        (table.distinct, table.exits.len()),
        (1, 7),
        "one with five guards, five with one, and the end"
    );
    assert_eq!(table.bytes, [7, 0, 0, 0, 1, 0, 0, 1, 6, 0, 1]);
}

#[test]
fn damaged_data_gives_an_error_and_no_panic() {
    let mut random = Random::new(7);
    for seed in 0..300 {
        let trace = random_trace(&mut Random::new(seed));
        let table = encode(&trace);
        for exit in 0..table.exits.len() {
            let good = table.data(exit).unwrap();
            for length in 0..good.len() {
                assert!(
                    ResumeState::parse(&good[..length], 4, 64).is_err(),
                    "a truncated string was accepted"
                );
            }
            let mut bytes = good.to_vec();
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
            walk(&bytes);
        }
        let noise: Vec<u8> = some(&mut random, 40, |random| random.next() as u8);
        walk(&noise);
    }
}

/// Reads everything that can be read.
fn walk(bytes: &[u8]) {
    let Ok(state) = ResumeState::parse(bytes, 4, 64) else { return };
    state.results().for_each(drop);
    for object in state.virtuals() {
        object.fields.for_each(drop);
        object.item_values.for_each(drop);
        object.entries.for_each(drop);
    }
    state.pending().for_each(drop);
    for frame in state.frames() {
        frame.words.for_each(drop);
        frame.slots.for_each(|slot| {
            slot.source.bits(&[0; 4], &[0; 64]);
        });
    }
}
