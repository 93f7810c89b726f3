//! The liveness of registers, instruction by instruction.
//!
//! Problem: an analysis that calls too much live passes every poison test and still spoils traces.
//!
//! Design: listings of small functions, checked by hand once.
//!
//! Invariant: at a loop's head only what the loop, or what follows it, reads again is live.
//!
//! Example: see the first test; temporaries are registers 6 and above, and dead at the head, instruction 7.

mod support;

use expect_test::{expect, Expect};
use support::script;

/// In 5.5 loops have other registers.
fn check(name: &str, text: &str, [of_54, of_55]: [Expect; 2]) {
    let listing = tracelift_lua::list_liveness(script(name, text)).expect("the text compiles");
    let expected = if cfg!(feature = "lua55") { of_55 } else { of_54 };
    expected.assert_eq(&listing);
}

#[test]
fn temporaries_are_dead_at_the_head_of_a_numeric_loop() {
    check(
        "live_for.lua",
        "local s, n = 0, 10 for i = 1, n do local t = i * 2 s = s + t * t end return s",
        [
            expect![[r#"
            function at line 0
               0 VARARGPREP 0 1 2 3 4 5 6 7
               1 LOADI     
               2 LOADI      0
               3 LOADI      0 1
               4 MOVE       0 1 2
               5 LOADI      0 1 2 3
               6 FORPREP    0 1 2 3 4
               7 MULK       0 1 2 3 4 5
               8 MMBINK     0 1 2 3 4 5
               9 MUL        0 1 2 3 4 5 6
              10 MMBIN      0 1 2 3 4 5 6
              11 ADD        0 1 2 3 4 5 6 7
              12 MMBIN      0 1 2 3 4 5 6 7
              13 FORLOOP    0 1 2 3 4
              14 RETURN     0 1
              15 RETURN     0 1
        "#]],
            expect![[r#"
            function at line 0
               0 VARARGPREP 0 1 2 3 4 5 6
               1 LOADI     
               2 LOADI      0
               3 LOADI      0 1
               4 MOVE       0 1 2
               5 LOADI      0 1 2 3
               6 FORPREP    0 1 2 3 4
               7 MULK       0 1 2 3 4
               8 MMBINK     0 1 2 3 4
               9 MUL        0 1 2 3 4 5
              10 MMBIN      0 1 2 3 4 5
              11 ADD        0 1 2 3 4 5 6
              12 MMBIN      0 1 2 3 4 5 6
              13 FORLOOP    0 1 2 3 4
              14 RETURN     0 1
              15 RETURN     0 1
        "#]],
        ],
    );
}

#[test]
fn while_loops_and_tests() {
    check(
        "live_while.lua",
        "local i, s = 0, 'x' while i < 10 do i = i + 1 local d = i % 3 if d == 0 then s = s .. d end end return s",
        [
        expect![[r#"
            function at line 0
               0 VARARGPREP 0 1 2 3 4
               1 LOADI     
               2 LOADK      0
               3 LTI        0 1
               4 JMP        0 1
               5 ADDI       0 1
               6 MMBINI     0 1
               7 MODK       0 1
               8 MMBINK     0 1
               9 EQI        0 1 2
              10 JMP        0 1 2
              11 MOVE       0 1 2
              12 MOVE       0 1 2 3
              13 CONCAT     0 1 2 3 4
              14 MOVE       0 1 2 3
              15 JMP        0 1
              16 RETURN     0 1
              17 RETURN     0 1
        "#]],
        expect![[r#"
            function at line 0
               0 VARARGPREP 0 1 2 3 4
               1 LOADI     
               2 LOADK      0
               3 LTI        0 1
               4 JMP        0 1
               5 ADDI       0 1
               6 MMBINI     0 1
               7 MODK       0 1
               8 MMBINK     0 1
               9 EQI        0 1 2
              10 JMP        0 1 2
              11 MOVE       0 1 2
              12 MOVE       0 1 2 3
              13 CONCAT     0 1 2 3 4
              14 MOVE       0 1 2 3
              15 JMP        0 1
              16 RETURN     0 1
              17 RETURN     0 1
        "#]],
        ],
    );
}

#[test]
fn captured_variables_are_held_until_they_are_closed() {
    check(
        "live_closure.lua",
        "local t = {} for i = 1, 3 do local x = i t[i] = function() x = x + 1 return x end x = 7 end return t",
        [
        expect![[r#"
            function at line 0
               0 VARARGPREP 0 1 2 3 4 5 6
               1 NEWTABLE  
               2 EXTRAARG   0
               3 LOADI      0
               4 LOADI      0 1
               5 LOADI      0 1 2
               6 FORPREP    0 1 2 3
               7 MOVE       0 1 2 3 4
               8 CLOSURE    0 1 2 3 4 5
               9 SETTABLE   0 1 2 3 4 5 6
              10 LOADI      0 1 2 3 4 5
              11 CLOSE      0 1 2 3 4 5
              12 FORLOOP    0 1 2 3
              13 RETURN     0
              14 RETURN     0
            function at line 1
               0 GETUPVAL  
               1 ADDI       0
               2 MMBINI     0
               3 SETUPVAL   0
               4 GETUPVAL  
               5 RETURN1    0
               6 RETURN0   
        "#]],
        expect![[r#"
            function at line 0
               0 VARARGPREP 0 1 2 3 4 5
               1 NEWTABLE  
               2 EXTRAARG   0
               3 LOADI      0
               4 LOADI      0 1
               5 LOADI      0 1 2
               6 FORPREP    0 1 2 3
               7 MOVE       0 1 2 3
               8 CLOSURE    0 1 2 3 4
               9 SETTABLE   0 1 2 3 4 5
              10 LOADI      0 1 2 3 4
              11 CLOSE      0 1 2 3 4
              12 FORLOOP    0 1 2 3
              13 RETURN     0
              14 RETURN     0
            function at line 1
               0 GETUPVAL  
               1 ADDI       0
               2 MMBINI     0
               3 SETUPVAL   0
               4 GETUPVAL  
               5 RETURN1    0
               6 RETURN0   
        "#]],
        ],
    );
}

#[test]
fn generic_loops_keep_iterator_state_and_control() {
    check(
        "live_generic.lua",
        "local s = 0 for k, v in pairs({}) do s = s + v end return s",
        [
            expect![[r#"
        function at line 0
           0 VARARGPREP 0 1 2 3 4 5 6 7
           1 LOADI     
           2 GETTABUP   0
           3 NEWTABLE   0 1
           4 EXTRAARG   0 1 2
           5 CALL       0 1 2
           6 TFORPREP   0 1 2 3 4
           7 ADD        0 1 2 3 4 5 6
           8 MMBIN      0 1 2 3 4 5 6
           9 TFORCALL   0 1 2 3 4
          10 TFORLOOP   0 1 2 3 4 5 6
          11 CLOSE      0 4
          12 RETURN     0
          13 RETURN     0
    "#]],
            expect![[r#"
            function at line 0
               0 VARARGPREP 0 1 2 3 4 5 6
               1 LOADI     
               2 GETTABUP   0
               3 NEWTABLE   0 1
               4 EXTRAARG   0 1 2
               5 CALL       0 1 2
               6 TFORPREP   0 1 2 3 4
               7 ADD        0 1 2 3 4 5
               8 MMBIN      0 1 2 3 4 5
               9 TFORCALL   0 1 2 3 4
              10 TFORLOOP   0 1 2 3 4 5
              11 CLOSE      0 1 2 3
              12 RETURN     0
              13 RETURN     0
        "#]],
        ],
    );
}

#[test]
fn open_results_and_to_be_closed_variables() {
    check(
        "live_open.lua",
        "local f <const> = ... local r <close> = nil local function g(...) return f(...) end return f(1, g(2, ...))",
        [
        expect![[r#"
            function at line 0
               0 VARARGPREP 0 1 2 3 4 5 6 7
               1 VARARG    
               2 LOADNIL    0
               3 TBC        0 1
               4 CLOSURE    0 1
               5 MOVE       0 1 2
               6 LOADI      0 1 2 3
               7 MOVE       0 1 2 3 4
               8 LOADI      0 1 2 3 4 5
               9 VARARG     0 1 2 3 4 5 6
              10 CALL       0 1 2 3 4 5 6 7
              11 CALL       0 1 2 3 4 5 6 7
              12 RETURN     0 1 2 3 4 5 6 7
              13 RETURN     0 1 2
            function at line 1
               0 VARARGPREP 0 1
               1 GETUPVAL  
               2 VARARG     0
               3 TAILCALL   0 1
               4 RETURN     0 1
               5 RETURN    
        "#]],
        expect![[r#"
            function at line 0
               0 VARARGPREP 0 1 2 3 4 5 6 7
               1 VARARG    
               2 LOADNIL    0
               3 TBC        0 1
               4 CLOSURE    0 1
               5 MOVE       0 1 2
               6 LOADI      0 1 2 3
               7 MOVE       0 1 2 3 4
               8 LOADI      0 1 2 3 4 5
               9 VARARG     0 1 2 3 4 5 6
              10 CALL       0 1 2 3 4 5 6 7
              11 CALL       0 1 2 3 4 5 6 7
              12 RETURN     0 1 2 3 4 5 6 7
              13 RETURN     0 1 2
            function at line 1
               0 VARARGPREP 0 1 2
               1 GETUPVAL   0
               2 VARARG     0 1
               3 TAILCALL   0 1 2
               4 RETURN     0 1 2
               5 RETURN     0
        "#]],
        ],
    );
}

#[test]
fn a_file_that_does_not_compile_is_an_error() {
    let error = tracelift_lua::list_liveness(script("live_bad.lua", "local = 1")).unwrap_err();
    assert!(error.to_string().contains("<name> expected"), "{error}");
}
