//! The compiler: one trace in, relocation-free machine code and its exit table out.
//!
//! Problem: a tracing JIT compiles thousands of short functions, so set-up costs count. Design: [`Compiler`]
//! owns the reusable buffers of Cranelift and of lowering; a [`Request`] holds what differs from call to
//! call. The result owns its bytes, so that compiling can happen on another thread than running.
//!
//! Invariant: the code has no relocations (helpers are called by absolute address), so it may be copied to
//! any address that is aligned to 64 bytes. Example: see the crate's documentation.

use std::time::Instant;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir;
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::{CompiledCode, Context, Final, MachSrcLoc};
use target_lexicon::Architecture;
use tracelift_core::{Schema, Trace};

use crate::arena::ArenaOptions;
use crate::disassembly;
use crate::error::CompileError;
use crate::exits::ExitTable;
use crate::glue;
use crate::isa::{self, Options};
use crate::lir;
use crate::listing::{self, location};
use crate::lower::{self, Environment};
use crate::notes::Notes;
use crate::quick::{Code, Features, Quick, Unsupported};
use crate::request::{Compiled, Request, Stats};
use crate::unwind::{self, Frame};

/// A trace of a tree that becomes one function.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// Its particulars.
    pub request: &'a Request,
    /// The position of the trace at whose exit it begins, and that exit; `None` for the first one.
    pub parent: Option<(usize, u32)>,
    /// The position of the trace, one without a parent, in which it goes on at its end, by a link.
    pub goes_to: Option<usize>,
    /// How many slots the base of its frame lies above that of the first one's.
    pub frame: i32,
    /// Its `enter_loop` is for that trace's second body.
    pub enters: bool,
}

impl<'a> Member<'a> {
    /// A trace that becomes a function of its own.
    pub fn alone(trace: &'a Trace, request: &'a Request) -> Member<'a> {
        Member { trace, request, parent: None, goes_to: None, frame: 0, enters: false }
    }
}

/// Turns traces into machine code.
pub struct Compiler {
    options: Options,
    isa: OwnedTargetIsa,
    environment: Environment,
    features: Features,
    /// What lowering has made last.
    lowered: lir::Function,
    context: Context,
    quick: Quick,
}

/// A landing pad for calls, on aarch64.
const BTI_C: u32 = 0xd503_245f;
/// One for calls and for jumps.
const BTI_JC: u32 = 0xd503_24df;

/// Code, and the section that says how to get from it to its caller.
pub type WithUnwind = (Vec<u8>, Vec<u8>);

/// Machine code, whoever has made it.
struct Made {
    code: Code,
    disasm: Option<String>,
    by_cranelift: Option<&'static str>,
    /// Its section of unwind information, if notes are wanted.
    unwind: Vec<u8>,
}

impl Compiler {
    /// A compiler with these options.
    pub fn new(options: Options) -> Result<Compiler, CompileError> {
        let isa = isa::build(&options)?;
        let environment = Environment {
            call_conv: isa.default_call_conv(),
            has_rounding: isa::has_rounding(&*isa),
            has_blend: isa::has_blend(&*isa) && !options.quick,
            has_remainders: isa::has_fused_product(&*isa),
            alias_regions: options.optimize,
            unrolls: !options.no_unrolling,
            always_again: options.always_again,
            is_system_v: isa.triple().architecture == Architecture::X86_64
                && isa.default_call_conv() == CallConv::SystemV,
            prefetches: isa::has_prefetch(&*isa) && !options.optimize && !options.no_prefetching,
        };
        let features = Features {
            has_rounding: environment.has_rounding,
            has_fused_product: environment.has_remainders,
            has_avx: isa::has_avx(&*isa),
        };
        Ok(Compiler {
            options,
            isa,
            environment,
            features,
            lowered: lir::Function::new(glue::signature()),
            context: Context::new(),
            quick: Quick::default(),
        })
    }

    /// The options that it was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// An arena's options for its code: whether that has landing pads.
    pub fn arena_options(&self) -> ArenaOptions {
        ArenaOptions { has_landing_pads: isa::has_landing_pads(&*self.isa), ..ArenaOptions::default() }
    }

    /// Makes the code that leads into and out of linked traces, or takes it ready-made.
    pub fn glue(&mut self) -> Result<[Vec<u8>; 2], CompileError> {
        Ok(self.glue_with_unwind()?.map(|(code, _)| code))
    }

    /// The same with unwind information.
    pub fn glue_with_unwind(&mut self) -> Result<[WithUnwind; 2], CompileError> {
        let is_x86_64 = self.isa.triple().architecture == Architecture::X86_64;
        if is_x86_64 && self.environment.call_conv == CallConv::SystemV {
            let with_unwind = |at: usize| {
                let code = glue::X86_64[at];
                (code.to_vec(), Frame::of_glue(code, at == 0).section(code.len()))
            };
            return Ok([with_unwind(0), with_unwind(1)]);
        }
        self.make_glue()
    }

