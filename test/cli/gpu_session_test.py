"""The session on a machine with a GPU, from plans to results, on the tests' stand-in for the driver library."""

import csv
import json
import os
import shutil
import subprocess
import sys
import unittest

from check_schema import checked
from program import PROGRAM, ROOT, Case

FAKE = os.environ.get("KERNELCAST_FAKE_CUDA_LIBRARY", "")
sys.path.insert(0, os.path.join(ROOT, "tools", "gpu"))
import gpu_plans  # noqa: E402


class GpuSession(Case):
    def script(self, *command):
        result = subprocess.run(command, capture_output=True, text=True, timeout=170, check=False, cwd=ROOT)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_plans_session_and_results(self):
        if not os.path.exists(FAKE):
            self.skipTest("the stand-in for the driver library is not built")
        folder = self.folder
        self.good("probe", "--backend", "cuda", "--device", "h200", "--quick", "--time-limit", "2", "--ptxas", "/usr/bin/true", "--plan", os.path.join(folder, "probe.plan"))
        shutil.copy2(os.path.join(os.path.dirname(PROGRAM), "kernelcast-cuda"), folder)
        compiled = shutil.which("clang-19") and os.path.exists(gpu_plans.CLC)
        if compiled:
            # Some of them: each is compiled with a large library of mathematical functions.
            gpu_plans.EXAMPLES = [e for e in gpu_plans.EXAMPLES if e[0] in ("saxpy.cu", "matmul_tiled.cu", "nbody.cl")]
            with open(os.path.join(folder, "examples.plan"), "wb") as file:
                file.write(gpu_plans.examples_plan("sm_90"))
        self.script("sh", "tools/gpu/gpu_session.sh", folder, FAKE)
        measured = os.path.join(folder, "measured")
        out = self.script(sys.executable, "tools/gpu/gpu_results.py", "h200", folder, PROGRAM, measured)
        self.assertIn("ffma.latency_cycles", out)
        with open(os.path.join(folder, "probe.json"), encoding="utf-8") as file:
            results = {r["id"]: r for r in checked(file.read(), "probe")["results"]}
        self.assertAlmostEqual(results["ffma.latency_cycles"]["value"], 4, delta=0.1)
        self.assertIn("measured", self.good("devices", os.path.join(folder, "h200-measured.toml")))
        if not compiled:
            return
        with open(os.path.join(measured, "h200.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([r["kernel_id"] for r in rows], [e[0].replace(".", "_") for e in gpu_plans.EXAMPLES])
        for row in rows:
            self.assertGreater(float(row["time_ms"]), 0)
            self.assertEqual((row["gpu"], row["device_name"], row["driver"]), ("h200", "NVIDIA H200", "CUDA 12.4"))
        # The rows are such as validate takes.
        result = json.loads(self.good("validate", os.path.join(measured, "h200.csv"), "--kernels", os.path.join(measured, "kernels.csv"), "--sources", os.path.join(ROOT, "examples"),
                         "--kernel", "saxpy_cu,matmul_tiled_cu", "--model", "roofline", "--format", "json"))
        self.assertEqual(len(result["rows"]), 2)
        self.assertEqual([r for r in result["rows"] if r.get("failure")], [])

    def test_without_a_driver_it_fails_and_says_why(self):
        folder = self.folder
        self.good("probe", "--backend", "cuda", "--device", "h200", "--quick", "--plan", os.path.join(folder, "probe.plan"))
        shutil.copy2(os.path.join(os.path.dirname(PROGRAM), "kernelcast-cuda"), folder)
        none = "/no/such/libcuda.so.1"
        runner = [os.path.join(folder, "kernelcast-cuda"), os.path.join(folder, "probe.plan"), os.path.join(folder, "record"), none]
        for command in (runner, ["sh", "tools/gpu/gpu_session.sh", folder, none]):
            result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertIn("cannot be opened", result.stderr)
        result = subprocess.run([*runner[:2], "/no/such/folder/record", none], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot be written", result.stderr)

    def test_without_a_folder_it_says_how_it_is_used(self):
        result = subprocess.run(["sh", "tools/gpu/gpu_session.sh"], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
        self.assertEqual(result.returncode, 2)
        self.assertIn("gpu_plans.py", result.stderr)


if __name__ == "__main__":
    unittest.main()
