// What host code uses of the libraries of C and C++: options, strings, containers, function objects.
#include <gtest/gtest.h>

#include "kernelcast/error.h"
#include "kernelcast/host.h"

namespace kernelcast {
namespace {

/// Blocks of the only launch, `saxpy<<<blocks, 32>>>(...)` in `main`; -1: not known.
std::int64_t blocks_of(const std::string& body, std::vector<std::string> argv = {}, const std::string& before = "") {
  Source source;
  source.path = "program.cu";
  source.language = Language::cuda;
  source.text = R"(
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <array>
#include <numeric>
#include <algorithm>
#include <functional>
#include <sstream>
#include <getopt.h>
#include <unistd.h>
__global__ void kernel(float* y) { y[0] = 1; }
)" + before + "\nint main(int argc, char** argv) {\n  int n = 0;\n" +
                body + "\n  kernel<<<n, 32>>>(nullptr);\n}\n";
  HostOptions options;
  options.argv = std::move(argv);
  const HostProgram p = host_launches(source, options);
  if (p.launches.size() != 1) return -2;
  const HostNumber& n = p.launches[0].grid[0];
  return std::holds_alternative<std::int64_t>(n) ? std::get<std::int64_t>(n) : -1;
}

TEST(HostLibrary, WhatTheToolkitIncludesNeedsNoInclude) {
  const std::string text = R"(
__global__ void kernel(float* y) { memset(y, 0, 4); }
int main(int argc, char** argv) {
  struct { int a, b; } s;
  memset(&s, 0, sizeof s);
  int* h = (int*)malloc(400);
  memcpy(&s.a, &s.b, sizeof(int));
  printf("%d\n", s.a);
  kernel<<<s.a + atoi(argv[1]) + (int)strlen(argv[1]), 32>>>(nullptr);
  free(h);
})";
  for (const char* includes : {"", "#include <string.h>\n#include <stdlib.h>\n#include <stdio.h>\n",
                               "#include <cstring>\n#include <cstdlib>\n#include <cstdio>\n"}) {
    Source source;
    source.path = "program.cu";
    source.language = Language::cuda;
    source.text = includes + text;
    HostOptions options;
    options.argv = {"17"};
    const HostProgram p = host_launches(source, options);
    ASSERT_EQ(p.launches.size(), 1u) << includes;
    const auto* blocks = std::get_if<std::int64_t>(&p.launches[0].grid[0]);
    ASSERT_NE(blocks, nullptr) << includes;
    EXPECT_EQ(*blocks, 19) << includes;
    EXPECT_TRUE(p.notes.empty()) << includes;
  }
}

TEST(HostLibrary, Getopt) {
  const char* body = R"(
  int c, m = 1;
  while ((c = getopt(argc, argv, "n:vm:")) != -1) {
    switch (c) {
      case 'n': n = atoi(optarg); break;
      case 'm': m = atoi(optarg); break;
      case 'v': m += 100; break;
      default: exit(1);
    }
  }
  if (optind < argc) n += atoi(argv[optind]);
  n *= m;)";
  EXPECT_EQ(blocks_of(body, {"-n", "7", "-m3"}), 21);
  EXPECT_EQ(blocks_of(body, {"5", "-vn", "7"}), (7 + 5) * 101);  // other words come last
  EXPECT_EQ(blocks_of(body, {"-x"}), -2);
}

TEST(HostLibrary, GetoptLong) {
  const char* body = R"(
  static int doubled = 0;
  static struct option words[] = {{"size", required_argument, 0, 's'},
                                  {"double", no_argument, &doubled, 2},
                                  {0, 0, 0, 0}};
  int c, index = 0;
  while ((c = getopt_long(argc, argv, "s:", words, &index)) != -1)
    if (c == 's') n = strtol(optarg, nullptr, 0);
  if (doubled) n *= doubled;)";
  EXPECT_EQ(blocks_of(body, {"--size", "0x10", "--double"}), 32);
  EXPECT_EQ(blocks_of(body, {"--si=9"}), 9);
}

TEST(HostLibrary, Strings) {
  EXPECT_EQ(blocks_of("std::string s(argv[1]); n = s == \"-n\" ? std::stoi(std::string(argv[2])) : 1;", {"-n", "12"}),
            12);
  EXPECT_EQ(
      blocks_of("std::string s = argv[1]; auto at = s.find('='); if (at != std::string::npos && s.substr(0, at) == "
                "\"size\") n = atoi(s.substr(at + 1).c_str());",
                {"size=33"}),
      33);
  EXPECT_EQ(blocks_of("std::string s; s += \"1\"; s += std::to_string(7); s[0] = '2'; n = std::stoi(s) + s.size();"),
            29);
  EXPECT_EQ(blocks_of("std::istringstream s(argv[1]); int m; s >> n >> m; n *= m;", {"6 7"}), 42);
  EXPECT_EQ(blocks_of("char buffer[20]; strcpy(buffer, argv[1]); n = atoi(strchr(buffer, ':') + 1);", {"ab:15"}), 15);
}

