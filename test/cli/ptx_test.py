#!/usr/bin/env python3
"""PTX as an input: inline assembly beside plain code, files for each configuration of `tune`, arguments by position, machine code."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ["KERNELCAST"]
DATA = Path(__file__).resolve().parents[1] / "data" / "triton"

COPIES = """__global__ void plain(const float4* __restrict__ a, float4* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}
__global__ void by_asm(const float4* a, float4* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v;
  asm volatile("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(a + i));
  asm volatile("st.global.cs.v4.f32 [%0], {%1,%2,%3,%4};" :: "l"(b + i), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}
"""


def run(*words, status=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout if status == 0 else done.stderr


class Ptx(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def predicted(self, *words):
        return json.loads(run("predict", *words, "--format", "json"))["predictions"][0]

    def test_a_copy_in_assembly_is_no_faster_than_a_plain_one(self):
        """537 MB; 1.555 TB/s are the memory's peak."""
        path = self.folder / "copy.cu"
        path.write_text(COPIES)
        launch = (path, "--device", "a100", "--grid", 65536, "--block", 256, "--arg", "n=16777216")
        plain, assembly = (self.predicted(*launch, "--kernel", k) for k in ("plain", "by_asm"))
        self.assertAlmostEqual(assembly["time_s"] / plain["time_s"], 1, delta=0.02)
        self.assertGreater(assembly["time_s"], 2 * 16 * 16777216 / 1.555e12)
        self.assertGreaterEqual(assembly["time_s"], assembly["floor_s"])
        self.assertEqual(assembly["unmodeled"], [])

    def test_dot_products_of_bytes_are_counted(self):
        path = self.folder / "dot.cu"
        path.write_text('__global__ void k(const int* a, int* b) { int i = blockIdx.x * blockDim.x + threadIdx.x, r; '
                        'asm("dp4a.s32.s32 %0, %1, %2, 0;" : "=r"(r) : "r"(a[i]), "r"(b[i])); b[i] = r; }\n')
        self.assertEqual(self.predicted(path, "--device", "a100", "--grid", 64, "--block", 256)["unmodeled"], [])

    def test_tune_takes_a_file_for_each_configuration(self):
        for value, kernel in ((1, "vector_add.sm80"), (2, "vector_add.sm90")):
            for ending in (".ptx", ".json"):
                shutil.copy(DATA / f"{kernel}{ending}", self.folder / f"k_{value}{ending}")
        grid, arguments = ("--grid", 4096), ("--arg", "3=4194304")
        asked = ("--param", "V=1,2,3", *grid, *arguments, "--device", "h100", "--no-cache", "--format", "json")
        tuned = json.loads(run("tune", self.folder / "k_{V}.ptx", *asked))
        times = {c["params"]["V"]: c for c in tuned["best"]}
        self.assertEqual(sorted(times), [1, 2])
        for value, c in times.items():
            p = self.predicted(self.folder / f"k_{value}.ptx", *grid, *arguments, "--device", "h100", "--counts", "symbolic")
            self.assertEqual(c["time_s"], p["time_s"])
        self.assertIn("k_3.ptx", tuned["infeasible"][0]["reason"])

    def test_tune_knows_the_block_that_triton_wrote(self):
        launch = ("--grid", 4096, "--arg", "3=1048576", "--device", "a100")
        tuned = json.loads(run("tune", DATA / "vector_add.sm80.ptx", *launch, "--no-cache", "--format", "json"))
        self.assertEqual(tuned["best"][0]["time_s"], self.predicted(DATA / "vector_add.sm80.ptx", *launch)["time_s"])

    def test_machine_code_is_told_what_to_do_whatever_its_name(self):
        for name in ("a.out", "k.o", "k.cubin", "k"):
            path = self.folder / name
            path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(60))
            self.assertIn("cuobjdump -ptx", run("predict", path, "--device", "a100", "--grid", 1, "--block", 32, status=1))


if __name__ == "__main__":
    unittest.main()
