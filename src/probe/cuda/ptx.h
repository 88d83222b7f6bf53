// PTX of the micro-benchmarks: one module with one kernel each. All kernels take the same five parameters,
//   (u64 out, u64 data, u64 more, u32 turns, u32 extra),
// and the clocked ones write, from block 0, a result to out[0] and the clock before and after the second of two passes
// to out[1 + 2 * warp] and out[2 + 2 * warp], 64 bits each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::probe::cuda {

/// An operation on $x with operands $a and $b; $t and $u are scratch of the same type.
struct Operation {
  const char* name;   // "ffma"
  const char* type;   // "f32", "u32", "f64", "u64", "h2": operands lie at slot_of(type)
  const char* text;   // PTX lines
  double operations;  // that the text counts for
  bool expanded;      // the assembler makes many instructions of it: shorter bodies
  int architecture;   // the first that has it
  const char* words;
};
std::vector<Operation> operations(int architecture);

/// First of the 8-byte slots of a type in the buffer of operands: a, b, then eight start values.
int slot_of(std::string_view type);
/// That buffer.
std::string operand_bytes();

inline constexpr int chains = 8;  // of a throughput kernel
/// Texts in the body of a chain, and in that of a throughput kernel; two lengths each, so that what stands around
/// cancels.
int body_texts(const Operation& o, bool wide, bool longer);

/// "chain": one dependence chain. "wide": eight side by side. The name of the kernel is that of the function.
std::string chain_module(const Operation& o, int texts);
std::string wide_module(const Operation& o, int texts);
/// "fma_body": `texts` FFMA over `accumulators` accumulators and 16 more registers as factors and summands, all loaded
/// from data: what control fields and registers are patched into.
std::string fma_body(int accumulators, int texts);
/// "chase": `turns` times 8 dependent 64-bit loads from *(u64*)data (the address of the first) on. `cached`: in L1.
/// The last address is left in *(u64*)data, so the next launch goes on from there. Not repeated in the kernel;
/// `extra` turns run before the clock is read.
std::string chase_module(bool cached);
/// "shared_chase": chain of `texts` dependent loads from shared memory.
std::string shared_chase_module(int texts);
/// "shared_read": `texts` loads of `bytes` (4 or 16) a thread, which are `extra` bytes apart from lane to lane.
std::string shared_read_module(int texts, int bytes);
/// "stream": reads data `extra` times, 4 `turns` pieces of 16 bytes a thread. `cached`: in L1; `copy`: writes them to
/// more.
std::string stream_module(bool cached, bool copy);
/// "atomic_chain": each atomic addition adds what the one before returned. `space`: "global" or "shared".
std::string atomic_chain_module(const std::string& space, int texts);
/// "atomic_wide": 8 `turns` additions a thread at more + thread * extra.
std::string atomic_wide_module();
/// "barriers": `texts` barriers of the block.
std::string barrier_module(int texts);
/// "empty": returns.
std::string empty_module();

}  // namespace kernelcast::probe::cuda
