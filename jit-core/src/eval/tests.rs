//! Tests of the evaluator on small traces written with the builder functions: errors, record operations,
//! exits, lifting. Each shows one rule; whole programs are tested from trace files.
//!
//! Example: a virtual pair that holds itself is lifted once.

use std::sync::Arc;

use super::*;
use crate::ir::{Const, Inst, Payload};
use crate::schema::{LayoutId, TagId};
use crate::snapshot::{Frame, Pending, SlotValue, Snapshot, Source, Virtual};
use crate::testbed::standard_schema;
use crate::types::Type;
use crate::world::compare::compare;
use crate::world_spec::{ObjectSpec, SpecValue, WorldSpec};

fn object(schema: &Schema, name: &str, layout: &str) -> ObjectSpec {
    ObjectSpec {
        name: name.into(),
        layout: schema.find_layout(layout).expect("a standard layout"),
        fields: vec![],
        items: vec![],
        item_capacity: 0,
        entries: vec![],
        key_capacity: 0,
    }
}

/// Two boxes and a table whose first item is 7 and whose key b0 has the value b1.
fn spec(schema: &Schema) -> WorldSpec {
    let tag = |name: &str| schema.find_tag(name);
    let mut table = object(schema, "t", "Table");
    table.items = vec![(tag("int"), SpecValue::Bits(7))];
    table.item_capacity = 2;
    table.entries = vec![(0, tag("ref"), SpecValue::Object(1))];
    table.key_capacity = 1;
    WorldSpec {
        objects: vec![object(schema, "b0", "BoxedInteger"), object(schema, "b1", "BoxedInteger"), table],
    }
}

struct Fixture {
    schema: Arc<Schema>,
    trace: Trace,
    world: World,
}

impl Fixture {
    fn new() -> Fixture {
        let schema = Arc::new(standard_schema());
        let world = World::build(&spec(&schema), &schema);
        let mut trace = Trace::new("t");
        trace.add_label("L0", &[]);
        Fixture { schema, trace, world }
    }

    fn layout(&self, name: &str) -> LayoutId {
        self.schema.find_layout(name).expect("a standard layout")
    }

    fn tag(&self, name: &str) -> TagId {
        self.schema.find_tag(name).expect("a standard tag")
    }

    fn object(&mut self, number: u32) -> crate::Value {
        self.trace.constant(Type::Ref, Const::Object(number))
    }

    fn push(&mut self, inst: Inst) -> Option<crate::Value> {
        let ty = inst.result_type(&self.trace, &self.schema);
        self.trace.push(inst, ty)
    }

    fn run(&mut self, limits: Limits) -> Result<Outcome, EvalError> {
        Evaluator::new(&self.trace, &self.schema).run(&mut self.world, &[], limits)
    }

    fn finish(&mut self, values: &[crate::Value]) -> Result<Vec<Bits>, EvalError> {
        self.trace.push(Inst::new(Op::Finish, values), None);
        self.run(Limits::default()).map(|outcome| match outcome.end {
            End::Finish(values) => values,
            other => panic!("no finish: {other:?}"),
        })
    }
}

#[test]
fn a_malformed_trace_is_an_error() {
    let mut f = Fixture::new();
    let zero = f.trace.const_int(0);
    let quotient = f.push(Inst::new(Op::IntDiv, &[zero, zero])).unwrap();
    assert_eq!(f.finish(&[quotient]).unwrap_err().fault, Fault::Partial(Op::IntDiv));

    let mut f = Fixture::new();
    let null = f.trace.const_ref(0);
    let intval = f.schema.find_field(f.layout("BoxedInteger"), "intval").unwrap();
    let got = f.push(Inst::new(Op::Get, &[null]).with(Payload::Field(intval))).unwrap();
    assert_eq!(f.finish(&[got]).unwrap_err().fault, Fault::Wild { address: 8, width: 8 });

    let mut f = Fixture::new();
    let undefined = f.trace.new_value(Type::Int);
    assert!(matches!(f.finish(&[undefined]).unwrap_err().fault, Fault::Undefined(_)));
}

