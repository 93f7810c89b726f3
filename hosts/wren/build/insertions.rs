//! What is inserted into Wren's sources, and where. Nothing of Wren's own is changed or left out.
//!
//! Problem: the second host is *stock* Wren, and must stay so. Design: a table of insertions; each names a
//! file, a piece of text that occurs there exactly once, and what is put before or after it.
//! Invariant: with the JIT off the interpreter does what it does without them.
//! Example: the row for `ip -= offset;` counts back edges.

/// Which side of the anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The text ends where the anchor begins.
    Before,
    /// The text begins where the anchor ends.
    After,
}
use Place::{After, Before};

/// One insertion.
#[derive(Clone, Copy, Debug)]
pub struct Insertion {
    /// The file's name in the folder of sources.
    pub file: &'static str,
    /// What occurs there exactly once.
    pub anchor: &'static str,
    /// Which side of it.
    pub place: Place,
    /// What is inserted.
    pub text: &'static str,
    /// What for.
    pub why: &'static str,
}

/// All of them.
pub const INSERTIONS: &[Insertion] = &[
    Insertion {
        file: "wren_value.h",
        anchor: "  Value fields[FLEXIBLE_ARRAY];\n",
        place: Before,
        text: "  uint64_t wlCount;\n  Value* wlItems;\n",
        why: "fields are items of a record: the library keeps such objects virtual, tags and all",
    },
    Insertion {
        file: "wren_value.h",
        anchor: "  if (a.type == VAL_NUM) return a.as.num == b.as.num;\n",
        place: After,
        text: "  if (a.type != VAL_OBJ) return true;\n",
        why: "null, false and true are their tags: code leaves the payload beside these as it was",
    },
    Insertion {
        file: "wren_value.h",
        anchor: "  FnDebug* debug;\n} ObjFn;",
        place: Before,
        text: "  int32_t wlCounter;\n  uint8_t wlIsCounted;\n  uint8_t wlFlags;\n  uint8_t wlSeen;\n",
        why: "each function counts its entries",
    },
    Insertion {
        file: "wren_value.c",
        anchor: "#include \"wren_vm.h\"\n",
        place: After,
        text: "#include \"wl.h\"\n",
        why: "hooks",
    },
    Insertion {
        file: "wren_value.c",
        anchor: "  fn->arity = 0;\n",
        place: After,
        text: "  fn->wlCounter = 0;\n  fn->wlIsCounted = fn->wlFlags = fn->wlSeen = 0;\n",
        why: "each function counts its entries",
    },
    Insertion {
        file: "wren_value.c",
        anchor: "  initObj(vm, &instance->obj, OBJ_INSTANCE, classObj);\n",
        place: After,
        text: "  instance->wlCount = (uint64_t)classObj->numFields;\n  instance->wlItems = instance->fields;\n",
        why: "fields are items of a record",
    },
    Insertion {
        file: "wren_value.c",
        anchor: "      ObjFn* fn = (ObjFn*)obj;\n      wrenValueBufferClear(vm, &fn->constants);\n",
        place: Before,
        text: "      wl_function_freed(vm, (ObjFn*)obj);\n",
        why: "addresses of its instructions are no keys any more",
    },
    Insertion {
        file: "wren_value.c",
        anchor: "// Inserts [key] and [value] in the array of [entries] with the given\n",
        place: Before,
        text: "Value* wl_map_find(ObjMap* map, Value key)\n{\n  MapEntry* entry;\n  \
               return findEntry(map->entries, map->capacity, key, &entry) ? &entry->value : NULL;\n}\n\n",
        why: "code finds a key's value where it lies",
    },
    Insertion {
        file: "wren_vm.h",
        anchor: "  // The fiber that is currently running.\n  ObjFiber* fiber;\n",
        place: After,
        text: "\n  struct wl_state* lift;\n",
        why: "the JIT's state",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "#include \"wren_primitive.h\"\n#include \"wren_vm.h\"\n",
        place: After,
        text: "#include \"wl.h\"\n",
        why: "hooks",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "// Looks up a foreign method in [moduleName] on [className] with [signature].\n",
        place: Before,
        text: "void wl_close_upvalues(ObjFiber* fiber, Value* last) { closeUpvalues(fiber, last); }\n\
               ObjUpvalue* wl_capture(WrenVM* vm, Value* local)\n{\n  \
               return captureUpvalue(vm, vm->fiber, local);\n}\n\n",
        why: "code makes closures, and ends the life of variables that they share",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "  wrenInitializeCore(vm);\n",
        place: Before,
        text: "  wl_open(vm);\n",
        why: "the JIT's state",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "  wrenInitializeCore(vm);\n",
        place: After,
        text: "  wl_find_primitives(vm);\n",
        why: "what is built in is known by address",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "  // Free all of the GC objects.\n",
        place: Before,
        text: "  wl_close(vm);\n",
        why: "the JIT's state",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "  // Method names.\n  wrenBlackenSymbolTable(vm, &vm->methodNames);\n",
        place: After,
        text: "  if (vm->lift != NULL) wl_mark(vm);\n",
        why: "what code relies on lives as long as it",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "  // Remember the current fiber so we can find it if a GC happens.\n",
        place: Before,
        text: "  wl_enter(vm);\n",
        why: "a recording does not go on in another run of the interpreter",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "  #define INTERPRET_LOOP    DISPATCH();\n",
        place: Before,
        text: "  static void* wlRecorded[] = {\n    #define OPCODE(name, _) &&code_RECORDED,\n    \
               #include \"wren_opcodes.h\"\n    #undef OPCODE\n  };\n  \
               void** const wlStock = dispatchTable;\n  void** wlTable = wlStock;\n  \
               #define dispatchTable wlTable\n  \
               #define WL_ASK(question)                                                     \\\n      \
               do                                                                       \\\n      \
               {                                                                        \\\n        \
               STORE_FRAME();                                                         \\\n        \
               wlTable = (question) ? wlRecorded : wlStock;                           \\\n        \
               LOAD_FRAME();                                                          \\\n        \
               if (wrenHasError(fiber)) RUNTIME_ERROR();                              \\\n      \
               } while (false)\n",
        why: "while it records, each instruction goes by the recorder",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "      ip -= offset;\n",
        place: After,
        text: "      if (--vm->lift->counters[WL_COUNTER(ip)] < 0) WL_ASK(wl_loop(vm, ip));\n",
        why: "back edges are counted",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "          method->as.primitive(vm, args);\n          LOAD_FRAME();\n",
        place: After,
        text: "          if (--fn->wlCounter < 0) WL_ASK(wl_entry(vm, ip));\n",
        why: "calls of functions are counted",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "          wrenCallFunction(vm, fiber, (ObjClosure*)method->as.closure, numArgs);\n          LOAD_FRAME();\n",
        place: After,
        text: "          if (--fn->wlCounter < 0) WL_ASK(wl_entry(vm, ip));\n",
        why: "calls of methods are counted",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "        fiber->stackTop = frame->stackStart + 1;\n      }\n      \n      LOAD_FRAME();\n",
        place: After,
        text: "      if (fn->wlFlags && --fn->wlCounter < 0) WL_ASK(wl_entry(vm, ip));\n",
        why: "returns into functions that call themselves are counted",
    },
    Insertion {
        file: "wren_vm.c",
        anchor: "    CASE_CODE(END):\n      // A CODE_END should always be preceded by a CODE_RETURN.",
        place: Before,
        text: "    code_RECORDED:\n      \
               wlTable = wl_record(vm, ip - 1) ? wlRecorded : wlStock;\n      \
               goto *wlStock[instruction];\n\n",
        why: "while it records, each instruction goes by the recorder",
    },
];
