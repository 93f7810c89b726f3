//! Calling a host function through its address, whatever its signature.
//!
//! Problem: an evaluator has no code generator to make calls of arbitrary signatures with. Design: in both
//! calling conventions that machine code is made for (System V x86-64, AAPCS64) integer and pointer
//! parameters go to one sequence of registers and doubles to another, so one call that fills six of the first
//! and eight of the second suits every function that a schema may declare. Invariant: no reference that the
//! world does not know reaches a function, so a malformed trace cannot make it read foreign memory.
//!
//! Example: `test.mix(int, float)` gets its integer in the first integer register and its double in the first
//! float one.

use super::Fault;
use crate::schema::{Func, Schema};
use crate::types::{Bits, Type};
use crate::world::World;

type F = f64;
type IntFunction = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, F, F, F, F, F, F, F, F) -> u64;
type FloatFunction = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, F, F, F, F, F, F, F, F) -> f64;

/// Calls `func`; the bits of its result, if it has one.
pub(super) fn call(_: &Schema, world: &mut World, func: &Func, args: &[Bits]) -> Result<Option<Bits>, Fault> {
    if !func.evaluable || func.address == 0 {
        return Err(Fault::Opaque(func.name.clone()));
    }
    if args.len() != func.params.len() {
        return Err(Fault::Malformed("call with the wrong number of arguments"));
    }
    let (mut ints, mut floats) = ([0u64; 6], [0f64; 8]);
    let (mut int_count, mut float_count) = (0, 0);
    for (&ty, &bits) in func.params.iter().zip(args) {
        match ty {
            Type::Float => {
                let place =
                    floats.get_mut(float_count).ok_or(Fault::Malformed("too many float parameters"))?;
                *place = f64::from_bits(bits);
                float_count += 1;
            }
            _ => {
                if ty == Type::Ref && bits != 0 && world.layout_at(bits).is_none() {
                    return Err(Fault::Wild { address: bits, width: 8 });
                }
                let place = ints.get_mut(int_count).ok_or(Fault::Malformed("too many integer parameters"))?;
                *place = bits;
                int_count += 1;
            }
        }
    }
    let [a, b, c, d, e, f] = ints;
    let [s, t, u, v, w, x, y, z] = floats;
    let address = func.address as *const ();
    Ok(match func.result {
        Some(Type::Float) => {
            // SAFETY: the schema says that a C function with this result is there; it reads the registers of
            // its own parameters, which hold its arguments, and ignores the others.
            let result = unsafe {
                let function: FloatFunction = std::mem::transmute(address);
                function(a, b, c, d, e, f, s, t, u, v, w, x, y, z)
            };
            Some(result.to_bits())
        }
        other => {
            // SAFETY: as above; a function without a result leaves any bits, which are dropped.
            let result = unsafe {
                let function: IntFunction = std::mem::transmute(address);
                function(a, b, c, d, e, f, s, t, u, v, w, x, y, z)
            };
            other.map(|_| result)
        }
    })
}