TEST(HostLibrary, Containers) {
  EXPECT_EQ(blocks_of("std::vector<int> v{3, 4, 5}; for (auto i = v.begin(); i != v.end(); ++i) n += *i;"), 12);
  EXPECT_EQ(blocks_of("std::vector<int> v(10, 2); n = std::accumulate(v.begin(), v.end(), 1);"), 21);
  EXPECT_EQ(blocks_of("std::array<int, 3> a{{1, 2, 3}}; for (int x : a) n += x; n += a.size() + a[2];"), 12);
  EXPECT_EQ(blocks_of("std::vector<int> v{1, 2}, w(v.begin(), v.end()); n = w.size() + (v.end() - v.begin());"), 4);
  EXPECT_EQ(blocks_of("std::vector<int> v{3, 4}, w; w.insert(w.end(), v.begin(), v.end()); v.insert(v.begin() + 1, 7);"
                      "w.insert(w.begin(), 2, 6); n = 1000 * (w[1] * 10 + w[3]) + 100 * v[0] + 10 * v[1] + v[2];"),
            64374);
  EXPECT_EQ(blocks_of("auto p = std::make_pair(4, 5); n = p.first * p.second;"), 20);
  EXPECT_EQ(blocks_of("for (int x : {2, 3, 7}) n += x;"), 12);
  EXPECT_EQ(blocks_of("n = std::max({3, 9, 4}) + std::min(2, 5);"), 11);
}

TEST(HostLibrary, FunctionObjects) {
  EXPECT_EQ(blocks_of("int m = 4; auto f = [&](int x) { m += x; }; f(3); n = m;"), 7);
  EXPECT_EQ(blocks_of("std::function<int(int)> f = [](int x) { return x * x; }; n = f(5);"), 25);
  EXPECT_EQ(
      blocks_of("n = apply([](int x) { return x + 1; });", {}, "template <class F> int apply(F f) { return f(9); }"),
      10);
}

TEST(HostLibrary, LongLoopsForgetOnlyWhatTheyWrite) {
  EXPECT_EQ(blocks_of("Field f; f.size = 12; f.data = new float[1000]; for (long i = 0; i < 1000000000L; ++i) f.data[i "
                      "% 9] = i; n = f.size;",
                      {}, "struct Field { int size; float* data; };"),
            12);
  EXPECT_EQ(
      blocks_of("Field f; f.size = 12; f.last = 0; for (long i = 0; i < 1000000000L; ++i) f.last += i; n = f.size;", {},
                "struct Field { int size; long last; };"),
      12);
  EXPECT_EQ(blocks_of("for (long i = 0; i < 1000000000L; ++i) n += i;"), -1);
}

TEST(HostLibrary, Goto) {
  EXPECT_EQ(blocks_of("again: n += 3; if (n < 10) goto again;"), 12);
  EXPECT_EQ(blocks_of("for (int i = 0;; ++i) { if (i == 5) goto out; n += 2; } out: n++;"), 11);
}

TEST(HostLibrary, WhereBothWaysReturnTheResultIsNotKnown) {
  const char* state = "int state() { if (system(0) > 1000) { return 0; } else { return 7; } }";
  EXPECT_EQ(blocks_of("n = 4; if (state() != 0) exit(1);", {}, state), 4);
  EXPECT_EQ(blocks_of("n = state();", {}, state), -1);
}

TEST(HostLibrary, LinesAreThoseOfTheFileWhereNamesAreMissing) {
  Source source;
  source.path = "program.cu";
  source.language = Language::cuda;
  source.text =
      "__global__ void k(float* y) { y[0] = 1; }\n"
      "int main() {\n"
      "  Handle_of_a_library handle = make_handle();\n"
      "  k<<<4, 32>>>(nullptr);\n"
      "}\n";
  const HostProgram p = host_launches(source, {});
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(p.launches[0].line, 4);
}

TEST(HostLibrary, WhatCallsMissesIsNamed) {
  Source source;
  source.path = "program.cu";
  source.language = Language::cuda;
  source.text =
      "__global__ void k(); int size_of(int); extern int scale; struct Box { Box(int); };\n"
      "int main() { Box b(1); k<<<size_of(1) * scale, 1>>>(); }";
  const HostProgram p = host_launches(source, {});
  EXPECT_EQ(p.undefined, (std::vector<std::string>{"Box", "size_of", "scale", "k"}));
}

}  // namespace
}  // namespace kernelcast
