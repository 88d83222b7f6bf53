// Few variables and places, so that statements often depend on one another. Lanes keep to places of their own: between
// lanes nothing is ordered anyway.
#include "engines/frontend/random_loops.h"

#include <random>

namespace kernelcast::labelled {
namespace {

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  std::string kernel() {
    std::string text =
        "__kernel void k(__global const uint* restrict in, __global uint* restrict out, int n) {\n"
        "  const int id = (int)get_global_id(0);\n  uint s = 1, t = 2, u = (uint)id, v = 3;\n  uint a[4] = {1, 2, 3, "
        "4};\n"
        "  for (int i = 0; i < n; ++i) {\n";
    if (chance(3)) {
      text += "    uint x = " + expression(2) + ";\n";
      own_ = true;
    }
    if (chance(8)) text += "    " + statement(1);
    if (chance(10)) text += "    if (" + expression(1) + " % 97u == 5u) break;\n";
    text += "    if (" + expression(2) + " % 3u == " + number(3) + ") {\n" + path() + "    }";
    if (!chance(5)) text += " else {\n" + path() + "    }";
    text += "\n";
    if (chance(4)) text += "    " + statement(1);
    own_ = false;
    return text +
           "  }\n  out[id + 24 * 128] = s + 3 * t + 5 * u + 7 * v + a[0] + 11 * a[1] + 13 * a[2] + 17 * a[3];\n}\n";
  }

 private:
  bool chance(int one_in) { return random_() % static_cast<std::uint64_t>(one_in) == 0; }
  std::string number(int below) { return std::to_string(random_() % static_cast<std::uint64_t>(below)) + "u"; }
  std::string pick(std::initializer_list<const char*> all) { return all.begin()[random_() % all.size()]; }
  std::string variable() { return pick({"s", "t", "u", "v"}); }
  std::string place() {
    return pick({"out[id]", "out[i * 128 + id]", "out[(i + 1) % 24 * 128 + id]", "a[i & 3]", "a[s & 3]", "a[2]"});
  }

  std::string expression(int depth) {
    if (depth == 0 || chance(3)) {
      switch (random_() % 8) {
        case 0:
          return number(9);
        case 1:
          return "(uint)i";
        case 2:
          return "(uint)id";
        case 3:
        case 4:
          return "in[(i * 37 + id) & 1023]";
        case 5:
          return own_ ? "x" : "(uint)(i * id)";
        case 6:
          return chance(4) ? place() : "(uint)(i ^ id)";
        default:
          return chance(3) ? variable() : "in[(i * 5 + id * 7) & 1023]";
      }
    }
    return "(" + expression(depth - 1) + pick({" + ", " - ", " * ", " ^ ", " & ", " >> 1 | "}) + expression(depth - 1) +
           ")";
  }
  std::string statement(int depth) {
    if (depth > 0 && chance(6)) return "if (" + expression(1) + " & 1u) " + statement(0);
    if (depth > 0 && chance(6)) return "for (int k = 0; k < 3; ++k) " + statement(0);
    if (chance(14)) return "if (" + expression(1) + " % 61u == 7u) break;\n";
    if (chance(4)) return place() + pick({" = ", " += ", " ^= "}) + expression(2) + ";\n";
    return variable() + pick({" += ", " += ", " -= ", " ^= ", " = ", " |= ", " *= 3u + 2u * "}) + expression(2) + ";\n";
  }
  std::string path() {
    std::string text = "      " + statement(1);
    if (chance(2)) text += "      " + statement(1);
    return text;
  }

  std::mt19937_64 random_;
  bool own_ = false;
};

}  // namespace

std::string random_loop(std::uint64_t seed) { return Writer(seed).kernel(); }

}  // namespace kernelcast::labelled
