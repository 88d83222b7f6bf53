"""kernelcast probe: its output, its device file, and that predict takes it."""

import json
import os
import tempfile
import unittest

from check_schema import checked
from program import ROOT, Case


class Probe(Case):
    def test_json_follows_the_schema_and_text_names_the_results(self):
        value = checked(self.good("probe", "--backend", "sim", "--device", "k20", "--registers", "8", "--format", "json"), "probe")
        self.assertEqual(value["device"], "nvidia-tesla-k20")
        results = {r["id"]: r for r in value["results"]}
        self.assertEqual(sorted(map(sorted, results["register.banks"]["value"])), [[0, 2], [1, 3], [4, 6], [5, 7]])
        self.assertEqual(results["ffma.latency_cycles"]["value"], 9)
        for r in value["results"]:
            self.assertTrue(r["method"] or r["value"] is None, r["id"])

    def test_predict_takes_the_device_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "my-k20.toml")
            self.good("probe", "--backend", "sim", "--device", "k20", "--registers", "8", "-o", path)
            source = os.path.join(ROOT, "examples", "saxpy.cu")
            args = ("--grid", "4096", "--block", "256", "--arg", "n=1048576", "--format", "json")
            measured = json.loads(self.good("predict", source, "--device", path, *args))
            base = json.loads(self.good("predict", source, "--device", "k20", *args))
            # The model's latencies are the base's, so the forecast is the same.
            self.assertAlmostEqual(measured["predictions"][0]["time_s"], base["predictions"][0]["time_s"], delta=1e-6)
            self.assertIn("measured", self.good("devices", path))

    def test_host_measures_this_machine(self):
        # One quick run: structure, and relations that hold on every machine; no times.
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "this-machine.toml")
            command = ("probe", "--backend", "host", "--quick", "--format", "json", "-o", path)
            result = self.run_program(*command, timeout=170)
            if "written for x86-64 and AArch64" in result.stderr:
                self.skipTest(result.stderr)
            self.assertEqual(result.returncode, 0, result.stderr)
            value = checked(result.stdout, "probe")
            self.assertEqual((value["device"], value["backend"]), ("host", "host"))
            results = {r["id"]: r for r in value["results"]}
            self.assertEqual(len(results), len(value["results"]), "an id stands twice")
            for r in value["results"]:
                self.assertIn(r["confidence"], ("high", "unstable", "none"), r["id"])
                self.assertTrue(r["value"] is None or isinstance(r["value"], list) or r["value"] > 0 or r["id"] == "l2.overlap", r)
                self.assertTrue(r["method"] and r["what"], r["id"])

            def known(*ids):
                return [results[i]["value"] for i in ids if results[i]["value"] is not None]

            for chain in (("l1.latency_cycles", "l2.latency_cycles", "dram.latency_cycles"), ("fadd.latency_cycles", "fdiv.latency_cycles"),
                          ("iadd.latency_cycles", "idiv.latency_cycles"), ("fdiv.throughput_per_cycle", "fadd.throughput_per_cycle"),
                          ("dram.core_read_bandwidth_bytes_per_s", "l1.read_bandwidth_bytes_per_s"), ("fadd.latency_cycles", "fexp.latency_cycles")):
                values = known(*chain)
                self.assertEqual(values, sorted(values), chain)
            for id in ("core.issue_width", "core.predicted_trips", "gather.f64.cycles", "scatter.f64.cycles", "l3.latency_cycles", "l2.overlap", "l1.one_set_line_cycles", "l1.two_sets_line_cycles",
                       "threads.watched_region_s"):
                self.assertIn(id, results)
            for name in ("fadd", "fmul", "ffma"):
                widest = max(r["value"] for i, r in results.items() if i.startswith(name + ".simd") and i.endswith("throughput_per_cycle"))
                self.assertGreater(widest, results[name + ".throughput_per_cycle"]["value"], name)
            sizes, times = results["memory.latency_by_size"]["value"]
            self.assertEqual(len(sizes), len(times))
            self.assertEqual(sizes, sorted(sizes))
            # The file is complete as it is.
            self.assertIn("measured", self.good("devices", path))
            self.assertEqual(json.loads(self.good("devices", path, "--format", "json"))["devices"][0]["id"], "this-machine")
            # Steps 2 to 4 of the method cannot be seen here, and it says why.
            for id, why in (("register.banks", "renamed"), ("control.intervals", "no control codes"), ("ffma.best_order", "orders instructions")):
                self.assertIsNone(results[id]["value"])
                self.assertIn(why, results[id]["reason"])

    def test_opencl_measures_the_machines_device(self):
        result = self.run_program("probe", "--backend", "opencl", "--quick", "--time-limit", "5", "--format", "json", timeout=170)
        if result.returncode == 1 and ("OpenCL loader" in result.stderr or "no OpenCL platform" in result.stderr):
            self.skipTest(result.stderr)
        if result.returncode == 2 and "name its device file" in result.stderr:
            self.skipTest("the OpenCL device is no CPU")
        self.assertEqual(result.returncode, 0, result.stderr)
        value = checked(result.stdout, "probe")
        results = {r["id"]: r for r in value["results"]}
        self.assertEqual(len(results), len(value["results"]), "an id stands twice")
        for id in ("ffma.latency_cycles", "ffma.v4.latency_cycles", "ladd.v4.throughput_per_cycle", "ffma.v4.throughput_per_cycle", "cost.add_cycles", "cost.special_cycles", "launch.wall_s",
                   "transfer.to_bandwidth_bytes_per_s", "transfer.from_overhead_s", "shared.latency_cycles", "atomic.global_latency_cycles",
                   "atomic.same_address_per_s"):
            self.assertGreater(results[id]["value"], 0, id)
        sizes, cycles = results["barrier.cycles_by_threads"]["value"]
        self.assertEqual(sizes, [16, 64, 256])
        self.assertGreater(cycles[-1], 0)
        for faster, slower in (("fadd", "fdiv"), ("iadd", "idiv"), ("fadd", "fsin")):
            self.assertLess(results[faster + ".latency_cycles"]["value"], results[slower + ".latency_cycles"]["value"])

    def test_cuda_on_a_stand_in_for_the_driver_library(self):
        fake = os.environ.get("KERNELCAST_FAKE_CUDA_LIBRARY", "")
        if not os.path.exists(fake):
            self.skipTest("the stand-in is not built")
        path = self.path("my-h200.toml")
        command = ("probe", "--backend", "cuda", "--quick", "--time-limit", "2", "--ptxas", "/usr/bin/true", "--cuda-library", fake, "--format", "json", "-o", path)
        value = checked(self.good(*command, timeout=170), "probe")
        self.assertEqual((value["device"], value["backend"]), ("nvidia-h200", "cuda"))
        results = {r["id"]: r for r in value["results"]}
        self.assertEqual(len(results), len(value["results"]), "an id stands twice")
        self.assertAlmostEqual(results["dfma.latency_cycles"]["value"], 8, delta=0.2)
        self.assertEqual(results["register.banks"]["confidence"], "none")
        source = os.path.join(ROOT, "examples", "saxpy.cu")
        self.assertIn("limited by", self.good("predict", source, "--device", path, "--grid", "4096", "--block", "256", "--arg", "n=1048576"))

    def test_cuda_without_a_driver_says_what_to_use_instead(self):
        message = self.bad(1, "cannot be opened", "probe", "--backend", "cuda", "--device", "h200", "--cuda-library", "/no/such/libcuda.so.1")
        self.assertIn("--backend sim", message)

    def test_flags_of_cuda_are_its_own(self):
        self.bad(2, "only --backend cuda", "probe", "--backend", "sim", "--device", "k20", "--plan", self.path("x.plan"))
        self.bad(2, "--device DEV is missing", "probe", "--backend", "cuda", "--plan", self.path("x.plan"))
        self.bad(2, "is no NVIDIA GPU", "probe", "--backend", "cuda", "--device", "mi100", "--plan", self.path("x.plan"))
        self.bad(1, "damaged|is no", "probe", "--backend", "cuda", "--device", "h200", "--record", self.path("x.record", "nonsense"))

    def test_host_is_a_cpu(self):
        result = self.run_program("probe", "--backend", "host", "--device", "k20")
        self.assertEqual(result.returncode, 2)
        self.assertIn("is no CPU", result.stderr)

    def test_bad_flags_are_named(self):
        for args, message in (
            (("--backend", "gpu", "--device", "k20"), "--backend gpu"),
            (("--backend", "sim", "--device", "k20", "--registers", "7"), "--registers 7"),
            (("--backend", "sim", "--device", "k20", "--time-limit", "soon"), "--time-limit soon"),
            (("--backend", "sim", "--device", "k20", "-o", "k20.json"), "-o k20.json"),
            (("--backend", "sim", "--device", "k20", "--format", "xml"), "--format xml"),
            (("--backend", "sim",), "--device"),
        ):
            result = self.run_program("probe", *args)
            self.assertEqual(result.returncode, 2, args)
            self.assertEqual(result.stdout, "")
            self.assertIn(message, result.stderr)

    def test_an_architecture_without_a_model_is_refused(self):
        result = self.run_program("probe", "--backend", "sim", "--device", "hd5870")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no cycle-level model", result.stderr)
        self.assertIn("Kepler GK110", result.stderr)


if __name__ == "__main__":
    unittest.main()
