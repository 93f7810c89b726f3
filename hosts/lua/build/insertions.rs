//! The insertions that turn stock Lua 5.4 into a host of the JIT.
//!
//! Problem: the interpreter needs a few hook points (hot loops, recording, resuming at another place), but no
//! Lua source may lie in this repository and a patch file would carry much of it.
//!
//! Design: each row names a file, a short piece of text in it that occurs exactly once, and what to put
//! directly before or after that piece. Nothing is ever removed or replaced. What the inserted names do is
//! in `c/tlua.h`.
//!
//! Invariant: a row that does not match exactly once stops the build, so another version of Lua cannot be
//! patched by accident. The table is also compiled into the tests, which assert its size.
//!
//! Example: `Insertion { file: "ldo.c", place: After, anchor: "f (x) {", text: "\n  hook(x);", why: "…" }`.

/// On which side of the anchor the text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Directly before the anchor.
    Before,
    /// Directly after the anchor.
    After,
}
use Place::{After, Before};

/// One insertion into one file.
#[derive(Debug)]
pub struct Insertion {
    /// File name in the folder of sources.
    pub file: &'static str,
    /// Text that occurs exactly once in the file.
    pub anchor: &'static str,
    /// Side of the anchor.
    pub place: Place,
    /// Text to insert.
    pub text: &'static str,
    /// Reason, shown when the row does not match.
    pub why: &'static str,
}

