//! How the commands are linked, for a start that costs little beside a small script's own time; and what
//! they export.
//!
//! Problem: the loader corrects nine thousand addresses before a script starts, and reads 24 bytes for each;
//! and it loads the C compiler's library, of which Rust needs the part that unwinds. Design: relocations are
//! packed (DT_RELR), which takes 2.5 KB instead of 219; and that library is linked statically, by a script of
//! the linker that has the shared one's name. Each is a twentieth of the time of a script that does nothing.
//! Invariant: only where the command is built for the machine at hand, whose glibc knows the format (2.36 and
//! later ones do) and whose C compiler has the static library.
//!
//! ```text
//! readelf --dynamic target/release/tracelift    RELR, and no libgcc_s.so.1 among what is NEEDED
//! ```

use std::path::Path;
use std::process::Command;

/// Versions of glibc that load packed relocations, from this one on.
const PACKED_SINCE: (u32, u32) = (2, 36);

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn glibc() -> Option<(u32, u32)> {
    unsafe extern "C" {
        fn gnu_get_libc_version() -> *const std::ffi::c_char;
    }
    // SAFETY: the version is a string that lives as long as the process.
    let version = unsafe { std::ffi::CStr::from_ptr(gnu_get_libc_version()) };
    let mut parts = version.to_str().ok()?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn glibc() -> Option<(u32, u32)> {
    None
}

/// Whether the C compiler that links has the static library; it answers with the bare name if not.
fn has_static_unwinder() -> bool {
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output();
    answer.is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_absolute())
}

/// C modules find Lua's interface in the executable that loads them. A list of names, and not all: with all,
/// nothing that Rust's library has would be left out either.
fn export_interface() {
    // Told by the build script of `hosts/lua`.
    let list = std::env::var("DEP_TRACELIFT_LUA_EXPORTS").expect("hosts/lua has a list");
    let is_apple = std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple");
    let option = if is_apple { "-export_dynamic".into() } else { format!("--dynamic-list={list}") };
    // Both run Lua programs.
    for command in ["tlua", "tracelift"] {
        println!("cargo:rustc-link-arg-bin={command}=-Wl,{option}");
    }
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    export_interface();
    let variable = |name: &str| std::env::var(name).expect("cargo tells build scripts");
    let Some(version) = glibc().filter(|_| variable("TARGET") == variable("HOST")) else { return };
    if version >= PACKED_SINCE {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if has_static_unwinder() {
        let folder = variable("OUT_DIR");
        let script = Path::new(&folder).join("libgcc_s.so");
        std::fs::write(script, "GROUP ( -lgcc_eh -lgcc )\n").expect("OUT_DIR can be written");
        println!("cargo:rustc-link-arg-bins=-L{folder}");
    }
}