    fn make_glue(&mut self) -> Result<[WithUnwind; 2], CompileError> {
        let makers: [fn(&mut lir::Function, CallConv); 2] = [glue::enter, glue::leave];
        let mut codes = [WithUnwind::default(), WithUnwind::default()];
        for (make, code) in makers.iter().zip(&mut codes) {
            self.context.clear();
            make(&mut self.lowered, self.environment.call_conv);
            self.lowered.tell(&mut self.context.func);
            self.generate()?;
            let made = self.context.compiled_code().expect("it was generated just now");
            *code = (self.with_landing_pad(made)?, unwind::of_cranelift(made, &*self.isa));
        }
        Ok(codes)
    }

    /// Finished code. Where the processor wants landing pads, Cranelift's lets calls in: `bti c`. Links are
    /// jumps to the same place, by a register of which that one knows nothing: `bti jc`.
    fn with_landing_pad(&self, code: &CompiledCode) -> Result<Vec<u8>, CompileError> {
        let mut bytes = code.code_buffer().to_vec();
        if isa::has_landing_pads(&*self.isa) {
            match bytes.first_chunk_mut() {
                Some(first) if u32::from_le_bytes(*first) == BTI_C => *first = BTI_JC.to_le_bytes(),
                _ => return Err(CompileError::Codegen("code begins without a landing pad".to_string())),
            }
        }
        Ok(bytes)
    }

    fn generate(&mut self) -> Result<&CompiledCode, CompileError> {
        let code = self
            .context
            .compile(&*self.isa, &mut ControlPlane::default())
            .map_err(|error| CompileError::Codegen(format!("{:?}", error.inner)))?;
        match code.buffer.relocs().len() {
            0 => Ok(code),
            relocations => Err(CompileError::Relocations(relocations)),
        }
    }

    /// Compiles one trace.
    pub fn compile(
        &mut self,
        trace: &Trace,
        schema: &Schema,
        request: &Request,
    ) -> Result<Compiled, CompileError> {
        self.compile_tree(&[Member::alone(trace, request)], schema)
    }

    /// Compiles a tree of traces, parents first, to one function: those of a unit, or of a region. The result
    /// is that of the last trace, with the code of all.
    pub fn compile_tree(&mut self, tree: &[Member<'_>], schema: &Schema) -> Result<Compiled, CompileError> {
        let start = Instant::now();
        let (Some(root), Some(&Member { trace, request, .. })) = (tree.first(), tree.last()) else {
            return Err(CompileError::Malformed { inst: 0, what: "no trace" });
        };
        let mut tables: Vec<ExitTable> = tree.iter().map(|member| ExitTable::of(member.trace)).collect();
        let environment = &self.environment;
        let inputs: Vec<lower::Input<'_>> = (tree.iter().zip(&tables))
            .map(|(&Member { trace, request, parent, goes_to, frame, enters }, table)| lower::Input {
                trace,
                schema,
                request,
                exits: &table.exits,
                exit_numbers: &table.numbers,
                environment,
                parent,
                goes_to,
                frame,
                enters,
                again: false,
                copy_of: None,
            })
            .collect();
        let lowered = lower::lower(&inputs, &mut self.lowered)?;
        let clif = self.options.want_clif.then(|| {
            let mut func = ir::Function::new();
            self.lowered.tell(&mut func);
            func.display().to_string()
        });
        let lowered_insts = self.lowered.num_insts();
        let (want_listing, architecture) = (self.options.want_listing, self.isa.triple().architecture);
        // Linked traces leave that to the glue.
        let preserves = root.request.links.is_none() || root.trace.unit.is_some();
        let ops = || tree.iter().map(|member| member.trace.op_count()).sum::<usize>();
        let is_careful = tree.len() > 1 && root.trace.unit.is_none() && ops() <= self.options.carefully;
        let built = Instant::now();
        let Made { code: Code { bytes, marks, frame_bytes, .. }, disasm, by_cranelift, unwind } =
            self.code(preserves, is_careful)?;
        let is_stub =
            |mark: &&MachSrcLoc<Final>| !mark.loc.is_default() && mark.loc.bits() & location::STUB != 0;
        let stub_bytes = marks.iter().filter(is_stub).map(|mark| (mark.end - mark.start) as usize).sum();
        let mut stats = Stats {
            code_bytes: bytes.len(),
            stub_bytes,
            guards: trace.insts.iter().filter(|inst| inst.op.is_guard()).count(),
            stubs: lowered.stubs,
            unrolled: lowered.unrolled,
            prefetches: lowered.prefetches,
            again: lowered.again,
            ops: trace.op_count(),
            by_cranelift,
            lowered_insts,
            build_ns: (built - start).as_nanos() as u64,
            codegen_ns: built.elapsed().as_nanos() as u64,
            listing_ns: 0,
        };
        let exits = tables.pop().map(|table| table.exits).unwrap_or_default();
        let traces = tree.iter().map(|member| member.trace);
        let listed = Instant::now();
        let listing = (want_listing && tree.len() == 1).then(|| {
            let (code, marks, exits) = (&bytes[..], &marks[..], &exits[..]);
            listing::listing(&listing::Input { trace, schema, exits, architecture, code, marks })
        });
        stats.listing_ns = listed.elapsed().as_nanos() as u64;
        let live = exits.iter().map(|exit| exit.live.len()).max().unwrap_or(0);
        Ok(Compiled {
            trace_no: request.trace_no,
            code: bytes,
            exits,
            buffer_cells: live.max(lowered.buffer_inputs),
            frame_bytes: frame_bytes as usize,
            stats,
            clif,
            disasm,
            listing,
            notes: self.options.want_notes.then(|| Notes::new(unwind, traces, &marks)),
        })
    }
}

impl Compiler {
    /// Makes code of what lowering has made: quick code if it is wanted and can be made, and if the code is
    /// not worth more.
    fn code(&mut self, preserves: bool, is_careful: bool) -> Result<Made, CompileError> {
        let reason = match self.quick_code(preserves, is_careful) {
            Ok(code) => {
                let end = code.marks.last().map_or(0, |mark| mark.end as usize);
                let disasm = self
                    .options
                    .want_disasm
                    .then(|| disassembly::lines(self.isa.triple().architecture, &code.bytes[..end]));
                let unwind = match self.options.want_notes {
                    true => code.frame.section(code.bytes.len()),
                    false => Vec::new(),
                };
                return Ok(Made { code, disasm, by_cranelift: None, unwind });
            }
            Err(Unsupported(reason)) => reason,
        };
        let (prefetches, want_notes) = (self.environment.prefetches, self.options.want_notes);
        self.context.clear();
        self.context.set_disasm(self.options.want_disasm);
        self.lowered.tell(&mut self.context.func);
        self.generate()?;
        let code = self.context.compiled_code().expect("it was generated just now");
        let unwind = if want_notes { unwind::of_cranelift(code, &*self.isa) } else { Vec::new() };
        let mut bytes = self.with_landing_pad(code)?;
        let marks = code.buffer.get_srclocs_sorted().to_vec();
        if prefetches {
            lower::patch(self.isa.triple().architecture, &mut bytes, &marks)?;
        }
        let frame_bytes = code.buffer.frame_layout().map_or(0, |layout| layout.frame_to_fp_offset);
        let disasm = code.vcode.clone();
        let code = Code { bytes, marks, frame_bytes, frame: Frame::default() };
        Ok(Made { code, disasm, by_cranelift: Some(reason), unwind })
    }

