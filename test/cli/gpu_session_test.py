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
import gpu_results  # noqa: E402
import launch_plan  # noqa: E402


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

    def test_durations_are_cuptis_where_it_is_named(self):
        if not os.path.exists(FAKE):
            self.skipTest("the stand-in for the driver library is not built")
        plan, record = os.path.join(self.folder, "a.plan"), os.path.join(self.folder, "a.record")
        self.good("probe", "--backend", "cuda", "--device", "h200", "--quick", "--time-limit", "1", "--ptxas", "/usr/bin/true", "--plan", plan)
        runner = os.path.join(os.path.dirname(PROGRAM), "kernelcast-cuda")
        for library, durations in ((None, False), (FAKE, True), ("/no/such/libcupti.so", False)):
            environment = {k: v for k, v in os.environ.items() if k != "KERNELCAST_CUPTI_LIBRARY"}
            if library:
                environment["KERNELCAST_CUPTI_LIBRARY"] = library
            subprocess.run([runner, plan, record, FAKE], check=True, timeout=120, env=environment)
            _, _, series = gpu_results.record_of(record)
            runs = [run for _, of in series.values() for run in of]
            self.assertGreater(len(runs), 100)
            self.assertEqual(all(abs(run - 7e-6) < 1e-12 for run in runs), durations)

    def test_launches_of_rows_become_plans_and_times(self):
        with open(os.path.join(self.folder, "kernels.csv"), "w", encoding="utf-8") as file:
            file.write("id,language,path,entry,symbol,wrapper,fixed_defines,params,fills,cache_state,flags_argv\n"
                       'scale_a,cuda,scale.cu,scale,scale,scale.cu,,"const float* x:in, float* y:out, int n, float by",y=zero,warm,\n'
                       'scale_b,cuda,scale.cu,scale,scale,scale.cu,,"Shape s, float* y:out",,cold,\n')
        with open(os.path.join(self.folder, "rows.csv"), "w", encoding="utf-8") as file:
            file.write("kernel_id,gpu,defines,grid_x,grid_y,grid_z,block_x,block_y,block_z,dyn_smem_bytes,args,buffers,buffer_elem_bytes,time_ms,symbol\n"
                       "scale_a,l20,,64,1,1,256,1,1,0,n=16384;by=2,x=16384;y=16384,x=4;y=4,1,\n"
                       "scale_a,a100,,64,1,1,256,1,1,0,n=16384;by=2,x=16384;y=16384,x=4;y=4,2,\n"
                       "scale_b,l20,,64,1,1,256,1,1,0,,y=16384,y=4,1,\n")
        for line, pointer in (("const float* A:in, int M", [False, True]), ("half *a", [True]), ("__grid_constant__ const CUtensorMap m", [False])):
            self.assertEqual(sorted(p for _, _, p in launch_plan.parameters(line)), pointer)
        # A compiler that writes an object with the kernel's name: the plan needs no more of it.
        compiler = os.path.join(self.folder, "nvcc")
        with open(compiler, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho "void scale(void) {}" | cc -x c -c - -o "$2"\n')
        os.chmod(compiler, 0o755)
        if not shutil.which("cc") or not shutil.which("readelf"):
            self.skipTest("no C compiler or readelf")
        tool = [sys.executable, "tools/gpu/launch_plan.py"]
        kernels, rows = os.path.join(self.folder, "kernels.csv"), os.path.join(self.folder, "rows.csv")
        out = self.script(*tool, "plan", kernels, rows, self.folder, self.folder, "few", "--nvcc", compiler)
        self.assertIn("scale_b: 1 launches left out: parameter s has the type Shape", out)
        self.assertIn("few: 1 launches in 1 plans", out)
        if not os.path.exists(FAKE):
            return
        # The stand-in takes no object as a module: the row is not written, and why is said.
        subprocess.run([os.path.join(os.path.dirname(PROGRAM), "kernelcast-cuda"), os.path.join(self.folder, "few.scale.plan"), os.path.join(self.folder, "few.scale.record"), "/no/such/libcuda.so"],
                       check=False, capture_output=True, timeout=60)
        result = subprocess.run([*tool, "times", kernels, self.folder, "few", os.path.join(self.folder, "times.csv")], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
        self.assertIn("cannot be opened", result.stdout + result.stderr)

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
