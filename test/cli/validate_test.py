"""kernelcast validate from outside, on an example."""

import csv
import gzip
import json
import os
import unittest

from check_schema import checked
from program import ROOT, Case

KERNELS = "id,language,path,entry,cache_state\nmatmul_tiled,opencl,matmul_tiled.cl,matmul_tiled,warm\n"
ROWS = """kernel_id,gpu,grid_x,grid_y,block_x,block_y,args,buffers,time_ms,flags,problem
matmul_tiled,v100,64,64,16,16,n=1024,a=1048576,0.9,,n 1024
matmul_tiled,Tesla V100,32,32,16,16,n=512,a=262144,0.2,,n 512
matmul_tiled,v100,1,1,16,16,n=16,a=256,0.005,launch_overhead,n 16
matmul_tiled,mi100,64,64,16,16,n=1024,a=1048576,1.1,,n 1024
matmul_tiled,no such gpu,64,64,16,16,n=1024,a=1048576,1.1,,n 1024
matmul_tiled,v100,64,64,8,8,n=1024,a=1048576,1.1,,n 1024
"""
EXAMPLES = os.path.join(ROOT, "examples")


class Validate(Case):
    def setUp(self):
        super().setUp()
        self.rows = self.path("rows.csv", ROWS)
        self.kernels = self.path("kernels.csv", KERNELS)
        self.base = (self.rows, "--kernels", self.kernels, "--sources", EXAMPLES)

    def result(self, *flags, base=None):
        return checked(self.good("validate", *(base or self.base), "--format", "json", *flags), "validate")

    def test_json_holds_every_row_and_adds_up(self):
        value = self.result()
        self.assertEqual([row["place"] for row in value["rows"]], [f"{self.rows}:{i}" for i in range(2, 8)])
        for score in value["models"].values():
            self.assertEqual((score["rows"], score["excluded"]), (3, 1))
            self.assertEqual(score["rows"] + score["excluded"] + score["failed"], 6)
        failed = [row for row in value["rows"] if row["counts"] is None]
        self.assertEqual(len(failed), 2)
        self.assertIn("no such gpu", failed[0]["reason"])
        self.assertIn("16,16", failed[1]["reason"])  # the block that the kernel requires
        self.assertEqual(value["rows"][1]["device"], "nvidia-tesla-v100-pcie-16gb")
        self.assertEqual(len(value["failures"]), 2)

    def test_forecasts_are_those_of_predict(self):
        row = self.result("--model", "roofline")["rows"][0]
        predicted = json.loads(
            self.good(
                "predict", os.path.join(EXAMPLES, "matmul_tiled.cl"), "--device", "v100", "--grid", "64,64", "--block", "16,16",
                "--arg", "n=1024", "--buffer", "a=1048576", "--model", "roofline", "--format", "json",
            )
        )["predictions"][0]
        self.assertEqual(row["models"]["roofline"]["time_s"], predicted["time_s"])
        self.assertEqual(row["models"]["roofline"]["bounds"][0]["name"], predicted["bounds"][0]["name"])
        self.assertEqual(row["counts"], predicted["counts"])
        ape = abs(predicted["time_s"] - 0.9e-3) / 0.9e-3
        self.assertAlmostEqual(row["models"]["roofline"]["ape"], ape, places=12)

    def test_the_number_of_jobs_does_not_show(self):
        texts = {self.good("validate", *self.base, "--jobs", jobs) for jobs in ("1", "4")}
        self.assertEqual(len(texts), 1)
        text = texts.pop()
        self.assertIn("median Spearman", text)
        self.assertIn("launch_overhead", text)

    def test_kept_analyses_change_nothing(self):
        folder = self.path("kept")
        first = self.good("validate", *self.base, "--cache", folder)
        kept = os.listdir(folder)
        self.assertEqual(len(kept), 3)  # sm_70 with two blocks and gfx908; n is no part of it
        self.assertEqual(self.good("validate", *self.base, "--cache", folder), first)
        self.assertEqual(sorted(os.listdir(folder)), sorted(kept))
        self.assertEqual(self.good("validate", *self.base), first)

    def test_filters_and_limit(self):
        self.assertEqual(len(self.result("--device", "v100")["rows"]), 4)
        self.assertEqual(len(self.result("--device", "v100,mi100", "--limit", "2", "--kernel", "mat*")["rows"]), 4)
        self.bad(2, "--device gtx280: no row was measured on it", "validate", *self.base, "--device", "gtx280")
        self.bad(2, "--kernel conv: no row is of such a kernel", "validate", *self.base, "--kernel", "conv")

    def test_rows_as_csv(self):
        out = self.path("out.csv")
        self.good("validate", *self.base, "--model", "roofline,ske", "--rows-out", out)
        with open(out, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 6)
        self.assertEqual(float(rows[0]["warp_ops.fp32_fma"]), 1024**3 / 32)
        self.assertGreater(float(rows[0]["roofline.time_s"]), 0)
        self.assertIn("=", rows[0]["ske.bounds"])
        self.assertEqual(rows[4]["roofline.time_s"], "")
        self.assertIn("no such gpu", rows[4]["failure"])

    def test_work_of_a_block_is_bounded_as_in_predict(self):
        """Some hundred thousand trips are executed; millions for each warp are not, and the closed form stands."""
        self.path(
            "sum.cu",
            "__global__ void sum(const float* x, float* y) {\n  int i = blockIdx.x * 32 + threadIdx.x;\n  float s = 0, v = x[i];\n"
            "  while (s < LEAST) s += v + 1;\n  y[i] = s;\n}\n",
        )
        kernels = self.path("k.csv", "id,language,path,entry\nsum,cuda,sum.cu,sum\n")
        for least, executed in (("2e5f", True), ("1.6e7f", False)):
            rows = self.path("r.csv", f"kernel_id,gpu,defines,grid_x,block_x,time_ms\nsum,v100,LEAST={least},64,32,1\n")
            base = (rows, "--kernels", kernels, "--sources", os.path.dirname(rows), "--model", "kernelcast")
            counts = [self.result("--counts", how, base=base)["rows"][0]["counts"] for how in ("auto", "symbolic")]
            self.assertEqual(counts[0] != counts[1], executed, least)

    def test_no_forecast_at_all_is_status_one(self):
        rows = self.path("none.csv", ROWS.splitlines()[0] + "\nmatmul_tiled,no such gpu,1,1,16,16,n=16,,1,,\n")
        result = self.run_program("validate", rows, *self.base[1:])
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("no such gpu", result.stdout)

    def test_where_no_row_has_a_forecast_a_message_says_so(self):
        nowhere = self.path("nowhere.csv", ROWS.replace("v100", "no such gpu").replace("Tesla V100", "no such gpu").replace("mi100", "no such gpu"))
        result = self.run_program("validate", nowhere, *self.base[1:])
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"nowhere\.csv: none of 6 rows has a forecast; the result lists the reasons")

    def test_files_without_a_measurement(self):
        self.bad(1, r"head\.csv: there is no measurement", "validate", self.path("head.csv", ROWS.splitlines()[0] + "\n"), *self.base[1:])
        empty = self.path("empty.json", '{"device_name": "v100", "tune_params_keys": ["bx"], "cache": {}}')
        self.bad(1, r"empty\.json: there is no measurement", "validate", empty, *self.base[1:], "--block", "bx", "--problem", "64")
        self.bad(1, r"list\.json: has neither", "validate", self.path("list.json", "[]"), *self.base[1:], "--block", "bx", "--problem", "64")

    def test_code_that_could_not_be_assembled_is_shown(self):
        silent = self.path("ptxas", "#!/bin/sh\necho 'too old for sm_70' >&2\nexit 1\n")
        os.chmod(silent, 0o755)
        flags = ("--device", "v100", "--model", "kernelcast", "--ptxas", silent)
        value = self.result(*flags)
        self.assertEqual([g["n"] for g in value["not_assembled"]], [3])
        self.assertIn("too old for sm_70", value["not_assembled"][0]["why"])
        self.assertIn("Counted as PTX", self.good("validate", *self.base, *flags))
        self.assertEqual(self.result(*flags[:-2])["not_assembled"], [])

    def test_inputs_are_not_written_over(self):
        for flag, file in (("--rows-out", self.rows), ("-o", self.kernels)):
            self.bad(2, f"{flag} .* is read in this run", "validate", *self.base, flag, file)
        with open(self.rows, encoding="utf-8") as rows:
            self.assertEqual(rows.read(), ROWS)
        self.bad(2, "--model is given 2 times", "validate", *self.base, "--model", "ske", "--model", "roofline")

    def test_bad_files_name_file_and_line(self):
        rows = self.path("bad.csv", "kernel_id,gpu,grid_x,block_x,time_ms\nk,v100,1,32,fast\n")
        self.bad(1, r"bad\.csv:2: column time_ms", "validate", rows, *self.base[1:])
        fills = self.path("fills.csv", "id,language,path,entry,fills\nmatmul_tiled,opencl,matmul_tiled.cl,matmul_tiled,a=zeros\n")
        self.bad(1, r"fills\.csv:2: column fills: a=zeros: there is no such fill", "validate", self.rows, "--kernels", fills, "--sources", EXAMPLES)
        self.bad(1, r"gone\.csv", "validate", self.path("gone.csv"), *self.base[1:])
        self.bad(2, "--jobs 0", "validate", *self.base, "--jobs", "0")
        self.bad(2, "--format yaml", "validate", *self.base, "--format", "yaml")
        self.bad(2, "--kernels", "validate", self.rows, "--sources", EXAMPLES)

    def test_kernel_tuner_files(self):
        t1 = self.path(
            "t1.json",
            json.dumps(
                {
                    "ConfigurationSpace": {"TuningParameters": [{"Name": "block_size_x"}]},
                    "KernelSpecification": {
                        "Language": "CUDA", "KernelName": "saxpy", "KernelFile": "saxpy.cu", "ProblemSize": 1048576,
                        "LocalSize": {"X": "block_size_x", "Y": "1", "Z": "1"}, "GridDivX": ["block_size_x"],
                        "Arguments": [
                            {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 1048576},
                            {"Name": "a", "Type": "float", "MemoryType": "Scalar", "FillValue": 2.0},
                            {"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": 1048576},
                            {"Name": "y", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0]"},
                        ],
                    },
                }
            ),
        )
        blocks = (32, 64, 96, 128, 192, 256, 384, 512)
        results = [{"configuration": {"block_size_x": b}, "times": {"runtimes": [9, 0.02 + b * 1e-5, 0]}, "invalidity": "correct"} for b in blocks]
        results.append({"configuration": {"block_size_x": 2048}, "times": {}, "invalidity": "runtime"})
        t4 = self.path("t4.json", json.dumps({"results": results}))
        value = self.result("--device", "v100", base=(t4, "--t1", t1, "--sources", EXAMPLES))
        self.assertEqual(value["not_measured"], 1)
        self.assertEqual(value["models"]["roofline"]["rows"], 8)
        self.assertEqual({g["n"] for g in value["groups"]}, {8})
        self.assertEqual(value["rows"][2]["launch"], {"grid": [10923, 1, 1], "block": [96, 1, 1], "dynamic_shared_bytes": 0})
        cache = {str(b): {"block_size_x": b, "time": 0.02 + b * 1e-5} for b in blocks}
        text = json.dumps({"device_name": "Tesla V100", "tune_params_keys": ["block_size_x"], "cache": cache})
        old = self.path("cache.json.gz")
        with gzip.open(old, "wt") as file:
            file.write(text[:-2])  # as Kernel Tuner leaves it open
        again = self.result(base=(old, "--t1", t1, "--sources", EXAMPLES))
        self.assertEqual(again["models"]["roofline"]["gmae"], value["models"]["roofline"]["gmae"])


if __name__ == "__main__":
    unittest.main()
