"""Runs the command in each example's first lines, and checks what the example is there to show."""

import glob
import json
import os
import re
import shlex
import unittest

from program import ROOT, Case


def command_of(path):
    """The words after "kernelcast" in the example's header; a backslash continues the line."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"\\\n// *", "", file.read())
    return shlex.split(re.search(r"^(?://|#)   kernelcast (.*)$", text, re.M)[1])


class Examples(Case):
    def told(self, *args):
        """Standard output. A search in parallel races for the levels of vertices, and every thread that wins writes the same: true findings."""
        result = self.run_program(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = [line for line in result.stderr.splitlines() if not re.match(r"kernelcast: examples/bfs_step.cu:1[034]: racecheck: race: ", line)]
        self.assertEqual(found, [])
        return result.stdout

    def predictions(self, name, *more):
        args = command_of(os.path.join(ROOT, "examples", name))
        args = ["predict", *args[1:], *more, "--format", "json"]
        return json.loads(self.told(*args))["predictions"]

    def test_every_command_runs(self):
        paths = sorted(p for p in glob.glob(os.path.join(ROOT, "examples", "*")) if os.path.isfile(p))
        self.assertGreaterEqual(len(paths), 15)
        for path in paths:
            with self.subTest(os.path.basename(path)):
                args = command_of(path)
                self.assertEqual(args[1], os.path.relpath(path, ROOT))
                self.assertRegex(self.told(*args), r"limited by|kernel runs, [\d.]+ % in ")

    def test_triton_matmul_shows_python_lines(self):
        args = command_of(os.path.join(ROOT, "examples", "triton", "matmul.ptx"))
        self.assertEqual(args, command_of(os.path.join(ROOT, "examples", "triton", "matmul.py")))
        self.assertRegex(self.told(*args), r"limited by|kernel runs, [\d.]+ % in ")
        self.assertRegex(self.told("explain", *args[1:]), r"matmul.py:\d+ .* total = tl.dot\(x, y, total\)")

    def test_every_command_of_the_offload_examples_runs(self):
        paths = sorted(glob.glob(os.path.join(ROOT, "examples", "offload", "*")))
        self.assertGreaterEqual(len(paths), 13)
        for path in paths:
            with self.subTest(os.path.basename(path)):
                args = command_of(path)
                self.assertEqual(args[1], os.path.relpath(path, ROOT))
                self.assertIn("decision", self.good(*args))

    def counts(self, name, *more):
        return self.predictions(name, *more, "--model", "roofline")[-1]["counts"]

    def test_the_tile_saves_global_loads(self):
        def global_loads(name):
            return next(m["bytes"] for m in self.counts(name)["memory"] if (m["space"], m["kind"]) == ("global", "load"))

        self.assertEqual(global_loads("matmul_naive.cl"), 16 * global_loads("matmul_tiled.cl"))

    def test_opencl_cuda_and_the_loop_nest_count_alike(self):
        def totals(name):
            c = self.counts(name)
            return c["flops_fp32"], sum(m["bytes"] for m in c["memory"]), c["footprint_bytes"]

        self.assertEqual(totals("matmul_naive.cl"), totals("matmul_naive.cu"))
        self.assertEqual(totals("matmul_naive.cl"), totals("matmul.c"))
        self.assertEqual(totals("matmul_tiled.cl"), totals("matmul_tiled.cu"))

    def test_matmul_does_two_n_cubed_operations(self):
        for name in ("matmul_naive.cl", "matmul_tiled.cl"):
            self.assertEqual(self.counts(name)["flops_fp32"], 2 * 1024**3)

    def test_padding_removes_bank_conflicts(self):
        def passes(*more):
            return sum(m["bank_passes"] for m in self.counts("transpose.cl", *more)["memory"] if m["space"] == "shared")

        self.assertGreater(passes("-D", "PAD=0"), 2 * passes())

    def test_the_unknown_bin_is_an_assumption_of_closed_forms(self):
        p = self.predictions("histogram.cu", "--model", "roofline", "--counts", "symbolic")[0]
        self.assertTrue(any(a["flag"].startswith("--assume") for a in p["assumptions"]))

    def test_data_are_executed_where_they_decide(self):
        for name in ("spmv_csr.cu", "bfs_step.cu", "histogram.cu"):
            p = self.predictions(name, "--model", "roofline")[0]
            self.assertEqual(p["counts_method"], "mixed", name)
            self.assertFalse(any(a["flag"].startswith("--assume") for a in p["assumptions"]), name)

    def test_rows_differ_in_length_so_lanes_idle(self):
        execution = self.counts("spmv_csr.cu")["execution"]
        self.assertGreater(execution["divergent_branches"], 0)
        self.assertGreater(execution["warp_imbalance"], 1)


if __name__ == "__main__":
    unittest.main()
