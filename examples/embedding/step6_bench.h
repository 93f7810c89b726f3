/* step6_bench.h: the programs of "step6 bench": four, and each a second time as another programmer would
** write it.
**
** Example: "step6 bench" prints a line for each: seconds of processor time without and with, and their ratio.
** */
#ifndef STEP6_BENCH_H
#define STEP6_BENCH_H

/* area: what lies below a curve from 0 to 1, in 1000 slices, 10000 times.
**
** do { x = 0; do { s = s + ((3 * x + 1) * x - 0.5) * x * 0.001; x = x + 0.001 } while (x < 1); i = i + 1 }
** while (i < 10000) */
static const instruction area[] = {
    {REAL, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 10000},
    {REAL, 4, 0, 0, 3000}, {REAL, 5, 0, 0, 1000}, {REAL, 6, 0, 0, 500}, {REAL, 7, 0, 0, 1},
    {REAL, 8, 0, 0, 0},
    {MULTIPLY, 9, 4, 8, 0}, {ADD, 9, 9, 5, 0}, {MULTIPLY, 9, 9, 8, 0}, {SUBTRACT, 9, 9, 6, 0},
    {MULTIPLY, 9, 9, 8, 0}, {MULTIPLY, 9, 9, 7, 0}, {ADD, 0, 0, 9, 0}, {ADD, 8, 8, 7, 0},
    {JUMP_LESS, 8, 5, 0, 9},
    {ADD, 1, 1, 2, 0}, {JUMP_LESS, 1, 3, 0, 8}, {RETURN, 0, 0, 0, 0}};
/* The same with a function for the curve, and loops that test at their top. */
static const instruction slices[] = {
    {REAL, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 10000}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 0},
    {REAL, 4, 0, 0, 1}, {REAL, 5, 0, 0, 1000},
    {JUMP_LESS, 3, 1, 0, 8}, {RETURN, 0, 0, 0, 0},
    {REAL, 6, 0, 0, 0}, {JUMP_LESS, 6, 5, 0, 12}, {SUBTRACT, 1, 1, 2, 0}, {JUMP, 0, 0, 0, 6},
    {MOVE, 8, 6, 0, 0}, {CALL, 7, 1, 0, 1}, {MULTIPLY, 7, 7, 4, 0}, {ADD, 0, 0, 7, 0}, {ADD, 6, 6, 4, 0},
    {JUMP, 0, 0, 0, 9}};
static const instruction curve[] = {
    {REAL, 1, 0, 0, 3000}, {MULTIPLY, 1, 1, 0, 0}, {REAL, 2, 0, 0, 1000}, {ADD, 1, 1, 2, 0},
    {MULTIPLY, 1, 1, 0, 0}, {REAL, 2, 0, 0, 500}, {SUBTRACT, 1, 1, 2, 0}, {MULTIPLY, 1, 1, 0, 0},
    {RETURN, 1, 0, 0, 0}};

/* sieve: how many primes there are below 10000, found 1000 times in one array.
**
** a = array(n); do { k = 0; do { a[k] = 0; k = k + 1 } while (k < n); k = 2; do { if (a[k] == 0) { count =
** count + 1; for (j = k + k; j < n; j = j + k) a[j] = 1 } k = k + 1 } while (k < n) } 1000 times */
static const instruction sieve[] = {
    {INTEGER, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 10000}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 0},
    {INTEGER, 9, 0, 0, 1000}, {INTEGER, 10, 0, 0, 0}, {NEW_ARRAY, 4, 1, 0, 0},
    {INTEGER, 5, 0, 0, 0}, {PUT, 4, 5, 3, 0}, {ADD, 5, 5, 2, 0}, {JUMP_LESS, 5, 1, 0, 8},
    {INTEGER, 5, 0, 0, 2},
    {GET, 6, 4, 5, 0}, {JUMP_EQUAL, 6, 3, 0, 15}, {JUMP, 0, 0, 0, 21},
    {ADD, 0, 0, 2, 0}, {ADD, 7, 5, 5, 0}, {JUMP, 0, 0, 0, 20},
    {PUT, 4, 7, 2, 0}, {ADD, 7, 7, 5, 0}, {JUMP_LESS, 7, 1, 0, 18},
    {ADD, 5, 5, 2, 0}, {JUMP_LESS, 5, 1, 0, 12}, {ADD, 10, 10, 2, 0}, {JUMP_LESS, 10, 9, 0, 7},
    {RETURN, 0, 0, 0, 0}};
