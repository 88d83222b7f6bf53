// Damaged expressions, ranges and T1 files: the answer is a value or an Error, whatever the text. Seeds are fixed.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernelcast/error.h"
#include "tune/enumerate.h"
#include "tune/ranges.h"
#include "tune/space_flags.h"
#include "tune/t1.h"

namespace kernelcast::tune {
namespace {

constexpr const char* t1 = R"t1({"ConfigurationSpace": {"TuningParameters": [
  {"Name": "bx", "Type": "int", "Values": "[1, 2] + list(range(32, 257, 32))"}, {"Name": "t", "Values": "[2**i for i in range(0, 4)]"},
  {"Name": "u", "Values": [0, 1]}],
  "Conditions": [{"Expression": "32 <= bx * t <= 1024 and not (u == 1 and t > 2)", "Parameters": ["bx"]}]},
  "KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "ProblemSize": [4096, "bx * 2"],
  "LocalSize": {"X": "bx", "Y": "1", "Z": "1"}, "GridDivX": ["bx", "t"], "SharedMemory": "bx * t * 4",
  "Arguments": [{"Name": "a", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0] + max(t)"}]}})t1";

/// One to four changes of single characters or stretches.
std::string damaged(std::string text, std::mt19937& random, const std::string& alphabet) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const std::size_t at = below(text.size() + 1);
    switch (below(5)) {
      case 0:
        text.erase(at, 1 + below(4));
        break;
      case 1:
        text.insert(at, 1, alphabet[below(alphabet.size())]);
        break;
      case 2:
        if (at < text.size()) text[at] = alphabet[below(alphabet.size())];
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(12)));
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random() & 0xff);
    }
  }
  return text;
}

const std::string characters = "0123456789()[]{}<>=!&|^~%*/+-., :?'\"abctux_if or and not in for";

template <class F>
void survives(const std::string& text, F f) {
  try {
    f();
  } catch (const Error&) {
  } catch (const std::exception& e) {
    FAIL() << e.what() << "\n" << text;
  }
}

TEST(Fuzz, Expressions) {
  const std::vector<std::string> samples{
      "(bx * t + 14) * (2 + u) * 4 <= 49152 && bx % 32 == 0 || !u", "[2**i for i in range(0, 6) if i % 2]",
      "1 if bx in [1, 2] else max(bx, t // 2, -u)", "bx > 1 ? 0x1F << t : ~u | 3u", "32 <= bx < 1024 and not t == 3"};
  std::mt19937 random(1);
  for (int i = 0; i < 40000; ++i) {
    const std::string text = damaged(samples[random() % samples.size()], random, characters);
    survives(text, [&] {
      NameTable names;
      const int bx = names.number_of("bx"), t = names.number_of("t"), u = names.number_of("u");
      const Expression e(text, random() % 2 == 0 ? Syntax::c : Syntax::python, names);
      Scope scope(names.size());
      scope.set(bx, Value::whole(64));
      scope.set(t, Value::whole(3));
      scope.set(u, Value::whole(0));
      const Value v = e.value(scope, names);
      EXPECT_TRUE(!v.is_number() || std::isfinite(v.number)) << text;
    });
  }
}

TEST(Fuzz, Ranges) {
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = damaged("32..1024:*2,{1,2,3},1..32:+4,bx*2", random, "0123456789.,:*+{}()-x ");
    survives(text, [&] { axes_in("--block", text); });
    survives(text, [&] { values_in("--param", text); });
  }
}

TEST(Fuzz, T1Files) {
  const std::atomic<bool> stop = false;
  std::mt19937 random(3);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = damaged(t1, random, characters);
    survives(text, [&] {
      const Space space = space_of(read_t1("t1.json", text));
      if (combinations(space) > 100000) return;
      const Enumeration all = enumerate(space, 100000, 10, stop);
      SpaceReader reader(space);
      for (std::size_t c = 0; c < all.kept.size() && c < 20; ++c) {
        reader.choose(all.kept[c]);
        const LaunchShape shape = reader.shape();
        EXPECT_GE(shape.block.count(), 1) << text;
        EXPECT_GE(shape.grid.count(), 1) << text;
        (void)reader.defines(shape);
      }
    });
  }
}

}  // namespace
}  // namespace kernelcast::tune