#[test]
fn items_have_bounds_tags_and_presence() {
    let table = |op: Op, index: i64, tag: &str| {
        let mut f = Fixture::new();
        let (layout, tag) = (f.layout("Table"), f.tag(tag));
        let record = f.object(2);
        let index = f.trace.const_int(index);
        let mut args = vec![record, index];
        if op != Op::GetItem && f.schema.tag(tag).payload.is_some() {
            args.push(index);
        }
        f.push(Inst::new(op, &args).with(Payload::Item { layout, tag: Some(tag) }));
        f.trace.push(Inst::new(Op::Finish, &[]), None);
        f.run(Limits::default()).unwrap().end == End::Finish(vec![])
    };
    assert!(table(Op::GetItem, 1, "int"));
    assert!(!table(Op::GetItem, 1, "float"));
    assert!(table(Op::GetItem, 2, "nil"));
    assert!(!table(Op::GetItem, 0, "int") && !table(Op::GetItem, 3, "nil"));
    assert!(table(Op::SetItem, 1, "int") && !table(Op::SetItem, 2, "int"));
    assert!(table(Op::PutItem, 2, "int") && table(Op::PutItem, 1, "nil"));
}

#[test]
fn keys_are_found_inserted_and_removed() {
    let mut f = Fixture::new();
    let (layout, int, nil) = (f.layout("Table"), f.tag("int"), f.tag("nil"));
    let (table, b0, b1) = (f.object(2), f.object(0), f.object(1));
    let key = |tag: TagId| Payload::Key { layout, tag: Some(tag), hint: None };
    let five = f.trace.const_int(5);
    f.push(Inst::new(Op::GuardKeyAbsent, &[table, b1]).with(key(int)));
    f.push(Inst::new(Op::InsertKey, &[table, b1, five]).with(key(int)));
    f.push(Inst::new(Op::SetKey, &[table, b0]).with(key(nil)));
    f.push(Inst::new(Op::GuardKeyAbsent, &[table, b0]).with(key(int)));
    let got = f.push(Inst::new(Op::GetKey, &[table, b1]).with(key(int))).unwrap();
    assert_eq!(f.finish(&[got]), Ok(vec![5]));
    // The insertion grew the entry table from 1 to 2.
    assert_eq!(f.world.allocations(), 1);
}

#[test]
fn a_failed_allocation_leaves_the_trace() {
    let mut f = Fixture::new();
    let layout = f.layout("Pair");
    f.push(Inst::new(Op::New, &[]).with(Payload::New { layout, items: 0, keys: 0 }));
    f.trace.push(Inst::new(Op::Finish, &[]), None);
    f.world.set_allocations_left(Some(0));
    assert_eq!(f.run(Limits::default()).unwrap().end, End::Exit { number: 0, kind: ExitKind::Guard });
}

#[test]
fn a_barrier_leaves_before_the_store() {
    let mut f = Fixture::new();
    let layout = f.layout("Pair");
    let first = f.schema.find_field(layout, "first").unwrap();
    let (pair_mark, box_mark) = (
        f.schema.find_field(layout, "pair_mark").unwrap(),
        f.schema.find_field(f.layout("BoxedInteger"), "boxedinteger_mark").unwrap(),
    );
    let pair = f.push(Inst::new(Op::New, &[]).with(Payload::New { layout, items: 0, keys: 0 })).unwrap();
    let (boxed, one, two) = (f.object(0), f.trace.const_int(1), f.trace.const_int(2));
    f.push(Inst::new(Op::Set, &[pair, boxed]).with(Payload::Field(first)));
    f.push(Inst::new(Op::Set, &[pair, one]).with(Payload::Field(pair_mark)));
    f.push(Inst::new(Op::Set, &[boxed, two]).with(Payload::Field(box_mark)));
    f.push(Inst::new(Op::Set, &[pair, boxed]).with(Payload::Field(first)));
    f.trace.push(Inst::new(Op::Finish, &[]), None);
    assert_eq!(f.run(Limits::default()).unwrap().end, End::Exit { number: 4, kind: ExitKind::Guard });
}

