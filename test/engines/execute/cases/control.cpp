// Graphs, control flow, integers, vectors, memory.
#include <algorithm>

#include "engines/execute/cases/case_files.h"

namespace kernelcast::agreement {
namespace {

/// Rows of very different lengths, columns in order, none twice.
struct Rows {
  std::vector<int> start{0}, column;
};

Rows random_rows(int rows, int columns, int longest) {
  Rows r;
  for (int row = 0; row < rows; ++row) {
    const int length = row % 7 == 0 ? between(0, longest) : between(0, 3);
    std::vector<int> mine;
    for (int k = 0; k < length; ++k) mine.push_back(between(0, columns - 1));
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    r.column.insert(r.column.end(), mine.begin(), mine.end());
    r.start.push_back(static_cast<int>(r.column.size()));
  }
  return r;
}

Argument levels(int n) {
  return made<int>(n, [](std::int64_t i) { return i % 4 == 0 ? 2 : i % 9 == 1 ? 1 : -1; });
}

Argument structure(const std::vector<std::pair<int, ArgValue>>& fields, std::vector<unsigned char> bytes) {
  Argument a;
  a.kind = Argument::Kind::structure;
  a.bytes = std::move(bytes);
  a.fields = fields;
  return a;
}

/// `settings` of memory.cl.
struct Settings {
  std::int32_t width, height;
  float scale;
  std::int16_t steps[4];
  std::uint8_t flags;
};

Argument settings(const Settings& s) {
  std::vector<unsigned char> bytes(sizeof s);
  std::memcpy(bytes.data(), &s, sizeof s);
  std::vector<std::pair<int, ArgValue>> fields{
      {0, std::int64_t{s.width}}, {4, std::int64_t{s.height}}, {8, double{s.scale}}, {20, std::int64_t{s.flags}}};
  for (int k = 0; k < 4; ++k) fields.emplace_back(12 + 2 * k, std::int64_t{s.steps[k]});
  return structure(fields, std::move(bytes));
}

/// `particle` of memory.cl: 20 bytes, the last of the 15 used ones and its padding are not compared apart.
struct Particle {
  float x, y;
  std::int32_t kind;
  std::int8_t tag;
  std::uint8_t padding;
  std::int16_t weights[3];
};

Argument particles(int n) {
  return made<Particle>(n, [](std::int64_t) {
    return Particle{between(-1.0F, 1.0F),
                    between(-1.0F, 1.0F),
                    between(-99, 99),
                    between<std::int8_t>(-9, 9),
                    0,
                    {between<std::int16_t>(-99, 99), between<std::int16_t>(-99, 99), between<std::int16_t>(-99, 99)}};
  });
}

Argument text(const std::string& s) { return values(std::vector<char>(s.begin(), s.end())); }

}  // namespace

std::vector<Case> graphs() {
  const Rows a = random_rows(150, 120, 60), g = random_rows(150, 150, 50);
  const auto stored = static_cast<std::int64_t>(a.column.size()), edges = static_cast<std::int64_t>(g.column.size());
  std::vector<int> ell;
  for (int k = 0; k < 6; ++k)
    for (int row = 0; row < 150; ++row)
      ell.push_back(a.start[row] + k < a.start[row + 1] ? a.column[a.start[row] + k] : -1);
  std::vector<int> row_of;
  for (int row = 0; row < 150; ++row) row_of.insert(row_of.end(), a.start[row + 1] - a.start[row], row);
  const Argument start = values(a.start), column = values(a.column), from = values(g.start), to = values(g.column);
  const auto parents =
      made<int>(200, [](std::int64_t i) { return between(static_cast<int>(i / 3), static_cast<int>(i)); });
  return {
      {"csr_row_an_item",
       {3},
       {64},
       {start, column, uniform(stored, -1.0F, 1.0F), uniform(120, -1.0F, 1.0F), filled<float>(150), scalar(150)}},
      {"csr_row_a_group",
       {150},
       {32},
       {start, column, uniform(stored, -99, 99), uniform(120, -99, 99), filled<int>(150)}},
      {"ell",
       {3},
       {64},
       {values(ell), uniform(900, -1.0F, 1.0F), uniform(120, -1.0F, 1.0F), filled<float>(150), scalar(150), scalar(6)}},
      {"coo",
       {2},
       {64},
       {values(row_of), column, uniform(stored, -99, 99), uniform(120, -99, 99), filled<int>(150),
        scalar(static_cast<int>(stored))}},
      {"bfs_step", {3}, {64}, {from, to, levels(150), filled<int>(1), scalar(150), scalar(2)}},
      {"bfs_pull", {3}, {64}, {from, to, levels(150), filled<int>(150), scalar(150), scalar(2)}},
      {"relax",
       {3},
       {64},
       {from, to, uniform(edges, 1, 50),
        made<int>(150, [](std::int64_t i) { return i % 3 ? between(0, 200) : std::numeric_limits<int>::max(); }),
        uniform(150, 50, 250), scalar(150)}},
      {"rank_step",
       {3},
       {64},
       // a division (2.5 units) in each of at most 50 summands below 1
       {from, to, uniform(150, 0.0F, 1.0F), filled<float>(150).within(2.5 + 1, 50.0), scalar(150)}},
      {"triangles", {3}, {64}, {from, to, filled<std::uint32_t>(150), scalar(150)}},
      {"find_roots", {4}, {64}, {parents, filled<int>(200), filled<int>(200), scalar(200)}},
      {"expand_rows",
       {(stored + 63) / 64},
       {64},
       {start, filled<int>(stored), scalar(150), scalar(static_cast<int>(stored))}},
  };
}

std::vector<Case> loops() {
  const std::vector<std::uint8_t> code{2, 1, 1, 8, 2, 3, 4, 8, 7, 5, 6, 3, 3, 0};  // n -> 3^n
  return {
      {"mandelbrot", {4, 4}, {16, 8}, {filled<int>(64 * 32), scalar(64), scalar(32), scalar(150)}},
      {"julia_double", {4, 4}, {8, 8}, {filled<std::uint16_t>(1024), scalar(32), scalar(-0.8), scalar(0.156)}},
      {"collatz", {5}, {70}, {filled<int>(350), filled<std::int64_t>(350)}},
      {"sieve", {2}, {48}, {filled<std::uint8_t>(3001), scalar(3000)}},
      {"greatest_divisor",
       {3},
       {64},
       {all_sizes<std::uint32_t>(192), all_sizes<std::uint32_t>(192), filled<std::uint32_t>(192),
        filled<std::uint64_t>(192)}},
      {"binary_divisor",
       {2},
       {50},
       {all_sizes<std::uint64_t>(100), all_sizes<std::uint64_t>(100), filled<std::uint64_t>(100)}},
      {"power_modulo",
       {2},
       {64},
       {all_sizes<std::uint32_t>(128), all_sizes<std::uint32_t>(128), filled<std::uint32_t>(128), scalar(1000000007U)}},
      {"square_roots", {3}, {64}, {all_sizes<std::uint32_t>(192), filled<std::uint32_t>(192)}},
      {"several_exits", {4}, {50}, {uniform(21 * 13, -20, 99), filled<int>(200), scalar(21), scalar(13)}},
      {"nested_divergent", {3}, {64}, {uniform(192, 0, 99), filled<int>(192), scalar(170)}},
      {"switch_cases",
       {4},
       {64},
       {made<int>(256,
                  [](std::int64_t i) {
                    const int r = between(-5, 8);
                    return i % 11 == 0 ? 17 : i % 13 == 0 ? 100000 : r;
                  }),
        uniform(256, -999, 999), uniform(256, -20, 20), filled<int>(256, 5)}},
      {"interpreter", {2}, {48}, {values(code), uniform(96, 1, 15), filled<int>(96), scalar(300)}},
      {"returns_in_loops", {3}, {64}, {uniform(120, 0, 250), filled<int>(192), scalar(120)}},
      {"do_while", {3}, {64}, {all_sizes<std::uint32_t>(192), filled<std::uint32_t>(192)}},
      {"barriers_in_branches", {6}, {64}, {uniform(384, -9, 9), filled<int>(384)}},
      {"leave_early", {4}, {96}, {uniform(384, 0, 900), filled<int>(384)}},
      {"generator",
       {2},
       {64},
       {uniform<std::uint32_t>(128, 1, 0x7fffffff), filled<float>(128).within(2.5 + 1), scalar(64)}},
      {"prime_test", {3}, {64}, {uniform<std::uint32_t>(192, 1, 2000000), filled<std::uint8_t>(192)}},
  };
}

std::vector<Case> bits() {
  const std::string numbers = "12 -7 0 99123 -2147483 5 31 8888 ";
  const std::vector<int> starts{0, 3, 6, 8, 14, 23, 25, 28};
  return {
      {"divide_int", {3}, {64}, {all_sizes<int>(192), all_sizes<int>(192, false), filled<int>(192 * 6)}},
      {"divide_uint",
       {3},
       {64},
       {all_sizes<std::uint32_t>(192), all_sizes<std::uint32_t>(192, false), filled<std::uint32_t>(192 * 4)}},
      {"divide_long",
       {3},
       {64},
       {made<std::int64_t>(192, [](std::int64_t i) { return static_cast<std::int64_t>(random_bits()) >> (i % 60); }),
        all_sizes<std::int64_t>(192, false), filled<std::int64_t>(192 * 6)}},
      {"divide_narrow",
       {3},
       {64},
       {all_sizes<std::int8_t>(192), all_sizes<std::int8_t>(192, false), filled<std::int8_t>(192 * 4),
        filled<std::int16_t>(192 * 3)}},
      {"shift",
       {3},
       {64},
       {all_sizes<int>(192), uniform<std::uint32_t>(192, 0, 200), filled<int>(192 * 4), filled<std::int64_t>(192 * 3),
        filled<std::int16_t>(192 * 3)}},
      {"integer_builtins", {3}, {64}, {all_sizes<int>(192), all_sizes<int>(192), filled<int>(192 * 16)}},
      {"unsigned_builtins",
       {3},
       {64},
       {all_sizes<std::uint32_t>(192), all_sizes<std::uint32_t>(192), filled<std::uint32_t>(192 * 12)}},
      {"long_builtins",
       {3},
       {64},
       {all_sizes<std::int64_t>(192), all_sizes<std::int64_t>(192), filled<std::int64_t>(192 * 12)}},
      {"narrow_builtins",
       {3},
       {64},
       {all_sizes<std::int8_t>(192), all_sizes<std::int8_t>(192), filled<std::int8_t>(192 * 11),
        filled<std::uint16_t>(192 * 5)}},
      {"crc_bitwise", {2}, {40}, {uniform<std::uint8_t>(80 * 19, 0, 255), filled<std::uint32_t>(80), scalar(19)}},
      {"crc_table", {2}, {40}, {uniform<std::uint8_t>(80 * 23, 0, 255), filled<std::uint32_t>(80), scalar(23)}},
      {"hashes",
       {3},
       {64},
       {all_sizes<std::uint32_t>(192), filled<std::uint32_t>(192), filled<std::uint32_t>(192),
        filled<std::uint64_t>(192)}},
      {"bit_orders", {3}, {64}, {all_sizes<std::uint32_t>(192), filled<std::uint32_t>(192 * 6)}},
      {"sha256", {2}, {32}, {all_sizes<std::uint32_t>(64 * 16), filled<std::uint32_t>(64 * 8)}},
      {"cipher", {2}, {64}, {all_sizes<std::uint32_t>(256), all_sizes<std::uint32_t>(4)}},
      {"chacha", {2}, {32}, {all_sizes<std::uint32_t>(16), filled<std::uint32_t>(64 * 16)}},
      {"base64", {2}, {64}, {uniform<std::uint8_t>(128 * 3, 0, 255), filled<std::uint8_t>(128 * 4)}},
      {"find_text",
       {2},
       {64},
       {text(std::string(8, ' ') + "Abra abracadabra, aBRACA da abra cadabr ABRAcadabra" + std::string(60, 'a')),
        text("abra"), filled<int>(129), scalar(119), scalar(4)}},
      {"parse_numbers", {1}, {8}, {text(numbers), values(starts), filled<int>(8)}},
  };
}

std::vector<Case> vectors() {
  const auto specials = [](std::int64_t n) { return with_specials(n, -9.0F, 9.0F); };
  const auto halves = made<std::uint16_t>(192, [](std::int64_t i) {
    const auto bits = static_cast<std::uint16_t>(random_bits());
    return static_cast<std::uint16_t>(i == 0                      ? 0x7c00
                                      : i == 1                    ? 0x8001
                                      : (bits & 0x7c00) == 0x7c00 ? bits & 0x83ff
                                                                  : bits);
  });
  // Finite halves and what lies between and below them, ties among them.
  const auto for_halves = made<float>(192, [](std::int64_t i) {
    const float v = between(-2.0F, 2.0F);
    return i % 4 == 0 ? v * 30000 : i % 4 == 1 ? v * 1e-5F : i % 4 == 2 ? 1 + static_cast<float>(i) * 0x1p-11F : v;
  });
  const auto for_integers = made<float>(192, [](std::int64_t i) {
    const float v = between(-300.0F, 300.0F);
    return i % 4 == 0 ? static_cast<float>(i) + 0.5F : i % 4 == 1 ? v * 1e8F : i % 4 == 2 ? v * 1e-3F : v;
  });
  const auto doubles = made<double>(192, [](std::int64_t i) {
    const double v = between(-300.0, 300.0);
    return i % 4 == 0 ? static_cast<double>(i) - 90.5 : i % 4 == 1 ? v * 1e17 : i % 4 == 2 ? v * 1e-3 : v * 1e7;
  });
  return {
      {"swizzle", {2}, {40}, {uniform(320, -9.0F, 9.0F), filled<float>(320 * 5)}},
      {"packed_three", {2}, {40}, {all_sizes<std::int16_t>(480), filled<int>(240), filled<int>(320).first_of(3, 4)}},
      {"loads_and_stores", {1}, {40}, {all_sizes<std::int16_t>(641), filled<std::int16_t>(641)}},
      {"bytes_blend",
       {3},
       {64},
       {uniform<std::uint8_t>(768, 0, 255), uniform<std::uint8_t>(768, 0, 255), filled<std::uint8_t>(768),
        scalar<std::uint8_t>(77)}},
      {"char_sixteen", {2}, {32}, {uniform<std::int8_t>(1024, -120, 120), filled<std::int8_t>(1024), filled<int>(64)}},
      {"compare_vectors", {2}, {50}, {uniform(400, -5, 15), uniform(400, -5, 5), filled<int>(2400)}},
      {"relational", {3}, {64}, {specials(192), specials(192), filled<int>(192 * 15)}},
      {"relational_vectors", {1}, {48}, {specials(192), specials(192), filled<int>(192 * 5)}},
      {"select_scalars",
       {3},
       {64},
       {all_sizes<int>(192), all_sizes<int>(192), filled<int>(384), filled<std::uint64_t>(384)}},
      {"shuffle_vectors",
       {1},
       {48},
       {all_sizes<int>(192), all_sizes<int>(192), uniform<std::uint32_t>(192, 0, 7), filled<int>(384)}},
      {"reinterpret",
       {3},
       {64},
       {uniform(192, -9.0F, 9.0F), filled<int>(192), filled<std::uint8_t>(768), filled<std::int16_t>(384)}},
      // dot and cross: some roundings at the size of the summands; length and distance: 3 + 0.5 * width units
      {"geometry",
       {1},
       {48},
       {uniform(192, -9.0F, 9.0F), uniform(192, -9.0F, 9.0F), filled<float>(192).each({7, 6, 6, 6}, {512, 0, 0, 512}),
        filled<float>(384).each({4, 5}, {128, 0})}},
      {"halves",
       {3},
       {64},
       {halves, filled<float>(192), for_halves, filled<std::uint16_t>(192), filled<std::uint16_t>(192),
        filled<std::uint16_t>(192), filled<std::uint16_t>(192)}},
      {"half_vectors",
       {1},
       {48},
       {made<std::uint16_t>(192, [](std::int64_t) { return static_cast<std::uint16_t>(random_bits() & 0xb7ff); }),
        filled<std::uint16_t>(192)}},
      {"from_float",
       {3},
       {64},
       {for_integers, filled<int>(192 * 4), filled<std::uint32_t>(384), filled<std::int8_t>(384),
        filled<std::uint16_t>(384)}},
      {"from_double",
       {3},
       {64},
       {doubles, filled<std::int64_t>(384), filled<std::uint64_t>(192), filled<float>(192 * 4), filled<int>(192)}},
      {"from_integers",
       {3},
       {64},
       {all_sizes<int>(192), filled<float>(192 * 5), filled<std::uint8_t>(192 * 3), filled<std::int16_t>(384),
        filled<double>(384)}},
      {"convert_vectors",
       {1},
       {48},
       {uniform(192, -400.0F, 400.0F), filled<std::uint8_t>(192), filled<int>(192), filled<std::int16_t>(192)}},
      {"double_arithmetic", {3}, {64}, {uniform(192, -9.0, 9.0), uniform(192, -9.0, 9.0), filled<double>(192 * 7)}},
  };
}

std::vector<Case> memory() {
  const Settings s{30, 20, 0.25F, {3, -5, 7, 11}, 2};
  return {
      {"private_arrays", {2}, {64}, {all_sizes<std::int16_t>(400), filled<int>(128), scalar(200)}},
      {"small_arrays", {2}, {64}, {uniform(50, -99, 99), filled<int>(128), scalar(50)}},
      {"private_matrix", {2}, {40}, {uniform<std::int16_t>(1600, -99, 99), filled<int>(80)}},
      {"array_of_structures", {2}, {40}, {particles(80), filled<float>(80)}},
      {"structure_argument", {2, 3}, {16, 8}, {uniform(600, -99, 99), filled<float>(600), settings(s)}},
      {"structure_indexed", {2}, {40}, {filled<int>(80), settings(s)}},
      {"copy_structures", {3}, {16}, {uniform(48 * 7, 0, 999), filled<int>(48 * 7), scalar(48)}},
      {"unions", {2}, {64}, {uniform(128, -9.0F, 9.0F), filled<std::uint32_t>(128)}},
      {"constants", {2}, {64}, {uniform(128, 0, 999), filled<std::int64_t>(128), uniform(4, -9, 9)}},
      {"local_arguments",
       {3},
       {48},
       {uniform(144, -99, 99), filled<int>(144), local<int>(48), local<std::int16_t>(48), scalar(3),
        local<double>(48)}},
      {"ids", {3, 2, 4}, {5, 4, 3}, {filled<int>(15 * 8 * 12 * 5)}},
      {"ids_by_number", {3, 2}, {8, 4}, {filled<int>(24 * 8), scalar(3)}},
      {"reversed_range", {3}, {64}, {uniform(192, -99, 99), filled<int>(384)}},
      {"pointer_arithmetic", {2, 3}, {16, 2}, {uniform(6 * 150, -99, 99), filled<int>(192), scalar(150)}},
      {"choose_pointer", {3}, {64}, {filled<int>(192), filled<int>(192), uniform(192, -99, 99)}},
      // LLVM cannot generate code for gfx90a: it has no cast for the address space of events
      {"group_copies", {3}, {64}, {uniform(192, -99, 99), filled<int>(192)}, 32},
      {"fences", {3}, {32}, {filled<int>(96), filled<int>(96)}},
      {"functions", {2}, {64}, {uniform(20, 0, 99), filled<int>(128)}},
      {"narrow_stores",
       {2},
       {64},
       {filled<std::uint8_t>(384, 9), filled<std::uint16_t>(128), filled<std::uint8_t>(128), scalar(100)}},
  };
}

}  // namespace kernelcast::agreement
