//! The tests run on the processor that was meant, and what they start was built for it, too.
//!
//! Problem: a script that tests another processor in an emulator passes just as well if one of its settings
//! is lost and all of it runs on the machine's own. Design: the script says in `TRACELIFT_EXPECT_ARCH` which
//! processor it means. The command and stock Lua, with which it is compared, must be executables for the
//! processor of this test.
//!
//! Invariant: nothing is started here, so that no emulator is needed to find a mistake. Example:
//! `TRACELIFT_EXPECT_ARCH=aarch64 cargo test --test architecture` fails on x86-64.
#![cfg(target_os = "linux")]

use std::path::Path;

/// The number of an executable's processor: two bytes of its ELF header.
fn processor(executable: &Path) -> u16 {
    let bytes = std::fs::read(executable).unwrap_or_else(|error| panic!("{}: {error}", executable.display()));
    assert_eq!(&bytes[..4], b"\x7fELF", "{}", executable.display());
    u16::from_le_bytes([bytes[18], bytes[19]])
}

#[test]
fn tests_and_programs_are_for_the_processor_that_was_meant() {
    if let Ok(expected) = std::env::var("TRACELIFT_EXPECT_ARCH") {
        assert_eq!(std::env::consts::ARCH, expected, "TRACELIFT_EXPECT_ARCH says what is to be tested");
    }
    let own = processor(&std::env::current_exe().expect("a test is an executable"));
    for (arch, number) in [("x86_64", 62), ("aarch64", 183)] {
        assert_eq!(std::env::consts::ARCH == arch, own == number, "{own}");
    }
    for started in [env!("CARGO_BIN_EXE_tracelift"), tracelift_lua::STOCK_LUA] {
        assert_eq!(processor(started.as_ref()), own, "{started}");
    }
}