#[test]
fn a_barrier_with_a_function_calls_it_and_stores() {
    let mut f = Fixture::new();
    let layout = f.layout("Table");
    let field = |f: &Fixture, name| f.schema.find_field(layout, name).unwrap();
    let (meta, mark) = (field(&f, "meta"), field(&f, "table_mark"));
    let mend = f.schema.find_func("test.mend").unwrap();
    let new = Inst::new(Op::New, &[]).with(Payload::New { layout, items: 0, keys: 0 });
    let [asked, unasked, stored, mended] = [(); 4].map(|()| f.push(new.clone()).unwrap());
    let [zero, one, two] = [0, 1, 2].map(|n| f.trace.const_int(n));
    let set = |field, args: &[crate::Value]| Inst::new(Op::Set, args).with(Payload::Field(field));
    f.push(set(mark, &[asked, one]));
    f.push(set(mark, &[stored, two]));
    f.push(set(meta, &[asked, stored]));
    f.push(set(meta, &[unasked, stored]));
    f.push(Inst::new(Op::Mend, &[zero, stored]).with(Payload::Func(mend)));
    f.push(Inst::new(Op::Mend, &[two, mended]).with(Payload::Func(mend)));
    f.trace.push(Inst::new(Op::Finish, &[asked, unasked, stored, mended]), None);
    let End::Finish(tables) = f.run(Limits::default()).unwrap().end else { panic!("it has left") };
    let remembered = |&table: &Bits| f.world.read(table + crate::testbed::REMEMBERED_AT, 1);
    assert_eq!(tables.iter().map(remembered).collect::<Vec<_>>(), [Some(1), Some(0), Some(0), Some(1)]);
}

#[test]
fn lifting_makes_cycles_and_pending_stores() {
    let mut f = Fixture::new();
    let layout = f.layout("Pair");
    let (first, second) =
        (f.schema.find_field(layout, "first").unwrap(), f.schema.find_field(layout, "second").unwrap());
    let intval = f.schema.find_field(f.layout("BoxedInteger"), "intval").unwrap();
    let (boxed, nine) = (f.object(0), f.trace.const_int(9));
    let reference = f.tag("ref");
    let slot = |slot: i32, source: Source| SlotValue { slot, tag: reference, source };
    let pair =
        |fields: Vec<_>| Virtual { layout, fields, items: 0, item_values: vec![], keys: 0, entries: vec![] };
    let snap = f.trace.add_snapshot(Snapshot {
        origin: 3,
        position: 1,
        edges: 0,
        frames: vec![Frame {
            base: 0,
            words: Default::default(),
            slots: vec![
                slot(0, Source::Virtual(0)),
                slot(1, Source::Virtual(0)),
                slot(2, Source::Virtual(1)),
            ],
        }],
        virtuals: vec![
            pair(vec![(first, Source::Virtual(1)), (second, Source::Value(boxed))]),
            pair(vec![(first, Source::Virtual(0))]),
        ],
        pending: vec![Pending {
            address: boxed,
            cell: f.schema.field(intval).cell,
            source: Source::Value(nine),
        }],
    });
    f.trace.push(Inst::new(Op::GuardAlwaysFails, &[]).at(Some(snap)), None);
    let outcome = f.run(Limits::default()).unwrap();
    assert_eq!(outcome.origin, Some(3));
    let bits: Vec<Bits> = outcome.frames[0].slots.iter().filter_map(|slot| slot.bits).collect();
    let cell = |field| f.schema.field_cell(field);
    assert_eq!(bits[0], bits[1]);
    assert_eq!(f.world.load_cell(bits[0], cell(first)), Some(bits[2]));
    assert_eq!(f.world.load_cell(bits[2], cell(first)), Some(bits[0]));
    assert_eq!(f.world.load_cell(f.world.object_address(0), cell(intval)), Some(9));
}

