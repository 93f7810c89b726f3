//! Seed 002.
pub(crate) const COUNTING_DOWN: &str = "object y = BoxedInteger { intval: 9 }
object res = BoxedInteger { intval: 1000 }
L0(p0, p1):
@0 = frame[0: ref p0, 1: ref p1]
guard_class(p1, BoxedInteger) @0
i2 = get(p1, intval)
guard_class(p0, BoxedInteger) @0
i3 = get(p0, intval)
i4 = int_add(i2, i3)
p5 = new(BoxedInteger) @0
set(p5, intval, i4) @0
@1 = frame[0: ref p0, 1: ref p1, 2: ref p5]
p6 = new(BoxedInteger) @1
set(p6, intval, -100) @1
@2 = frame[0: ref p0, 1: ref p1, 2: ref p5, 3: ref p6]
guard_class(p5, BoxedInteger) @2
i7 = get(p5, intval)
guard_class(p6, BoxedInteger) @2
i8 = get(p6, intval)
i9 = int_add(i7, i8)
p10 = new(BoxedInteger) @2
set(p10, intval, i9) @2
@3 = frame[0: ref p0, 1: ref p10]
p11 = new(BoxedInteger) @3
set(p11, intval, -1) @3
@4 = frame[0: ref p0, 1: ref p10, 2: ref p11]
guard_class(p0, BoxedInteger) @4
i12 = get(p0, intval)
guard_class(p11, BoxedInteger) @4
i13 = get(p11, intval)
i14 = int_add(i12, i13)
p15 = new(BoxedInteger) @4
set(p15, intval, i14) @4
@5 = frame[0: ref p15, 1: ref p10]
guard_class(p15, BoxedInteger) @5
i16 = get(p15, intval)
i17 = int_gt(i16, 0)
guard_true(i17) @5 loop_end
jump(L0, p15, p10)
run: @y, @res
";
