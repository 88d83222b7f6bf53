// Matrices, grids, mathematical functions. Bounds in units in the last place come from the tables "Relative error as
// ULPs" of the OpenCL 1.2 specification, section 7.4. Either side may be off by that much in its own direction, but
// ours takes the host's library, which is within one unit; so one is added to what the specification grants. Where the
// specification demands correct rounding the bound is 0: the same bits.
#include "engines/execute/cases/case_files.h"

namespace kernelcast::agreement {
namespace {

constexpr double divide = 2.5, root = 3, reciprocal_root = 2;

}  // namespace

std::vector<Case> tables() {
  return {
      {"align_diagonal",
       {1},
       {32},
       {uniform(21 * 21, -50, 50), uniform(400, -5, 5), scalar(20), scalar(24), scalar(3)}},
      {"align_tile", {3}, {16}, {uniform(768, -5, 5), filled<int>(768), scalar(2)}},
      {"edit_distance",
       {2},
       {32},
       {uniform<std::int8_t>(64 * 20, 97, 100), uniform<std::int8_t>(20, 97, 100), filled<int>(64), scalar(20)}},
      {"shortest_paths_step", {3, 5}, {16, 8}, {uniform(38 * 38, 1, 100), scalar(38), scalar(11)}},
      {"knapsack_row", {3}, {64}, {uniform(181, 0, 500), filled<int>(181), scalar(13), scalar(60), scalar(180)}},
      {"viterbi_step",
       {2},
       {32},
       {uniform(50, 0.0F, 1.0F), uniform(2500, 0.0F, 1.0F), uniform(50, 0.0F, 1.0F), filled<float>(50), filled<int>(50),
        scalar(50)}},
      {"stencil_line",
       {4},
       {64},
       {uniform(230, -1.0F, 1.0F), filled<float>(230).within(8 * divide, 1.0), scalar(230), scalar(3),
        local<float>(70)}},
      {"stencil_plane",
       {3, 4},
       {16, 8},
       {uniform(45 * 30, -1.0F, 1.0F), filled<float>(45 * 30), scalar(45), scalar(30)}},
      {"stencil_volume",
       {2, 3, 4},
       {8, 4, 2},
       {uniform(14 * 11 * 7, -1.0, 1.0), filled<double>(14 * 11 * 7), scalar(14), scalar(11), scalar(7)}},
      {"heat_in_local_memory", {2}, {64}, {uniform(128, -1.0F, 1.0F), scalar(9)}},
      {"life",
       {4, 5},
       {16, 8},
       {uniform<std::uint8_t>(53 * 37, 0, 1), filled<std::uint8_t>(53 * 37), scalar(53), scalar(37)}},
      {"convolve", {3, 5}, {16, 5}, {uniform(40 * 23, 0.0F, 255.0F), filled<float>(40 * 23), scalar(40), scalar(23)}},
      {"convolve_rows",
       {2, 5},
       {64, 1},
       {uniform(100 * 5, 0, 255), filled<int>(500), uniform(7, -3, 3), scalar(100), scalar(3)}},
      {"median",
       {3, 4},
       {16, 8},
       {uniform<std::uint8_t>(41 * 29, 0, 255), filled<std::uint8_t>(41 * 29), scalar(41), scalar(29)}},
      {"sobel",
       {3, 4},
       {16, 8},
       {uniform<std::uint8_t>(41 * 29, 0, 99), filled<std::uint8_t>(41 * 29), scalar(41), scalar(29)}},
      {"bilinear",
       {2, 3},
       {16, 8},
       {uniform(20 * 17, 0.0F, 1.0F), filled<float>(32 * 24), scalar(20), scalar(17), scalar(0.55F)}},
  };
}

std::vector<Case> matrices() {
  return {
      {"multiply_naive",
       {2, 3},
       {16, 8},
       {uniform(20 * 13, -1.0F, 1.0F), uniform(13 * 27, -1.0F, 1.0F), filled<float>(20 * 27), scalar(20), scalar(27),
        scalar(13)}},
      {"multiply_tiled",
       {3, 3},
       {16, 16},
       {uniform(2304, -99, 99), uniform(2304, -99, 99), filled<int>(2304), scalar(48)}},
      {"multiply_blocked",
       {2, 2},
       {8, 8},
       {uniform(4096, -1.0F, 1.0F), uniform(4096, -1.0F, 1.0F), filled<float>(4096), scalar(64)}},
      {"multiply_vectors",
       {2, 8},
       {4, 4},
       {uniform(1024, -1.0F, 1.0F), uniform(1024, -1.0F, 1.0F), filled<float>(1024), scalar(8)}},
      {"multiply_bytes",
       {2, 2},
       {16, 8},
       {all_sizes<std::int8_t>(16 * 36), all_sizes<std::int8_t>(32 * 36), filled<int>(512), scalar(9), scalar(32)}},
      {"matrix_vector",
       {7},
       {64},
       {uniform(7 * 201, -1.0, 1.0), uniform(201, -1.0, 1.0), filled<double>(7), scalar(201)}},
      {"transpose_naive",
       {3, 4},
       {16, 8},
       {uniform(37 * 29, -1.0F, 1.0F), filled<float>(37 * 29), scalar(37), scalar(29)}},
      {"transpose_unpadded", {3, 2}, {16, 16}, {all_sizes<int>(37 * 29), filled<int>(37 * 29), scalar(37), scalar(29)}},
      {"transpose_padded", {2, 2}, {32, 8}, {uniform(4096, -1.0, 1.0), filled<double>(4096), scalar(64)}},
      {"eliminate",
       {2, 3},
       {16, 8},
       {uniform(23 * 23, 1.0F, 2.0F), filled<float>(23 * 23).within(divide + 1, 4.0), scalar(23), scalar(4)}},
      // A division's error in each step, which the steps after it damp: the diagonal dominates.
      {"solve_lower",
       {2},
       {48},
       {made<float>(48 * 48, [](std::int64_t i) { return i % 49 == 0 ? between(4.0F, 6.0F) : between(-0.05F, 0.05F); }),
        uniform(96, -1.0F, 1.0F), filled<float>(96).within(3 * divide, 1.0), scalar(48)}},
      // The cube of a reciprocal root, 6 units and 3 roundings; the sum of the summands' sizes stays below 128.
      {"nbody",
       {2},
       {64},
       {uniform(512, -1.0F, 1.0F), filled<float>(512).within(3 * reciprocal_root + 3, 128.0), scalar(128),
        scalar(0.05F)}},
      {"nbody_tiled",
       {2},
       {64},
       {uniform(512, -1.0F, 1.0F), filled<float>(512).within(divide + root + 3, 256.0), scalar(128),
        local<float>(256)}},
      {"lennard_jones",
       {3},
       {64},
       {uniform(150, 0.0F, 90.0F), filled<float>(150).within(6 * (divide + 0.5) + 4, 65536.0), filled<int>(150),
        scalar(150), scalar(4.5F)}},
      {"complex_multiply", {2}, {50}, {uniform(200, -1.0F, 1.0F), uniform(200, -1.0F, 1.0F), filled<float>(200)}},
      // Six stages, in each a sine or cosine (4 units) times a value below 16.
      {"fourier", {2}, {32}, {uniform(256, -1.0F, 1.0F), filled<float>(256).within(6 * 5, 16.0)}},
  };
}

std::vector<Case> math() {
  const auto natural = [](std::int64_t n) { return uniform(n, -10.0F, 10.0F); };
  const auto positive = [](std::int64_t n) {
    return made<float>(n, [](std::int64_t i) { return i % 2 ? between(1.0F, 3.0F) : between(1.0F, 1e6F); });
  };
  const double any = 8192;  // half_ functions; native_ ones have no bound, this is what we demand
  return {
      {"exponentials", {4}, {64}, {natural(256), filled<float>(2560).each({4, 4, 4, 4, 5, 5, 6, 5, 17, 17})}},
      {"logarithms", {4}, {64}, {positive(256), filled<float>(2560).each({4, 4, 4, 3, 4, 3, 3, 5, 0, 3.5})}},
      {"trigonometry", {4}, {64}, {natural(256), filled<float>(2560).each({5, 5, 6, 5, 5, 7, 6, 6, 5, 5})}},
      {"inverse_trigonometry", {4}, {64}, {uniform(256, -1.0F, 1.0F), filled<float>(1280).each({5, 5, 6, 6, 6})}},
      {"gammas", {4}, {64}, {uniform(256, 0.1F, 20.0F), filled<float>(256).within(17)}},
      // fract: of minus infinity a zero of either sign
      {"rounding",
       {4},
       {64},
       {with_specials(256, -99.0F, 99.0F), filled<float>(256 * 12).each({0, 0, 0, 0, 0, 0, 0, 1e-9, 0, 0, 0, 0}),
        filled<int>(512)}},
      {"pairs", {4}, {64}, {uniform(256, -50.0F, 50.0F), uniform(256, -9.0F, 9.0F), filled<float>(256 * 15)}},
      {"arctangents",
       {4},
       {64},
       {uniform(256, -50.0F, 50.0F), uniform(256, -9.0F, 9.0F), filled<float>(1024).each({7, 7, 5, 3.5})}},
      {"powers",
       {4},
       {64},
       {uniform(256, 0.1F, 9.0F), uniform(256, -4.0F, 4.0F), filled<float>(1280).each({17, 17, 17, 17, 0}),
        made<int>(256, [](std::int64_t i) { return static_cast<int>(i % 9) - 4 + (i % 9 == 4); })}},
      {"common_functions",
       {4},
       {64},
       // degrees, radians: 2 units; mix, smoothstep: three roundings at the size of the operands; mad: with or without
       // rounding of the product
       {natural(256), natural(256), filled<float>(1792).each({0, 3, 3, 3, 3, 0, 1}, {0, 0, 0, 32, 4, 0, 128})}},
      {"natives",
       {4},
       {64},
       {uniform(256, 0.5F, 5.0F),
        filled<float>(3072).each({any, any, any, any, any, any, any, any, any, any, any, any})}},
      {"doubles_one", {4}, {32}, {uniform(128, 0.1, 9.0), filled<double>(128 * 20).each({4, 4,  4,  4, 4, 0, 3,
                                                                                         3, 5,  5,  6, 6, 5, 5,
                                                                                         6, 17, 17, 0, 0, 0})}},
      {"doubles_two",
       {4},
       {32},
       {uniform(128, 0.1, 9.0), uniform(128, -6.0, 6.0), filled<double>(1280).each({17, 7, 5, 0, 0, 0, 0, 0, 0, 0})}},
      {"vector_functions",
       {2},
       {32},
       {uniform(256, 0.1F, 9.0F), filled<float>(256 * 8).each({4, 4, 5, 0, 4, 0, 0, 17})}},
  };
}

}  // namespace kernelcast::agreement
