// What the scripted GPU of fake_cuda.cpp is: the tests expect these numbers back.
#pragma once

#include <array>
#include <cstdint>

namespace kernelcast::fake_cuda {

/// Instructions by the beginning of their PTX opcode: cycles of dependent ones, thread instructions per cycle and SM.
struct Rate {
  const char* opcode;
  double latency, per_cycle;
};
inline constexpr std::array rates{
    Rate{"fma.rn.f32", 4, 128},   Rate{"add.rn.f32", 4, 128}, Rate{"mul.rn.f32", 4, 128}, Rate{"fma.rn.f64", 8, 64},
    Rate{"add.rn.f64", 8, 64},    Rate{"mul.rn.f64", 8, 64},  Rate{"add.u32", 2.25, 128}, Rate{"xor.b32", 4.5, 64},
    Rate{"mad.lo.u32", 4, 64},    Rate{"shf.l", 5, 64},       Rate{"ex2.", 18, 16},       Rate{"sin.", 22, 16},
    Rate{"fma.rn.f16x2", 5, 128}, Rate{"div.rn.f32", 80, 4},  Rate{"cvt.", 6, 16},        Rate{"", 10, 32}};
inline constexpr int units = 100;
inline constexpr double clock_hz = 1.5e9, l1_bytes = 200 * 1024, l2_bytes = 4 * 1024 * 1024;
inline constexpr double l1_cycles = 33, l2_cycles = 260, dram_cycles = 640;
inline constexpr std::uint64_t l1_sector = 32, l2_sector = 64;
inline constexpr double l1_bytes_per_cycle = 64, l2_bytes_per_s = 5e12, dram_bytes_per_s = 3e12;
inline constexpr double shared_cycles = 23, atomic_global_cycles = 300, atomic_shared_cycles = 60;
inline constexpr double same_address_per_s = 2e9, neighbours_per_s = 1e11, ffma_cycles = 4;
inline constexpr std::uint32_t shared_banks = 32, shared_bank_bytes = 4;
inline constexpr double barrier_cycles(double warps) { return 10 + 2 * warps; }
inline constexpr const char* device_name = "NVIDIA H200";

}  // namespace kernelcast::fake_cuda
