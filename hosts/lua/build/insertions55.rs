//! Where the insertions into Lua 5.5 differ from those of `insertions.rs`.
//!
//! Problem: 5.5 has other tables, frames and loops than 5.4, but most of its text is the same.
//!
//! Design: a row names an insertion by file, anchor and side, and says what takes its place in 5.5: rows for
//! other anchors, or nothing, with the reason. What 5.5 alone needs is in [`ADDED`].
//!
//! Invariant: what is left out makes nothing wrong, only slower.
//!
//! Example: `Change { file: "ltablib.c", anchor: "…", place: Before, now: Err("arrays hold no TValues") }`.

use crate::insertions::Insertion;
use crate::insertions::Place::{self, After, Before};

/// What becomes of one insertion in 5.5.
pub struct Change {
    /// File of the insertion.
    pub file: &'static str,
    /// Its anchor in 5.4.
    pub anchor: &'static str,
    /// Its side.
    pub place: Place,
    /// What is inserted instead, or why nothing is.
    pub now: Result<&'static [Insertion], &'static str>,
}

impl Change {
    /// Whether it is about that insertion.
    pub fn is_of(&self, row: &Insertion) -> bool {
        (self.file, self.anchor, self.place) == (row.file, row.anchor, row.place)
    }
}

/// Insertions of 5.4 that are others in 5.5, in the same order.
pub const CHANGES: &[Change] = &[
    Change {
        file: "llimits.h",
        anchor: "#define luai_nummul(L,a,b)      ((a)*(b))",
        place: After,
        now: Ok(&[Insertion {
            file: "llimits.h",
            anchor: "#define luai_nummul(L,a,b)      ((void)L, (a)*(b))",
            place: After,
            text: "\n#include \"tlua_num.h\"",
            why: "of two NaNs the left one, whatever the compiler makes of a sum or product",
        }]),
    },
    Change {
        file: "lstate.c",
        anchor: "  g = &l->g;",
        place: After,
        now: Ok(&[Insertion {
            file: "lstate.c",
            anchor: "  L = &g->mainth.l;",
            place: After,
            text: "\n  if ((g->tlua = tlua_new()) == NULL) return (*f)(ud, g, sizeof(global_State), 0);",
            why: "it comes before the first thread, and a state without it is no state",
        }]),
    },
    Change {
        file: "lstate.c",
        anchor: "  luaX_init(L);",
        place: After,
        now: Err("there is no baseline code, which needs the names of types"),
    },
    Change {
        file: "lstate.c",
        anchor: "  luaM_freearray(L, G(L)->strt.hash, G(L)->strt.size);",
        place: Before,
        now: Ok(&[Insertion {
            file: "lstate.c",
            anchor: "  luaM_freearray(L, G(L)->strt.hash, cast_sizet(G(L)->strt.size));",
            place: Before,
            text: "  tlua_shutdown(L);\n",
            why: "the JIT's memory is freed after all objects and before the accounts are checked",
        }]),
    },
    Change {
        file: "lfunc.c",
        anchor: "  luaM_freearray(L, f->code, f->sizecode);",
        place: Before,
        now: Ok(&[Insertion {
            file: "lfunc.c",
            anchor: "  if (!(f->flag & PF_FIXED)) {\n    luaM_freearray(L, f->code,",
            place: Before,
            text: "  if (f->jit != NULL || f->jit_is_counted || f->jit_code != NULL) tlua_proto_freed(L, f);\n",
            why: "traces go with their function, since addresses of code are reused",
        }]),
    },
    Change {
        file: "ldo.c",
        anchor: "      L->ci = ci = prepCallInfo(L, func, nresults, 0, func + 1 + fsize);",
        place: After,
        now: Ok(&[Insertion {
            file: "ldo.c",
            anchor: "      L->ci = ci = prepCallInfo(L, func, status, func + 1 + fsize);",
            place: After,
            text: "\n      tlua_called(ci);",
            why: "where baseline code goes on when the function returns",
        }]),
    },
    Change {
        file: "lgc.c",
        anchor: "static int traverseproto (global_State *g, Proto *f) {",
        place: Before,
        now: Ok(&[Insertion {
            file: "lgc.c",
            anchor: "static l_mem traverseproto (global_State *g, Proto *f) {",
            place: Before,
            text: "void tlua_mark_value (global_State *g, const TValue *v) {\n  markvalue(g, v);\n}\n\n",
            why: "marking is private to this file",
        }]),
    },
    Change {
        file: "lgc.c",
        anchor: "    if(isdecGCmodegen(g))\n      genstep(L, g);",
        place: Before,
        now: Ok(&[Insertion {
            file: "lgc.c",
            anchor: "    luai_tracegc(L, 1);  /* for internal debugging */",
            place: After,
            text: "\n    g->tlua->collecting++;",
            why: "profilers tell the collector's time",
        }]),
    },
    Change {
        file: "lgc.c",
        anchor: "      incstep(L, g);\n",
        place: After,
        now: Ok(&[Insertion {
            file: "lgc.c",
            anchor: "    luai_tracegc(L, 0);  /* for internal debugging */",
            place: Before,
            text: "    g->tlua->collecting--;\n",
            why: "as above",
        }]),
    },
    Change {
        file: "lgc.c",
        anchor: "  g->gcemergency = isemergency;  /* set flag */",
        place: After,
        now: Ok(&[Insertion {
            file: "lgc.c",
            anchor: "  g->gcemergency = cast_byte(isemergency);  /* set flag */",
            place: After,
            text: "\n  g->tlua->collecting++;\n  g->tlua->is_full = 1;",
            why: "as above; and what a program asks for gives back as much memory as without the JIT",
        }]),
    },
    Change {
        file: "lgc.c",
        anchor: "  deletelist(L, g->allgc, obj2gco(g->mainthread));",
        place: Before,
        now: Ok(&[Insertion {
            file: "lgc.c",
            anchor: "  deletelist(L, g->allgc, obj2gco(mainthread(g)));",
            place: Before,
            text: "  if (l_unlikely(g->tlua->drain != NULL)) g->tlua->drain(L);\n  g->tlua->running = NULL;\n",
            why: "what a profiler has noted of functions is looked at before any of them is freed",
        }]),
    },
    Change {
        file: "ldo.c",
        anchor: "l_noret luaD_throw (lua_State *L, int errcode) {",
        place: After,
        now: Ok(&[Insertion {
            file: "ldo.c",
            anchor: "l_noret luaD_throw (lua_State *L, TStatus errcode) {",
            place: After,
            text: "\n  if (l_unlikely(L->jit->recording != NULL)) tlua_thrown(L);",
            why: "an error or a yield ends the recording of its thread",
        }]),
    },
    Change {
        file: "lstring.c",
        anchor: "unsigned int luaS_hash (const char *str, size_t l, unsigned int seed) {",
        place: After,
        now: Ok(&[Insertion {
            file: "lstring.c",
            anchor: "static unsigned luaS_hash (const char *str, size_t l, unsigned seed) {",
            place: After,
            text: "\n  return tlua_hash(str, l, seed);",
            why: "eight characters at a time; which number it is nobody knows, as the seed is random",
        }]),
    },
    Change {
        file: "ltable.c",
        anchor: "    if (f == NULL) {  /* cannot find a free place? */",
        place: After,
        now: Err("tables grow as Lua does it"),
    },
    Change {
        file: "ltable.c",
        anchor: "void luaH_free (lua_State *L, Table *t) {",
        place: After,
        now: Err("no table has its parts in its block"),
    },
    Change {
        file: "lvm.c",
        anchor: "            setivalue(s2v(ra + 3), idx);  /* and control variable */\n            pc -= GETARG_Bx(i);",
        place: After,
        now: Ok(&[Insertion {
            file: "lvm.c",
            anchor: "            chgivalue(s2v(ra + 2), idx);  /* update control variable */\n            pc -= GETARG_Bx(i);",
            place: After,
            text: " tlua_back_edge();",
            why: "numeric loops over integers",
        }]),
    },
    Change {
        file: "lvm.c",
        anchor: "else if (floatforloop(ra))",
        place: After,
        now: Ok(&[Insertion {
            file: "lvm.c",
            anchor: "else if (floatforloop(L, ra))",
            place: After,
            text: " {",
            why: "numeric loops over floats: opens the block",
        }]),
    },
    Change {
        file: "lvm.c",
        anchor: "          setobjs2s(L, ra + 2, ra + 4);  /* save control variable */\n          pc -= GETARG_Bx(i);",
        place: After,
        now: Ok(&[
            Insertion {
                file: "lvm.c",
                anchor: "        if (!ttisnil(s2v(ra + 3)))",
                place: After,
                text: " {",
                why: "generic loops: opens the block",
            },
            Insertion {
                file: "lvm.c",
                anchor: "  /* continue loop? */\n          pc -= GETARG_Bx(i);  /* jump back */",
                place: After,
                text: "\n          tlua_back_edge();\n        }",
                why: "generic loops: closes the block",
            },
        ]),
    },
    Change {
        file: "lobject.c",
        anchor: "    len = lua_integer2str(buff, MAXNUMBER2STR, ivalue(obj));",
        place: Before,
        now: Ok(&[Insertion {
            file: "lobject.c",
            anchor: "    len = lua_integer2str(buff, LUA_N2SBUFFSZ, ivalue(obj));",
            place: Before,
            text: "    len = tlua_print_integer(buff, ivalue(obj));\n  else if (ttisinteger(obj))\n",
            why: "whole numbers are written without a format; floats have as many digits as they need in 5.5",
        }]),
    },
    Change {
        file: "lvm.c",
        anchor: "    return;  /* \"all\" values already concatenated */",
        place: After,
        now: Err("values are joined as Lua does it"),
    },
    Change {
        file: "lstrlib.c",
        anchor: "#define uchar(c)\t((unsigned char)(c))",
        place: Before,
        now: Ok(&[Insertion {
            file: "lstrlib.c",
            anchor: "#include \"llimits.h\"",
            place: After,
            text: "\n#include \"tlua_match.h\"",
            why: "a faster matcher",
        }]),
    },
    Change {
        file: "lstrlib.c",
        anchor: "static int singlematch (MatchState *ms, const char *s, const char *p,",
        place: Before,
        now: Ok(&[Insertion {
            file: "lstrlib.c",
            anchor: "static int singlematch (MatchState *ms, const char *s, const char *p,",
            place: Before,
            text: "int tlua_item_has (int c, const char *item, const char *item_end) {\n  \
                   return *item == '[' ? matchbracketclass(c, item, item_end - 1)\n                     \
                   : match_class(c, cast_uchar(item[1]));\n}\n\n",
            why: "what an item's table is made from",
        }]),
    },
    Change {
        file: "lstrlib.c",
        anchor: "  if (l_unlikely(ms->matchdepth-- == 0))",
        place: Before,
        now: Ok(&[Insertion {
            file: "lstrlib.c",
            anchor: "  if (l_unlikely(ms->matchdepth-- == 0))",
            place: Before,
            text: "  if (ms->translated != NULL) {\n    unsigned char level = (unsigned char)ms->level;\n    \
                   s = tlua_match(ms->translated, ms->src_init, ms->src_end, s,\n                   \
                   (TluaCapture *)ms->capture, &level);\n    ms->level = level;\n    return s;\n  }\n",
            why: "patterns that were seen before are matched without looking at their text",
        }]),
    },
    Change {
        file: "ltablib.c",
        anchor: "static int sort (lua_State *L) {",
        place: Before,
        now: Err("arrays hold values and tags apart"),
    },
    Change {
        file: "ltablib.c",
        anchor: "    auxsort(L, 1, (IdxT)n, 0);",
        place: Before,
        now: Err("arrays hold values and tags apart"),
    },
    Change {
        file: "ltablib.c",
        anchor: "static int tconcat (lua_State *L) {",
        place: Before,
        now: Err("arrays hold values and tags apart"),
    },
    Change {
        file: "ltablib.c",
        anchor: "  last = luaL_optinteger(L, 4, last);\n  luaL_buffinit(L, &b);",
        place: Before,
        now: Err("arrays hold values and tags apart"),
    },
    Change {
        file: "lutf8lib.c",
        anchor: "LUAMOD_API int luaopen_utf8 (lua_State *L) {",
        place: Before,
        now: Ok(&[Insertion {
            file: "lutf8lib.c",
            anchor: "LUAMOD_API int luaopen_utf8 (lua_State *L) {",
            place: Before,
            text: "const luaL_Reg *tlua_utf8_functions (void) { return funcs; }\n\
                   const lua_CFunction tlua_codes_step = iter_auxstrict;\n\
                   const lua_CFunction tlua_lax_codes_step = iter_auxlax;\n\
                   const char *tlua_decode (const char *s, unsigned int *code, int is_strict) {\n  \
                   l_uint32 value = 0;\n  \
                   const char *next = utf8_decode(s, &value, is_strict);\n  \
                   *code = (unsigned int)value;\n  \
                   return next;\n}\n\n",
            why: "the functions, and the steps of 'utf8.codes', with and without the stack",
        }]),
    },
    Change {
        file: "lauxlib.c",
        anchor: "LUALIB_API lua_State *luaL_newstate (void) {\n",
        place: After,
        now: Ok(&[Insertion {
            file: "lauxlib.c",
            anchor: "LUALIB_API lua_State *(luaL_newstate) (void) {\n",
            place: After,
            text: "  if (tlua_state_made != NULL)\n    return tlua_newstate();\n",
            why: "and a heap of its own where it brings none",
        }]),
    },
    Change {
        file: "lauxlib.c",
        anchor: "LUALIB_API void luaL_checkversion_ (",
        place: Before,
        now: Ok(&[Insertion {
            file: "lauxlib.c",
            anchor: "LUALIB_API void luaL_checkversion_ (",
            place: Before,
            text: "lua_State *tlua_newstate_with (lua_Alloc allocate, void *user) {\n  \
                   lua_State *L = lua_newstate(allocate, user, luaL_makeseed(NULL));\n  \
                   if (l_likely(L)) {\n    lua_atpanic(L, &panic);\n    lua_setwarnf(L, warnfon, L);\n  }\n  \
                   return L;\n}\n\n\n",
            why: "a state with an allocator, and all else as luaL_newstate makes it",
        }]),
    },
];

