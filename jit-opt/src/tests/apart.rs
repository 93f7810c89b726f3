//! Arrays that are told apart before a loop.

use super::halves;

/// A loop that stores `i3 * 2` to an item of `p1` and reads the first item of `p0`; both arrays are found by
/// these operations.
fn reads_and_writes(arrays: &str) -> String {
    format!(
        "L0(p0, p1, i2):\n{arrays}@0 = frame(words 1 2)[0: ref p0, 1: ref p1, 2: int i2]\n\
         i5 = int_eq(i2, 0)\nguard_false(i5) @0\ni6 = load(a3, item.value.int)\na7 = item_addr(a4, i2, 16, 0)\n\
         i8 = int_mul(i6, 2)\nstore(a7, item.value.int, i8)\ni9 = int_sub(i2, 1)\njump(L0, p0, p1, i9)\n"
    )
}

#[test]
fn arrays_are_told_apart_before_the_loop() {
    let input = reads_and_writes("a3 = load(p0, table.items)\na4 = load(p1, table.items)\n");
    let (before, body) = halves("", &input);
    assert!(before.contains("addr_eq") && !body.contains("= load("), "{before}\n{body}");
    let (before, body) = halves("-apart", &input);
    assert!(!before.contains("addr_eq") && body.contains("= load("), "{before}\n{body}");
}

/// Guards on which nothing relies go; where a start changes in the loop there is none.
#[test]
fn arrays_are_told_apart_only_where_it_helps() {
    // The other array is another one in each iteration.
    let changes =
        "a3 = load(p0, table.items)\na10 = context()\ncall(test.anything, a10)\na4 = load(p1, table.items)\n";
    let (before, body) = halves("", &reads_and_writes(changes));
    assert!(body.contains("load(") && !before.contains("hoisted"), "{before}\n{body}");
    // One and the same array: nothing to tell apart.
    let same = "a3 = load(p0, table.items)\na4 = load(p0, table.items)\n";
    let (before, body) = halves("", &reads_and_writes(same));
    assert!(body.contains("load(") && !before.contains("hoisted"), "{before}\n{body}");
}
