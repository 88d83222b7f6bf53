// Matrix operations: what one instruction of the tensor cores (matrix cores) multiplies, by type. The unit everywhere is
// one multiply-add, d += a * b of scalars: two FLOP. Structured sparsity counts what is multiplied, half of the nominal
// K, so that sparse and dense instructions share one rate.
//
// How an instruction gets its count: matrix_instruction() reads the type and the shape from the opcode's text, PTX's
// ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") or AMDGCN's ("v_mfma_f32_32x32x8_f16"). The readers of target
// code ask it for every opcode, so an instruction that reaches the code generator as inline assembly is counted with no
// more work. IR that has no assembly text calls a declaration whose name is `tensor_call_prefix` and the opcode, with
// any operands: generate_target_code() makes one instruction of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelcast {

/// Types of the inputs and of the accumulator. f8: e4m3, e5m2; f6 also for any type under PTX's kind::f8f6f4 that is
/// narrower than 8 bits; f4: e2m1 of the kinds mxf4 and mxf4nvf4, and AMD's FP4.
enum class TensorType : std::uint8_t {
  f16_f16, f16_f32, bf16_f32, tf32_f32, f32_f32, f64_f64, s8_s32, s4_s32, b1_s32, f8_f16, f8_f32, f6_f32, f4_f32,
  count_
};
inline constexpr std::size_t tensor_type_count = static_cast<std::size_t>(TensorType::count_);

/// "f16_f32": the names in JSON, in texts and in the keys of device files.
std::string_view name_of(TensorType t);
/// "FP16, accumulated in FP32"
std::string_view words_of(TensorType t);
bool is_floating_point(TensorType t);
/// Of an element of the inputs in shared memory: types of 6 bits take a byte.
int bits_of_input(TensorType t);
/// Whether wgmma or tcgen05 multiply it where a device has them: the device field tensor_warp_share is about these.
bool has_async_form(TensorType t);

/// Multiply-adds by type; plain data. `warp`: of instructions that a warp issues and that read registers (mma.sync,
/// wmma, MFMA, AMD's WMMA); `async`: of those that run beside the warps and read shared memory (wgmma, tcgen05).
struct TensorOps {
  std::array<double, tensor_type_count> warp{}, async{};
  double shared_bytes = 0;  // of operands that asynchronous instructions read in shared memory
  double idle = 0;          // multiply-adds for which `async` holds the pipe and leaves rows of it unused
  double passes = 0;        // of the pipe, of those of `warp` whose number is known: MatrixInstruction::passes
  [[nodiscard]] double of(TensorType t) const {
    return warp[static_cast<std::size_t>(t)] + async[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] bool any() const {
    for (std::size_t i = 0; i < tensor_type_count; ++i)
      if (warp[i] != 0 || async[i] != 0) return true;
    return false;
  }
  /// Adds `o` so many times.
  void add(const TensorOps& o, double times) {
    for (std::size_t i = 0; i < tensor_type_count; ++i) {
      warp[i] += o.warp[i] * times;
      async[i] += o.async[i] * times;
    }
    shared_bytes += o.shared_bytes * times;
    idle += o.idle * times;
    passes += o.passes * times;
  }
  /// Time that `async` holds the pipe over that of its multiply-adds. Types are not told apart.
  [[nodiscard]] double hold() const {
    double all = 0;
    for (const double n : async) all += n;
    return all > 0 ? 1 + idle / all : 1;
  }
  friend bool operator==(const TensorOps&, const TensorOps&) = default;
};

/// Floating-point operations of matrix instructions: two for each multiply-add of floating-point types.
double tensor_flops(const TensorOps& ops);

struct MatrixInstruction {
  TensorType type = TensorType::f16_f32;
  int m = 0, n = 0, k = 0;    // 0: the opcode does not say it (tcgen05: it stands in the instruction descriptor)
  int products = 1;           // independent products of one instruction (AMD's blocks, quad pairs of mma.m8n8k4)
  int warps = 1;              // that issue it together: 4 for wgmma
  bool sparse = false;        // structured sparsity: `k` is nominal, half of it is multiplied
  bool asynchronous = false;  // wgmma, tcgen05
  int rows = 0;               // of the pipe, where it takes as long for fewer (tcgen05 in one block: 128)
  /// MFMA: how long it holds the matrix core of its SIMD, in units of the four cycles that a SIMD takes for an
  /// instruction of other pipes; 0: not known, the rate of its type tells.
  int passes = 0;
  /// Of one warp.
  [[nodiscard]] double multiply_adds() const {
    return static_cast<double>(m) * n * k * products / warps / (sparse ? 2 : 1);
  }
  /// What the pipe could do meanwhile on its other rows.
  [[nodiscard]] double idle() const { return m > 0 && rows > m ? multiply_adds() * (rows - m) / m : 0; }
};

/// Nothing: not a matrix product. tcgen05.mma takes its shape from a further part of the opcode, ".m128n256k16", where
/// whoever wrote the call knows the descriptor.
std::optional<MatrixInstruction> matrix_instruction(std::string_view opcode);

/// "kc.tensor.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" is a declaration of this instruction in LLVM IR.
inline constexpr std::string_view tensor_call_prefix = "kc.tensor.";

}  // namespace kernelcast
