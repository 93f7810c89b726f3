//! How the command is linked.
//!
//! Problem: the loader corrects nine thousand addresses before a script starts, and reads 24 bytes for each.
//! Design: relocations are packed (DT_RELR), which takes 2.5 KB instead of 219 and a twentieth off the time
//! of a script that does nothing. Invariant: only where the command is built for the machine at hand, whose
//! glibc knows the format: 2.36 and later ones do.

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

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).expect("cargo tells build scripts");
    if variable("TARGET") == variable("HOST") && glibc().is_some_and(|version| version >= PACKED_SINCE) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}
