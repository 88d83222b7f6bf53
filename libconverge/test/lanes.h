// Loops of real kernels as one lane runs them: what the lanes of kernels_test.cpp must arrive at. Those of
// libconverge/examples, in arithmetic that rounds alike on every unit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace lanes {

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
constexpr std::int32_t without_end = 1 << 20;  // iterations of a lane that ends by its data

/// Mandelbrot's escape times, one loop over steps (T) and pixels (F).
struct Escape {
  static constexpr int width = 64, height = 48, stride = 128, limit = 40;
  static constexpr bool known_ahead = false;
  static constexpr std::int32_t count = without_end;
  int pixel, n = 0;
  float cr, ci, zr = 0, zi = 0;
  std::uint32_t counts = 0;  // of all pixels so far

  static float real_of(int pixel) {
    return static_cast<float>(pixel % width) * 3.0f / static_cast<float>(width) - 2.2f;
  }
  static float imaginary_of(int pixel) {
    return static_cast<float>(pixel / width) * 2.4f / static_cast<float>(height) - 1.2f;
  }
  explicit Escape(int id) : pixel(id), cr(real_of(id)), ci(imaginary_of(id)) {}
  [[nodiscard]] bool more(std::int32_t) const { return pixel < width * height; }
  [[nodiscard]] bool condition(std::int32_t) const { return n < limit && zr * zr + zi * zi < 4.0f; }
  void taken(std::int32_t) {
    const float t = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = t;
    ++n;
  }
  void other(std::int32_t) {
    counts = counts * 31 + static_cast<std::uint32_t>(n);
    pixel += stride;
    cr = real_of(pixel);
    ci = imaginary_of(pixel);
    zr = zi = 0;
    n = 0;
  }
  [[nodiscard]] std::uint32_t result() const { return counts; }
};

/// A Monte-Carlo walk whose random numbers come from a counter.
struct Walk {
  static constexpr bool known_ahead = true;
  static constexpr std::int32_t count = 300;
  static constexpr int steps = 8;
  std::uint32_t seed;
  float x = 0, energy = 1;

  explicit Walk(int id) : seed(static_cast<std::uint32_t>(id) * 2654435761U + 12345U) {}
  [[nodiscard]] bool more(std::int32_t) const { return true; }
  [[nodiscard]] bool condition(std::int32_t i) const {
    std::uint32_t h = (seed + static_cast<std::uint32_t>(i)) * 2654435761U;
    h ^= h >> 15;
    h *= 2246822519U;
    h ^= h >> 13;
    return (h & 1U) == 0;
  }
  void taken(std::int32_t) {
    for (int k = 0; k < steps; ++k) energy = energy * 0.999f + 0.001f * x;
  }
  void other(std::int32_t) {
    for (int k = 0; k < steps; ++k) x = x * 0.998f + energy * 0.01f;
  }
  [[nodiscard]] std::uint32_t result() const { return bits_of(x) ^ bits_of(energy) * 3; }
};

/// Ray marching: short steps with shading near a surface (T), long ones through free space (F).
struct March {
  static constexpr bool known_ahead = false;
  static constexpr std::int32_t count = 96;
  float x = 0.5f, y = 0.5f, z = 0.5f, fog = 0, dx, dy;

  explicit March(int id)
      : dx((static_cast<float>(id % 16) + 0.5f) / 16.0f - 0.5f),
        dy((static_cast<float>(id / 16 % 16) + 0.5f) / 16.0f - 0.5f) {}
  static float field(float x, float y, float z) {
    const float cx = x - std::nearbyint(x), cy = y - std::nearbyint(y), cz = z - std::nearbyint(z);
    return std::sqrt(cx * cx + cy * cy + cz * cz) - 0.3f;
  }
  void go(float by) {
    x += dx * by;
    y += dy * by;
    z += by;
  }
  [[nodiscard]] bool more(std::int32_t) const { return z < 40.0f && fog <= 0.4f; }
  [[nodiscard]] bool condition(std::int32_t) const { return field(x, y, z) < 0.15f; }
  void taken(std::int32_t) {
    const float d = field(x, y, z), slope = (field(x, y + 0.001f, z) - d) * 1000.0f;
    fog += std::max(slope, 0.0f) * (0.15f - d);
    go(std::max(d, 0.02f));
  }
  void other(std::int32_t) { go(field(x, y, z)); }
  [[nodiscard]] std::uint32_t result() const { return bits_of(fog) ^ bits_of(x) * 3 ^ bits_of(y) * 5 ^ bits_of(z) * 7; }
};

/// Queens by backtracking: one is placed (T) or taken back (F).
struct Queens {
  static constexpr bool known_ahead = false;
  static constexpr std::int32_t count = without_end;
  static constexpr int n = 7;
  static constexpr std::uint32_t all = (1U << n) - 1;
  std::uint32_t columns[n + 1] = {}, left[n + 1] = {}, right[n + 1] = {}, open[n + 1] = {};
  int row = 1;
  std::uint32_t found = 0;

  explicit Queens(int id) {
    const std::uint32_t first = 1U << (id % n);
    columns[1] = first;
    left[1] = first << 1 & all;
    right[1] = first >> 1;
    open[1] = all & ~(columns[1] | left[1] | right[1]);
    if (id / n % 2 == 1) open[1] &= open[1] - 1;  // without the first branch
  }
  [[nodiscard]] bool more(std::int32_t) const { return row >= 1; }
  [[nodiscard]] bool condition(std::int32_t) const { return open[row] != 0; }
  void taken(std::int32_t) {
    const std::uint32_t queen = open[row] & (0U - open[row]);
    open[row] ^= queen;
    found += row + 1 == n ? 1 : 0;
    columns[row + 1] = columns[row] | queen;
    left[row + 1] = (left[row] | queen) << 1 & all;
    right[row + 1] = (right[row] | queen) >> 1;
    open[row + 1] = row + 1 == n ? 0U : all & ~(columns[row + 1] | left[row + 1] | right[row + 1]);
    ++row;
  }
  void other(std::int32_t) { --row; }
  [[nodiscard]] std::uint32_t result() const { return found; }
};

/// Global alignment (Needleman and Wunsch), the cells of a table: letters match (T) or there is a gap (F).
struct Align {
  static constexpr bool known_ahead = true;
  static constexpr std::int32_t length = 20, count = length * length;
  int id, row[length + 1] = {}, diagonal = 0;

  explicit Align(int lane) : id(lane) {
    for (int k = 0; k <= length; ++k) row[k] = -2 * k;
  }
  static std::uint32_t letter(int sequence, int place) {
    return (static_cast<std::uint32_t>(sequence) * 7919U + static_cast<std::uint32_t>(place)) * 2654435761U >> 30;
  }
  [[nodiscard]] bool more(std::int32_t) const { return true; }
  [[nodiscard]] bool condition(std::int32_t i) const { return letter(id, i / length) == letter(id + 1000, i % length); }
  void begin_row(std::int32_t i) {
    if (i % length != 0) return;
    diagonal = row[0];
    row[0] = -2 * (i / length + 1);
  }
  void end_cell(std::int32_t i, int best) {
    diagonal = row[i % length + 1];
    row[i % length + 1] = best;
  }
  void taken(std::int32_t i) {
    begin_row(i);
    end_cell(i, diagonal + 3);
  }
  void other(std::int32_t i) {
    begin_row(i);
    const int k = i % length + 1;
    end_cell(i, std::max(diagonal - 1, std::max(row[k], row[k - 1]) - 2));
  }
  [[nodiscard]] std::uint32_t result() const { return static_cast<std::uint32_t>(row[length] + 1000); }
};

}  // namespace lanes
