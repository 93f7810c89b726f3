//! Lua's stand-alone interpreter: where its source is, what is inserted, and what an executable exports.
//!
//! Problem: `tlua` is to be what `lua` is, and `lua` is the file `lua.c`, which the crate `lua-src` has not.
//! C modules want Lua's interface from the executable that loads them, and look for files where the system's
//! own Lua does.
//!
//! Design: `lua.c` comes from another crate, for Lua 5.4.6, of which nothing else is used and nothing built;
//! what later versions do otherwise is inserted, for the oracle too, and lines that come from no terminal are
//! shown, as they are where it is built with GNU readline. A `lua.c` in the folder that the builder
//! names (`LUA_SRC_DIR`) comes first, as it is. The exported names are read from Lua's own headers. The
//! paths are those of the builder (`TLUA_PATH`, `TLUA_CPATH`), else those of Debian where it is one, else
//! Lua's.
//!
//! Invariant: the oracle `lua` and our `tlua` have the same `lua.c` but for the insertions that name the JIT.
//!
//! Example: `TLUA_PATH='/opt/lua/?.lua;./?.lua' cargo build --release`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::insert;
use crate::insertions::Insertion;
use crate::insertions::Place::{After, Before};
use crate::version::Version;

/// The crate with `lua.c`, and its place there.
const CRATE: &str = "rlua-lua54-sys";
const LUA_C: &str = "lua-5.4.6/src/lua.c";

/// What later versions of `lua.c` do and this one does not.
const LATER: &[Insertion] = &[
    Insertion {
        file: "lua.c",
        anchor: "status = docall(L, 1, 1);  /* call 'require(modname)' */\n",
        place: After,
        text: "  if (status == LUA_OK && modname == globname)\n    \
               globname[strcspn(globname, LUA_IGMARK)] = '\\0';\n",
        why: "a global is named by its module without the suffix",
    },
    Insertion {
        file: "lua.c",
        anchor: "    const char *msg = lua_tostring(L, -1);\n",
        place: After,
        text: "    if (msg == NULL)\n      msg = \"(error message not a string)\";\n",
        why: "an error in a message handler may be no string",
    },
    Insertion {
        file: "lua.c",
        anchor: "        *first = i + 1;\n",
        place: After,
        text: "        if (argv[i + 1] == NULL)\n          *first = 0;\n",
        why: "no script after `--` is no script, instead of an error",
    },
    Insertion {
        file: "lua.c",
        anchor: "      lua_pop(L, 1);\n      return 1;\n",
        place: Before,
        text: "      return 1;\n",
        why: "a line that is never completed is an error with a message: it is kept",
    },
    Insertion {
        file: "lua.c",
        anchor: "  if (readstatus == 0)\n",
        place: Before,
        text: "  if (readstatus == 0)\n    lua_pop(L, 1);\n",
        why: "and the prompt is not taken for it",
    },
    Insertion {
        file: "lua.c",
        anchor: "    lua_pushliteral(L, \"\\n\");  /* add newline... */",
        place: Before,
        text: "    lua_remove(L, -2);\n",
        why: "and it goes where there is another line",
    },
];

/// What 5.5 needs besides.
const FOR_55: &[Insertion] = &[
    Insertion {
        file: "lua.c",
        anchor: "#include \"lualib.h\"",
        place: After,
        text: "\n#include \"llimits.h\"",
        why: "lua_writestring and its like are declared elsewhere",
    },
    Insertion {
        file: "lua.c",
        anchor: "static int runargs (lua_State *L, char **argv, int n) {\n  int i;\n",
        place: After,
        text: "  lua_warning(L, \"@off\", 0);\n",
        why: "a new state tells warnings, and the command does not",
    },
];

/// What makes `lua` to `tlua`.
const OURS: &[Insertion] = &[
    Insertion {
        file: "lua.c",
        anchor: "      default:  /* invalid option */",
        place: Before,
        text: "      case 'j':\n        if (!tlua_front_option(argv[i] + 2))\n          return has_error;\n        \
               break;\n",
        why: "the option -j",
    },
    Insertion {
        file: "lua.c",
        anchor: "  \"  --        stop handling options\\n\"",
        place: Before,
        text: "  \"  -jword    compile or not, and tell: \
               on off v stats counts view= cache= p dump debug= compile= opt=\\n\"\n",
        why: "what -j is",
    },
    Insertion {
        file: "lua.c",
        anchor: "  luaL_openlibs(L);  /* open standard libraries */",
        place: Before,
        text: "  if (!tlua_front_open(L, argv, optlim, !(args & has_E), progname))\n    return 0;\n",
        why: "the state's JIT",
    },
];

/// A file `lua.c`, and what is to be inserted into it for the oracle.
pub struct Source {
    /// The one beside the sources that the builder named, or the crate's.
    pub path: PathBuf,
    later: Vec<&'static Insertion>,
}

