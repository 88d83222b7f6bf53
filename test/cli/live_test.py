"""tools/validate/offload_live.py on one small nest, and the loop nest that tools/validate/opencl_nest.py makes of a kernel."""

import contextlib
import io
import json
import os
import subprocess
import sys
import time
import unittest

from program import COPY, PROGRAM, ROOT, Case

SCRIPTS = os.path.join(ROOT, "tools", "validate")
sys.path.insert(0, SCRIPTS)

from offload_live import LANES, PROGRAMS, Neighbours, Others, best_of, busy, busy_seconds, fastest_of, launches, made_for, print_row, print_summary, side, spread  # noqa: E402
from opencl_nest import NoKernel, arguments_of, nest, threads_of  # noqa: E402


class Live(Case):
    def test_one_thread_and_all(self):
        kept = self.path("rows.json")
        out = subprocess.run([sys.executable, os.path.join(SCRIPTS, "offload_live.py"), PROGRAM, "--kernels", "gemm", "--sizes", "0.05",
                              "--opt", "3", "--modes", "one,all", "--json", kept], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        with open(kept, encoding="utf-8") as file:
            rows = json.load(file)
        threads = len(os.sched_getaffinity(0))
        self.assertEqual([r["mode"] for r in rows], ["-O3 1T", f"-O3 {threads}T"])
        for r in rows:
            self.assertGreater(r["measured_s"], 0)
            self.assertGreater(r["forecast_s"], 0)
            self.assertEqual(r["n"], side("gemm", 0.05))
            self.assertTrue(0 <= r["quiet"] <= 1, r)
        # Other tests at the same time make the machine busy: then there is no verdict.
        self.assertRegex(out.stdout, r"-O3 1T: 1 cells, (error: median|no verdict: the machine was busy)")

    def test_code_is_for_the_cpu_that_the_device_names(self):
        self.assertEqual(made_for("pthread-skylake-avx512-AMD EPYC"), "skylake-avx512")
        self.assertEqual(made_for("pthread-haswell-Intel(R) Core(TM) i7-4770"), "haswell")
        self.assertEqual(made_for("cpu-znver3-AMD Ryzen 9"), "znver3")
        self.assertEqual(made_for("pthread-x86-64-v3-AMD EPYC"), "x86-64-v3")
        self.assertEqual(made_for("NVIDIA GeForce GTX 1080"), "native")

    def test_recorded_times_meet_another_program(self):
        kept, again = self.path("times.json"), self.path("rows.json")
        script = [sys.executable, os.path.join(SCRIPTS, "offload_live.py")]
        few = ["--kernels", "gemm", "--modes", "one"]
        out = subprocess.run([*script, "--measure-only", "--json", kept, "--sizes", "0.02,0.05", "--opt", "3", "--samples", "1", *few],
                             capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        out = subprocess.run([*script, PROGRAM, "--recorded", kept, "--json", again, *few], capture_output=True, text=True, check=False,
                             timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        with open(kept, encoding="utf-8") as file:
            times = json.load(file)
        with open(again, encoding="utf-8") as file:
            rows = json.load(file)
        self.assertEqual(len(times), 2)
        for measured, row in zip(times, rows):
            self.assertNotIn("forecast_s", measured)
            self.assertGreater(row["forecast_s"], 0)
            self.assertEqual({k: row[k] for k in measured}, measured)
        out = subprocess.run([*script, PROGRAM, "--recorded", kept, "--kernels", "gemm", "--modes", "all"], capture_output=True, text=True,
                             check=False, timeout=60)
        self.assertNotEqual(out.returncode, 0)
        self.assertIn("no recorded times", out.stderr)

    def test_measuring_only_needs_a_place_for_the_times(self):
        out = subprocess.run([sys.executable, os.path.join(SCRIPTS, "offload_live.py"), "--measure-only"], capture_output=True, text=True,
                             check=False, timeout=60)
        self.assertEqual(out.returncode, 2)
        self.assertIn("--measure-only takes --json FILE", out.stderr)

    def test_an_unknown_mode_is_an_error(self):
        out = subprocess.run([sys.executable, os.path.join(SCRIPTS, "offload_live.py"), PROGRAM, "--modes", "some"], capture_output=True,
                             text=True, check=False, timeout=60)
        self.assertEqual(out.returncode, 2)
        self.assertIn("expected one, all or opencl", out.stderr)

    ROW = {"nest": "gemm", "mode": "-O3 1T", "n": 295, "measured_s": 0.0476, "clock_hz": 3e9, "spread": 0.01, "quiet": 1.0, "others": 0.0,
           "forecast_s": 0.0249, "interval_s": [0.02, 0.03]}

    def shown(self, *changes):
        rows = [{**self.ROW, **c} for c in changes]
        with contextlib.redirect_stdout(io.StringIO()) as out:
            for row in rows:
                print_row(row)
            print_summary(rows)
        return out.getvalue()

    def test_a_busy_machine_gets_no_verdict(self):
        self.assertIn("OUT", self.shown({}))
        for change, why in (({"spread": 0.56}, "samples 56% apart"), ({"others": 0.4}, "others took 40%"), ({"quiet": 0.0}, "no quiet slice")):
            text = self.shown(change)
            self.assertIn("busy: " + why, text)
            self.assertNotIn("OUT", text)
            self.assertIn("-O3 1T: 1 cells, no verdict: the machine was busy", text)
        text = self.shown({}, {"others": 0.4})
        self.assertIn("-O3 1T: 1 cells, error", text)
        self.assertIn("1 more without a verdict", text)

    def test_recorded_times_have_a_verdict(self):
        row = {k: v for k, v in self.ROW.items() if k != "others"}
        self.assertEqual(busy({**row, "spread": 0.5}), "")

    def test_others_are_what_is_not_ours(self):
        own = Others()
        own.beside(lambda: sum(i * i for i in range(3_000_000)))
        neighbour = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
        beside = Others()
        beside.beside(lambda: time.sleep(1))
        for process in neighbour:
            process.kill()
            process.wait()
        # Load of other programs on this machine may add to both.
        self.assertGreater(beside.share(), 0.5)
        self.assertGreater(beside.share(), own.share())

    def test_busy_time_is_all_but_idle_of_our_processors(self):
        first = min(os.sched_getaffinity(0))
        stat = f"cpu  9 9 9 9 9 9 9 9 9 9\ncpu{first} 100 20 30 5000 700 1 2 47 0 0\ncpu99999 1 1 1 1 1 1 1 1 0 0\n"
        self.assertEqual(busy_seconds(stat) * os.sysconf("SC_CLK_TCK"), 200)

    def test_what_met_a_busy_neighbour_does_not_count(self):
        self.assertEqual(fastest_of([(1.0, 0.0), (3.0, 0.5), (2.0, 0.1)]), 2.0)
        self.assertEqual(fastest_of([(3.0, 0.0), (2.0, 0.0)]), 2.0)
        times = iter([0.0, 0.01, 0.02, 0.01, 0.03, 0.04, 0.05])  # the first is not looked at

        class Restless:
            hertz = 0.0
            rates = iter([6.0, 6.0, 3.0, 6.0, 6.0, 6.0])

            def rate(self, _):
                return next(self.rates)

            def quiet(self, rate):
                return rate > 5

            def clock(self):
                return 1e9

        took, share = best_of(lambda: next(times), 0.05, Restless())
        self.assertEqual(took, 0.01)  # the slices of 20 and 10 ms touch the busy look
        self.assertAlmostEqual(share, 0.08 / 0.11)

    def test_a_processor_by_itself_does_what_it_can(self):
        neighbours = Neighbours(os.path.dirname(self.path("a")))
        self.assertGreater(neighbours.full, 1)
        self.assertLess(neighbours.full, 20)
        self.assertIn(neighbours.idlest(), os.sched_getaffinity(0))
        self.assertEqual(os.sched_getaffinity(0), os.sched_getaffinity(os.getpid()))

    def test_spread_is_the_middle_against_the_fastest(self):
        self.assertAlmostEqual(spread([2.0, 1.0, 1.5]), 0.5)

    def test_every_nest_has_an_opencl_form_of_the_same_functions(self):
        for name, (functions, _, _) in PROGRAMS.items():
            with open(os.path.join(ROOT, "examples", "offload", name + ".cl"), encoding="utf-8") as file:
                steps = list(launches(name, file.read(), 300))
            self.assertEqual([kernel for kernel, *_ in steps], functions, name)
            for kernel, grid, block, _ in steps:
                self.assertEqual(block[0], LANES)
                self.assertEqual(len(grid), len(block), kernel)

    def test_a_kernel_as_a_nest(self):
        path = self.path("copy.c", nest(COPY, "copy", (64,), (8,)))
        out = self.good("offload", path, "--kernel", "copy", "--cpu", "i7-6700k", "--gpu", "gtx1080", "--grid", "1", "--arg", "n=512",
                        *arguments_of((8,)), "--format", "json")
        value = json.loads(out)
        self.assertEqual(value["cpu"]["threads"], 4)
        self.assertEqual({b["name"]: b["bytes"] for b in value["buffers"]}, {"in": 2048, "out": 2048})
        self.assertEqual((threads_of((3, 2), 8), threads_of((3, 2), 4)), (6, 4))
        self.assertIn("kc_work_item();", nest(COPY, "copy", (64,), (8,)))
        with self.assertRaises(NoKernel):
            nest(COPY, "paste", (64,), (8,))


    def test_barriers_take_one_loop_over_all_work_items(self):
        kernel = "__kernel void k(__global int* a) { barrier(CLK_LOCAL_MEM_FENCE); a[get_local_id(1)] = 1; }"
        text = nest(kernel, "k", (16, 8), (4, 4))
        self.assertIn("item < 128", text)
        self.assertIn("lx = item % 16, ly = item / 16 % 8, lz = item / 128;", text)
        without = nest(kernel.replace("barrier(CLK_LOCAL_MEM_FENCE);", ""), "k", (16, 8), (4, 4))
        self.assertIn("for (size_t lx = 0; lx < 16; ++lx)", without)
        self.assertIn("for (size_t ly = 0; ly < 8; ++ly)", without)


if __name__ == "__main__":
    unittest.main()
