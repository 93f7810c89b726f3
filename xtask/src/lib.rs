//! Installing: `tlua`, its manual page, the library `libtlua5.4`, Lua's headers, and what `pkg-config` reads.
//!
//! Problem: programs that embed Lua are linked with `liblua5.4`, against its headers. Rust's tools make no
//! library in C's manner: with all of Rust's own names in the static one, and none of Lua's in the shared
//! one. Design: Rust makes one archive; of that, the linker takes what Lua's interface needs into one
//! object, where all other names become private; and that object is the static library, and makes the shared
//! one. Invariant: both export what Lua's public headers declare and `tlua_declare_safe`, and nothing else.
//!
//! Example: `cargo xtask install --prefix ~/.local`, then
//! `cc program.c $(pkg-config --cflags --libs tlua5.4)`. Who looks for `lua5.4` finds it with
//! `PKG_CONFIG_PATH=~/.local/lib/tlua5.4/pkgconfig`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context};

/// Names of the library.
const STATIC: &str = "libtlua5.4.a";
const SHARED: &str = "libtlua5.4.so.0";
const SHARED_TO_LINK: &str = "libtlua5.4.so";

/// What Rust's library needs of the system.
const SYSTEM: [&str; 4] = ["-lm", "-ldl", "-lpthread", "-lgcc_s"];

/// Lua's headers that programs include.
const HEADERS: [&str; 4] = ["lua.h", "luaconf.h", "lauxlib.h", "lualib.h"];

/// A folder for `PKG_CONFIG_PATH`, in which Lua's usual names lead to the library.
const AS_LUA: &str = "lib/tlua5.4/pkgconfig";

/// For programs in C++.
const FOR_CXX: &str =
    "// Lua's headers for C++.\nextern \"C\" {\n#include \"lua.h\"\n#include \"lualib.h\"\n\
                       #include \"lauxlib.h\"\n}\n";

/// What is installed, and where.
#[derive(Clone, Debug)]
pub struct Install {
    /// Where programs will find it, as `/usr/local`.
    pub prefix: PathBuf,
    /// A folder that stands for the root of the file system, for packages.
    pub root: Option<PathBuf>,
    /// Cargo's profile.
    pub profile: String,
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| program.clone())?;
    if !status.success() {
        bail!("{program}: {status}");
    }
    Ok(())
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it is a folder of the workspace")
}

impl Install {
    fn folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let prefix = match &self.root {
            Some(root) => root.join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix)),
            None => self.prefix.clone(),
        };
        let folder = prefix.join(name);
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(folder)
    }

    /// Cargo's folder.
    fn target(&self) -> PathBuf {
        let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
        workspace().join(folder)
    }

    /// Where Cargo puts what it makes.
    fn made(&self) -> PathBuf {
        self.target().join(if self.profile == "dev" { "debug" } else { &self.profile })
    }

    /// Cargo with a command and a package, in the workspace.
    fn cargo(&self, words: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(workspace()).args(words).arg("--profile").arg(&self.profile);
        run(command.arg("--target-dir").arg(self.target()))
    }

    /// Builds and copies all of it.
    pub fn install(&self) -> anyhow::Result<()> {
        if !self.prefix.is_absolute() {
            bail!("the prefix must begin with /: it is written down for pkg-config");
        }
        self.cargo(&["build", "-p", "tracelift", "--bin", "tlua"])?;
        let programs = self.folder("bin")?;
        copy(&self.made().join("tlua"), &programs.join("tlua"))?;
        self.library()?;
        let headers = self.folder("include/tlua5.4")?;
        for name in HEADERS {
            copy(&Path::new(tracelift_lua::HEADERS).join(name), &headers.join(name))?;
        }
        fs::write(headers.join("lua.hpp"), FOR_CXX)?;
        fs::write(self.folder("lib/pkgconfig")?.join("tlua5.4.pc"), self.pkg_config())?;
        for name in ["lua.pc", "lua5.4.pc"] {
            fs::write(self.folder(AS_LUA)?.join(name), self.pkg_config())?;
        }
        let manual = self.folder("share/man/man1")?.join("tlua.1");
        copy(&workspace().join("docs/tlua.1"), &manual)
    }

    /// The two libraries.
    fn library(&self) -> anyhow::Result<()> {
        self.cargo(&["rustc", "-p", "tracelift-lua", "--lib", "--crate-type", "staticlib"])?;
        let archive = self.made().join("libtracelift_lua.a");
        let folder = self.folder("lib")?;
        // Beside what Cargo makes, as it is of no use to anybody else.
        let work = self.made().join("libtlua");
        fs::create_dir_all(&work)?;
        let object = work.join("tlua5.4.o");
        let exports: Vec<&str> = tracelift_lua::EXPORTS.split(' ').collect();
        let wanted = exports.iter().chain(&["tlua_state_made"]).map(|name| format!("-Wl,-u,{name}"));
        let mut join = Command::new("cc");
        // A program in Rust has sections of the same groups: of these the linker would keep one, without what
        // is private here.
        join.args(["-r", "-nostdlib", "-Wl,--force-group-allocation", "-o"]).arg(&object);
        run(join.args(wanted).arg(&archive))?;
        let list = work.join("exports");
        fs::write(&list, exports.join("\n") + "\n")?;
        let mut narrow = Command::new("objcopy");
        // What compilers left for optimizing at link time is not to be found in a mixture of all of it.
        narrow.args(["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
        run(narrow.arg("--keep-global-symbols").arg(&list).arg(&object))?;
        let library = folder.join(STATIC);
        if library.exists() {
            fs::remove_file(&library)?;
        }
        run(Command::new("ar").arg("rcs").arg(&library).arg(&object))?;
        let mut link = Command::new("cc");
        link.args(["-shared", "-Wl,--gc-sections", &format!("-Wl,-soname,{SHARED}"), "-o"]);
        run(link.arg(folder.join(SHARED)).arg(&object).args(SYSTEM))?;
        let to_link = folder.join(SHARED_TO_LINK);
        if to_link.symlink_metadata().is_ok() {
            fs::remove_file(&to_link)?;
        }
        std::os::unix::fs::symlink(SHARED, &to_link).with_context(|| to_link.display().to_string())
    }

    fn pkg_config(&self) -> String {
        format!(
            "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include/tlua5.4\n\n\
             Name: tlua5.4\nDescription: Lua 5.4 with a JIT\nVersion: 5.4\n\
             Libs: -L${{libdir}} -ltlua5.4\nLibs.private: {}\nCflags: -I${{includedir}}\n",
            self.prefix.display(),
            SYSTEM.join(" ")
        )
    }
}

/// Copies a file, in place of one that may be running.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let name = to.file_name().unwrap_or(OsStr::new("file")).to_string_lossy();
    let new = to.with_file_name(format!(".{name}.new"));
    fs::copy(from, &new).with_context(|| format!("{} to {}", from.display(), new.display()))?;
    fs::rename(&new, to).with_context(|| to.display().to_string())
}
