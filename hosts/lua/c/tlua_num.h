/*
** Sums and products of floats in the order of the program.
**
** Problem: of two NaNs a processor hands on the left one, and 'print' shows a NaN's sign. But in C 'a + b'
** has no order: compilers add 'a' to 'b' if that suits their registers, so that two builds of stock Lua by
** one compiler give different NaNs. Compiled code adds in the order of the program, and what a program
** prints must not depend on what is compiled.
**
** Design: the interpreter is made to do the same, by the instruction itself, where the compiler and the
** processor are known; the insertion in 'llimits.h' includes this file after the macros that it replaces.
** Compiled code could have followed the compiler instead, but then a product whose left operand is in memory
** becomes two instructions.
**
** Invariant: numbers come out as before; of two NaNs the left one does, for both operations, wherever Lua
** adds or multiplies.
**
** Example: nan(1) + nan(2) is nan(1), in the interpreter and in compiled code.
*/

#ifndef tlua_num_h
#define tlua_num_h

#if defined(__GNUC__) && LUA_FLOAT_TYPE == LUA_FLOAT_DOUBLE && (defined(__x86_64__) || defined(__aarch64__))

static inline double tlua_add (double a, double b) {
#if defined(__x86_64__)
  __asm__("addsd %1, %0" : "+x" (a) : "xm" (b));
#else
  __asm__("fadd %d0, %d1, %d2" : "=w" (a) : "w" (a), "w" (b));
#endif
  return a;
}

static inline double tlua_multiply (double a, double b) {
#if defined(__x86_64__)
  __asm__("mulsd %1, %0" : "+x" (a) : "xm" (b));
#else
  __asm__("fmul %d0, %d1, %d2" : "=w" (a) : "w" (a), "w" (b));
#endif
  return a;
}

#undef luai_numadd
#undef luai_nummul
#define luai_numadd(L,a,b) tlua_add(a, b)
#define luai_nummul(L,a,b) tlua_multiply(a, b)

#endif

#endif
