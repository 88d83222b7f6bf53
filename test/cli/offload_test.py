"""CPU against GPU: decisions, parts that add up, errors, the replay of the published table."""

import json
import os
import shutil
import unittest

from check_schema import checked
from program import ROOT, Case

GEMM = os.path.join("examples", "offload", "gemm.c")
GESUMMV = os.path.join("examples", "offload", "gesummv.c")
PAIR = ("--cpu", "i7-6700k", "--gpu", "gtx1080")
TABLE = os.path.join("test", "data", "offload-2017.csv")


class Offload(Case):
    def answer(self, *args):
        return checked(self.good("offload", *args, "--format", "json"), "offload")

    def test_the_parts_add_up(self):
        v = self.answer(GESUMMV, *PAIR, "--role", "t=temp", "--arg", "n=2000", "--reps", "7")
        gpu, cpu = v["gpu"], v["cpu"]
        self.assertAlmostEqual(gpu["time_s"], gpu["transfer_s"] + gpu["launch_s"] + gpu["execution_s"])
        self.assertAlmostEqual(gpu["transfer_s"], gpu["transfer_in_s"] + gpu["transfer_out_s"])
        self.assertAlmostEqual(cpu["time_s"], cpu["launch_s"] + cpu["execution_s"])
        for side in (gpu, cpu):
            lo, hi = side["interval_s"]
            self.assertLess(lo, side["time_s"])
            self.assertAlmostEqual(lo * hi, side["time_s"] ** 2)

    def test_buffers_have_roles_and_sizes(self):
        v = self.answer(GEMM, *PAIR, "--arg", "n=100")
        self.assertEqual({b["name"]: (b["role"], b["bytes"]) for b in v["buffers"]},
                         {"a": ("in", 80000), "b": ("in", 80000), "c": ("inout", 80000)})
        given = self.answer(GEMM, *PAIR, "--arg", "n=100", "--buffer", "a=20000", "--buffer", "b=10000")
        self.assertEqual({b["name"]: b["bytes"] for b in given["buffers"]}, {"a": 160000, "b": 80000, "c": 80000})

    def test_resident_data_do_not_move(self):
        moved = self.answer(GESUMMV, *PAIR, "--arg", "n=2000")
        kept = self.answer(GESUMMV, *PAIR, "--arg", "n=2000", "--resident", "a,b,x,t,y")
        self.assertEqual(kept["gpu"]["transfer_s"], 0)
        self.assertGreater(moved["gpu"]["transfer_s"], 0)
        change = next(c for c in moved["changes"] if "resident" in c["what"])
        self.assertAlmostEqual(change["gpu_time_s"], kept["gpu"]["time_s"])

    def test_repetitions_pay_for_transfers(self):
        once = self.answer(GESUMMV, *PAIR, "--role", "t=temp", "--arg", "n=2000")
        self.assertEqual(once["decision"], "cpu")
        enough = once["break_even"]["repetitions"]
        self.assertGreater(enough, 1)
        def gpu_wins(reps):
            v = self.answer(GESUMMV, *PAIR, "--role", "t=temp", "--arg", "n=2000", "--reps", str(reps))
            return v["gpu"]["time_s"] < v["cpu"]["time_s"]
        self.assertTrue(gpu_wins(enough))
        self.assertFalse(gpu_wins(enough - 1))

    def test_the_break_even_size_is_where_the_faster_side_changes(self):
        v = self.answer(GEMM, *PAIR, "--arg", "n=64")
        size = v["break_even"]["size"]
        self.assertEqual(size["argument"], "n")
        for crossing in size["crossings"]:
            faster = []
            for n in (crossing["from"] - 1, crossing["from"]):
                w = self.answer(GEMM, *PAIR, "--arg", f"n={n}")
                faster.append("gpu" if w["gpu"]["time_s"] < w["cpu"]["time_s"] else "cpu")
            self.assertNotEqual(*faster)
            self.assertEqual(faster[1], crossing["faster"])

    def test_the_range_of_sizes_ends_at_the_memory_of_the_gpu(self):
        v = self.answer(GEMM, *PAIR, "--arg", "n=64")
        size = v["break_even"]["size"]
        fields = json.loads(self.good("devices", "gtx1080", "--format", "json"))["devices"][0]["fields"]
        (memory,) = (f["value"] for f in fields if f["key"] == "dram_bytes")
        self.assertIn("GTX 1080", size["highest_reason"])
        self.assertEqual(size["highest_bytes"], 3 * 8 * size["highest"] ** 2)  # a, b and c
        self.assertLessEqual(size["highest_bytes"], memory)
        self.assertGreater(3 * 8 * (size["highest"] + 1) ** 2, memory)
        text = self.good("offload", GEMM, *PAIR, "--arg", "n=64")
        self.assertIn(f"n = {size['lowest']} to {size['highest']}", text)
        self.assertIn(size["highest_reason"], text)

    def test_where_the_search_ends_is_said_truly(self):
        v = self.answer(GEMM, "--cpu", "i7-4710mq", "--gpu", "gtx850m", "--arg", "n=64")  # 2 or 4 GB, by notebook
        size = v["break_even"]["size"]
        self.assertIn("neither memory is known", size["highest_reason"])
        self.assertLessEqual(size["highest_bytes"], 2**34)
        # A triangular nest, whose addresses have only bounds from some size on.
        size = self.answer("examples/offload/cov.c", *PAIR, "--arg", "n=64")["break_even"]["size"]
        self.assertLess(size["highest_bytes"], 2**32)
        self.assertIn("upper bounds", size["highest_reason"])

    def test_no_break_even_is_said_with_its_range(self):
        args = (GESUMMV, *PAIR, "--role", "t=temp", "--arg", "n=64")
        size = self.answer(*args)["break_even"]["size"]
        self.assertEqual(size["crossings"], [])
        self.assertIn(f"n = {size['lowest']} to {size['highest']}: no break-even, the {size['at_lowest'].upper()} wins throughout",
                      self.good("offload", *args))

    def test_roles_do_not_depend_on_how_the_cpu_code_is_compiled(self):
        roles = {
            "2mm": {"a": "in", "b": "in", "c": "out", "d": "in", "e": "out"},
            "3mm": {"a": "in", "b": "in", "c": "in", "d": "in", "e": "out", "f": "out", "g": "out"},
            "cor": {"data": "inout", "mean": "out", "deviation": "out", "result": "out"},
            "cov": {"data": "inout", "mean": "out", "result": "out"},
            "syrk": {"a": "in", "c": "inout"},
        }
        for program, expected in roles.items():
            for flags in ([], ["--cpu-opt", "0"], ["--cpu-opt", "1"], ["--cpu-opt", "0", "--cpu-threads", "1"], ["--cpu-simd", "off"]):
                with self.subTest(program=program, flags=flags):
                    v = self.answer(f"examples/offload/{program}.c", *PAIR, "--arg", "n=64", *flags)
                    self.assertEqual({b["name"]: b["role"] for b in v["buffers"]}, expected)

    def test_a_store_that_comes_later_or_not_always_leaves_a_load_its_role(self):
        for body, role in (
            ("x[i] = 0; for (int k = 0; k < n; ++k) x[i] += y[k];", "out"),
            ("for (int k = 0; k < n; ++k) x[i] += y[k]; if (y[i] > 0) x[i] = 0;", "inout"),
            ("if (y[i] > 0) x[i] = 0; for (int k = 0; k < n; ++k) x[i] += y[k];", "inout"),
            ("x[i] = 0; for (int k = 0; k < n; ++k) x[k] += y[i];", "inout"),  # other places
        ):
            source = self.path("nest.c", "void f(double* x, const double* y, int n) {\n#pragma omp parallel for\n"
                               "  for (int i = 0; i < n; ++i) {\n    " + body + "\n  }\n}\n")
            for level in ("0", "3"):
                with self.subTest(body=body, level=level):
                    v = self.answer(source, *PAIR, "--arg", "n=64", "--cpu-opt", level)
                    self.assertEqual({b["name"]: b["role"] for b in v["buffers"]}, {"x": role, "y": "in"})

    def test_plain_code_on_one_thread_is_slower(self):
        best = self.answer(GEMM, *PAIR, "--arg", "n=300")
        plain = self.answer(GEMM, *PAIR, "--arg", "n=300", "--cpu-threads", "1", "--cpu-simd", "off", "--cpu-opt", "0", "--cpu-isa", "baseline")
        self.assertEqual(plain["cpu"]["threads"], 1)
        self.assertGreater(plain["cpu"]["time_s"], 4 * best["cpu"]["time_s"])
        self.assertEqual(plain["gpu"]["time_s"], best["gpu"]["time_s"])

    def test_code_for_another_cpu_runs_here(self):
        made = self.answer(GEMM, *PAIR, "--arg", "n=300", "--cpu-isa", "sandybridge")
        self.assertGreater(made["cpu"]["time_s"], 0)
        result = self.run_program("offload", GEMM, *PAIR, "--arg", "n=300", "--cpu-isa", "no-such-cpu")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no-such-cpu", result.stderr)

    def test_pinned_memory_is_faster(self):
        pageable = self.answer(GEMM, *PAIR, "--arg", "n=1000")
        pinned = self.answer(GEMM, *PAIR, "--arg", "n=1000", "--host-memory", "pinned")
        self.assertLess(pinned["gpu"]["transfer_s"], pageable["gpu"]["transfer_s"])
        change = next(c for c in pageable["changes"] if "pinned" in c["what"])
        self.assertAlmostEqual(change["gpu_time_s"], pinned["gpu"]["time_s"])

    def test_idle_power_is_a_share_of_the_design_power_where_no_reading_is_known(self):
        v = self.answer(GEMM, *PAIR, "--arg", "n=500")
        self.assertAlmostEqual(v["cpu"]["idle_w"], 0.189 * 91)
        self.assertIn("0.189 of the thermal design power", v["cpu"]["idle_method"])
        self.assertAlmostEqual(v["cpu"]["energy_j"], v["cpu"]["time_s"] * v["cpu"]["busy_w"])
        self.assertEqual(v["gpu"]["idle_method"], "device file")
        self.assertGreater(v["gpu"]["energy_j"], 0)

    def test_weights_with_energy_change_the_decision(self):
        # The GPU is faster and draws more.
        pair = ("--cpu", "i7-6700k", "--gpu", "gtx1080", "--arg", "n=500", "--cpu-idle-w", "1", "--gpu-idle-w", "900")
        self.assertEqual(self.answer(GEMM, *pair)["decision"], "gpu")
        self.assertEqual(self.answer(GEMM, *pair, "--weights", "time=0,energy=1")["decision"], "cpu")

    def test_busy_power_of_servers_is_measured_and_that_of_a_gpu_by_instructions(self):
        v = self.answer(GEMM, "--cpu", "epyc 7763", "--gpu", self.board_with_energies(), "--arg", "n=500")
        self.assertEqual(v["cpu"]["power_method"], "measured (device file)")
        self.assertEqual(v["cpu"]["busy_w"], 230.2)
        self.assertEqual(v["gpu"]["power_method"], "constant + instructions and DRAM bytes at their energy")
        self.assertGreater(v["gpu"]["busy_w"], 100)

    def test_energy_needs_idle_power_and_weighs_in(self):
        host = ("--cpu", "host", "--gpu", "gtx1080")  # the operating system tells no power
        v = self.answer(GEMM, *host, "--arg", "n=500")
        self.assertIsNone(v["cpu"]["energy_j"])
        self.assertIn("--cpu-idle-w", v["cpu"]["reason"])
        self.bad(1, "--weights.*idle power", "offload", GEMM, *host, "--arg", "n=500", "--weights", "time=0.5,energy=0.5")
        w = self.answer(GEMM, *PAIR, "--arg", "n=500", "--weights", "time=0.5,energy=0.5", "--cpu-idle-w", "10", "--gpu-idle-w", "20")
        gpu, cpu = w["gpu"], w["cpu"]
        self.assertAlmostEqual(cpu["busy_w"], 10 + 0.6 * 91)
        self.assertAlmostEqual(cpu["energy_j"], cpu["time_s"] * cpu["busy_w"])
        self.assertAlmostEqual(gpu["energy_j"], gpu["transfer_s"] * 20 + (gpu["launch_s"] + gpu["execution_s"]) * gpu["busy_w"])
        self.assertAlmostEqual(gpu["cost"], 0.5 * gpu["time_s"] + 0.5 * gpu["energy_j"])

    def test_several_gpus_are_ranked(self):
        v = checked(self.good("offload", GEMM, "--cpu", "i7-6700k", "--devices", "gtx980,v100,a100", "--arg", "n=1000", "--format", "json"), "offload")
        times = [r["gpu"]["time_s"] for r in v["ranking"]]
        self.assertEqual(len(times), 3)
        self.assertEqual(times, sorted(times))
        self.assertIn("decision", self.good("offload", GEMM, "--cpu", "i7-6700k", "--devices", "gtx980,v100", "--arg", "n=1000"))

    def test_a_kernel_in_opencl_stands_against_the_loop_nest(self):
        v = self.answer("examples/offload/gesummv.cl", "--cpu-source", GESUMMV, "--grid", "500", *PAIR, "--role", "t=temp", "--arg", "n=500")
        w = self.answer(GESUMMV, "--role", "t=temp", *PAIR, "--arg", "n=500")
        self.assertEqual(v["cpu"]["time_s"], w["cpu"]["time_s"])
        self.assertLess(v["gpu"]["execution_s"], w["gpu"]["execution_s"])  # coalesced, a group for each row

    def test_wrong_use_is_explained(self):
        for regex, args in (
            ("v100.*is a GPU; give a CPU", (GEMM, "--cpu", "v100", "--gpu", "v100")),
            ("i7.*is a CPU; give a GPU", (GEMM, "--cpu", "i7-6700k", "--gpu", "i7-6700k")),
            ("add up to 1", (GEMM, *PAIR, "--weights", "time=0.5,energy=0.2")),
            ("energy is given twice", (GEMM, *PAIR, "--weights", "energy=0.5,energy=0.5")),
            ("--arg zz: no such parameter; there are n", (GEMM, *PAIR, "--arg", "n=10", "--arg", "zz=1")),
            ("--arg a: .*--buffer a=COUNT", (GEMM, *PAIR, "--arg", "n=10", "--arg", "a=1")),
            ("--buffer zz: no such pointer parameter; there are a, b, c", (GEMM, *PAIR, "--arg", "n=10", "--buffer", "zz=1")),
            ("expected time=W", (GEMM, *PAIR, "--weights", "speed=1")),
            ("--role zz: no such buffer; there are a, b, c", (GEMM, *PAIR, "--role", "zz=in", "--arg", "n=10")),
            ("expected in, out, inout or temp", (GEMM, *PAIR, "--role", "a=both", "--arg", "n=10")),
            ("--resident zz", (GEMM, *PAIR, "--resident", "zz", "--arg", "n=10")),
            ("name a GPU", (GEMM, "--cpu", "i7-6700k")),
            ("FILE is required", PAIR),
            ("--cpu-simd", (GEMM, *PAIR, "--cpu-simd", "maybe")),
            ("--cpu-opt", (GEMM, *PAIR, "--cpu-opt", "7")),
            ("--confidence", (GEMM, *PAIR, "--confidence", "1.5")),
            ("--cpu-source", ("examples/offload/gesummv.cl", *PAIR, "--arg", "n=10", "--grid", "10")),
            ("--scale m", (GEMM, *PAIR, "--arg", "n=10", "--scale", "m")),
        ):
            with self.subTest(regex):
                self.bad(2, regex, "offload", *args)
        self.bad(2, "--arg n", "offload", GEMM, *PAIR)

    def bandwidth(self, device):
        fields = json.loads(self.good("devices", device, "--format", "json"))["devices"][0]["fields"]
        (value,) = (f["value"] for f in fields if f["key"] == "dram_bandwidth_bytes_per_s")
        return value

    def test_the_published_model_decides_beside_ours(self):
        ours = self.answer(GEMM, *PAIR, "--arg", "n=1000")
        self.assertEqual(ours["model"], "kernelcast")
        self.assertNotIn("beside", ours)
        v = self.answer(GEMM, *PAIR, "--arg", "n=1000", "--model", "offload-2017")
        self.assertEqual((v["model"], v["faults"]), ("offload-2017", []))
        self.assertIsNone(v["probability"])
        self.assertIsNone(v["cpu"]["interval_s"])
        # Each step of the inner loop loads of a and b and loads and stores of c at least 16 and at most 32 bytes.
        self.assertEqual(v["cpu"]["limiter"], "memory roof")
        bytes_moved = v["cpu"]["time_s"] * self.bandwidth("i7-6700k")
        self.assertGreaterEqual(bytes_moved, 16e9)
        self.assertLessEqual(bytes_moved, 32.1e9)
        beside = {(b["model"], len(b.get("faults", []))): b for b in v["beside"]}
        self.assertEqual(set(beside), {("offload-2017", 4), ("kernelcast", 0)})
        self.assertEqual(beside["kernelcast", 0]["cpu_time_s"], ours["cpu"]["time_s"])
        self.assertEqual(beside["kernelcast", 0]["decision"], ours["decision"])
        self.assertEqual(beside["kernelcast", 0]["probability"], ours["probability"])

    def test_faults_of_the_print_are_named_and_count(self):
        args = (GESUMMV, *PAIR, "--role", "t=temp", "--arg", "n=1000", "--model", "offload-2017")
        right = self.answer(*args)
        every = ["larger-roof", "intensity-by-instruction", "cpu-bandwidth-tenth", "gap-added"]
        printed = self.answer(*args, "--faults", "as-printed")
        self.assertEqual(printed["faults"], every)
        self.assertEqual(printed["beside"][0]["faults"], [])
        self.assertEqual(printed["beside"][0]["cpu_time_s"], right["cpu"]["time_s"])
        self.assertEqual(self.answer(*args, "--faults", ",".join(reversed(every)))["cpu"]["time_s"], printed["cpu"]["time_s"])
        tenth = self.answer(*args, "--faults", "cpu-bandwidth-tenth")
        self.assertEqual(right["cpu"]["limiter"], "memory roof")  # two operations for each element
        self.assertAlmostEqual(tenth["cpu"]["time_s"] / right["cpu"]["time_s"], 10)
        self.assertEqual(tenth["gpu"]["time_s"], right["gpu"]["time_s"])
        larger = self.answer(*args, "--faults", "larger-roof")
        self.assertLess(larger["cpu"]["time_s"], right["cpu"]["time_s"])
        text = self.good("offload", *args, "--faults", "larger-roof")
        self.assertIn("by offload-2017 with larger-roof", text)
        self.assertIn("the larger of the two roofs", text)
        self.assertNotIn("2.56", text)
        ranked = self.good("offload", GEMM, "--cpu", "i7-6700k", "--devices", "gtx980,v100", "--arg", "n=64", "--model", "offload-2017", "--faults", "as-printed")
        self.assertIn("gemm.c, by offload-2017 as printed", ranked)

    def test_the_published_model_has_no_place_for_some_flags(self):
        model = ("--model", "offload-2017")
        for regex, args in (
            ("--faults is of the published model: add --model offload-2017", ("--faults", "none")),
            ("--model roofline: expected kernelcast or offload-2017", ("--model", "roofline")),
            ("--model offload-2017 takes no --overlap", (*model, "--overlap")),
            ("--model offload-2017 takes no --confidence", (*model, "--confidence", "0.6")),
            ("--model offload-2017 takes no --cpu-threads", (*model, "--cpu-threads", "1")),
            ("none stands alone", (*model, "--faults", "none,larger-roof")),
            ("larger-roof is given twice", (*model, "--faults", "larger-roof,larger-roof")),
        ):
            with self.subTest(regex):
                self.bad(2, regex, "offload", GEMM, *PAIR, "--arg", "n=10", *args)
        self.bad(2, "--replay takes no --faults", "offload", "--replay", TABLE, "--faults", "none")

    def test_all_gpus_are_ranked(self):
        folder = os.path.join(self.folder, "devices")
        shutil.copytree(os.path.join(ROOT, "devices"), folder)
        for name in os.listdir(folder):
            if name.endswith(".toml") and name not in ("sources.toml", "intel-core-i7-6700k.toml", "nvidia-geforce-gtx-980.toml", "nvidia-tesla-v100-pcie-16gb.toml"):
                os.remove(os.path.join(folder, name))
        v = checked(self.good("offload", GEMM, "--cpu", "i7-6700k", "--devices", "all", "--devices-dir", folder, "--arg", "n=100", "--format", "json"), "offload")
        self.assertEqual({r["gpu"]["device"] for r in v["ranking"]}, {"nvidia-geforce-gtx-980", "nvidia-tesla-v100-pcie-16gb"})

    def test_a_gpu_without_an_answer_leaves_the_others(self):
        # 1024 threads a block: the GTX 280 allows 512.
        args = ("offload", GEMM, "--cpu", "i7-6700k", "--arg", "n=100", "--block", "1024", "--devices")
        result = self.run_program(*args, "gtx280,gtx980,v100")
        self.assertEqual(result.returncode, 1)
        self.assertIn("gtx-280", result.stderr)
        self.assertIn("V100", result.stdout)
        self.assertNotIn("GTX 280", result.stdout)
        result = self.run_program(*args, "gtx280,v100", "--format", "json")
        self.assertEqual([r["gpu"]["device"] for r in checked(result.stdout, "offload")["ranking"]], ["nvidia-tesla-v100-pcie-16gb"])

    def test_a_reason_is_the_vectorisers(self):
        text = self.good("offload", GESUMMV, *PAIR, "--role", "t=temp", "--arg", "n=100")
        self.assertNotIn("hoist", text)
        self.assertNotIn("inlined", text)


