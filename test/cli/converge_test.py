"""`converge --replay` from outside: step counts, JSON, bad input."""

import json
import os
import random
import re
import shlex
import unittest

from check_schema import checked
from program import ROOT, Case

PATTERN = os.path.join(ROOT, "libconverge", "examples", "pattern.txt")


class Replay(Case):
    def replay(self, pattern, policy, *more):
        return checked(self.good("converge", "--replay", pattern, "--policy", policy, "--format", "json", *more), "converge-replay")

    def test_worked_example(self):
        steps = {p: self.replay(PATTERN, p)["steps"] for p in ("plain", "majority", "round-robin")}
        self.assertEqual(steps, {"plain": 6, "majority": 5, "round-robin": 4})
        self.assertEqual(self.replay(PATTERN, "majority")["plain_steps"], 6)

    def test_speedup_is_the_ratio(self):
        value = self.replay(PATTERN, "round-robin")
        self.assertAlmostEqual(value["speedup"], value["plain_steps"] / value["steps"])

    def test_large_patterns_have_no_best(self):
        draw = random.Random(1)
        text = "\n".join("".join(draw.choice("TF") for _ in range(200)) for _ in range(32))
        value = self.replay(self.path("large", text), "majority", "--flush", "8")
        self.assertIsNone(value["best_steps"])
        self.assertEqual(value["options"]["flush"], 8)
        self.assertLess(value["steps"], value["plain_steps"])

    def test_text(self):
        self.assertRegex(self.good("converge", "--replay", PATTERN, "--policy", "advance"), r"advance +\d+ +speedup 1\.\d+")

    def test_standard_input(self):
        value = json.loads(self.good("converge", "--replay", "-", "--policy", "plain", "--format", "json", text="TTT\nFFF\n"))
        self.assertEqual(value["steps"], 6)

    def test_bad_input(self):
        bad = self.path("bad", "TF\nT1\n")
        self.bad(1, r"bad:2:2: expected T or F", "converge", "--replay", bad, "--policy", "plain")
        self.bad(2, r"--policy best: expected plain, majority", "converge", "--replay", PATTERN, "--policy", "best")
        self.bad(2, r"--replay needs --policy", "converge", "--replay", PATTERN)
        self.bad(2, r"--first X: expected T or F", "converge", "--replay", PATTERN, "--policy", "plain", "--first", "X")
        self.bad(2, r"--flush 0: expected", "converge", "--replay", PATTERN, "--policy", "plain", "--flush", "0")
        self.bad(1, r"nowhere", "converge", "--replay", "nowhere", "--policy", "plain")


WALK = os.path.join(ROOT, "libconverge", "examples", "walk.cl")
LAUNCH = ("--global", "256", "--block", "64", "--arg", "steps=64")
ILLEGAL = """__kernel void k(__global const int* in, __global int* out, int n) {
  int id = get_global_id(0), s = id;
  for (int i = 0; i < n; ++i) {
    if (in[i + id] > 0) { s = s * 3 + i; } else { s = s * 5 - i; }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[id] = s;
}
"""