/* The same with a mark for each number that is left, and a function that strikes multiples. */
static const instruction primes[] = {
    {INTEGER, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 10000}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 0},
    {INTEGER, 8, 0, 0, 1000}, {NEW_ARRAY, 4, 1, 0, 0},
    {INTEGER, 5, 0, 0, 0}, {PUT, 4, 5, 2, 0}, {ADD, 5, 5, 2, 0}, {JUMP_LESS, 5, 1, 0, 7},
    {ADD, 5, 2, 2, 0},
    {GET, 6, 4, 5, 0}, {JUMP_EQUAL, 6, 3, 0, 18},
    {MOVE, 10, 4, 0, 0}, {MOVE, 11, 5, 0, 0}, {MOVE, 12, 1, 0, 0}, {CALL, 9, 3, 0, 1}, {ADD, 0, 0, 9, 0},
    {ADD, 5, 5, 2, 0}, {JUMP_LESS, 5, 1, 0, 11}, {SUBTRACT, 8, 8, 2, 0}, {JUMP_LESS, 3, 8, 0, 6},
    {RETURN, 0, 0, 0, 0}};
static const instruction strike[] = {
    {ADD, 3, 1, 1, 0}, {INTEGER, 4, 0, 0, 0}, {INTEGER, 5, 0, 0, 1},
    {JUMP_LESS, 3, 2, 0, 5}, {RETURN, 5, 0, 0, 0},
    {PUT, 0, 3, 4, 0}, {ADD, 3, 3, 1, 0}, {JUMP, 0, 0, 0, 3}};

/* points: pairs that live for one iteration: p = (i, 1); q = (first p + second p, p); s = s + first q. */
static const instruction points[] = {
    {INTEGER, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 4000000},
    {MAKE, 4, 1, 2, 0}, {FIRST, 5, 4, 0, 0}, {SECOND, 6, 4, 0, 0}, {ADD, 5, 5, 6, 0}, {MAKE, 7, 5, 4, 0},
    {FIRST, 8, 7, 0, 0}, {ADD, 0, 0, 8, 0}, {ADD, 1, 1, 2, 0}, {JUMP_LESS, 1, 3, 0, 4}, {RETURN, 0, 0, 0, 0}};
/* The same with functions: a point is made by one and moved by another, which makes a new one. */
static const instruction moves[] = {
    {INTEGER, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 4000000},
    {JUMP_LESS, 1, 3, 0, 6}, {RETURN, 0, 0, 0, 0},
    {MAKE, 5, 1, 2, 0}, {CALL, 4, 1, 0, 1}, {FIRST, 4, 4, 0, 0}, {ADD, 0, 0, 4, 0}, {ADD, 1, 1, 2, 0},
    {JUMP, 0, 0, 0, 4}};
static const instruction moved[] = {
    {FIRST, 1, 0, 0, 0}, {SECOND, 2, 0, 0, 0}, {ADD, 1, 1, 2, 0}, {MAKE, 3, 1, 0, 0}, {RETURN, 3, 0, 0, 0}};

/* ways: a loop within a loop, with two ways through it.
**
** do { j = 0; do { if (j * j < i) s = s + j; else s = s - i; j = j + 1 } while (j < 500); i = i + 1 }
** while (i < 100000) */
static const instruction long_ways[] = {
    {INTEGER, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 100000},
    {INTEGER, 4, 0, 0, 500}, {INTEGER, 6, 0, 0, 0}, {INTEGER, 7, 0, 0, 0},
    {INTEGER, 5, 0, 0, 0}, {MULTIPLY, 8, 5, 5, 0}, {JUMP_LESS, 8, 1, 0, 12}, {SUBTRACT, 0, 0, 1, 0},
    {JUMP, 0, 0, 0, 13}, {ADD, 0, 0, 5, 0}, {ADD, 5, 5, 2, 0}, {JUMP_LESS, 5, 4, 0, 8}, {ADD, 1, 1, 2, 0},
    {JUMP_LESS, 1, 3, 0, 7}, {RETURN, 0, 0, 0, 0}};
/* The same with loops that test at their top, and a function for what is added: term(i, j). */
static const instruction terms[] = {
    {INTEGER, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 100000},
    {INTEGER, 4, 0, 0, 500},
    {JUMP_LESS, 1, 3, 0, 7}, {RETURN, 0, 0, 0, 0},
    {INTEGER, 5, 0, 0, 0}, {JUMP_LESS, 5, 4, 0, 11}, {ADD, 1, 1, 2, 0}, {JUMP, 0, 0, 0, 5},
    {MOVE, 7, 1, 0, 0}, {MOVE, 8, 5, 0, 0}, {CALL, 6, 2, 0, 1}, {ADD, 0, 0, 6, 0}, {ADD, 5, 5, 2, 0},
    {JUMP, 0, 0, 0, 8}};
static const instruction term[] = {
    {MULTIPLY, 3, 1, 1, 0}, {JUMP_LESS, 3, 0, 0, 5}, {INTEGER, 4, 0, 0, 0}, {SUBTRACT, 5, 4, 0, 0},
    {RETURN, 5, 0, 0, 0}, {RETURN, 1, 0, 0, 0}};

#endif