/// All insertions, in the order of the files.
pub const INSERTIONS: &[Insertion] = &[
    // Fields.
    Insertion {
        file: "lobject.h",
        anchor: "} Proto;",
        place: Before,
        text: "  struct TluaProto *jit;\n  int jit_entries;\n  lu_byte jit_is_seen;\n\
               \x20 lu_byte jit_is_counted;\n  lu_byte jit_made;\n  lu_byte jit_is_refused;\n\
               \x20 lu_byte jit_has_no_code;\n  lu_byte jit_unit;\n  lu_byte jit_is_relied_on;\n\
               \x20 lu_byte jit_dropped;\n  lu_byte jit_has_place;\n  lu_byte jit_is_off;\n\
               \x20 const Instruction *jit_return;\n  uint64_t jit_fixed;\n\
               \x20 uint64_t jit_name;\n\
               \x20 void *jit_code;\n\
               \x20 void **jit_places;\n\
               \x20 uint32_t jit_code_id;\n",
        why: "what the JIT knows of a function: liveness, anchored constants, traces, fixed upvalues",
    },
    Insertion {
        file: "lobject.h",
        anchor: "#include \"llimits.h\"",
        place: Before,
        text: "#include <stdint.h>\n",
        why: "numbers of a known width",
    },
    Insertion {
        file: "lobject.h",
        anchor: "CommonHeader; lu_byte nupvalues;",
        place: After,
        text: " uint32_t jit_identity;",
        why: "which closure it is, in room that is free",
    },
    Insertion {
        file: "lobject.h",
        anchor: "typedef struct UpVal {\n  CommonHeader;",
        place: After,
        text: "\n  lu_byte jit_state;",
        why: "whether code relies on its value, in room that is free",
    },
    Insertion {
        file: "llimits.h",
        anchor: "#define luai_nummul(L,a,b)      ((a)*(b))",
        place: After,
        text: "\n#include \"tlua_num.h\"",
        why: "of two NaNs the left one, whatever the compiler makes of a sum or product",
    },
    Insertion {
        file: "lstate.h",
        anchor: "#include \"lzio.h\"",
        place: After,
        text: "\n#include \"tlua.h\"",
        why: "the hook macros, for every file that sees a lua_State",
    },
    Insertion {
        file: "lstate.h",
        anchor: "} global_State;",
        place: Before,
        text: "  struct Tlua *tlua;\n",
        why: "the JIT's state; it lives from lua_newstate to the end of lua_close",
    },
    Insertion {
        file: "lstate.h",
        anchor: "  volatile l_signalT hookmask;",
        place: After,
        text: "\n  struct Tlua *jit;\n  l_uint32 jit_level;",
        why: "the way from a thread to the JIT's state in one load; a coroutine's level of C calls",
    },
    // Birth and death of states, threads and functions.
    Insertion {
        file: "lstate.c",
        anchor: "  L->oldpc = 0;",
        place: After,
        text: "\n  L->jit = g->tlua;\n  L->jit_level = 0;",
        why: "all threads of a state share one JIT state",
    },
    Insertion {
        file: "lstate.c",
        anchor: "  g = &l->g;",
        place: After,
        text: "\n  if ((g->tlua = tlua_new()) == NULL) return (*f)(ud, l, sizeof(LG), 0);",
        why: "it comes before the first thread, and a state without it is no state",
    },
    Insertion {
        file: "lstate.c",
        anchor: "  luaX_init(L);",
        place: After,
        text: "\n  tlua_keep_type_names(L);",
        why: "they are needed without being looked for",
    },
    Insertion {
        file: "lstate.c",
        anchor: "    close_state(L);\n    L = NULL;\n  }\n",
        place: After,
        text: "  else if (tlua_state_made != NULL)\n    tlua_state_made(L);\n",
        why: "a program that is linked with the library gets its JIT by itself",
    },
    Insertion {
        file: "lstate.c",
        anchor: "  luaM_freearray(L, G(L)->strt.hash, G(L)->strt.size);",
        place: Before,
        text: "  tlua_shutdown(L);\n",
        why: "the JIT's memory is freed after all objects and before the accounts are checked",
    },
    Insertion {
        file: "lstate.c",
        anchor: "  L1->hookmask = L->hookmask;",
        place: After,
        text: "\n  L1->hookmask &= ~TLUA_RECORD_BIT;",
        why: "a new thread inherits the program's hooks, not our recording",
    },
    Insertion {
        file: "lstate.c",
        anchor: "void luaE_freethread (lua_State *L, lua_State *L1) {",
        place: After,
        text: "\n  tlua_thread_freed(L1);",
        why: "a recording must not outlive its thread",
    },
    Insertion {
        file: "lfunc.c",
        anchor: "  f->source = NULL;",
        place: After,
        text: "\n  f->jit = NULL;\n  f->jit_entries = f->jit_is_seen = f->jit_is_counted = f->jit_made = 0;\n\
               \x20 f->jit_is_relied_on = f->jit_dropped = f->jit_has_place = f->jit_is_off = 0;\n\
               \x20 f->jit_is_refused = f->jit_has_no_code = f->jit_unit = 0;\n  f->jit_return = NULL;\n\
               \x20 f->jit_fixed = f->jit_name = 0;\n\
               \x20 f->jit_code = NULL;\n  f->jit_places = NULL;",
        why: "a new function has no JIT data",
    },
    Insertion {
        file: "lfunc.c",
        anchor: "  c->p = NULL;",
        place: After,
        text: "\n  c->jit_identity = 0;",
        why: "no code knows a new closure, wherever it lies",
    },
    Insertion {
        file: "lfunc.c",
        anchor: "    uv->v.p = &uv->u.value;  /* make it closed */",
        place: After,
        text: "\n    uv->jit_state = 0;",
        why: "nor a new upvalue",
    },
    Insertion {
        file: "lfunc.c",
        anchor: "  uv->v.p = s2v(level);  /* current value lives in the stack */",
        place: After,
        text: "\n  uv->jit_state = 0;",
        why: "as above",
    },
    Insertion {
        file: "ldo.c",
        anchor: "  luaF_initupvals(L, cl);",
        place: After,
        text: "\n  tlua_loaded(L, cl->p);",
        why: "which variables are never assigned again is seen in the whole chunk",
    },
    Insertion {
        file: "lapi.c",
        anchor: "    setobj(L, val, s2v(L->top.p));",
        place: After,
        text: "\n    tlua_upvalue_set(L, owner);",
        why: "code may have its value as a constant",
    },
    Insertion {
        file: "lapi.c",
        anchor: "  *up1 = *up2;",
        place: After,
        text: "\n  tlua_upvalue_joined(L, f1, *up1);",
        why: "as above",
    },
    Insertion {
        file: "lfunc.c",
        anchor: "  luaM_freearray(L, f->code, f->sizecode);",
        place: Before,
        text: "  if (f->jit != NULL || f->jit_is_counted || f->jit_code != NULL) tlua_proto_freed(L, f);\n",
        why: "traces go with their function, since addresses of code are reused",
    },
    Insertion {
        file: "ldo.c",
        anchor: "#include \"lzio.h\"",
        place: After,
        text: "\n#include \"tlua_callinfo.h\"",
        why: "what is inserted next is defined there",
    },
    Insertion {
        file: "ldo.c",
        anchor: "      L->ci = ci = prepCallInfo(L, func, nresults, 0, func + 1 + fsize);",
        place: After,
        text: "\n      tlua_called(ci);",
        why: "where baseline code goes on when the function returns",
    },
    // The library's own iterators.
    Insertion {
        file: "lbaselib.c",
        anchor: "static int load_aux (lua_State *L, int status, int envidx) {",
        place: Before,
        text: "const lua_CFunction tlua_next = luaB_next;\nconst lua_CFunction tlua_ipairs_step = ipairsaux;\n\n",
        why: "the recorder knows what a step of 'pairs' and 'ipairs' does",
    },
    // The collector.
    Insertion {
        file: "lgc.c",
        anchor: "static int traverseproto (global_State *g, Proto *f) {",
        place: Before,
        text: "void tlua_mark_value (global_State *g, const TValue *v) {\n  markvalue(g, v);\n}\n\n",
        why: "marking is private to this file",
    },
    Insertion {
        file: "lgc.c",
        anchor: "  markobjectN(g, f->source);",
        place: After,
        text: "\n  if (f->jit != NULL) tlua_mark_proto(g, f);",
        why: "constants of traces live as long as the function",
    },
    Insertion {
        file: "lgc.c",
        anchor: "    if(isdecGCmodegen(g))\n      genstep(L, g);",
        place: Before,
        text: "    g->tlua->collecting++;\n",
        why: "profilers tell the collector's time",
    },
    Insertion {
        file: "lgc.c",
        anchor: "      incstep(L, g);\n",
        place: After,
        text: "    g->tlua->collecting--;\n",
        why: "as above",
    },
    Insertion {
        file: "lgc.c",
        anchor: "  g->gcemergency = isemergency;  /* set flag */",
        place: After,
        text: "\n  g->tlua->collecting++;\n  g->tlua->is_full = 1;",
        why: "as above; and what a program asks for gives back as much memory as without the JIT",
    },
    Insertion {
        file: "lgc.c",
        anchor: "  g->gcemergency = 0;\n",
        place: After,
        text: "  g->tlua->collecting--;\n  g->tlua->is_full = 0;\n",
        why: "as above",
    },
    Insertion {
        file: "lgc.c",
        anchor: "    status = luaD_pcall(L, dothecall, NULL, savestack(L, L->top.p - 2), 0);",
        place: Before,
        text: "    int collecting = g->tlua->collecting;\n    g->tlua->collecting = 0;\n",
        why: "but not that of finalizers",
    },
    Insertion {
        file: "lgc.c",
        anchor: "    status = luaD_pcall(L, dothecall, NULL, savestack(L, L->top.p - 2), 0);",
        place: After,
        text: "\n    g->tlua->collecting = collecting;",
        why: "as above",
    },
    Insertion {
        file: "lgc.c",
        anchor: "  luaS_clearcache(g);\n",
        place: Before,
        text: "  if (l_unlikely(g->tlua->drain != NULL)) g->tlua->drain(L);\n",
        why: "what a profiler has noted of functions is looked at before any of them is freed",
    },
    Insertion {
        file: "lgc.c",
        anchor: "  deletelist(L, g->allgc, obj2gco(g->mainthread));",
        place: Before,
        text: "  if (l_unlikely(g->tlua->drain != NULL)) g->tlua->drain(L);\n  g->tlua->running = NULL;\n",
        why: "as above, at the state's end",
    },
    Insertion {
        file: "lgc.c",
        anchor: "static void checkSizes (lua_State *L, global_State *g) {",
        place: After,
        text: "\n  if (!g->tlua->is_full && g->tlua->most_short >= g->strt.size / 4) return;",
        why: "it would soon grow again, where many strings are made and dropped in turn",
    },
    // Errors and recording.
    Insertion {
        file: "ldo.c",
        anchor: "l_noret luaD_throw (lua_State *L, int errcode) {",
        place: After,
        text: "\n  if (l_unlikely(L->jit->recording != NULL)) tlua_thrown(L);",
        why: "an error or a yield ends the recording of its thread",
    },
    Insertion {
        file: "ldebug.c",
        anchor: "    setobjs2s(L, pos, L->top.p - 1);",
        place: After,
        text: "\n    tlua_local_set(L, pos);",
        why: "compiled code that has called must not go on with what it knew of its registers",
    },
    Insertion {
        file: "ldebug.c",
        anchor: "  L->hookmask = cast_byte(mask);\n",
        place: After,
        text: "  if (mask && L->jit->unit_limit) *(volatile uint64_t *)L->jit->unit_limit = 0;\n",
        why: "compiled functions that call one another leave at their next call, for the hook",
    },
    Insertion {
        file: "ldebug.c",
        anchor: "LUA_API int lua_gethookmask (lua_State *L) {\n  return L->hookmask",
        place: After,
        text: " & ~TLUA_RECORD_BIT",
        why: "the private bit is invisible to programs",
    },
    Insertion {
        file: "ldebug.c",
        anchor: "  if (!(mask & (LUA_MASKLINE | LUA_MASKCOUNT))) {  /* no hooks? */",
        place: Before,
        text: "  if (l_unlikely((mask & TLUA_RECORD_BIT) || L->jit->waiting) \
               && tlua_record(L, ci, pc)) return 1;\n",
        why: "the recording callback, before each instruction and after a call that a recording waits for",
    },
    // Memory.
    Insertion {
        file: "lmem.c",
        anchor: "void *luaM_malloc_ (lua_State *L, size_t size, int tag) {",
        place: After,
        text: "\n  tlua_quick_malloc(L, size);",
        why: "small blocks come right from the state's own heap",
    },
    Insertion {
        file: "lmem.c",
        anchor: "void luaM_free_ (lua_State *L, void *block, size_t osize) {",
        place: After,
        text: "\n  tlua_quick_free(L, block, osize);",
        why: "and go back there",
    },
    // Strings.
    Insertion {
        file: "lstring.c",
        anchor: "unsigned int luaS_hash (const char *str, size_t l, unsigned int seed) {",
        place: After,
        text: "\n  return tlua_hash(str, l, seed);",
        why: "eight characters at a time, not one; which number it is nobody knows, as the seed is random",
    },
    Insertion {
        file: "lstring.c",
        anchor: "  unsigned int h = luaS_hash(str, l, g->seed);",
        place: Before,
        text: "  if (l_likely((ts = tlua_find_short(L, str, l)) != NULL)) return ts;\n",
        why: "strings of few characters are known by them",
    },
    Insertion {
        file: "lstring.c",
        anchor: "void luaS_clearcache (global_State *g) {",
        place: After,
        text: "\n  tlua_forget_short(g);",
        why: "short strings that are kept, which nobody may need any more",
    },
    // Tables.
    Insertion {
        file: "ltable.c",
        anchor: "    if (f == NULL) {  /* cannot find a free place? */",
        place: After,
        text: "\n      if (tlua_grow(L, t, key, value)) return;",
        why: "tables that grow in the commonest ways",
    },
    Insertion {
        file: "ltable.c",
        anchor: "      setnilkey(n);",
        place: After,
        text: "\n      keyval(n).gc = NULL;",
        why: "code looks at a key before, or together with, the key's tag",
    },
    Insertion {
        file: "ltable.c",
        anchor: "void luaH_free (lua_State *L, Table *t) {",
        place: After,
        text: "\n  if (tlua_free_whole(L, t)) return;",
        why: "a table whose parts follow it in its block is one block",
    },
    // The interpreter loop.
    Insertion {
        file: "lvm.c",
        anchor: "#include \"lvm.h\"",
        place: After,
        text: "\n#include \"tlua_callinfo.h\"\n#include \"tlua_get.h\"",
        why: "the hook macros below go on in other frames; fields are found without a call",
    },
    Insertion {
        file: "lvm.c",
        anchor: "  ncl->p = p;",
        place: After,
        text: "\n  tlua_made(p);",
        why: "a function's only closure can be told from those of a function that makes many",
    },
    Insertion {
        file: "lvm.c",
        anchor: "/*\n** finish execution of an opcode interrupted by a yield\n*/",
        place: Before,
        text: "void tlua_push_closure (lua_State *L, Proto *p, UpVal **outer, StkId base, StkId place) {\n  \
               pushclosure(L, p, outer, base, place);\n}\n\
               int tlua_prepare_loop (lua_State *L, StkId loop) { return forprep(L, loop); }\n\n",
        why: "baseline code does the instructions that these are parts of",
    },
    Insertion {
        file: "lvm.c",
        anchor: "#define dojump(ci,i,e)\t{",
        place: After,
        text: " size_t from = (size_t)pc;",
        why: "an address, not the offset, tells backward from forward below: one instruction less in conditional jumps",
    },
    Insertion {
        file: "lvm.c",
        anchor: " pc += GETARG_sJ(i) + e;",
        place: After,
        text: " if (e ? (size_t)pc <= from : (size_t)pc < from) tlua_back_edge();",
        why: "while, repeat and goto loops, also the jump inside a conditional test",
    },
    Insertion {
        file: "lvm.c",
        anchor: "            setivalue(s2v(ra + 3), idx);  /* and control variable */\n            pc -= GETARG_Bx(i);",
        place: After,
        text: " tlua_back_edge();",
        why: "numeric loops over integers",
    },
    Insertion {
        file: "lvm.c",
        anchor: "else if (floatforloop(ra))",
        place: After,
        text: " {",
        why: "numeric loops over floats: opens the block",
    },
    Insertion {
        file: "lvm.c",
        anchor: "        updatetrap(ci);  /* allows a signal to break the loop */",
        place: Before,
        text: "          tlua_back_edge();\n        }\n",
        why: "numeric loops over floats: closes the block",
    },
    Insertion {
        file: "lvm.c",
        anchor: "          setobjs2s(L, ra + 2, ra + 4);  /* save control variable */\n          pc -= GETARG_Bx(i);",
        place: After,
        text: " tlua_back_edge();",
        why: "generic loops",
    },
    Insertion {
        file: "lvm.c",
        anchor: "          ci = ci->previous;\n          goto returning;",
        place: Before,
        text: "          trap |= tlua_trap(ci->previous);\n",
        why: "a recording may wait for the call to come back",
    },
    Insertion {
        file: "lvm.c",
        anchor: " startfunc:\n",
        place: Before,
        text: "  tlua_resume_block();\n",
        why: "the slow path of the counters, and the way to go on at another instruction or frame",
    },
    Insertion {
        file: "lvm.c",
        anchor: " startfunc:\n",
        place: After,
        text: "  tlua_entry_edge();\n",
        why: "counts entries of functions, and where coroutines go on",
    },
    Insertion {
        file: "ldo.c",
        anchor: "l_sinline void ccall (lua_State *L, StkId func, int nResults, l_uint32 inc) {\n  \
                 CallInfo *ci;",
        place: After,
        text: "\n  if (l_unlikely(tlua_is_coded(func)) && tlua_call_fresh(L, func, nResults, inc)) return;",
        why: "what C calls most often is a Lua function that has baseline code",
    },
    Insertion {
        file: "ldo.c",
        anchor: "      luaV_execute(L, ci);  /* execute down to higher C 'boundary' */",
        place: Before,
        text: "      if (l_likely(!tlua_has_code(ci)) || !tlua_run_resumed(L, ci))\n",
        why: "coroutines go on in baseline code without the interpreter between",
    },
    Insertion {
        file: "lvm.c",
        anchor: "    trap = luaG_tracecall(L);\n",
        place: After,
        text: " l_jitresume:\n  tlua_enter_code();\n",
        why: "baseline code goes on where there is some; and resuming at a function's first instruction must \
              not call the program's call hook again",
    },
    // The libraries' functions.
    Insertion {
        file: "loadlib.c",
        anchor: "static void findloader (lua_State *L, const char *name) {",
        place: Before,
        text: "int tlua_finds_module (lua_State *L, const char *name);\n\n",
        why: "a module that nobody has to see before it is asked for",
    },
    Insertion {
        file: "loadlib.c",
        anchor: "      luaL_error(L, \"module '%s' not found:%s\", name, lua_tostring(L, -1));",
        place: Before,
        text: "      if (tlua_finds_module(L, name)) return;\n",
        why: "as above",
    },
    Insertion {
        file: "lbaselib.c",
        anchor: "LUAMOD_API int luaopen_base (lua_State *L) {",
        place: Before,
        text: "const luaL_Reg *tlua_base_functions (void) { return base_funcs; }\n\
               const lua_CFunction tlua_base_pcall = luaB_pcall;\n\
               const lua_KFunction tlua_finish_pcall = finishpcall;\n\n",
        why: "the recorder knows functions by their addresses, whatever the program does with names",
    },
    Insertion {
        file: "lbaselib.c",
        anchor: "static int luaB_pcall (lua_State *L) {",
        place: Before,
        text: "int tlua_pcall (lua_State *L);\n\n",
        why: "a short way to the function that is called",
    },
    Insertion {
        file: "lbaselib.c",
        anchor: "static int luaB_pcall (lua_State *L) {\n  int status;",
        place: After,
        text: "\n  int count = tlua_pcall(L);\n  if (count >= 0) return count;",
        why: "as above",
    },
    Insertion {
        file: "lcorolib.c",
        anchor: "static int auxresume (lua_State *L, lua_State *co, int narg) {",
        place: Before,
        text: "int tlua_resume (lua_State *L, lua_State *co, int arguments);\n\n",
        why: "a short way into a coroutine",
    },
    Insertion {
        file: "lcorolib.c",
        anchor: "static int auxresume (lua_State *L, lua_State *co, int narg) {",
        place: After,
        text: "\n  int count = tlua_resume(L, co, narg);\n  if (count >= -1) return count;",
        why: "as above",
    },
    Insertion {
        file: "lcorolib.c",
        anchor: "static int luaB_yield (lua_State *L) {",
        place: Before,
        text: "int tlua_yield (lua_State *L);\n\n",
        why: "a short way out of a coroutine: a yield returns if it has no C function to jump over",
    },
    Insertion {
        file: "lcorolib.c",
        anchor: "static int luaB_yield (lua_State *L) {",
        place: After,
        text: "\n  if (tlua_yield(L)) return -1;",
        why: "as above",
    },
    Insertion {
        file: "ldo.c",
        anchor: "  n = (*f)(L);  /* do the actual call */",
        place: After,
        text: "\n  if (l_unlikely(n < 0)) return n;",
        why: "a yield that returns: its call is over when the coroutine is resumed",
    },
    Insertion {
        file: "lvm.c",
        anchor: "          updatetrap(ci);  /* C call; nothing else to be done */",
        place: Before,
        text: "          if (l_unlikely(L->ci != ci)) return; else\n",
        why: "a yield that returns: the interpreter returns to who has resumed the coroutine",
    },
    Insertion {
        file: "ldo.c",
        anchor: "  while ((ci = L->ci) != &L->base_ci) {  /* something in the stack */",
        place: After,
        text: "\n    if (L->status == LUA_YIELD) return;",
        why: "a yield that returns: the interpreter has come back, but the coroutine has not ended",
    },
    Insertion {
        file: "ldo.c",
        anchor: "      luaV_finishOp(L);  /* finish interrupted instruction */",
        place: After,
        text: "\n      if (l_unlikely(L->jit->waiting)) tlua_wake(L, ci);",
        why: "a recording may wait for the resumption",
    },
    Insertion {
        file: "ldo.c",
        anchor: "  luai_userstateresume(L, nargs);",
        place: Before,
        text: "  L->jit_level = L->nCcalls;\n  lua_State *before = L->jit->running;\n\
               \x20 L->jit->running = L;\n",
        why: "a yield that returns: on this level no C function lies between it and its resume; profilers",
    },
    Insertion {
        file: "ldo.c",
        anchor: "  if (l_likely(!errorstatus(status)))\n    lua_assert(status == L->status);",
        place: Before,
        text: "  if (status == LUA_OK) status = L->status;\n",
        why: "a yield that returns: nobody has thrown its status",
    },
    Insertion {
        file: "ldo.c",
        anchor: "/*\n** Try to find a suspended protected call (a \"recover point\") for the",
        place: Before,
        text: "void tlua_unroll (lua_State *L) {\n  unroll(L, NULL);\n}\n\n\n",
        why: "what a short way into a coroutine does not do itself",
    },
    Insertion {
        file: "ldo.c",
        anchor: "  status = luaD_rawrunprotected(L, resume, &nargs);",
        place: After,
        text: "\n  status = tlua_end_resume(L, status, nresults);\n  L->jit->running = before;\n  \
               return status;\n}\n\n\n\
               int tlua_end_resume (lua_State *L, int status, int *nresults) {",
        why: "a short way into a coroutine ends as the API's",
    },
    Insertion {
        file: "lmathlib.c",
        anchor: "LUAMOD_API int luaopen_math (lua_State *L) {",
        place: Before,
        text: "const luaL_Reg *tlua_math_functions (void) { return mathlib; }\n\
               const luaL_Reg *tlua_random_functions (void) { return randfuncs; }\n\
               lua_Number tlua_random_float (void *state) { return I2d(nextrand(((RanState *)state)->s)); }\n\
               lua_Integer tlua_random_bits (void *state) { return (lua_Integer)I2UInt(nextrand(((RanState *)state)->s)); }\n\
               lua_Integer tlua_random_below (void *state, lua_Unsigned n) {\n  \
               Rand64 rv = nextrand(((RanState *)state)->s);\n  \
               return (lua_Integer)project(I2UInt(rv), n, (RanState *)state);\n}\n\n",
        why: "as above; and the generator of random numbers, without the stack",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "LUAMOD_API int luaopen_string (lua_State *L) {",
        place: Before,
        text: "const luaL_Reg *tlua_string_functions (void) { return strlib; }\n\
               const lua_CFunction tlua_gmatch_step = gmatch_aux;\n\
               void tlua_gmatch_places (void *state, const char *places[2], int back) {\n  \
               GMatchState *gm = (GMatchState *)state;\n  \
               if (back) { gm->src = places[0]; gm->lastmatch = places[1]; }\n  \
               else { places[0] = gm->src; places[1] = gm->lastmatch; }\n}\n\
               int tlua_gmatch_part (void *state, const char **part, size_t *length) {\n  \
               GMatchState *gm = (GMatchState *)state;\n  \
               MatchState *ms = &gm->ms;\n  \
               ms->translated = tlua_still(ms->translated);\n  \
               if (ms->translated == NULL) return -1;\n  \
               for (const char *src = gm->src, *e; src <= ms->src_end; src++) {\n    \
               reprepstate(ms);\n    \
               src = tlua_match_start(ms->translated, src, ms->src_end);\n    \
               if ((e = match(ms, src, gm->p)) == NULL || e == gm->lastmatch) continue;\n    \
               if (ms->level > 1 || (ms->level == 1 && ms->capture[0].len < 0)) return -1;\n    \
               *part = ms->level == 0 ? src : ms->capture[0].init;\n    \
               *length = ms->level == 0 ? (size_t)(e - src) : (size_t)ms->capture[0].len;\n    \
               gm->src = gm->lastmatch = e;\n    \
               return 1;\n  \
               }\n  \
               return 0;\n}\n\n",
        why: "as above; where a search is, as steps may be taken again; and a step that cannot fail",
    },
    // Numbers as text.
    Insertion {
        file: "lobject.c",
        anchor: "#include \"lvm.h\"",
        place: After,
        text: "\n#include \"tlua_match.h\"",
        why: "whole numbers are written without a format",
    },
    Insertion {
        file: "lobject.c",
        anchor: "  if ((e = l_str2int(s, &i)) != NULL) {  /* try as an integer */",
        place: Before,
        text: "  int is_float;\n  size_t size = tlua_read_number(s, &i, &n, &is_float);\n  \
               if (size > 0) {\n    \
               if (is_float) { setfltvalue(o, n); } else { setivalue(o, i); }\n    return size;\n  }\n",
        why: "decimal numerals are read in one go",
    },
    Insertion {
        file: "lobject.c",
        anchor: "    len = lua_integer2str(buff, MAXNUMBER2STR, ivalue(obj));",
        place: Before,
        text: "    len = tlua_print_integer(buff, ivalue(obj));\n  \
               else if ((len = tlua_print_float(buff, fltvalue(obj))) > 0)\n    return len;\n  \
               else if (ttisinteger(obj))\n",
        why: "as above",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "          nb = l_sprintf(buff, maxitem, form, (LUAI_UACINT)n);",
        place: Before,
        text: "          if (strcmp(form, LUA_INTEGER_FMT) == 0)\n            \
               nb = tlua_print_integer(buff, n);\n          else\n",
        why: "as above",
    },
    Insertion {
        file: "lvm.c",
        anchor: "    return;  /* \"all\" values already concatenated */",
        place: After,
        text: "\n  if (tlua_join(L, total)) return;",
        why: "numbers that are joined to strings need not become strings themselves",
    },
    // Matching.
    Insertion {
        file: "lstrlib.c",
        anchor: "#define uchar(c)\t((unsigned char)(c))",
        place: Before,
        text: "#include \"tlua_match.h\"\n",
        why: "a faster matcher",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "static int singlematch (MatchState *ms, const char *s, const char *p,",
        place: Before,
        text: "int tlua_item_has (int c, const char *item, const char *item_end) {\n  \
               return *item == '[' ? matchbracketclass(c, item, item_end - 1)\n                     \
               : match_class(c, uchar(item[1]));\n}\n\n",
        why: "what an item's table is made from",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "  const char *p_end;  /* end ('\\0') of pattern */",
        place: After,
        text: "\n  const TluaPattern *translated;",
        why: "patterns that were seen before",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "  ms->p_end = p + lp;",
        place: After,
        text: "\n  ms->translated = tlua_pattern(L, p, lp, ls);",
        why: "as above",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "  if (l_unlikely(ms->matchdepth-- == 0))",
        place: Before,
        text: "  if (ms->translated != NULL)\n    \
               return tlua_match(ms->translated, ms->src_init, ms->src_end, s,\n                      \
               (TluaCapture *)ms->capture, &ms->level);\n",
        why: "they are matched without looking at their text",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "      if ((res=match(&ms, s1, p)) != NULL) {",
        place: Before,
        text: "      if (!anchor) s1 = tlua_match_start(ms.translated, s1, ms.src_end);\n",
        why: "no attempt where it cannot match",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "    if ((e = match(&gm->ms, src, gm->p)) != NULL && e != gm->lastmatch) {",
        place: Before,
        text: "    gm->ms.translated = tlua_still(gm->ms.translated);\n    \
               src = tlua_match_start(gm->ms.translated, src, gm->ms.src_end);\n",
        why: "as above",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "  prepstate(&ms, L, src, srcl, p, lp);",
        place: After,
        text: "\n  const void *const *locale = tlua_locale(), *locale_then = *locale;",
        why: "replacements and finalizers may set another locale",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "    reprepstate(&ms);  /* (re)prepare state for new match */",
        place: After,
        text: "\n    if (*locale != locale_then) ms.translated = NULL;\n    \
               if (!anchor) {\n      \
               const char *start = tlua_match_start(ms.translated, src, ms.src_end);\n      \
               tlua_add_text(&b, src, (size_t)(start - src));\n      src = start;\n    }",
        why: "no attempt where it cannot match; what is passed over is copied at once",
    },
    Insertion {
        file: "lstrlib.c",
        anchor: "      push_onecapture(ms, 0, s, e);  /* first capture is the index */",
        place: Before,
        text: "      TluaCapture key = { s, e - s };\n      \
               if (ms->level > 0) key = *(TluaCapture *)ms->capture;\n      \
               int replaced = tlua_replace(L, b, &key, s, (size_t)(e - s));\n      \
               if (replaced >= 0) return replaced;\n",
        why: "what the table has is copied from where it lies",
    },
    Insertion {
        file: "ltablib.c",
        anchor: "#include \"lualib.h\"",
        place: After,
        text: "\nint tlua_geti (lua_State *L, int index, lua_Integer n);\n\
               void tlua_seti (lua_State *L, int index, lua_Integer n);\n\
               #define lua_geti tlua_geti\n#define lua_seti tlua_seti\n",
        why: "items of arrays are taken where they lie",
    },
    Insertion {
        file: "ltablib.c",
        anchor: "static int sort (lua_State *L) {",
        place: Before,
        text: "int tlua_sort_plain (lua_State *L, unsigned count);\n\n",
        why: "numbers and strings are sorted where they lie",
    },
    Insertion {
        file: "ltablib.c",
        anchor: "    auxsort(L, 1, (IdxT)n, 0);",
        place: Before,
        text: "    if (tlua_sort_plain(L, (IdxT)n)) return 0;\n",
        why: "as above",
    },
    Insertion {
        file: "ltablib.c",
        anchor: "static int tconcat (lua_State *L) {",
        place: Before,
        text: "int tlua_join_items (lua_State *L, lua_Integer first, lua_Integer last, const char *sep,\n\
               size_t n);\n\n",
        why: "strings and numbers in an array are joined without a buffer",
    },
    Insertion {
        file: "ltablib.c",
        anchor: "  last = luaL_optinteger(L, 4, last);\n  luaL_buffinit(L, &b);",
        place: Before,
        text: "  if (tlua_join_items(L, i, luaL_optinteger(L, 4, last), sep, lsep)) return 1;\n",
        why: "as above",
    },
    Insertion {
        file: "ltablib.c",
        anchor: "static int sort_comp (lua_State *L, int a, int b) {",
        place: Before,
        text: "int tlua_sort_less (lua_State *L, int a, int b);\n\n",
        why: "a short way to an order in Lua",
    },
    Insertion {
        file: "ltablib.c",
        anchor: "static int sort_comp (lua_State *L, int a, int b) {",
        place: After,
        text: "\n  int less = tlua_sort_less(L, a, b);\n  if (less >= 0) return less;",
        why: "as above",
    },
    Insertion {
        file: "ltablib.c",
        anchor: "LUAMOD_API int luaopen_table (lua_State *L) {",
        place: Before,
        text: "const luaL_Reg *tlua_table_functions (void) { return tab_funcs; }\n\n\
               #undef lua_geti\n#undef lua_seti\n",
        why: "as above",
    },
    Insertion {
        file: "lutf8lib.c",
        anchor: "LUAMOD_API int luaopen_utf8 (lua_State *L) {",
        place: Before,
        text: "const luaL_Reg *tlua_utf8_functions (void) { return funcs; }\n\
               const lua_CFunction tlua_codes_step = iter_auxstrict;\n\
               const lua_CFunction tlua_lax_codes_step = iter_auxlax;\n\
               const char *tlua_decode (const char *s, unsigned int *code, int is_strict) {\n  \
               utfint value = 0;\n  \
               const char *next = utf8_decode(s, &value, is_strict);\n  \
               *code = (unsigned int)value;\n  \
               return next;\n}\n\n",
        why: "as above; and the steps of 'utf8.codes', with and without the stack",
    },
    Insertion {
        file: "loslib.c",
        anchor: "LUAMOD_API int luaopen_os (lua_State *L) {",
        place: Before,
        text: "const luaL_Reg *tlua_os_functions (void) { return syslib; }\n\n",
        why: "as above",
    },
    Insertion {
        file: "lauxlib.c",
        anchor: "LUALIB_API lua_State *luaL_newstate (void) {\n",
        place: After,
        text: "  if (tlua_state_made != NULL)\n    return tlua_newstate();\n",
        why: "and a heap of its own where it brings none",
    },
    Insertion {
        file: "lauxlib.c",
        anchor: "LUALIB_API void luaL_checkversion_ (",
        place: Before,
        text: "lua_State *tlua_newstate_with (lua_Alloc allocate, void *user) {\n  \
               lua_State *L = lua_newstate(allocate, user);\n  \
               if (l_likely(L)) {\n    lua_atpanic(L, &panic);\n    lua_setwarnf(L, warnfoff, L);\n  }\n  \
               return L;\n}\n\n\n",
        why: "a state with an allocator, and all else as luaL_newstate makes it",
    },
];