    fn quick_code(&mut self, preserves: bool, is_careful: bool) -> Result<Code, Unsupported> {
        if !self.options.quick || self.options.optimize {
            return Err(Unsupported("it is not wanted"));
        }
        if is_careful {
            return Err(Unsupported("a small region"));
        }
        if !self.environment.is_system_v {
            return Err(Unsupported("another machine"));
        }
        self.quick.generate(&self.lowered, self.features, preserves)
    }
}

#[cfg(test)]
mod landing_pads {
    use super::*;
    use crate::isa::Target;

    /// Calls and links lead to all that is made for aarch64, and to nothing but its first instruction.
    #[test]
    fn code_for_aarch64_begins_with_a_landing_pad() {
        let mut compiler = Compiler::new(Options { target: Target::Aarch64, ..Options::default() }).unwrap();
        assert!(compiler.arena_options().has_landing_pads);
        let trace = tracelift_core::text::parse_trace("trace one\nL0(i0):\nfinish(i0)\n", &Schema::new());
        let request = Request::new(1, std::ptr::null_mut());
        let compiled = compiler.compile(&trace.unwrap(), &Schema::new(), &request).unwrap();
        let [enter, leave] = compiler.glue().unwrap();
        for code in [compiled.code, enter, leave] {
            let words = code.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
            let pads: Vec<usize> =
                words.enumerate().filter(|(_, word)| word & !0xc0 == 0xd503_241f).map(|(at, _)| at).collect();
            assert_eq!((pads, code[..4].to_vec()), (vec![0], BTI_JC.to_le_bytes().to_vec()));
        }
    }
}

/// Elsewhere nothing is ready-made.
#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::isa::Target;

    /// What is ready-made is what Cranelift makes, but for the registers that `enter` saves: its convention
    /// for linked traces may change with its version.
    #[test]
    fn ready_made_glue_is_cranelifts() {
        let mut compiler = Compiler::new(Options { target: Target::Native, ..Options::default() }).unwrap();
        let [enter, leave] = compiler.glue().unwrap();
        let made = compiler.make_glue().unwrap().map(|(code, _)| code);
        let pushes = &enter[4..14];
        let pops = &enter[enter.len() - 15..enter.len() - 5];
        assert_eq!(
            (pushes, pops),
            (
                &[0x53, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57, 0x50][..],
                &[0x59, 0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5b][..],
            )
        );
        let plain = [&enter[..4], &enter[14..enter.len() - 15], &enter[enter.len() - 5..]].concat();
        if [plain, leave] != made {
            panic!("Cranelift makes {made:#04x?}");
        }
    }
}