class Advice(Case):
    def loops(self, *args):
        return checked(self.good("converge", *args, "--format", "json"), "converge")["loops"]

    def test_executed_pattern(self):
        (loop,) = self.loops(WALK, *LAUNCH)
        self.assertEqual(loop["pattern"], "executed")
        self.assertAlmostEqual(loop["p_taken"], 0.5, delta=0.05)
        self.assertAlmostEqual(loop["flip_rate"], 0.5, delta=0.05)
        self.assertGreater(loop["rho"], 2)
        verdicts = {s["name"]: (s["legal"], s["condition"]) for s in loop["strategies"]}
        self.assertEqual(verdicts["round-robin"][0], "yes")
        self.assertEqual(verdicts["advance"], ("no", "dependent paths"))
        gain = {s["name"]: s["speedup"] for s in loop["strategies"]}
        self.assertGreater(gain["round-robin"], 1.1)
        self.assertNotIn("leave it", loop["recommendation"])

    def test_assumed_pattern(self):
        (loop,) = self.loops(WALK)
        self.assertEqual((loop["pattern"], loop["p_taken"]), ("assumed", 0.5))
        (loop,) = self.loops(WALK, "--assume", "p=0.2", "--assume", "f=0.1", "--assume", "rho=1")
        self.assertEqual((loop["p_taken"], loop["flip_rate"], loop["rho"]), (0.2, 0.1, 1))
        self.assertIn("leave it", loop["recommendation"])

    def test_source_flags_are_those_of_predict(self):
        with open(WALK, encoding="utf-8") as file:
            source = self.path("macro.cl", "#ifdef BROKEN\n#error broken\n#endif\n" + file.read())
        self.bad(1, "broken", "converge", source, "-D", "BROKEN")
        self.assertEqual(len(self.loops(source, "-D", "BROKEN", "-U", "BROKEN", "--use_fast_math")), 1)
        self.bad(2, "-U 1: expected NAME", "converge", source, "-U", "1")

    def test_trouble_in_what_is_executed_is_told(self):
        result = self.run_program("converge", WALK, *LAUNCH, "--buffer", "out=3", "--format", "json")
        self.assertEqual(result.returncode, 0)
        (finding,) = checked(result.stdout, "converge")["findings"]
        self.assertEqual(finding["kind"], "out of bounds")
        self.assertTrue(WALK.endswith(finding["file"]))
        self.assertEqual(finding["line"], 18)
        self.assertRegex(result.stderr, r"walk\.cl:18: memcheck: out of bounds: .*'out', which has 12 bytes")

    def test_text(self):
        self.assertRegex(self.good("converge", WALK, *LAUNCH), r"round-robin .* legal\n(.*\n)*  recommended: ")

    def test_rewrite_and_diff(self):
        result = self.run_program("converge", WALK, *LAUNCH, "--rewrite", "--policy", "round-robin")
        self.assertRegex(result.stderr, r"^.*walk.cl:7: round-robin: the same results; .* before over after: 1\.\d+\n$")
        text = result.stdout
        self.assertIn("if (!((h & 1u) == 0u)) {", text)
        self.loops(self.path("after.cl", text))  # still a kernel that compiles
        diff = self.run_program("converge", WALK, *LAUNCH, "--rewrite", "--policy", "round-robin", "--diff").stdout
        self.assertRegex(diff, r"^--- .*\n\+\+\+ .*\n@@ ")

    def test_illegal_loops_are_not_rewritten(self):
        path = self.path("k.cl", ILLEGAL)
        launch = ("--global", "64", "--block", "64", "--arg", "n=8", "--rewrite")
        for policy in ("round-robin", "advance", "advance-in-order"):
            self.bad(1, r"k.cl:3: this strategy is not legal: barrier .*line 5", "converge", path, *launch, "--policy", policy)
        self.bad(1, r"majority needs votes", "converge", path, *launch, "--policy", "majority")
        self.bad(1, r"no loop is worth it", "converge", path, *launch)

    def test_examples(self):
        folder = os.path.join(ROOT, "libconverge", "examples")
        for name in sorted(n for n in os.listdir(folder) if n.endswith((".cl", ".cu"))):
            with self.subTest(name):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    head = re.sub(r"\\\n// *", "", file.read())
                words = shlex.split(re.search(r"^//   kernelcast converge (.*)$", head, re.M)[1])
                self.assertEqual(words[0], "libconverge/examples/" + name)
                (loop,) = self.loops(*words)
                verdict = {s["name"]: s["legal"] for s in loop["strategies"]}
                self.assertEqual(verdict["advance-in-order"], "yes")
                self.run_good("converge", *words, "--rewrite", "--policy", "advance-in-order")

    def test_refused_when_results_differ(self):
        text = """__kernel void k(__global int* restrict out, int n) {
  const int id = (int)get_global_id(0);
  for (int i = 0; i < n; ++i) {
    if ((id * 7 + i * i) % 3 == 0) { out[(id + i) % 8] = i * 100 + id; } else { out[(id + 2 * i) % 8] = -i; }
  }
}
"""
        path = self.path("race.cl", text)
        launch = ("--global", "64", "--block", "64", "--arg", "n=16", "--buffer", "out=8")
        self.bad(1, r"race.cl:3: refused: execution finds trouble in the transformed loop: writes byte 0 of .out., which another",
                 "converge", path, *launch, "--rewrite", "--policy", "round-robin")

    def test_short_guarded_paths_are_predicated(self):
        def kernel(path):
            return ("__kernel void k(__global const int* restrict in, __global int* restrict out, int n) {\n"
                    "  const int id = (int)get_global_id(0);\n"
                    "  for (int i = 0; i < n; ++i) {\n    if (in[i * 64 + id] > 0) {\n" + path + "    }\n  }\n}\n")
        store = "      out[i * 64 + id] = i;\n"
        short = self.path("short.cl", kernel(store))
        long = self.path("long.cl", kernel("".join(store.replace("= i", f"+= in[i + {k}] * {k + 3}") for k in range(16))))
        launch = ("--global", "64", "--block", "64", "--arg", "n=16")
        for more in ((), launch):
            (loop,) = self.loops(short, *more)
            self.assertEqual(loop["branch_code"], "predicated")
            self.assertRegex(loop["recommendation"], r"^leave it; the branch is predicated")
            self.assertTrue(all(s["speedup"] is None and "no branch is left" in s["reason"] for s in loop["strategies"]))
            self.assertGreater(loop["rho"], 0)
            (loop,) = self.loops(long, *more)
            self.assertEqual(loop["branch_code"], "branch")
            self.assertNotIn("predicated", loop["recommendation"])
        self.assertRegex(self.good("converge", short, *launch), r"predicated: an iteration issues \d+\.\d instructions of both paths")

    def test_costs_do_not_depend_on_layout(self):
        """The same loop on several lines, on one line, and with its paths in functions."""
        def text(taken, other, newline, functions=""):
            return (functions + "__global__ void k(const float* __restrict__ in, float* __restrict__ out, int n) {\n"
                    "  int id = blockIdx.x * blockDim.x + threadIdx.x;\n  float s = id, t = 1.0f;\n"
                    f"  for (int i = 0; i < n; ++i) {{{newline}    if (in[i * 64 + id] > 0.5f) {{{newline}{taken}{newline}    }} else {{{newline}"
                    f"{other}{newline}    }}{newline}  }}\n  out[id] = s + t;\n}}\n")
        taken = " ".join(f"s = sqrtf(s * {k}.5f + t);" for k in range(6))
        other = " ".join(f"t = t / (s + {k}.25f) + s;" for k in range(3))
        functions = (f"static __device__ void first(float& s, float& t) {{ {taken} }}\n"
                     f"static __device__ void second(float& s, float& t) {{ {other} }}\n")
        launch = ("--grid", "1", "--block", "64", "--arg", "n=64", "--buffer", "in=4096:uniform(0,1)")
        for more in ((), launch):
            rho = {}
            for name, source in (("lines", text(taken, other, "\n")), ("one_line", text(taken, other, " ")),
                                 ("calls", text("first(s, t);", "second(s, t);", "\n", functions))):
                (loop,) = self.loops(self.path(name + ".cu", source), *more)
                self.assertEqual(loop["branch_code"], "branch", name)
                rho[name] = loop["rho"]
            self.assertGreater(rho["lines"], 5)
            self.assertAlmostEqual(rho["one_line"] / rho["lines"], 1, delta=0.02)
            self.assertAlmostEqual(rho["calls"] / rho["lines"], 1, delta=0.1)

    def test_one_macro_hides_the_costs(self):
        source = self.path("macro.cl", "#define STEP(c, a, b) if (c) { a; } else { b; }\n"
                           "__kernel void k(__global const float* restrict in, __global float* restrict out, int n) {\n"
                           "  int id = (int)get_global_id(0); float s = id, t = 1.0f;\n  for (int i = 0; i < n; ++i) {\n"
                           "    STEP(in[i * 64 + id] > 0.5f, s = sqrt(s * 3.0f + t), t = t / (s + 5.0f))\n  }\n  out[id] = s + t;\n}\n")
        (loop,) = self.loops(source)
        self.assertIsNone(loop["rho"])
        self.assertIn("macro", self.good("converge", source))

    def test_branches_on_the_index_are_not_sorted(self):
        def advice(condition):
            source = self.path("tree.cu", "__global__ void k(int* out) {\n  __shared__ int sum[256];\n  int tid = threadIdx.x;\n"
                               "  for (int s = 128; s > 0; s /= 2) {\n    if (" + condition + ") sum[tid] = sum[tid] / (sum[tid + s] + 3) + sum[tid] % (s + 7);\n"
                               "    __syncthreads();\n  }\n  out[tid] = sum[0];\n}\n")
            (loop,) = self.loops(source)
            return loop["recommendation"]
        self.assertIn("whole warps agree already", advice("tid < s"))
        self.assertIn("threads of one path are neighbours", advice("tid % (2 * s) == 0"))
        self.assertIn("sort or bin the inputs", advice("sum[tid] < s"))

    def test_templates(self):
        text = """template <typename T, int N>
__global__ void walk(const T* __restrict__ in, T* __restrict__ out, int n) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = id * 747796405u + 2891336453u;
  T x = in[id];
  for (int i = 0; i < n; ++i) {
    if ((s >> 16) & 1u) {
      for (int k = 0; k < N; ++k) x = x * T(3) / (T(2) + x);
      s = s * 1664525u + 1013904223u;
    } else {
      for (int k = 0; k < N; ++k) x = x + T(1) / (T(5) + x * x);
      s = s * 22695477u + 1u;
    }
  }
  out[id] = x;
}
int main() {
  walk<float, 4><<<4, 64>>>((float*)0, (float*)0, 10);
  walk<double, 8><<<4, 64>>>((double*)0, (double*)0, 10);
}
"""
        path = self.path("walk.cu", text)
        launch = ("--grid", "4", "--block", "64", "--arg", "n=32")
        rho = {}
        for name, first in (("walk<float,4>", "walk<float, 4>"), ("walk<double,8>", "walk<double, 8>")):
            (loop,) = self.loops(path, "--kernel", name, *launch)
            self.assertEqual(loop["instances"][0], first)
            self.assertEqual(len(loop["instances"]), 2)
            self.assertEqual(loop["pattern"], "executed")
            rho[name] = loop["rho"]
        self.assertGreater(rho["walk<double,8>"], 1.5 * rho["walk<float,4>"])
        for more in ((), ("--kernel", "walk"), launch):
            (loop,) = self.loops(path, *more)
            self.assertEqual(len(loop["instances"]), 2)
        self.assertIn("one of 2 instances, which are all judged", self.good("converge", path))
        result = self.run_program("converge", path, *launch, "--rewrite")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("walk<double, 8>", result.stdout)
        self.assertEqual(len(self.loops(self.path("after.cu", result.stdout))), 1)

    def test_rewrites_of_templates_are_checked_for_each_instance(self):
        text = """template <int N>
__global__ void k(int* __restrict__ out, int n) {
  const int id = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    if ((id * 7 + i * i) % 3 == 0) { out[(id * 65 + i) % N] = i * 100 + id; } else { out[(id * 65 + 2 * i) % N] = -i; }
  }
}
int main() {
  k<8192><<<1, 64>>>((int*)0, 16);
  k<8><<<1, 64>>>((int*)0, 16);
}
"""
        path = self.path("race.cu", text)
        self.bad(1, r"refused: execution finds trouble in the transformed loop: .*\n.*that is the instance k<8> of the template",
                 "converge", path, "--kernel", "k<8192>", "--grid", "1", "--block", "64", "--arg", "n=16",
                 "--buffer", "out=8192", "--rewrite", "--policy", "round-robin")

    def test_lanes_that_leave_at_different_times(self):
        path = os.path.join(ROOT, "libconverge", "examples", "mandelbrot.cl")
        launch = ("--global", "128", "--block", "64", "--arg", "width=64", "--arg", "height=32", "--arg", "limit=40")
        value = checked(self.good("converge", path, "--kernel", "nest", *launch, "--format", "json"), "converge")
        self.assertEqual(value["loops"], [])
        inner = [u for u in value["uneven_loops"] if u["line"] == 12]
        self.assertEqual(len(inner), 1)
        self.assertGreater(inner[0]["active_lanes"], 0.1)
        self.assertLess(inner[0]["active_lanes"], 0.95)
        self.assertIn("sort or bin", inner[0]["recommendation"])

    def test_several_kernels_and_one_launch(self):
        """Where a launch does not fit a kernel, the others' loops are executed all the same."""
        kernel = HEADER.replace("#pragma once\n", "")
        path = self.path("two.cu", kernel + kernel.replace("walk", "run").replace("int n", "int m").replace("< n", "< m"))
        result = self.run_program("converge", path, *HEADER_LAUNCH, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"two.cu:20: not executed: kernel run has no parameter .*; --kernel chooses")
        self.assertEqual({l["kernel"]: l["pattern"] for l in checked(result.stdout, "converge")["loops"]}, {"walk": "executed", "run": "assumed"})
        self.bad(2, r"kernel run has no parameter", "converge", path, *HEADER_LAUNCH, "--kernel", "run")

    def run_good(self, *args):
        result = self.run_program(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_bad_flags(self):
        self.bad(2, r"--rewrite checks results by execution", "converge", WALK, "--rewrite")
        self.bad(2, r"--diff shows what --rewrite", "converge", WALK, "--diff")
        self.bad(2, r"walkk.*\n?.*walk", "converge", WALK, "--kernel", "walkk")
        self.bad(2, r"--first and --flush belong to --replay", "converge", WALK, "--flush", "3")
        self.bad(2, r"--rewrite and --diff need the source", "converge", "--replay", PATTERN, "--policy", "plain", "--rewrite")
        self.bad(2, r"--loop 3: no divergent loop", "converge", WALK, "--loop", "3")
        self.bad(2, r"--assume q=1: expected p or f", "converge", WALK, "--assume", "q=1")
        self.bad(2, r"give the source of a kernel", "converge")
        self.bad(2, r"--loop walk.cl:x|--loop x: expected", "converge", WALK, "--loop", "walk.cl:x")
        self.bad(2, r"--loop other.cl:7: no divergent loop", "converge", WALK, "--loop", "other.cl:7")
        self.bad(1, r"no kernel found", "converge", self.path("none.cu", "int main() {}\n"))
        self.bad(1, r"OpenCL C, CUDA and HIP only", "converge", os.path.join(ROOT, "examples", "matmul.c"))


HEADER = """#pragma once
__global__ void walk(float* __restrict__ out, int n) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned h = id * 747796405u + 1u;
  float x = id;
  for (int i = 0; i < n; ++i) {
    if ((h >> 16) & 1u) {
      for (int k = 0; k < 8; ++k) x = x * 3.0f / (2.0f + x);
      h = h * 1664525u + 1013904223u;
    } else {
      for (int k = 0; k < 8; ++k) x = x + 1.0f / (5.0f + x * x);
      h = h * 22695477u + 1u;
    }
  }
  out[id] = x;
}
"""
HEADER_LAUNCH = ("--grid", "4", "--block", "64", "--arg", "n=32")


class Headers(Case):
    """Kernels in files that the source includes; the folder is the working directory."""

    def setUp(self):
        super().setUp()
        self.header = self.path("k.cuh", HEADER)
        self.path("main.cu", '#include "k.cuh"\nint main() { walk<<<4, 64>>>(nullptr, 32); }\n')

    def converge(self, *args):
        return self.run_program("converge", *args, cwd=self.folder)

    def text_of(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_named_by_their_file(self):
        value = checked(self.good("converge", "main.cu", *HEADER_LAUNCH, "--format", "json", cwd=self.folder), "converge")
        (loop,) = value["loops"]
        self.assertEqual((value["source"], loop["file"], loop["line"]), ("main.cu", "k.cuh", 6))
        self.assertEqual((loop["branch_file"], loop["branch_line"]), ("k.cuh", 7))
        self.assertEqual({s["reason_file"] for s in loop["strategies"] if s["reason_line"]}, {"k.cuh"})
        self.assertEqual(loop["pattern"], "executed")
        self.assertAlmostEqual(loop["p_taken"], 0.5, delta=0.05)
        self.assertGreater(loop["rho"], 2)
        self.assertTrue(all(s["executed"] > 1.05 for s in loop["strategies"] if s["name"] in ("round-robin", "advance-in-order")))
        self.assertRegex(self.good("converge", "main.cu", cwd=self.folder), r"^k.cuh:6  loop in walk, branch at line 7")

    def test_the_same_as_of_the_header_itself(self):
        def facts(*args):
            value = json.loads(self.good("converge", *args, *HEADER_LAUNCH, "--format", "json", cwd=self.folder))
            return [{k: v for k, v in l.items() if not k.endswith("file")} for l in value["loops"]]
        self.assertEqual(facts("main.cu"), facts("k.cuh"))

    def test_only_what_is_named_is_written(self):
        rewrite = ("main.cu", *HEADER_LAUNCH, "--rewrite", "--policy", "round-robin")
        for more in ((), ("-o", "main.cu"), ("-o", "new.cu")):
            result = self.converge(*rewrite, *more)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("k.cuh:6: the loop stands in a header of main.cu: add --diff for a patch of k.cuh, or -o k.cuh", result.stderr)
        diff = self.converge(*rewrite, "--diff").stdout
        self.assertRegex(diff, r"^--- k.cuh\n\+\+\+ k.cuh\n@@ ")
        self.assertEqual((self.text_of("k.cuh"), self.text_of("main.cu")[:8]), (HEADER, "#include"))
        self.assertFalse(os.path.exists(self.path("new.cu")))
        result = self.converge(*rewrite, "-o", "./k.cuh")
        self.assertRegex(result.stderr, r"^k.cuh:6: round-robin: the same results; .*: 1\.\d+; as main.cu includes it")
        self.assertIn("for (int i = 0; i < n;) {", self.text_of("k.cuh"))
        self.assertTrue(self.text_of("k.cuh").startswith("#pragma once\n"))

    def test_a_line_of_several_files(self):
        self.path("l.cuh", HEADER.replace("walk", "run"))
        self.path("two.cu", '#include "k.cuh"\n#include "l.cuh"\n')
        def files(*args):
            value = json.loads(self.good("converge", "two.cu", *args, "--format", "json", cwd=self.folder))
            return [l["file"] for l in value["loops"]]
        self.assertEqual(files(), ["k.cuh", "l.cuh"])
        self.assertEqual(files("--loop", "6"), ["k.cuh", "l.cuh"])
        self.assertEqual(files("--loop", "l.cuh:6"), ["l.cuh"])
        self.assertEqual(files("--kernel", "run"), ["l.cuh"])
        rewrite = ("two.cu", *HEADER_LAUNCH, "--rewrite", "--diff", "--policy", "round-robin", "--loop")
        self.assertRegex(self.converge(*rewrite, "6").stderr, r"--loop 6: loops begin at that line of k.cuh and of l.cuh")
        self.assertRegex(self.converge(*rewrite, "l.cuh:6").stdout, r"^--- l.cuh\n")

    def test_files_of_one_name(self):
        """Costs are those of the loop's own file, where another of the same name has a loop at the same lines."""
        os.mkdir(self.path("sub"))
        self.path("sub/k.cuh", HEADER.replace("walk", "run").replace("k < 8", "k < 2"))
        self.path("two.cu", '#include "k.cuh"\n#include "sub/k.cuh"\n'
                  "__global__ void all(float* out, int n) { out[threadIdx.x] = n; }\n")
        for more in ((), HEADER_LAUNCH):
            value = json.loads(self.good("converge", "two.cu", *more, "--format", "json", cwd=self.folder))
            long, short = value["loops"]
            self.assertEqual((long["file"], short["file"]), ("k.cuh", "sub/k.cuh"))
            self.assertGreater(long["rho"], 2 * short["rho"])

    def test_opencl_and_hip(self):
        self.path("k.h", HEADER.replace("__global__", "__kernel").replace("float* __restrict__", "__global float* restrict")
                  .replace("blockIdx.x * blockDim.x + threadIdx.x", "get_global_id(0)").replace("#pragma once\n", ""))
        self.path("main.cl", '#include "k.h"\n')
        self.path("main.hip", '#include <hip/hip_runtime.h>\n#include "k.cuh"\n')
        for name, file, line, more in (("main.cl", "k.h", 5, ()), ("main.hip", "k.cuh", 6, ("--device", "mi210"))):
            value = json.loads(self.good("converge", name, *HEADER_LAUNCH, *more, "--format", "json", cwd=self.folder))
            (loop,) = value["loops"]
            self.assertEqual((loop["file"], loop["line"], loop["pattern"]), (file, line, "executed"))

    def test_predict_finds_them_too(self):
        for more in ((), ("--kernel", "walk")):
            self.good("predict", "main.cu", "--device", "v100", *HEADER_LAUNCH, *more, cwd=self.folder)
        self.bad(2, r"--kernel walt: no kernel is named 'walt'; the nearest are: walk",
                 "predict", "main.cu", "--device", "v100", *HEADER_LAUNCH, "--kernel", "walt", cwd=self.folder)

    def test_nests_in_headers_of_c(self):
        self.path("nest.h", "static inline void nest(float* a, int n) { for (int i = 0; i < n; ++i) a[i] *= 2.0f; }\n")
        self.path("main.c", '#include "nest.h"\n')
        self.bad(1, r"no kernel found .*\nnote: functions of included files are not looked at; .*nest.h",
                 "predict", "main.c", "--device", "v100", "--block", "64", "--map", "i", cwd=self.folder)


if __name__ == "__main__":
    unittest.main()