class Replay(Case):
    def test_the_published_table(self):
        v = checked(self.good("offload", "--replay", TABLE, "--format", "json"), "offload-replay")
        self.assertEqual([(p["cpu"], p["gpu"]) for p in v["platforms"]],
                         [("intel-core-i7-4710mq", "nvidia-geforce-gtx-850m"), ("intel-core-i5-3340m", "nvidia-geforce-gt-750m")])
        for platform, found in zip(v["platforms"], (3, 2)):
            scores = {s["who"]: s for s in platform["scores"]}
            self.assertEqual(scores["oracle"]["right"], 39)
            self.assertEqual(scores["oracle"]["loss"], 1)
            self.assertEqual(scores["decisions printed in the source"]["right"], 33)
            self.assertEqual(scores["always the GPU"]["right"], 36)
            # All three cells that favour the CPU are found, or called close (3DCONV of 2 MiB on the second platform).
            self.assertEqual(scores["kernelcast"]["cpu_found"], found)
            self.assertEqual(scores["kernelcast, too close below 0.6"]["cpu_found"], 3)
        # What docs/reference/offload.md states for the platform that fits the table.
        decided = {s["who"]: s for s in v["platforms"][0]["scores"]}["kernelcast"]
        self.assertGreaterEqual(decided["right"], 38)
        self.assertLessEqual(decided["too_close"], 4)
        self.assertLess(decided["loss"], 1.01)

    def test_bad_tables_name_the_line(self):
        table = self.path("t.csv", "program,size_mib,predicted,cpu_cost,gpu_cost\nGEMM,0.5,GPU,1,x\n")
        self.bad(1, r"t\.csv:2: 'x'", "offload", "--replay", table)
        self.bad(1, "NOPE", "offload", "--replay", self.path("u.csv", "program,size_mib,predicted,cpu_cost,gpu_cost\nNOPE,0.5,GPU,1,1\n"))
        self.bad(2, "exclude", "offload", GEMM, "--replay", TABLE)


if __name__ == "__main__":
    unittest.main()
