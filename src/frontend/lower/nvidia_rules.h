// What NVIDIA's compilers do where LLVM's own rules for the target, with other thresholds (vendor_options.cpp), do not
// say it: which loops they unroll (loops over private arrays, and how much of a loop where all of it is too much),
// which small private arrays stay in registers although their index is known only at run time, and which remainders by
// powers of two they do not see.
#pragma once

namespace llvm {
class Function;
class Loop;
class PassBuilder;
class TargetMachine;
}  // namespace llvm

namespace kernelcast::frontend {

/// Marks the loops of known trip counts that index a private array with their counter, where the unrolled size is at
/// most 2,430 instructions (phis, truncations, widened loads, parts of structures, casts and addresses of private
/// arrays count nothing), so that the array can live in registers. Loops in such loops count unrolled where they are
/// unrolled themselves. Loops that the source gives a pragma are left alone.
///
/// Source: the largest number of trips at which NVRTC 11.8, 12.4 and 13.0 (sm_80, all three alike) leave no array in
/// local memory, for 12 loops of one level (127 to 485 trips) and 6 nests of two and three levels (224 to 336
/// passages); loops without such an array end at a sixth of the size, 405.
void mark_loops_of_private_arrays(llvm::Function& kernel);

/// Makes pipelines of `builder` unroll innermost loops that are not unrolled whole, at most to a size of 202
/// instructions: by the largest power of two that divides a known even number of trips; by four or two, with a
/// remainder, where the number is odd or known only when the loop starts. Loops that the source gives a pragma are left
/// alone. Source: the same compilers, 23 sizes of loops with 960 and an unknown number of trips, 10 numbers of trips.
void unroll_parts_of_loops(llvm::PassBuilder& builder);

/// Unrolls what ptxas unrolls once more: innermost loops of one block without operations that ptxas expands into
/// branches, and without a pragma. Loops of unknown trips that unroll_parts_of_loops() has unrolled (of PTX: all), with
/// a 32-bit counter, by four with a remainder; they may hold 45 instructions, with at most 12 loads; without loads 20.
/// Loops of known trips (three or more) whole where that is little, or else by as many copies as make at most 350
/// instructions with what is left over. Source: ptxas of CUDA 13.0 for sm_86, 60 loops of unknown trips and 24 bodies
/// with 24 numbers of trips each (tools/measure/measure_assembler_unrolling.py). Returns whether a number of trips was
/// known: what is left over is to be simplified then.
bool unroll_as_assembler(llvm::Function& kernel, llvm::TargetMachine& machine);

/// Marks the loops whose counter is unsigned, or a sum with something unsigned, and steps by what is known only at run
/// time (`i += blockDim.x`). LLVM learns from the ranges of the launch's registers that many of them do not wrap
/// around, and how often they run; nvcc does not unroll them, even where their end is a constant. Call it before
/// anything but SROA. Source: nvcc 13.0 for sm_90, 22 forms of start and step, each with a constant and an unknown end
/// and with stores to global and to shared memory (docs/lab/h100.md).
void note_wrapping_counters(llvm::Function& kernel);

/// Marks the loops of which a pragma says that they are to be unrolled whole: what LLVM unrolls in part it marks as
/// done.
void note_unroll_pragmas(llvm::Function& kernel);
/// Whether a loop has that mark. A loop that was unrolled whole is none any more.
bool is_to_be_unrolled(const llvm::Loop& loop);

/// Whether ptxas leaves the loop as it is: a pragma says how it is to be unrolled, or unroll_as_assembler() has done
/// it.
bool is_left_as_it_is(const llvm::Loop& loop);

/// ptxas replaces accesses to a small array of 32-bit elements by a comparison and a predicated move for each element
/// that the index may mean, where that is little enough. Does the same to the kernel by selections; SROA then makes
/// values of the array. Call it on optimised code. Returns whether an array was replaced.
///
/// When: all arrays of unknown index together, where accesses x elements are no more than the kernel's instructions,
/// both weighted by loops, and neighbors that make one wide access counted once. Arrays that only counters of loops of
/// known trips index, each for itself, by the number of accesses and of passages. Measured on generated kernels
/// (docs/lab/registers.md). Arrays of 64-bit elements, and arrays above 256 bytes, stay in memory.
bool keep_small_arrays_in_registers(llvm::Function& kernel);

/// A store to a private variable that one way behind a branch overwrites before any read goes to the other way:
/// `int4 v{}; if (inside) v = *p;` stores once, as ptxas has it (STL behind a predicated load; CUDA 13.0, sm_86).
/// Call it once the arrays that live in registers are gone. Returns whether a store was moved.
bool store_once(llvm::Function& kernel);

/// LLVM 19 turns x % (2 * s) into a mask where s is 1, 2, 4 and so on by way of a loop; NVRTC 11.8, 12.4 and 13.0
/// divide
/// (`tid % (2 * s) == 0` of the first sum of every course on CUDA: 28 instructions a step instead of 8). Hides the
/// divisors of all remainders that are no constants from what follows, before anything is optimised.
void hide_divisors(llvm::Function& kernel);

/// Once variables are values: shows the divisors that LLVM would not see through, or NVIDIA's compilers would as well.
void show_other_divisors(llvm::Function& kernel);

/// Shows all divisors, after the last pass that would make a mask of one. Constants that they became by unrolling are
/// left to code generation.
void show_divisors(llvm::Function& kernel);

}  // namespace kernelcast::frontend