#[test]
fn calls_pass_every_parameter() {
    let mut f = Fixture::new();
    let wide = f.schema.find_func("test.wide").unwrap();
    let args: Vec<_> = (0..14)
        .map(|n| match n < 12 && n % 2 == 0 {
            true => f.trace.const_int(n << 20),
            false => f.trace.const_float(n as f64),
        })
        .collect();
    let sum = f.push(Inst::new(Op::Call, &args).with(Payload::Func(wide))).unwrap();
    let ints = [0i64, 2, 4, 6, 8, 10].into_iter().fold(0, |sum, n| sum * 3 + (n << 20));
    let floats = [1., 3., 5., 7., 9., 11., 12., 13.];
    let expected = floats.into_iter().fold((ints >> 12) as f64, |sum, n| sum * 0.5 + n);
    assert_eq!(f.finish(&[sum]), Ok(vec![expected.to_bits()]));
}

#[test]
fn reset_restores_the_world_and_comparison_names_the_place() {
    let schema = Arc::new(standard_schema());
    let (mut left, right) = (World::build(&spec(&schema), &schema), World::build(&spec(&schema), &schema));
    assert_eq!(compare(&left, &right), Ok(()));
    let intval = schema.field_cell(schema.find_field(LayoutId(0), "intval").unwrap());
    left.store_cell(left.object_address(1), intval, 6);
    assert_eq!(compare(&left, &right).unwrap_err().to_string(), "b1.intval: 6 vs 0");
    left.reset();
    let table = schema.find_layout("Table").unwrap();
    left.make_entry(table, left.object_address(2), left.object_address(1)).unwrap();
    assert_eq!(compare(&left, &right).unwrap_err().to_string(), "t.table.size: 2 vs 1");
    left.reset();
    assert_eq!(compare(&left, &right), Ok(()));
}

#[test]
fn a_run_can_be_stopped_and_its_guards_forced() {
    let mut trace = Trace::new("count");
    let i0 = trace.new_value(Type::Int);
    let top = trace.add_label("L0", &[i0]);
    let one = trace.const_int(1);
    let i1 = trace.push(Inst::new(Op::IntAdd, &[i0, one]), Some(Type::Int)).unwrap();
    let slots = vec![SlotValue { slot: 0, tag: TagId(0), source: Source::Value(i1) }];
    let frames = vec![Frame { base: 0, words: Default::default(), slots }];
    let snap = trace.add_snapshot(Snapshot { position: 2, frames, ..Snapshot::default() });
    trace.push(Inst::new(Op::GuardTrue, &[i1]).at(Some(snap)), None);
    trace.push(Inst::new(Op::Jump, &[i1]).with(Payload::Label(top)), None);
    let schema = Arc::new(Schema::with_default_tags());
    let mut world = World::build(&WorldSpec::default(), &schema);
    let evaluator = Evaluator::new(&trace, &schema);
    let forced =
        evaluator.run(&mut world, &[0], Limits { force_guard: Some(4), ..Limits::default() }).unwrap();
    assert_eq!((forced.iteration, forced.origin), (3, Some(0)));
    let stopped =
        evaluator.run(&mut world, &[0], Limits { stop_at: Some((0, 3)), ..Limits::default() }).unwrap();
    assert_eq!((stopped.end, &stopped.frames), (End::Stopped, &forced.frames));
    let endless = evaluator.run(&mut world, &[0], Limits { iterations: 5, ..Limits::default() }).unwrap();
    assert_eq!((endless.end, endless.iteration), (End::OutOfFuel, 5));
}