/// Looks for `lua.c` beside Lua's sources, and in the crate's folder.
pub fn find(
    sources: &Path,
    version: &Version,
    folder_of: impl Fn(&str) -> Result<PathBuf, String>,
) -> Result<Source, String> {
    let beside = sources.join("lua.c");
    if beside.is_file() {
        return Ok(Source { path: beside, later: Vec::new() });
    }
    let later = LATER.iter().chain(if version.name == "5.5" { FOR_55 } else { &[] }).collect();
    Ok(Source { path: folder_of(CRATE)?.join(LUA_C), later })
}

impl Source {
    /// Writes `lua.c` for the oracle, and for `tlua` with our insertions.
    pub fn write(&self, lua: &Path, tlua: &Path) -> Result<(), String> {
        let explain = |path: &Path, error| format!("{}: {error}", path.display());
        let text = fs::read_to_string(&self.path).map_err(|error| explain(&self.path, error))?;
        for (to, ours) in [(lua, &[][..]), (tlua, OURS)] {
            let rows: Vec<&Insertion> = self.later.iter().copied().chain(ours).collect();
            fs::write(to, insert(text.clone(), &rows)?).map_err(|error| explain(to, error))?;
        }
        Ok(())
    }
}

/// Names that executables export for C modules: all that Lua's public headers declare, and what an
/// application may tell the JIT.
pub fn exports(sources: &Path) -> Result<Vec<String>, String> {
    let mut names = vec!["tlua_declare_safe".to_owned()];
    for header in ["lua.h", "lauxlib.h", "lualib.h"] {
        let path = sources.join(header);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        names.extend(declared(&text));
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// The functions that a header declares: their names stand in parentheses.
fn declared(header: &str) -> Vec<String> {
    let is_start =
        |line: &&str| ["LUA_API ", "LUALIB_API ", "LUAMOD_API "].iter().any(|word| line.starts_with(word));
    let starts = header.lines().enumerate().filter(|(_, line)| is_start(line)).map(|(at, _)| at);
    let lines: Vec<&str> = header.lines().collect();
    let named = |at: usize| {
        let declaration = lines[at..].iter().take(2).copied().collect::<Vec<_>>().join(" ");
        let begin = declaration.find("(lua")? + 1;
        let length = declaration[begin..].find(')')?;
        Some(declaration[begin..begin + length].to_owned())
    };
    starts.filter_map(named).collect()
}

/// A list of dynamic symbols as linkers read it.
pub fn write_exports(names: &[String], out: &Path) -> Result<PathBuf, String> {
    let path = out.join("tlua_exports.list");
    let text = format!(
        "{{\n{}\n}};\n",
        names.iter().map(|name| format!("  {name};")).collect::<Vec<_>>().join("\n")
    );
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Where modules are looked for, if not where Lua's own sources say: for `LUA_PATH_DEFAULT` and
/// `LUA_CPATH_DEFAULT`.
pub fn module_paths(version: &str) -> [Option<String>; 2] {
    let debian = debian_paths(version);
    let chosen = |name: &str| env::var(name).ok().filter(|path| !path.is_empty());
    let [path, cpath] = match debian {
        Some([path, cpath]) => [Some(path), Some(cpath)],
        None => [None, None],
    };
    [chosen("TLUA_PATH").or(path), chosen("TLUA_CPATH").or(cpath)]
}

/// The paths of Debian's Lua, in its order, where this is a Debian and what is built is for it.
fn debian_paths(version: &str) -> Option<[String; 2]> {
    let is_native = env::var("TARGET").ok()? == env::var("HOST").ok()?;
    if !is_native || !Path::new("/etc/debian_version").exists() {
        return None;
    }
    let multiarch = cc::Build::new().get_compiler().to_command().arg("-print-multiarch").output();
    let multiarch = multiarch.ok().and_then(|output| String::from_utf8(output.stdout).ok())?;
    let multiarch = multiarch.trim();
    if multiarch.is_empty() || !Path::new("/usr/lib").join(multiarch).is_dir() {
        return None;
    }
    let lua_files = |folder: &str| format!("{folder}/?.lua;{folder}/?/init.lua");
    let [local_share, local_lib, share] =
        ["/usr/local/share/lua", "/usr/local/lib/lua", "/usr/share/lua"].map(|at| format!("{at}/{version}"));
    let path = [&local_share, &local_lib, &share, "."].map(lua_files).join(";");
    let cpath = format!(
        "{local_lib}/?.so;/usr/lib/{multiarch}/lua/{version}/?.so;/usr/lib/lua/{version}/?.so;\
         {local_lib}/loadall.so;./?.so"
    );
    Some([path, cpath])
}

/// Links objects to an executable that exports Lua's interface.
pub fn link(build: &cc::Build, objects: &[PathBuf], executable: &Path) -> Result<(), String> {
    let mut link: Command = build.get_compiler().to_command();
    link.args(objects).arg("-o").arg(executable).arg("-lm");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        link.args(["-ldl", "-Wl,-E"]);
    }
    let status = link.status().map_err(|error| format!("cannot link {}: {error}", executable.display()))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("cannot link {}: {status}", executable.display())),
    }
}
