/* wl_prim.h: what the files share that record primitives; see wl_rec_prim.c.
*/
#ifndef wl_prim_h
#define wl_prim_h

#include <math.h>
#include <string.h>

#include "wl_internal.h"

/* A primitive's call: its receiver is args[0], in the frame's slot `slot`. */
typedef struct wl_call {
  wl_now *now;
  tl_vm *jit;
  const Value *args;
  int slot, count, symbol;
  Primitive primitive;
} wl_call;

/* wl_rec_args.c */
void wl_is_error(wl_call *call);
/* An argument as of now, in the trace. */
tl_value wl_arg(wl_call *call, int number);
/* The result takes the receiver's place. That of a test is known now, and guarded. */
void wl_give(wl_call *call, Value like, tl_value value);
void wl_give_num(wl_call *call, tl_value value);
void wl_give_bool(wl_call *call, bool is_true);
void wl_give_test(wl_call *call, tl_value test, bool holds);
/* Whether all arguments are numbers; else the recording is given up. */
bool wl_are_nums(wl_call *call);
/* A value as two integers, for functions. */
void wl_as_pair(wl_call *call, int number, tl_value pair[2]);
/* The interpreter's own function does it, in a call that may do anything. Its result is read again. */
void wl_do_function(wl_call *call, tl_func function, const void *address, const char *name);
void wl_do_call(wl_call *call);

/* Each records the primitive of that name. */
void wl_rec_itself(wl_call *call);
void wl_rec_list_add(wl_call *call);
void wl_rec_list_add_core(wl_call *call);
void wl_rec_list_count(wl_call *call);
void wl_rec_list_get(wl_call *call);
void wl_rec_list_iterate(wl_call *call);
void wl_rec_list_new(wl_call *call);
void wl_rec_list_set(wl_call *call);
void wl_rec_list_swap(wl_call *call);
void wl_rec_map_add_core(wl_call *call);
void wl_rec_map_contains(wl_call *call);
void wl_rec_map_count(wl_call *call);
void wl_rec_map_get(wl_call *call);
void wl_rec_map_new(wl_call *call);
void wl_rec_map_set(wl_call *call);
void wl_rec_num_abs(wl_call *call);
void wl_rec_num_and(wl_call *call);
void wl_rec_num_ceil(wl_call *call);
void wl_rec_num_divide(wl_call *call);
void wl_rec_num_eq(wl_call *call);
void wl_rec_num_floor(wl_call *call);
void wl_rec_num_ge(wl_call *call);
void wl_rec_num_gt(wl_call *call);
void wl_rec_num_is_integer(wl_call *call);
void wl_rec_num_le(wl_call *call);
void wl_rec_num_lt(wl_call *call);
void wl_rec_num_max(wl_call *call);
void wl_rec_num_min(wl_call *call);
void wl_rec_num_minus(wl_call *call);
void wl_rec_num_mod(wl_call *call);
void wl_rec_num_ne(wl_call *call);
void wl_rec_num_negate(wl_call *call);
void wl_rec_num_not_bits(wl_call *call);
void wl_rec_num_or(wl_call *call);
void wl_rec_num_plus(wl_call *call);
void wl_rec_num_shl(wl_call *call);
void wl_rec_num_shr(wl_call *call);
void wl_rec_num_sqrt(wl_call *call);
void wl_rec_num_times(wl_call *call);
void wl_rec_num_to(wl_call *call);
void wl_rec_num_truncate(wl_call *call);
void wl_rec_num_until(wl_call *call);
void wl_rec_num_xor(wl_call *call);
void wl_rec_object_eq(wl_call *call);
void wl_rec_object_is(wl_call *call);
void wl_rec_object_ne(wl_call *call);
void wl_rec_object_not(wl_call *call);
void wl_rec_object_same(wl_call *call);
void wl_rec_object_type(wl_call *call);
void wl_rec_range_from(wl_call *call);
void wl_rec_range_iterate(wl_call *call);
void wl_rec_range_to(wl_call *call);
void wl_rec_second(wl_call *call);
void wl_rec_string_byte_at(wl_call *call);
void wl_rec_string_byte_count(wl_call *call);
void wl_rec_string_plus(wl_call *call);

#endif
