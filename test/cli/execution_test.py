"""Executed counts on the built executable: what runs, what is mixed, what trouble is found, which limits hold."""

import itertools
import json
import os
import re
import subprocess
import unittest

from check_schema import checked
from program import PROGRAM, ROOT, Case

SPMV = (
    os.path.join(ROOT, "examples", "spmv_csr.cu"), "--device", "v100", "--grid", "64", "--block", "256", "--arg", "rows=16384",
    "--buffer", "start=16385:sorted(0,262144)", "--buffer", "column=262144:uniform(0,16384)", "--buffer", "value=262144",
    "--buffer", "x=16384", "--buffer", "y=16384",
)  # fmt: skip
MATMUL = (os.path.join(ROOT, "examples", "matmul_tiled.cl"), "--device", "v100", "--global", "64,64", "--block", "16,16", "--arg", "n=64")


def loads(prediction, space="global"):
    return next(m for m in prediction["counts"]["memory"] if (m["space"], m["kind"]) == (space, "load"))


def peak_memory(*args):
    """The most memory that a run of the program held, in bytes."""
    with subprocess.Popen([PROGRAM, *args], stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"exit status {process.returncode}")
    return usage.ru_maxrss * 1024


class Execution(Case):
    def output(self, command, *args):
        return checked(self.good(command, *args, "--format", "json"), command)

    def one(self, *args):
        return self.output("predict", *args, "--model", "roofline")["predictions"][0]

    def troubled(self, name, text, *args):
        """JSON and standard error of a run that finds something."""
        source = self.path(name, text)
        result = self.run_program("predict", source, "--device", "v100", "--counts", "executed", *args, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return checked(result.stdout, "predict")["findings"], result.stderr

    def test_closed_forms_that_leave_nothing_open_are_not_executed(self):
        p = self.one(*MATMUL)
        self.assertEqual(p["counts_method"], "symbolic")
        self.assertNotIn("execution", p["counts"])

    def test_executed_and_closed_forms_agree(self):
        closed = self.one(*MATMUL, "--counts", "symbolic")["counts"]
        run = self.one(*MATMUL, "--counts", "executed", "--sample", "all")["counts"]
        self.assertEqual(run.pop("execution")["blocks_run"], 16)
        self.assertEqual(run, closed)

    def test_what_data_decide_is_executed_and_the_rest_is_exact(self):
        auto, run = self.one(*SPMV), self.one(*SPMV, "--counts", "executed", "--sample", "all")
        closed = self.one(*SPMV, "--counts", "symbolic")
        self.assertEqual(auto["counts_method"], "mixed")
        self.assertEqual(run["counts_method"], "executed")
        stores = [next(m for m in p["counts"]["memory"] if m["kind"] == "store") for p in (auto, run, closed)]
        self.assertEqual(stores[0], stores[2])
        self.assertEqual(stores[0], stores[1])
        half = auto["counts"]["execution"]["half_interval_95"]["global_sectors"]
        self.assertLess(abs(loads(auto)["sectors"] / loads(run)["sectors"] - 1), max(2 * half, 1e-9))
        self.assertNotAlmostEqual(loads(closed)["sectors"] / loads(run)["sectors"], 1, places=2)
        self.assertFalse([a for a in auto["assumptions"] if "trips" in a["flag"]])

    def test_a_sample_states_its_interval(self):
        few, every = (self.one(*SPMV, "--sample", n)["counts"]["execution"] for n in ("8", "all"))
        self.assertEqual((few["blocks_run"], every["blocks_run"]), (8, 64))
        self.assertGreater(few["half_interval_95"]["warp_instructions"], 0)
        self.assertEqual(every["half_interval_95"], {"warp_instructions": 0, "global_sectors": 0})

    def test_an_answer_of_the_user_wins(self):
        flags = [a["flag"] for a in self.one(*SPMV, "--counts", "symbolic")["assumptions"] if "trips" in a["flag"]]
        key = flags[0].split()[1].split("=")[0]
        few, many = (self.one(*SPMV, "--assume", f"{key}={n}") for n in (2, 20))
        self.assertGreater(loads(many)["requests"], 5 * loads(few)["requests"])

    def test_the_same_seed_gives_the_same_counts(self):
        first = self.one(*SPMV, "--sample", "4", "--jobs", "1")
        self.assertEqual(first["counts"], self.one(*SPMV, "--sample", "4", "--jobs", "2")["counts"])
        other = self.one(*SPMV, "--sample", "4", "--seed", "2")
        self.assertNotEqual(first["counts"]["warp_instructions"], other["counts"]["warp_instructions"])

    def test_auto_falls_back_and_says_why(self):
        source = self.path("v.cl", "__kernel void v(__global const int* n, __global const int* o, __global int* p, int k) {\n"
                           "  int s = 1;\n  for (int i = 0; i < n[get_global_id(0)] - k; ++i) s = s * 3 + o[i];\n"
                           "  p[get_global_id(0)] = s;\n}\n")  # fmt: skip
        p = self.one(source, "--device", "v100", "--grid", "2", "--block", "32")
        self.assertEqual(p["counts_method"], "symbolic")
        self.assertTrue(any("--arg k=" in a["value"] for a in p["assumptions"]), p["assumptions"])
        self.assertTrue(any("--assume trips" in a["flag"] for a in p["assumptions"]))
        self.assertEqual(self.one(source, "--device", "v100", "--grid", "2", "--block", "32", "--arg", "k=1")["counts_method"], "mixed")

    def test_what_narrows_a_wide_interval_stands_by_effect(self):
        source = self.path("walk.cu", "__global__ void walk(const int* next, const int* first, int* out) {\n"
                           "  int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;\n"
                           "  for (int p = first[i]; p != -1; p = next[p]) s += p * p;\n"
                           "  out[i] = s;\n}\n")  # fmt: skip
        args = (source, "--device", "v100", "--grid", "4096", "--block", "256", "--counts", "symbolic", "--model", "kernelcast")
        wide = [a for a in self.output("predict", *args)["predictions"][0]["assumptions"] if "these narrow it, most first: " in a["value"]]
        self.assertEqual(len(wide), 1)
        settings = re.findall(r"--assume (trips|access):3=VALUE \(([\d.]+) (.?s) with [\d.]+, ([\d.]+) (.?s) with", wide[0]["value"])
        self.assertEqual([name for name, *_ in settings], ["trips", "access"], wide)
        seconds = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
        effects = [float(high) * seconds[b] / (float(low) * seconds[a]) for _, low, a, high, b in settings]
        self.assertEqual(effects, sorted(effects, reverse=True))
        # What is named at an end is what a run with that value says.
        _, low, unit, _, _ = settings[0]
        given = self.output("predict", *args, "--assume", "trips:3=1")["predictions"][0]
        self.assertAlmostEqual(given["time_s"] / (float(low) * seconds[unit]), 1, places=2)

    def test_a_structure_given_as_one_value_is_named(self):
        source = self.path("paint.cu", "struct Colour { float r, g, b; };\n"
                           "__global__ void paint(Colour* image, Colour c) { image[blockIdx.x * blockDim.x + threadIdx.x] = c; }\n")  # fmt: skip
        p = self.one(source, "--device", "v100", "--grid", "64", "--block", "64", "--arg", "c=3")
        self.assertIn("argument 'c', which is a structure: no count depends on its fields", [a["what"] for a in p["assumptions"]])

    def test_sizes_that_were_touched_are_assumptions(self):
        source = self.path("t.cl", "__kernel void t(__global float* o) { o[3 * get_global_id(0)] = 1; }\n")
        p = self.one(source, "--device", "v100", "--grid", "2", "--block", "32", "--counts", "executed")
        self.assertTrue([a for a in p["assumptions"] if a["flag"] == "--buffer o=COUNT" and a["value"].startswith("190 elements")])

    def test_a_planted_write_out_of_bounds_is_found(self):
        found, stderr = self.troubled(
            "oob.cl", "__kernel void oob(__global int* o) {\n  o[get_global_id(0)] = 1;\n}\n",
            "--grid", "2", "--block", "64", "--buffer", "o=127",
        )  # fmt: skip
        self.assertEqual([(f["kind"], f["line"], f["count"]) for f in found], [("out of bounds", 2, 1)])
        self.assertEqual((found[0]["block"], found[0]["thread"]), ([1, 0, 0], [63, 0, 0]))
        self.assertRegex(stderr, r"oob\.cl:2: memcheck: out of bounds: .*block \(1,0,0\), thread \(63,0,0\)")

    def test_a_planted_race_is_found(self):
        text = (
            "__kernel void race(__global int* o) {\n  __local int part[64];\n  int i = get_local_id(0);\n  part[i] = i;\n%s"
            "  o[get_global_id(0)] = part[63 - i];\n}\n"
        )
        found, stderr = self.troubled("race.cl", text % "", "--grid", "1", "--block", "64")
        self.assertIn(("race", 5), [(f["kind"], f["line"]) for f in found])
        self.assertRegex(stderr, r"race\.cl:5: racecheck: race: ")
        fixed = self.troubled("fixed.cl", text % "  barrier(CLK_LOCAL_MEM_FENCE);\n", "--grid", "1", "--block", "64")
        self.assertEqual(fixed, ([], ""))

    def test_a_planted_uninitialised_read_is_found(self):
        found, _ = self.troubled(
            "uninit.cl", "__kernel void uninit(__global int* o) {\n  __local int part[64];\n  int i = get_local_id(0);\n"
            "  if (i < 32) part[i] = i;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  o[get_global_id(0)] = part[i];\n}\n",
            "--grid", "1", "--block", "64",
        )  # fmt: skip
        self.assertEqual([(f["kind"], f["line"], f["count"]) for f in found], [("uninitialised read", 6, 32)])

    def test_lanes_of_one_request_in_shared_and_in_global_memory(self):
        found, _ = self.troubled(
            "both.cu", "__global__ void both(int* o) {\n  __shared__ int part[64];\n  int i = threadIdx.x;\n  part[i] = i;\n"
            "  int* to = i % 2 ? part : o;\n  to[i] += 1;\n  __syncthreads();\n  o[64 + i] = part[63 - i];\n}\n",
            "--grid", "1", "--block", "64", "--buffer", "o=127:iota",
        )  # fmt: skip
        self.assertEqual([(f["kind"], f["line"], f["count"]) for f in found], [("out of bounds", 8, 1)])

    def test_memory_is_at_most_twice_the_buffers_touched(self):
        """What a launch takes beyond a small one, with and without reuse distances: neighbours, and scattered writes.
        The checks note who wrote: twice as much again as the buffers that are written, half of them here."""
        text = (
            "__kernel void near(__global int* a, __global int* o) { int i = get_global_id(0); o[i] = a[i]; }\n"
            "__kernel void far(__global int* a, __global int* o) { int i = get_global_id(0); o[a[i]] = i; }\n"
        )
        source = self.path("memory.cl", text)
        for kernel in ("near", "far"):
            for model, checks in itertools.product(("roofline", "kernelcast"), ((), ("--no-checks",))):
                peaks = []
                elements = (1 << 12, 1 << 21)
                for n in elements:
                    peaks.append(peak_memory(
                        "predict", source, "--kernel", kernel, "--device", "v100", "--global", str(n), "--block", "256", "--counts",
                        "executed", "--sample", "all", "--model", model, "--buffer", f"a={n}:permutation", "--buffer", f"o={n}", *checks,
                    ))  # fmt: skip
                touched = 8 * (elements[1] - elements[0])
                with self.subTest(kernel=kernel, model=model, checks=checks):
                    self.assertGreater(peaks[1] - peaks[0], touched / 2)
                    self.assertLess(peaks[1] - peaks[0], 2 * touched + (0 if checks else 2 * touched / 2))

    def test_checks_can_be_left_out(self):
        found, _ = self.troubled(
            "race.cl", "__kernel void race(__global int* o) {\n  __local int part[64];\n  int i = get_local_id(0);\n  part[i] = i;\n"
            "  o[get_global_id(0)] = part[63 - i];\n}\n", "--grid", "1", "--block", "64", "--no-checks",
        )  # fmt: skip
        self.assertEqual(found, [])

    def test_a_limit_is_reported_with_what_was_known(self):
        source = self.path("l.cl", "__kernel void l(__global float* o) { o[get_global_id(0)] = 1; }\n")
        args = (source, "--device", "v100", "--grid", "100", "--block", "64", "--counts", "executed", "--sample", "all")
        result = self.run_program("predict", *args, "--max-instructions", "2000", "--jobs", "1", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "limit: .*--max-instructions")
        value = checked(result.stdout, "predict")
        self.assertEqual([f["kind"] for f in value["findings"]], ["limit"])
        self.assertLess(value["predictions"][0]["counts"]["execution"]["blocks_run"], 100)

    def test_explain_says_which_parts_came_from_where(self):
        e = self.output("explain", *SPMV)["explanations"][0]
        self.assertEqual({line["counts"] for line in e["lines"]}, {"closed form", "executed", "both"})
        self.assertEqual({loop["counts"] for loop in e["loops"]}, {"executed"})
        self.assertTrue(any(a["counts"] == "executed" for a in e["accesses"]))
        self.assertTrue(all(0 < line["active_lanes"] <= 32 for line in e["lines"] if line["instruction_share"] > 0))
        text = self.good("explain", *SPMV)
        for words in ("mixed: closed forms", "active lanes", "imbalance", "closed form", "executed"):
            self.assertIn(words, text)

    def test_independent_threads_run_too(self):
        p = self.one(*SPMV, "--threads", "independent", "--sample", "4")
        self.assertEqual(p["counts"]["execution"]["blocks_run"], 4)


if __name__ == "__main__":
    unittest.main()