/// What 5.5 needs besides.
pub const ADDED: &[Insertion] = &[Insertion {
    file: "ltable.c",
    anchor: "Table *luaH_new (lua_State *L) {",
    place: Before,
    text: "static const TValue *getintfromhash (Table *t, lua_Integer key);\n\n\
           const TValue *tlua_hash_slot (Table *t, const TValue *key) {\n  \
           switch (ttypetag(key)) {\n    \
           case LUA_VSHRSTR: return luaH_Hgetshortstr(t, tsvalue(key));\n    \
           case LUA_VNUMINT: return getintfromhash(t, ivalue(key));\n    \
           case LUA_VNIL: return &absentkey;\n    \
           default: return getgeneric(t, key, 0);\n  }\n}\n\n\
           const Node *tlua_last_free (const Table *t) {\n  \
           return haslastfree(t) ? getlastfree(t) : gnode(t, sizenode(t));\n}\n\n\
           size_t tlua_nodes_bytes (unsigned count) {\n  \
           Table t;\n  t.lsizenode = luaO_ceillog2(count);\n  return sizehash(&t);\n}\n\n\
           void tlua_lay_nodes (Table *t, void *block, unsigned count) {\n  \
           t->lsizenode = luaO_ceillog2(count);\n  \
           t->node = cast(Node *, cast_charp(block) + extraLastfree(t));\n  \
           if (haslastfree(t)) getlastfree(t) = gnode(t, count);\n  \
           setnodummy(t);\n  \
           for (unsigned i = 0; i < count; i++) {\n    \
           Node *n = gnode(t, i);\n    gnext(n) = 0;\n    keyval(n).gc = NULL;\n    \
           (n)->u.key_tt = LUA_TNIL;\n    setempty(gval(n));\n  }\n}\n\n\
           void tlua_place_no_nodes (lua_State *L, Table *t) { setnodevector(L, t, 0); }\n\n",
    why: "places of keys, and blocks of nodes, which are private to this file",
}];
