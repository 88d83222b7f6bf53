"""No estimate of any model lies below the physical floor: every example on every device."""

import glob
import json
import os
import unittest

from examples_test import command_of
from program import ROOT, Case


class Floor(Case):
    def answered(self, *args):
        """The predictions; devices whose code generation lacks an instruction are named on standard error."""
        result = self.run_program(*args, "--format", "json", timeout=150)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["predictions"]

    def test_no_model_answers_below_it(self):
        answers = 0
        for path in sorted(p for p in glob.glob(os.path.join(ROOT, "examples", "*")) if os.path.isfile(p)):
            command = command_of(path)
            if command[0] not in ("predict", "explain"):
                continue
            args = ["predict", *command[1:]]
            args[args.index("--device") + 1] = "all"
            if "--model" in args:
                del args[args.index("--model"): args.index("--model") + 2]
            for p in self.answered(*args, "--model", "all", "--counts", "symbolic"):
                where = f"{os.path.basename(path)} {p['device']} {p['model']}"
                if p["time_s"] is None:
                    continue
                answers += 1
                self.assertIsNotNone(p["floor_s"], where)
                self.assertGreaterEqual(p["time_s"], p["floor_s"], where)
                self.assertLessEqual(p["achieved"]["fraction_of_peak"], 1, where)
                if p["limiter"] == "floor":
                    self.assertEqual(p["bounds"][0]["time_s"], p["time_s"], where)
        self.assertGreater(answers, 3000)

    def test_products_take_what_the_hardware_needs(self):
        """2 * 4096^3 operations on tensor cores of 165.2 TFLOP/s (GeForce RTX 4090) and 312 TFLOP/s (A100)."""
        args = ["predict", *command_of(os.path.join(ROOT, "examples", "matmul_wmma.cu"))[1:], "--format", "json"]
        for p in json.loads(self.good(*args, "--model", "kernelcast"))["predictions"]:
            peak = {"nvidia-geforce-rtx-4090": 165.2e12}.get(p["device"], 312e12)
            self.assertEqual(p["counts"]["tensor_multiply_adds"], {"f16_f32": 4096**3})
            self.assertAlmostEqual(p["floor_s"], 2 * 4096**3 / peak, delta=0.01 * p["floor_s"])
            self.assertGreaterEqual(p["time_s"], p["floor_s"])
            self.assertAlmostEqual(p["achieved"]["tensor_flop_per_s"] * p["time_s"], 2 * 4096**3, delta=1e6)

    def test_a_wave_of_64_lanes_multiplies_for_two_warps(self):
        args = ["predict", *command_of(os.path.join(ROOT, "examples", "matmul_wmma.cu"))[1:], "--format", "json", "--model", "roofline"]
        args[args.index("--device") + 1] = "a100,mi300x,7900xtx"
        for p in json.loads(self.good(*args, "--counts", "symbolic"))["predictions"]:
            self.assertEqual(p["counts"]["tensor_multiply_adds"], {"f16_f32": 4096**3}, p["device"])

    def test_fragments_are_registers(self):
        args = ["predict", *command_of(os.path.join(ROOT, "examples", "matmul_wmma.cu"))[1:], "--format", "json", "--model", "roofline"]
        for p in json.loads(self.good(*args))["predictions"]:
            self.assertNotIn("local", {m["space"] for m in p["counts"]["memory"]})
            self.assertLess(p["resources"]["registers_per_thread"], 128)

    def counted(self, name, text, device):
        source = self.path(name, text)
        args = ["--grid", "1", "--block", "64", "--model", "roofline", "--counts", "symbolic", "--format", "json"]
        return json.loads(self.good("predict", source, "--device", device, *args))["predictions"][0]["counts"]

    def test_wmma_of_each_type_and_shape(self):
        for kind, (m, n, k), inputs, sums in (
            ("f16_f32", (16, 16, 16), "half", "float"),
            ("f16_f16", (16, 16, 16), "half", "half"),
            ("f16_f32", (32, 8, 16), "half", "float"),
            ("f16_f32", (8, 32, 16), "half", "float"),
            ("bf16_f32", (16, 16, 16), "__nv_bfloat16", "float"),
            ("tf32_f32", (16, 16, 8), "wmma::precision::tf32", "float"),
            ("s8_s32", (16, 16, 16), "signed char", "int"),
            ("s8_s32", (8, 32, 16), "unsigned char", "int"),
            ("f64_f64", (8, 8, 4), "double", "double"),
        ):
            memory = "float" if "tf32" in inputs else inputs
            counts = self.counted("k.cu", f"""#include <mma.h>
using namespace nvcuda;
__global__ void k(const {memory}* a, const {memory}* b, {sums}* c) {{
  wmma::fragment<wmma::matrix_a, {m}, {n}, {k}, {inputs}, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, {m}, {n}, {k}, {inputs}, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {sums}> z;
  wmma::load_matrix_sync(x, a, {k});
  wmma::load_matrix_sync(y, b, {k});
  wmma::load_matrix_sync(z, c, {n}, wmma::mem_row_major);
  wmma::mma_sync(z, x, y, z);
  wmma::store_matrix_sync(c, z, {n}, wmma::mem_row_major);
}}
""", "a100")
            with self.subTest(f"{kind} {m} {n} {k}"):
                self.assertEqual(counts["tensor_multiply_adds"], {kind: 2 * m * n * k})  # two warps
                size = {"half": 2, "__nv_bfloat16": 2, "double": 8, "signed char": 1, "unsigned char": 1}.get(inputs, 4)
                result = {"half": 2, "double": 8}.get(sums, 4)
                loads = sum(m["bytes"] for m in counts["memory"] if m["kind"] == "load")
                # Each element of the matrices is loaded once by each warp.
                self.assertEqual(loads, 2 * ((m * k + k * n) * size + m * n * result))

    def test_matrix_instructions_of_amd(self):
        head = "#include <hip/hip_runtime.h>\ntypedef float f4 __attribute__((ext_vector_type(4)));\n" \
            "typedef _Float16 h4 __attribute__((ext_vector_type(4)));\ntypedef double d4 __attribute__((ext_vector_type(4)));\n"
        half = head + "__global__ void k(h4* a, f4* c) { int i = threadIdx.x; " \
            "c[i] = __builtin_amdgcn_mfma_f32_16x16x16f16(a[i], a[i + 64], c[i], 0, 0, 0); }\n"
        self.assertEqual(self.counted("h.hip", half, "mi300x")["tensor_multiply_adds"], {"f16_f32": 4096})
        double = head + "__global__ void k(double* a, d4* c) { int i = threadIdx.x; " \
            "c[i] = __builtin_amdgcn_mfma_f64_16x16x4f64(a[i], a[i + 64], c[i], 0, 0, 0); }\n"
        self.assertEqual(self.counted("d.hip", double, "mi210")["tensor_multiply_adds"], {"f64_f64": 1024})


if __name__ == "__main__":
    unittest.main()
