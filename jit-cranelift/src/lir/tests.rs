//! Tests of lowered code: what is built is what one reads, and what Cranelift is told.
//!
//! Example: each form of instruction in one function, as Cranelift's text.

use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{types, AbiParam};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::settings;

use super::*;

fn signature(params: &[Type], returns: &[Type]) -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend(params.iter().map(|&ty| AbiParam::new(ty)));
    signature.returns.extend(returns.iter().map(|&ty| AbiParam::new(ty)));
    signature
}

/// What Cranelift is told, if its verifier has nothing against it.
fn told(func: &Function) -> String {
    let mut told = cranelift_codegen::ir::Function::new();
    func.tell(&mut told);
    let flags = settings::Flags::new(settings::builder());
    cranelift_codegen::verify_function(&told, &flags).expect("it is valid");
    let text = told.display().to_string();
    text.lines().map(|line| line.trim().to_string() + "\n").collect()
}

/// A function that uses each form of instruction.
fn with_all_forms() -> Function {
    let mut func = Function::new(signature(&[types::I64, types::F64], &[types::I64]));
    let mut b = Builder::new(&mut func);
    let (first, next, aside) = (b.create_block(), b.create_block(), b.create_block());
    b.append_block_params_for_function_params(first);
    b.switch_to_block(first);
    let &[x, y] = b.block_params(first) else { panic!("two parameters") };
    let flags = MemFlagsData::trusted();
    let narrow = b.uload32(types::I64, flags, x, 4);
    b.istore8(flags, narrow, x, 12);
    let (sum, flag) = b.sadd_overflow(narrow, x);
    // Parameters come when they are wanted, in whatever order.
    let int = b.append_block_param(next, types::I64);
    let number = b.append_block_param(aside, types::I32);
    let double = b.append_block_param(next, types::F64);
    let number_given = b.iconst(types::I32, -1);
    b.set_cold_block(aside);
    b.brif(flag, aside, &[number_given], next, &[sum, y]);
    b.switch_to_block(aside);
    let callee = b.import_signature(signature(&[types::I64], &[types::I64, types::I64]));
    let wide = b.uextend(types::I64, number);
    let call = b.call_indirect(callee, x, &[wide]);
    let results: Vec<Value> = b.func.inst_results(call).collect();
    b.return_(&results[1..]);
    b.switch_to_block(next);
    let half = b.f64const(Ieee64::with_float(0.5));
    let product = b.fma(double, half, y);
    let bits = b.bitcast(types::I64, product);
    let is_less = b.fcmp(FloatCC::LessThan, product, half);
    let slot = b.create_stack_slot(8);
    let place = b.stack_addr(types::I64, slot);
    let chosen = b.select(is_less, bits, place);
    let known = b.icmp_imm_s(IntCC::Equal, chosen, 7);
    b.sequence_point();
    let class = b.func.alias_region(3);
    let known = b.uextend(types::I64, known);
    b.store(flags.with_alias_region(Some(class)), known, int, 0);
    b.jump(aside, &[number_given]);
    func
}

#[test]
fn cranelift_is_told_what_was_made() {
    let expected = "\
function u0:0(i64, f64) -> i64 system_v {
ss0 = explicit_slot 8, align = 8
region0 = 3 \"alias class\"
sig0 = (i64) -> i64, i64 system_v

block0(v0: i64, v1: f64):
v2 = uload32 notrap aligned v0+4
istore8 notrap aligned v2, v0+12
v3, v4 = sadd_overflow v2, v0
v8 = iconst.i32 -1
brif v4, block2(v8), block1(v3, v1)  ; v8 = -1

block2(v6: i32) cold:
v9 = uextend.i64 v6
v10, v11 = call_indirect.i64 sig0, v0(v9)
return v11

block1(v5: i64, v7: f64):
v12 = f64const 0x1.0000000000000p-1
v13 = fma v7, v12, v1  ; v12 = 0x1.0000000000000p-1
v14 = bitcast.i64 v13
v15 = fcmp lt v13, v12  ; v12 = 0x1.0000000000000p-1
v16 = stack_addr.i64 ss0
v17 = select v15, v14, v16
v18 = iconst.i64 7
v19 = icmp eq v17, v18  ; v18 = 7
sequence_point
v20 = uextend.i64 v19
store notrap aligned region0 v20, v5
jump block2(v8)  ; v8 = -1
}
";
    assert_eq!(told(&with_all_forms()), expected);
}

/// Blocks have their own instructions alone for neighbours.
#[test]
fn neighbours_are_of_one_block() {
    let func = with_all_forms();
    for block in func.blocks() {
        let insts: Vec<Inst> = func.block_insts(block).collect();
        let steps = insts
            .windows(2)
            .all(|pair| func.next_inst(pair[0]) == Some(pair[1]) && func.prev_inst(pair[1]) == Some(pair[0]));
        assert!(steps && func.prev_inst(insts[0]).is_none());
        assert_eq!(Some(func.first_inst(block)), insts.first().copied());
        assert_eq!(func.next_inst(insts[insts.len() - 1]), None);
    }
}

/// One function after another in the same buffers is as if each were the first.
#[test]
fn buffers_are_used_again() {
    let mut func = with_all_forms();
    func.begin(signature(&[types::I64], &[]));
    let mut b = Builder::new(&mut func);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    b.return_(&[]);
    let expected = "function u0:0(i64) system_v {\nblock0(v0: i64):\nreturn\n}\n";
    assert_eq!(told(&func), expected);
    assert_eq!((func.num_blocks(), func.num_values(), func.num_insts()), (1, 1, 1));
}
