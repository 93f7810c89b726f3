//! The command `wrenlift`: Wren with the JIT. All of it is in `c/wl_command.c`.

use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;

fn main() {
    let arguments = std::env::args_os()
        .map(|argument| CString::new(argument.into_vec()).expect("an argument has no NUL"))
        .collect();
    std::process::exit(tracelift_wren::run_command(arguments));
}
