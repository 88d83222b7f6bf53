"""Launches found in host code: predict and explain without --grid and --block."""

import json
import os
import unittest

import jsonschema
from program import ROOT, Case

PROGRAM_TEXT = """#include <cstdio>
#include <cstdlib>
__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
int main(int argc, char** argv) {
  if (argc != 3) { printf("usage\\n"); return 1; }
  int n = atoi(argv[1]), repeat = atoi(argv[2]);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  for (int r = 0; r < repeat; r++) saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y);
}
"""


class Launches(Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("program.cu", PROGRAM_TEXT)

    def test_the_launch_found_gives_the_forecast_of_the_launch_typed(self):
        found = json.loads(self.good("predict", self.file, "--device", "a100", "--argv", "1048576 10", "--format", "json"))
        typed = json.loads(self.good("predict", self.file, "--device", "a100", "--grid", "4096", "--block", "256", "--arg", "n=1048576", "--arg", "a=2",
                                     "--buffer", "x=1048576", "--buffer", "y=1048576", "--format", "json"))
        self.assertEqual(found["predictions"][0]["time_s"], typed["predictions"][0]["time_s"])
        self.assertEqual(found["predictions"][0]["launch_number"], 1)
        self.assertEqual(found["launches"][0]["repetitions"], 10)
        self.assertAlmostEqual(found["program"][0]["time_s"], 10 * found["predictions"][0]["time_s"])

    def test_list(self):
        text = self.good("predict", self.file, "--device", "a100", "--argv", "1000 3", "--launch", "list")
        self.assertRegex(text, r"1 +13 +saxpy +4 +256 +0 +3")

    def test_many_launches_that_differ_in_arguments_share_rows(self):
        text = PROGRAM_TEXT.replace("(n, 2.0f, x, y)", "(n - 1000 * r, 2.0f, x, y)")
        command = ["predict", self.path("many.cu", text), "--device", "a100", "--argv"]
        few = self.good(*command, "1048576 64")
        self.assertEqual(len([line for line in few.splitlines() if " 4096 " in line]), 64)
        many = self.good(*command, "1048576 100")
        self.assertRegex(many, r"1\.\.\.100 +13 +saxpy +4096 +256 +0 +100 +[0-9.]+ us to [0-9.]+ us\n")
        self.assertIn("100 launches differ in their arguments alone and share rows; `--launch N` shows one\n", many)
        self.assertEqual(len(json.loads(self.good(*command, "1048576 100", "--format", "json"))["launches"]), 100)

    def test_without_arguments_the_program_ends_early(self):
        self.bad(2, r"no launch is found in the host code; .*line 8: main returns before any launch; give the program's arguments with --argv",
                 "predict", self.file, "--device", "a100")

    def test_arguments_are_named_as_in_the_definition(self):
        before, main = PROGRAM_TEXT.split("int main")
        headers, body = before.split("__global__")
        declared = f"{headers}__global__ void saxpy(int, float, const float*, float*);\nint main{main}__global__{body}"
        found = json.loads(self.good("predict", self.path("declared.cu", declared), "--device", "a100", "--argv", "1000 3", "--launch", "list", "--format", "json"))
        self.assertEqual([a["name"] for a in found["launches"][0]["args"]], ["n", "a", "x", "y"])

    def test_a_structure_by_value_is_known_by_its_fields(self):
        text = """struct Shape { int rows, columns; };
struct Matrix { float* data; Shape shape; float scale; };
__global__ void scale_rows(Matrix m) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < m.shape.rows)
    for (int c = 0; c < m.shape.columns; ++c) m.data[c * m.shape.rows + row] *= m.scale;
}
int main() {
  Matrix m{nullptr, {65536, 100}, 0.5f};
  cudaMalloc(&m.data, sizeof(float) * m.shape.rows * m.shape.columns);
  scale_rows<<<m.shape.rows / 256, 256>>>(m);
}
"""
        file = self.path("matrix.cu", text)
        found = json.loads(self.good("predict", file, "--device", "a100", "--format", "json"))
        typed = json.loads(self.good("predict", file, "--device", "a100", "--grid", "256", "--block", "256", "--arg", "m+8=65536", "--arg", "m+12=100",
                                     "--arg", "m+16=0.5", "--buffer", "m+0=6553600", "--format", "json"))
        self.assertEqual(found["predictions"][0]["time_s"], typed["predictions"][0]["time_s"])
        whole = json.loads(self.good("predict", file, "--device", "a100", "--arg", "m=3", "--format", "json"))
        self.assertIn(("not used", "--arg m+12=VALUE"), [(a["value"], a["flag"]) for a in whole["predictions"][0]["assumptions"] if "argument 'm', which is a structure" in a["what"]])
        given = json.loads(self.good("predict", file, "--device", "a100", "--arg", "m+12=200", "--format", "json"))
        self.assertGreater(given["predictions"][0]["time_s"], 1.5 * found["predictions"][0]["time_s"])
        unknown = self.path("unknown.cu", "#include <cstdlib>\n" + text.replace("65536, 100", "65536, system(0)").replace("m.shape.rows * m.shape.columns", "6553600"))
        self.bad(1, r"unknown.cu:12: scale_rows: byte 12 of argument m is not known: system\(\) is not evaluated \(line 10\); give --arg m\+12=VALUE", "predict", unknown, "--device", "a100")

    def test_long_names_are_cut_in_text(self):
        part = "An_argument_of_a_template_with_a_long_name"
        file = self.path("long.cu", f"struct {part} {{ int n; }};\ntemplate <class A, class B, class C> __global__ void k(A a, float* y) {{ y[threadIdx.x] = a.n; }}\n"
                         f"int main() {{ float* y; cudaMalloc(&y, 4096); k<{part}, {part}, {part}><<<1, 32>>>({part}{{3}}, y); }}\n")
        text = self.good("predict", file, "--device", "a100")
        self.assertIn("...  ", text)
        self.assertNotIn(f"{part}, {part}", text)

    def test_unknown_launch_number(self):
        self.bad(2, r"--launch 4: launches 1 to 1 are found", "predict", self.file, "--device", "a100", "--argv", "1000 3", "--launch", "4")

    def test_unknowns_are_asked_for_by_name(self):
        file = self.path("random.cu", PROGRAM_TEXT.replace("atoi(argv[1])", "system(0)"))
        result = self.run_program("predict", file, "--device", "a100", "--argv", "1 1")
        self.assertEqual(result.returncode, 1)
        self.assertIn(":13: saxpy: the grid is not known: n: system() is not evaluated (line 9); give --let n=VALUE", result.stderr)
        self.good("predict", file, "--device", "a100", "--argv", "1 1", "--let", "n=1000")

    def test_an_unknown_argument_is_asked_for_by_its_cause(self):
        text = PROGRAM_TEXT.replace("if (i < n) y[i]", "for (int k = 0; k < n; ++k) y[i]").replace("saxpy<<<(n + 255) / 256, 256>>>(n,", "saxpy<<<64, 256>>>(system(0),")
        self.bad(1, r":13: saxpy: argument n is not known: system\(\) is not evaluated \(line 13\); give --arg n=VALUE", "predict", self.path("asked.cu", text), "--device", "a100", "--argv", "65536 1")

    def test_explain_takes_the_launch(self):
        self.assertIn("saxpy", self.good("explain", self.file, "--device", "a100", "--argv", "1000 1"))

    SETTINGS = """#include <cstdlib>
struct Settings { float scale; int n; };
__global__ void use(const Settings* settings, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < settings->n - 1000) out[i] = settings->scale;
}
int main() {
  Settings s, *d; float* out;
  s.scale = 0.5f; s.n = 66536;
  cudaMalloc(&d, sizeof s);
  cudaMalloc(&out, 65536 * sizeof(float));
  cudaMemcpy(d, &s, sizeof s, cudaMemcpyHostToDevice);
  use<<<256, 256>>>(d, out);
}
"""

    def test_a_structure_that_the_host_fills_decides_what_threads_do(self):
        file = self.path("settings.cu", self.SETTINGS)
        found = json.loads(self.good("predict", file, "--device", "a100", "--format", "json"))
        self.assertEqual([a.get("contents_known") for a in found["launches"][0]["args"]], [True, False])
        self.assertNotIn("writes nothing", json.dumps(found))

    def test_what_the_host_copies_into_constant_memory_decides_what_threads_do(self):
        source = self.path("constant.cu", """
struct Params { float scale; int trips; };
__constant__ Params params;
__global__ void k(float* y) {
  float sum = 0;
  for (int i = 0; i < params.trips; i++) sum += params.scale * y[i];
  y[threadIdx.x] = sum;
}
int main() {
  Params p = {0.5f, 300};
  float* y;
  cudaMalloc(&y, 4096);
  cudaMemcpyToSymbol(params, &p, sizeof(p));
  k<<<1, 32>>>(y);
}
""")
        found = json.loads(self.good("predict", source, "--device", "a100", "--format", "json"))["predictions"][0]
        self.assertEqual(found["counts"]["flops_fp32"], 32 * 300 * 2)
        self.assertNotIn("--buffer params", json.dumps(found["assumptions"]))

    def test_a_launch_that_stores_nothing_for_made_up_contents_has_no_number(self):
        text = self.SETTINGS.replace("const Settings* settings", "const int* n").replace("settings->n - 1000", "n[0] - 1000000")
        file = self.path("unknown.cu", text.replace("settings->scale", "1").replace("Settings s, *d", "int s, *d").replace("s.scale = 0.5f; s.n = 66536", "s = system(0)"))
        self.bad(1, r"no thread that was counted gets to a store.*generated contents of n: give the contents with --buffer NAME=COUNT:FILL",
                 "predict", file, "--device", "a100")

    def test_where_generated_flags_end_every_thread_they_are_not_raised(self):
        text = """#include <cstdlib>
__global__ void use(const int* done, float* out) {
  if (done[0]) return;
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
int main() {
  int host = system(0), *done; float* out;
  cudaMalloc(&done, sizeof(int));
  cudaMalloc(&out, 65536 * sizeof(float));
  cudaMemcpy(done, &host, sizeof(int), cudaMemcpyHostToDevice);
  use<<<256, 256>>>(done, out);
}
"""
        found = json.loads(self.good("predict", self.path("raised.cu", text.replace("if (done[0])", "if (done[0] != 2 * done[0])")), "--device", "a100", "--format", "json"))
        contents = [a for a in found["predictions"][0]["assumptions"] if "with which a thread gets to a store" in a["what"]]
        self.assertEqual([(a["value"], a["flag"]) for a in contents], [("0", "--buffer done=COUNT:FILL")])

    def test_a_buffer_in_host_memory_is_refused(self):
        file = self.path("pinned.cu", PROGRAM_TEXT.replace("cudaMalloc(&x, n * sizeof(float))", "cudaHostAlloc(&x, n * sizeof(float), 0)"))
        self.bad(1, r"pinned.cu:13: saxpy: buffer x lies in host memory, .* not modelled", "predict", file, "--device", "a100", "--argv", "1000 1")

    def test_sizes_that_do_not_fit(self):
        """Of one launch what lies beyond, of all together what they leave."""
        def findings(text, argv="1048576 1"):
            out = json.loads(self.run_program("predict", self.path("sizes.cu", text), "--device", "a100", "--argv", argv, "--format", "json").stdout)
            with open(os.path.join(ROOT, "schema", "predict.schema.json"), encoding="utf-8") as file:
                jsonschema.Draft202012Validator(json.load(file)).validate(out)
            return [(l["number"], f["rule"], f["buffer"], f["text"]) for l in out["launches"] for f in l["findings"]]
        self.assertEqual(findings(PROGRAM_TEXT), [])
        self.assertEqual(findings(PROGRAM_TEXT, "1000 1"), [])
        short = PROGRAM_TEXT.replace("cudaMalloc(&y, n * sizeof(float))", "cudaMalloc(&y, n * 2)")
        self.assertEqual([f[:3] for f in findings(short)], [(1, "beyond-buffer", "y")])
        self.assertRegex(self.good("predict", self.path("short.cu", short), "--device", "a100", "--argv", "1048576 1"),
                         r"launch 1 \(line 13, saxpy\): thread .* of y, which has 2097152 \[beyond-buffer\]")
        quarter = PROGRAM_TEXT.replace("(n + 255) / 256", "n / 1024")
        self.assertEqual(findings(quarter), [(1, "untouched-array", b, f"at most 1048576 of the 4194304 bytes of {b} are touched") for b in "xy"])
        others = ("saxpy<<<3 * n / 1024, 256>>>(n, 1.0f, x + n / 4, y + n / 4);", "cudaMemset(x, 0, n * 4); cudaMemset(y, 0, n * 4);",
                  "if (system(0) > 5) saxpy<<<n / 256, 256>>>(n, 1.0f, x, y);", "library(x, y);")
        for other in others:
            self.assertEqual(findings("void library(float*, float*);\n" + quarter[:quarter.rindex("}")] + other + "\n}\n"), [], other)

    def test_files_beside_the_source_that_define_what_it_calls_are_read(self):
        main, kernels = PROGRAM_TEXT.split("int main")
        host = self.path("host.cpp", "#include <cstdlib>\nvoid run(int n, int repeat);\nint main(int argc, char** argv) { run(atoi(argv[1]), 2); }\n")
        self.path("kernels.cu", main + "void run(int n, int repeat) {\n  float *x, *y;\n  cudaMalloc(&x, 4 * n);\n  cudaMalloc(&y, 4 * n);\n"
                  "  for (int r = 0; r < repeat; r++) saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y);\n}\n")
        self.path("other.cu", "void run(int n, int repeat) {}\nint main() {}\n")
        result = self.run_program("predict", host, "--device", "a100", "--argv", "1048576", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("host.cpp: read with it: kernels.cu", result.stderr)
        found = json.loads(result.stdout)
        one = json.loads(self.good("predict", self.file, "--device", "a100", "--argv", "1048576 2", "--format", "json"))
        self.assertEqual(found["predictions"][0]["time_s"], one["predictions"][0]["time_s"])
        self.assertEqual(found["launches"][0]["repetitions"], 2)
        os.mkdir(self.path("apart"))
        apart = self.path("apart/kernels.cu", "__global__ void k() {}\nvoid go(int n) { k<<<n, 64>>>(); }\n")
        alone = self.path("alone.cu", "void go(int n);\nint main() { go(7); }\n")
        self.bad(2, "no launch is found", "predict", alone, "--device", "a100")
        self.assertRegex(self.good("predict", alone, "--device", "a100", "--launch", "list", "--with", apart), r"k +7 +64")

    def test_a_file_without_main_is_a_part_of_the_program_beside_it(self):
        kernel, main = PROGRAM_TEXT.split("int main")
        run = ("void run(int n, int repeat) {\n  float *x, *y;\n  cudaMalloc(&x, 4 * n);\n  cudaMalloc(&y, 4 * n);\n"
               "  for (int r = 0; r < repeat; r++) saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y);\n}\n")
        part = self.path("part.cu", kernel + run)
        self.bad(1, r"part.cu:11: saxpy: the grid is not known: n: a parameter of run", "predict", part, "--device", "a100")
        self.path("a.cu", "int main() {}\n")  # another program
        self.path("host.cpp", "#include <cstdlib>\nvoid run(int n, int repeat);\nint main(int argc, char** argv) { run(atoi(argv[1]), 7); }\n")
        result = self.run_program("predict", part, "--device", "a100", "--argv", "1048576", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("part.cu: read with it: host.cpp\n", result.stderr)
        found = json.loads(result.stdout)
        one = json.loads(self.good("predict", self.file, "--device", "a100", "--argv", "1048576 2", "--format", "json"))
        self.assertEqual(found["predictions"][0]["time_s"], one["predictions"][0]["time_s"])
        self.assertEqual([(os.path.basename(l["file"]), l["repetitions"]) for l in found["launches"]], [("part.cu", 7)])

    def test_a_part_that_the_program_includes(self):
        """One folder up, and a kernel of the program's file that the part launches."""
        os.mkdir(self.path("kernels"))
        part = self.path("kernels/part.cu", "__global__ void fill(float* x) { x[threadIdx.x] = 1; }\ntemplate <int N> void run(float* x) {\n  fill<<<N, 64>>>(x);\n}\n")
        self.bad(2, "part.cu: no launch is found in the host code; or give --grid and --block", "predict", part, "--device", "a100")
        self.path("starts.cu", '#include "kernels/part.cu"\nint main() { float* x; cudaMalloc(&x, 256); fill<<<3, 64>>>(x); run<11>(x); }\n')
        for flags in (("--launch", "list"), ()):
            result = self.run_program("predict", part, "--device", "a100", *flags)
            self.assertRegex(result.stdout, r"part.cu: 1 launch of 1 kernel(.|\n)*fill +11 +64 +0 +1\b")
            self.assertEqual(result.stderr, f"kernelcast: {part}: read with it: starts.cu\n")
        self.assertIn("fill on ", result.stdout)

    def test_no_launch_where_another_file_is_read(self):
        self.path("work.cpp", "int work(int n) { return n; }\n")
        file = self.path("idle.cu", "int work(int n);\n__global__ void k() {}\nint main() { return work(2) == 3; }\n")
        self.bad(2, "idle.cu: no launch is found in the host code", "predict", file, "--device", "a100")

    def test_files_are_read_beside_the_source(self):
        file = self.path("reads.cu", PROGRAM_TEXT.replace("int n = atoi(argv[1])", 'FILE* f = fopen("n.txt", "r"); int n; fscanf(f, "%d", &n); int m = 0'))
        self.path("n.txt", "70000\n")
        self.assertRegex(self.good("predict", file, "--device", "a100", "--argv", "1 2", "--launch", "list"), r"saxpy +274 +256 +0 +2")
        os.remove(self.path("n.txt"))
        self.assertRegex(self.good("predict", file, "--device", "a100", "--argv", "1 2", "--launch", "list"), r"saxpy +\?\(n\) +256")

    def test_occupancy_is_that_of_the_device(self):
        """A100 and GTX Titan: 2048 threads an SM; 256 of them a block, of a kernel with few registers."""
        body = """
  int per_sm; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, saxpy, 256, 0);
  cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
  saxpy<<<per_sm * p.multiProcessorCount, 256>>>(n, 2.0f, x, y);
}
"""
        file = self.path("occupancy.cu", PROGRAM_TEXT[:PROGRAM_TEXT.rindex("}")] + body)
        for device, grid in (("a100", 8 * 108), ("gtx-titan", 8 * 14)):
            text = self.good("predict", file, "--device", device, "--argv", "1000 1", "--launch", "list")
            self.assertRegex(text, rf"saxpy +{grid} +256 +0 +1")

    def test_host_functions_of_headers_around_the_source_are_evaluated(self):
        """-I of a folder around the source, or none at all: Clang counts both as the system's."""
        for folder in ("include", "app"):
            os.mkdir(os.path.join(self.folder, folder))
        self.path("include/sizes.h", "inline int blocks_of(int n) { return (n + 255) / 256; }\n")
        file = self.path("app/whole.cu", '#include "sizes.h"\n__global__ void k() {}\nint main() { k<<<blocks_of(1000), 256>>>(); }\n')
        for flags in ([], ["-I", self.path("include")]):
            self.assertRegex(self.good("predict", file, "--device", "a100", "--launch", "list", *flags), r"k +4 +256 +0 +1")

    def test_host_code_is_read_as_nvcc_reads_it_for_the_device(self):
        """Version 12.8 has Blackwell; __CUDA__ is Clang's own, by which CUTLASS leaves it out."""
        file = self.path("blackwell.cu", "#if !defined(__CUDA__) && __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8\n#define SUPPORTED\n#endif\n"
                         "#define UNROLL #pragma unroll\n__global__ void k(int* a) {\n  UNROLL\n  for (int i = 0; i < 4; ++i) a[i] = 1;\n}\n"
                         "int main() {\n  int n = 3;\n#ifdef SUPPORTED\n  n = 7;\n#endif\n  k<<<n, 32>>>(nullptr);\n}\n")
        for device, grid in (("b200", 7), ("a100", 3)):
            self.assertRegex(self.good("predict", file, "--device", device, "--launch", "list"), rf"k +{grid} +32 +0 +1")

    def test_of_a_file_in_two_languages_one_is_read(self):
        self.path("kernels.c", "void go(int n) {}\n")
        self.path("kernels.cu", "__global__ void k() {}\nvoid go(int n) { k<<<n, 64>>>(); }\nvoid (*table[])(int) = {go};\n")
        main = self.path("main.cu", "extern void (*table[])(int);\nint main() { for (int i = 0; i < 3; ++i) table[0](9); }\n")
        result = self.run_program("predict", main, "--device", "a100", "--launch", "list")
        self.assertIn("read with it: kernels.cu\n", result.stderr)
        self.assertRegex(result.stdout, r"k +9 +64 +0 +3")

    def test_endless_loops_end(self):
        file = self.path("endless.cu", PROGRAM_TEXT.replace("r < repeat; r++)", "; r++)"))
        result = self.run_program("predict", file, "--device", "a100", "--argv", "1000 1", "--launch", "list", timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"evaluation ended at line \d+: the limit of ")

    def test_flags_of_both_kinds(self):
        self.bad(2, r"--launch, --argv, --with and --let are about launches in the host code", "predict", self.file, "--device", "a100", "--grid", "1", "--block", "32",
                 "--argv", "1")


if __name__ == "__main__":
    unittest.main()
