// Program: one optimised kernel as the interpreter runs it. Decoded once, free of LLVM, the same for every launch.
//
// Registers hold one value a lane. Vectors and structures are taken apart: one register an element. Pointers are 64-bit
// integers (see address.h for the address spaces). Control flow is by basic block; phi nodes are copies on the
// edges. Each block and each access names its counterpart in the profile, so that what is executed can be counted
// under the same headings as the closed forms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernelcast/profile.h"

namespace kernelcast {

/// What one lane of a register holds. Integers of odd widths live in the next wider type, zero-extended.
enum class ValueType : std::uint8_t { i1, i8, i16, i32, i64, i128, f16, f32, f64 };
/// Bytes of one lane in a register and, but for i1, in memory.
int size_of(ValueType t);
bool is_float(ValueType t);

/// `type` is that of the operands unless said otherwise; `dst` has the type of the result.
enum class Opcode : std::uint8_t {
  // dst = a op b
  add, sub, mul, udiv, sdiv, urem, srem, shl, lshr, ashr, and_, or_, xor_,
  fadd, fsub, fmul, fdiv, frem,
  umin, umax, smin, smax,
  uadd_sat, usub_sat, sadd_sat, ssub_sat,
  mulhi_u, mulhi_s,  // upper half of the product
  // dst (i1) = a op b
  eq, ne, ult, ule, ugt, uge, slt, sle, sgt, sge,
  foeq, fone, folt, fole, fogt, foge, ford, fueq, fune, fult, fule, fugt, fuge, funo,
  uadd_overflow, usub_overflow, umul_overflow, sadd_overflow, ssub_overflow, smul_overflow,
  // dst = op a
  fneg, popcount, count_leading_zeros, count_trailing_zeros, reverse_bits, swap_bytes,
  classify,  // dst (i1) = a is of one of the classes of floating-point numbers in imm (bits as llvm.is.fpclass has them)
  // dst = a ? b : c; `type` is that of b and c, a is i1
  select,
  // dst = op(a, b, c)
  fma, shift_left_double, shift_right_double, bit_extract_u, bit_extract_s, permute_bytes,
  // conversions; `type` is that of a, `to` that of dst
  move,            // same bits
  truncate, zero_extend, sign_extend, float_to_float, float_to_unsigned, float_to_signed, unsigned_to_float, signed_to_float,
  low_bits,        // dst = a mod 2^imm (integers of odd widths)
  sign_from_bits,  // dst = the imm low bits of a, sign-extended
  // dst = a + sign_extend(b) * imm; a and dst are i64, `type` is that of b
  address,
  // mathematical function number imm (MathFunction) of a, b, c; `type` is that of a and of dst
  math,
  // memory: address in a, displacement imm, `extra` consecutive registers of `type` from dst (load) or b (store)
  load, store,
  atomic,          // imm: AtomicOp; b: operand, c: the value to compare with (compare_exchange); dst: the old value
  // the warp or the block together
  barrier,         // the whole block; with `to` = i1 and imm: BarrierOp over a; b: number of the barrier, c: threads that meet
  barrier_arrive,  // comes to barrier b of c threads and goes on
  warp_barrier,
  copy_group,      // of cp.async and of copies in bulk, each lane for itself; imm: CopyGroup, how many stay open << 8
  mbarrier,        // imm: MbarrierOp, its flags << 8; a: address, b and c: its operands; dst: the state (i64), or i1
  bulk_read,       // a copy in bulk of each lane: a: where from, c: bytes (i32). bulk_write follows at once
  bulk_write,      // a: where to, b: address of the mbarrier, c: bytes; imm: BulkOp, AtomicOp << 8 on elements of `type`
  vote,            // imm: VoteOp; a: i1 predicate; dst i1 or i32
  shuffle,         // imm: ShuffleOp; a: value, b: lane, delta or mask, c: clamp and segment mask as PTX has them; dst2: i1 or none
  permute_lanes,   // AMD: imm: PermuteOp; a: value, b: selector; `extra`: further immediate
  reduce,          // imm: AtomicOp over the active lanes, result to all of them
  lane_id,         // dst i32
  active_mask,     // dst i32 or i64
  clock,           // dst i32 or i64: instructions of the warp so far
  finding,         // reports trouble that the code itself names (a failed assertion, a trap); imm: text number
};

enum class AtomicOp : std::uint8_t {
  exchange, add, sub, and_, or_, xor_, nand, smin, smax, umin, umax, fadd, fsub, fmin, fmax, wrap_inc, wrap_dec,
  compare_exchange
};
enum class BarrierOp : std::uint8_t { none, count, all, any };
enum class CopyGroup : std::uint8_t { commit, wait, wait_all, bulk_commit, bulk_wait };
/// b: expected arrivals, bytes, arrivals (none: 1), or the state or parity that is waited for; c: bytes to expect before
/// the arrival.
enum class MbarrierOp : std::uint8_t { init, invalidate, expect, complete, arrive, wait_state, wait_parity, arrive_copies };
inline constexpr int mbarrier_drops = 1, mbarrier_no_increment = 2;  // arrive: for the later phases, too; arrive_copies: .noinc
enum class BulkOp : std::uint8_t { to_mbarrier, to_group, reduce };
enum class VoteOp : std::uint8_t { all, any, uniform, ballot, match_any, match_all };
enum class ShuffleOp : std::uint8_t { up, down, butterfly, index };
enum class PermuteOp : std::uint8_t { bpermute, permute, swizzle, dpp, read_lane, read_first_lane, write_lane, mbcnt_low, mbcnt_high };

/// Mathematical functions by their OpenCL names.
enum class MathFunction : std::uint8_t {
#define KERNELCAST_MATH(name, arguments) name,
#include "kernelcast/math_functions.def"
#undef KERNELCAST_MATH
  count_
};
/// Number of arguments.
int arguments_of(MathFunction f);

/// How the address of a memory instruction is meant: generic and global addresses name what they point into.
enum class Pointing : std::uint8_t { generic, shared, stack };

inline constexpr std::uint32_t no_register = 0xffffffff;

struct SimtInstruction {
  Opcode op{};
  ValueType type{};
  ValueType to{};              // conversions: type of dst
  Pointing pointing{};         // memory: address is an offset in shared or private memory
  /// The value is used where lanes that are not active now may still need their older one: lanes that are off keep it.
  bool keep_inactive = false;
  /// shl, lshr, ashr, load: the result is needed where it is computed, not only where a condition holds.
  bool checked = false;
  bool synchronises = false;   // load, atomic: volatile, atomic, or an old value that is used: a look at what others say
  bool asynchronous = false;   // store: of a copy by cp.async, there once its thread has waited for it
  std::uint8_t alignment = 0;  // load, store: bytes that the address is a multiple of, 0: the size of an element
  std::uint16_t extra = 1;     // load, store: number of elements
  std::int32_t site = -1;      // memory: index into Program::sites, -1: not counted (parameters)
  std::uint32_t dst = no_register, dst2 = no_register, a = no_register, b = no_register, c = no_register;
  std::int64_t imm = 0;
  SourceLine line;
};

/// A memory instruction and where the profile counts it. Wide accesses are counted in pieces of at most 16 bytes.
struct AccessSite {
  struct Piece {
    int access;  // index over all accesses of the profile, blocks in order
    int last;    // the same in the copy of the block for the last test of a loop, -1: no copy
    int at;      // bytes from the instruction's address
    int bytes;   // of one lane
  };
  std::vector<Piece> pieces;
  MemorySpace space = MemorySpace::global;  // as the profile has it
  AccessKind kind = AccessKind::load;
  int buffer = -1;                          // of the profile, -1: unknown
  SourceLine line;
};

/// Copies of an edge happen all at once.
struct Copy {
  ValueType type;
  std::uint32_t dst, src;
};

struct Edge {
  int target = -1;            // block
  std::vector<Copy> copies;
  bool leaves_loop = false;   // of the block that it comes from, when that is the header with the last test
};

struct ProgramBlock {
  enum class End : std::uint8_t { jump, branch, switch_, exit } end = End::exit;
  int profile_block = -1;
  int last_block = -1;              // profile block that counts the last test of the loop, -1: none
  int branch = -1;                  // index into profile.branches, -1: none
  std::uint32_t first = 0, past = 0;  // instructions
  std::uint32_t condition = no_register;  // branch: i1; switch: an integer of `condition_type`
  ValueType condition_type{};
  std::vector<std::int64_t> cases;  // switch: value for edge k + 1
  std::vector<Edge> edges;          // branch: taken, not taken; switch: default, then one a case
  int reconvergence = -1;           // immediate post-dominator, -1: the end of the kernel
  int order = 0;                    // reverse post-order, for choosing among diverged paths
  SourceLine line;
};

/// A register that has its value before the first instruction.
struct ProgramInput {
  enum class Kind : std::uint8_t {
    constant,          // bits in `low`, `high`
    local_id, group_id, local_size, num_groups, global_size,  // axis in `low`
    scalar,            // parameter or field of one by its `name`
    buffer,            // address of profile buffer `low` plus `high` bytes
    parameter_block,   // address of the by-value parameter number `low`
    stack,             // address of private memory plus `low` bytes
    zero               // undefined values
  } kind = Kind::zero;
  ValueType type{};
  std::uint32_t reg = no_register;
  std::uint64_t low = 0, high = 0;
  std::string name;
};

/// A buffer's first contents as the source gives them (tables, initialised globals); the rest is zero.
struct BufferImage {
  int buffer = -1;  // of the profile
  std::vector<unsigned char> bytes;
  struct Pointer { std::int64_t at; int buffer; std::int64_t offset; };
  std::vector<Pointer> pointers;
  bool undefined = false;  // no initial value: reading before writing is a mistake (shared arrays)
};

/// What is read of a parameter that is passed by value: a field by its name, as --arg and --buffer take it.
struct ParameterField {
  int parameter = -1;
  std::int64_t at = 0;
  ValueType type{};
  std::string name;
  bool pointer = false;
};

struct Program {
  std::vector<ValueType> registers;
  std::vector<SimtInstruction> code;
  std::vector<ProgramBlock> blocks;   // entry first
  std::vector<AccessSite> sites;
  std::vector<ProgramInput> inputs;
  std::vector<ValueType> element_types;      // parallel to profile.buffers: what the code reads or writes there
  std::vector<std::int64_t> shared_offsets;  // likewise: place of static shared arrays; -1: dynamic or not shared
  std::int64_t shared_bytes = 0;             // of static shared arrays; dynamic ones come behind
  std::vector<BufferImage> images;
  std::vector<ParameterField> fields;
  std::vector<std::int64_t> parameter_bytes;  // by-value parameters: size, else 0; parallel to profile.parameters
  std::vector<std::string> texts;     // of findings
  std::int64_t stack_bytes = 0;       // private memory of a thread
  bool irreducible = false;           // has cycles that are no natural loops
};

}  // namespace kernelcast
