/* header.c: tracelift.h alone, as C11 and as C++17, with every warning an error. The constants are the
** library's own: runtime/src/capi asserts the same of the Rust structs, so that both sides of the border
** agree. */
#include "tracelift.h"

#ifdef __cplusplus
#define CHECK(what) static_assert(what, #what)
#else
#define CHECK(what) _Static_assert(what, #what)
#endif

CHECK(TL_ABI_VERSION == 7);
CHECK(TL_MAX_WORDS == 8);

CHECK(sizeof(tl_config) == 88);
CHECK(sizeof(tl_word) == 48 && offsetof(tl_word, left) == 40);
CHECK(offsetof(tl_config, abi) == 0);
CHECK(offsetof(tl_config, threshold) == 4);
CHECK(offsetof(tl_config, max_ops) == 8);
CHECK(offsetof(tl_config, max_snapshots) == 12);
CHECK(offsetof(tl_config, max_frames) == 16);
CHECK(offsetof(tl_config, flags) == 20);
CHECK(offsetof(tl_config, side_threshold) == 24);
CHECK(offsetof(tl_config, max_sides) == 28);
CHECK(offsetof(tl_config, code_bytes) == 32);
CHECK(offsetof(tl_config, force_exit) == 40);
CHECK(offsetof(tl_config, passes) == 48);
CHECK(offsetof(tl_config, log) == 56);
CHECK(offsetof(tl_config, log_file) == 64);
CHECK(offsetof(tl_config, start_seed) == 72);
CHECK(offsetof(tl_config, bytecode_price) == 80);
CHECK(offsetof(tl_config, call_price) == 84);

CHECK(sizeof(tl_element) == 32);
CHECK(offsetof(tl_element, stride) == 0);
CHECK(offsetof(tl_element, value) == 4);
CHECK(offsetof(tl_element, tag) == 20);
CHECK(offsetof(tl_element, untagged) == 24);
CHECK(offsetof(tl_element, absent) == 28);

CHECK(sizeof(tl_advice) == 28);
CHECK(sizeof(tl_run) == 24);
CHECK(offsetof(tl_run, enter) == 0);
CHECK(offsetof(tl_run, code) == 8);
CHECK(offsetof(tl_run, stack_slots) == 16);
CHECK(offsetof(tl_run, frames) == 20);

CHECK(sizeof(tl_frame) == 72);
CHECK(offsetof(tl_frame, base) == 0);
CHECK(offsetof(tl_frame, words) == 8);

CHECK(sizeof(tl_code_info) == 56);
CHECK(offsetof(tl_code_info, name) == 8);
CHECK(offsetof(tl_code_info, start) == 16);
CHECK(offsetof(tl_code_info, size) == 24);
CHECK(offsetof(tl_code_info, owner) == 32);
CHECK(offsetof(tl_code_info, words) == 40);
CHECK(offsetof(tl_code_info, nwords) == 48);
CHECK(sizeof(tl_code_span) == 8);
CHECK(sizeof(tl_code_bounds) == 40);
CHECK(offsetof(tl_code_bounds, host) == 16);
CHECK(offsetof(tl_code_bounds, compiling) == 32);

CHECK(sizeof(tl_left) == 16);
CHECK(offsetof(tl_left, exit) == 0);
CHECK(offsetof(tl_left, base) == 8);

CHECK(sizeof(tl_exit_info) == 40);
CHECK(offsetof(tl_exit_info, base) == 16);
CHECK(offsetof(tl_exit_info, owner) == 24);
CHECK(offsetof(tl_exit_info, outer) == 32);
CHECK(offsetof(tl_exit_info, kind) == 0);
CHECK(offsetof(tl_exit_info, nframes) == 4);
CHECK(offsetof(tl_exit_info, frames) == 8);

CHECK(sizeof(tl_limit) == 16);
CHECK(offsetof(tl_limit, end) == 0);
CHECK(offsetof(tl_limit, native_bytes) == 8);
CHECK(offsetof(tl_limit, least_base) == 12);

CHECK(sizeof(tl_view_info) == 64);
CHECK(offsetof(tl_view_info, code) == 0);
CHECK(offsetof(tl_view_info, lines) == 8);
CHECK(offsetof(tl_view_info, loops) == 16);
CHECK(offsetof(tl_view_info, source) == 24);
CHECK(offsetof(tl_view_info, name) == 32);
CHECK(offsetof(tl_view_info, source_length) == 40);
CHECK(offsetof(tl_view_info, count) == 48);
CHECK(offsetof(tl_view_info, stride) == 52);
CHECK(offsetof(tl_view_info, nloops) == 56);
CHECK(offsetof(tl_view_info, first_line) == 60);

CHECK(sizeof(tl_argument) == 8);
CHECK(offsetof(tl_argument, slot) == 0);
CHECK(offsetof(tl_argument, tag) == 4);
CHECK(TL_NO_SLOT == INT32_MIN);

CHECK(offsetof(tl_call_site, nframes) == 0);
CHECK(offsetof(tl_call_site, trace) == 4);
CHECK(offsetof(tl_call_site, stack_slots) == 8);
CHECK(offsetof(tl_call_site, more_frames) == 12);
CHECK(offsetof(tl_call_site, frames) == 16);

CHECK(TL_MOST_CALLS == 400);
CHECK(sizeof(tl_calls) == 24 + TL_MOST_CALLS * sizeof(uintptr_t));
CHECK(offsetof(tl_calls, epoch) == 0);
CHECK(offsetof(tl_calls, depth) == 8);
CHECK(offsetof(tl_calls, until_timed) == 12);
CHECK(offsetof(tl_calls, timed_depth) == 16);
CHECK(offsetof(tl_calls, has_overflowed) == 20);
CHECK(offsetof(tl_calls, open) == 24);

CHECK(sizeof(tl_action) == 4);
CHECK(TL_NOTHING == 0);
CHECK(TL_RUN == 1);
CHECK(TL_RECORD == 2);
CHECK(sizeof(tl_status) == 4);
CHECK(TL_OK == 0);
CHECK(TL_MISUSE == 1);
CHECK(TL_ABORTED == 2);
CHECK(TL_AGAIN == 3);
CHECK(TL_INTERNAL == 4);
CHECK(TL_INT == 0);
CHECK(TL_FLOAT == 1);
CHECK(TL_REF == 2);
CHECK(TL_ADDR == 3);
CHECK(TL_VOID == 4);
CHECK(TL_EXIT_GUARD == 0);
CHECK(TL_EXIT_INTERRUPT == 3);
CHECK(TL_EXIT_FINISH == 4);
CHECK(TL_EXIT_REFUSED == 5);

int main(void) {
  tl_config config = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0};
  config.abi = TL_ABI_VERSION;
  tl_vm *vm = tl_new(&config);
  if (!vm) return 1;
  tl_free(vm);
  return 0;
}
