#include "engines/execute/random_source.h"

#include <random>
#include <vector>

namespace kernelcast::agreement {
namespace {

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  // At most one draw an expression: the order in which operands are evaluated is the compiler's.
  std::string kernel() {
    uses_shared_ = chance(40);
    std::string body = statements(0, between(1, 3));
    if (uses_shared_) {
      body += "  tile[(lx + ly * 8 + lz * 16) % 128] = sum;\n  barrier(CLK_LOCAL_MEM_FENCE);\n";
      body += statements(0, 1);
      body += "  sum += tile[" + shared_index() + "];\n";
    }
    return "kernel void random_kernel(global float* a, global float* b, global float* c, int n) {\n"
           "  int gx = get_global_id(0), gy = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1), "
           "lz = get_local_id(2);\n"
           "  int wx = get_group_id(0), wy = get_group_id(1), sx = get_global_size(0), bx = get_local_size(0);\n" +
           std::string(uses_shared_ ? "  local float tile[128];\n" : "") + "  float sum = 1.0f;\n" + body +
           "  c[gx + sx * (gy + get_global_size(1) * get_global_id(2))] = sum;\n}\n";
  }

 private:
  // Distributions of the standard library differ between implementations; the remainder does not.
  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& v) {
    return v[static_cast<std::size_t>(between(0, static_cast<int>(v.size()) - 1))];
  }

  std::string leaf() {
    std::vector<std::string> leaves{"gx", "gx", "gy", "lx", "ly", "wx", "wy", "n", "bx"};
    for (int i = 0; i < 3; ++i) leaves.insert(leaves.end(), counters_.begin(), counters_.end());
    return pick(leaves);
  }
  std::string affine() {
    std::string e = std::to_string(between(0, 9));
    for (int terms = between(1, 3); terms > 0; --terms) {
      e += " + " + leaf();
      if (chance(40)) e += " * " + std::to_string(pick(std::vector<int>{2, 3, 4, 8, 32}));
      if (chance(10)) e += " * n";
    }
    return e;
  }
  std::string index() {
    const std::string e = affine();
    if (chance(10)) return "(" + e + ") / " + std::to_string(between(2, 5));
    if (chance(10)) return "(" + e + ") % " + std::to_string(between(3, 40));
    if (chance(8)) return "min(" + e + ", " + affine() + ")";
    if (chance(8)) return "((" + e + ") & " + pick(std::vector<std::string>{"7", "31", "12"}) + ")";
    return e;
  }
  std::string shared_index() { return "(" + affine() + ") & 127"; }
  std::string condition() {
    const std::string right = chance(60) ? std::to_string(between(0, 60)) : chance(50) ? "n" : leaf();
    const std::string left = "(" + index() + ") ";
    const std::string one = left + pick(std::vector<std::string>{"<", ">=", "<=", "==", "!="}) + " " + right;
    if (!chance(25)) return one;
    const std::string joined = one + (chance(50) ? " && " : " || ");
    const std::string other = leaf();
    return joined + other + " < " + std::to_string(between(0, 40));
  }
  std::string trips() {
    switch (between(0, 5)) {
      case 0:
        return std::to_string(between(0, 6));
      case 1:
        return "n / " + std::to_string(between(8, 20));
      case 2:
        return "lx % " + std::to_string(between(2, 5));
      case 3:
        return "wx + " + std::to_string(between(0, 3));
      case 4:
        return "min(n, 4)";
      default:
        return counters_.empty() ? "3" : counters_.back() + " + 1";
    }
  }
  std::string access(const std::string& pad) {
    switch (between(0, 5)) {
      case 0:
        return pad + "b[" + index() + "] = sum;\n";
      case 1:
        return product(pad);
      case 2:
        return pad + "sum += ((global float4*)a)[" + index() + "].y;\n";
      case 3:
        return pad + "sum = sum * 0.5f + (float)(" + leaf() + ");\n";
      default:
        return pad + "sum += a[" + index() + "];\n";
    }
  }
  std::string product(const std::string& pad) {
    const std::string left = index();
    return pad + "sum += a[" + left + "] * b[" + index() + "];\n";
  }
  std::string statements(int depth, int count) {
    const std::string pad(static_cast<std::size_t>(2 * depth + 2), ' ');
    std::string text;
    for (; count > 0; --count) {
      const int kind = depth < 3 ? between(0, 6) : 6;
      if (kind <= 1) {
        text += pad + "if (" + condition() + ") {\n";
        text += statements(depth + 1, between(1, 2)) + pad + "}";
        if (chance(35)) text += " else {\n" + statements(depth + 1, 1) + pad + "}";
        text += "\n";
      } else if (kind <= 3 && counters_.size() < 2) {
        const std::string i = "i" + std::to_string(names_++);
        const bool strided = chance(20);
        text +=
            pad + "for (int " + i + " = " + (strided ? "gx; " : "0; ") + i + " < " + (strided ? "n" : trips()) + "; ";
        text += i + (strided ? " += sx" : chance(20) ? " += 2" : "++") + ") {\n";
        counters_.push_back(i);
        text += statements(depth + 1, between(1, 2));
        counters_.pop_back();
        text += pad + "}\n";
      } else {
        text += access(pad);
      }
    }
    return text;
  }

  std::mt19937_64 random_;
  std::vector<std::string> counters_;
  int names_ = 0;
  bool uses_shared_ = false;
};

}  // namespace

std::string random_source(std::uint64_t seed) { return Writer(seed).kernel(); }

Launch random_launch(std::uint64_t seed) {
  std::mt19937_64 random(seed + 1000003);
  const std::vector<Dim3> blocks{{32, 1, 1}, {64, 1, 1}, {33, 1, 1}, {16, 4, 1}, {7, 5, 1}, {8, 4, 3}, {128, 1, 1}};
  Launch launch;
  launch.block = blocks[random() % blocks.size()];
  launch.grid = {static_cast<std::int64_t>(random() % 4 + 1), static_cast<std::int64_t>(random() % 3 + 1), 1};
  launch.args["n"] = static_cast<std::int64_t>(random() % 70);
  for (const char* name : {"a", "b", "c"}) launch.buffers[name] = {random_buffer_elements, "zero"};
  return launch;
}

}  // namespace kernelcast::agreement
