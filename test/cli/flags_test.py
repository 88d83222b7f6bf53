"""The flags of the contract, on the built executable."""

import json
import os
import unittest

from program import COPY, ROOT, Case

LAUNCH = ("--grid", "16", "--block", "64", "--arg", "n=1024")


class Flags(Case):
    def predictions(self, *args, **keywords):
        return json.loads(self.good("predict", *args, "--format", "json", **keywords))["predictions"]

    def one(self, *args, **keywords):
        found = self.predictions(*args, "--model", "roofline", **keywords)
        self.assertEqual(len(found), 1)
        return found[0]

    def copy(self):
        return self.path("copy.cl", COPY)

    def test_standard_input_is_a_file(self):
        by_name = self.one(self.copy(), "--device", "v100", *LAUNCH)
        by_pipe = self.one("-", "--lang", "opencl", "--device", "v100", *LAUNCH, text=COPY)
        self.assertEqual(by_pipe["counts"], by_name["counts"])
        self.assertEqual(by_pipe["time_s"], by_name["time_s"])

    def test_standard_input_needs_a_language(self):
        self.bad(2, "--lang", "predict", "-", "--device", "v100", *LAUNCH, text=COPY)

    def test_global_is_grid_times_block(self):
        grid = self.one(self.copy(), "--device", "v100", *LAUNCH)
        whole = self.one(self.copy(), "--device", "v100", "--global", "1024", "--block", "64", "--arg", "n=1024")
        self.assertEqual(grid["counts"], whole["counts"])

    def test_opencl_2_allows_a_smaller_last_group(self):
        args = (self.copy(), "--device", "v100", "--global", "1000", "--block", "64", "--arg", "n=1000")
        self.bad(2, "--global 1000", "predict", *args)
        rounded = self.one(*args, "--std", "CL2.0")
        self.assertEqual(rounded["launch"]["grid"], [16, 1, 1])
        self.assertTrue(any("edge" in a["what"] for a in rounded["assumptions"]))

    def test_arguments_decide_counts(self):
        half = self.one(self.copy(), "--device", "v100", "--grid", "16", "--block", "64", "--arg", "n=512")
        self.assertEqual(half["counts"]["memory"][0]["bytes"], 512 * 4)

    def test_cache_state_and_launch_overhead(self):
        one = lambda *words: self.predictions(*words, "--model", "kernelcast")[0]
        args = (self.copy(), "--device", "a100", "--grid", "64", "--block", "256", "--arg", "n=16384")
        cold, warm = one(*args), one(*args, "--cache-state", "warm")
        dram = [[b["time_s"] for b in p["bounds"] if b["name"] == "dram_bandwidth"] for p in (cold, warm)]
        self.assertGreater(dram[0][0], 0)
        self.assertEqual(dram[1], [])  # 128 KB fit into the L2
        self.assertLess(warm["time_s"], cold["time_s"])
        self.assertEqual(one(*args, "--cache-state", "cold")["time_s"], cold["time_s"])
        self.assertIsNone(cold["launch_overhead_s"])
        self.assertIn("depends on driver and host; give --launch-overhead", cold["reason"])
        late = one(*args, "--launch-overhead", "1e-5")
        self.assertEqual(late["launch_overhead_s"], 1e-5)
        self.assertAlmostEqual(late["time_s"], cold["time_s"] + 1e-5, delta=1e-12)
        self.assertIn("--cache-state hot: expected cold or warm", self.bad(2, "--cache-state hot", "predict", *args, "--cache-state", "hot"))
        self.bad(2, "--launch-overhead -1", "predict", *args, "--launch-overhead", "-1")

    def test_a_launch_without_work_says_so(self):
        kernel = self.path("copy.cl", COPY)
        for command in ("predict", "explain"):
            launch = (command, kernel, "--device", "v100", "--grid", "16", "--block", "64")
            self.assertIn("this launch writes nothing to global memory = ", self.good(*launch, "--arg", "n=-5"))
            self.assertNotIn("writes nothing", self.good(*launch, "--arg", "n=5"))
        space = ("tune", kernel, "--device", "v100", "--problem", "1024", "--block", "{32,64}", "--no-cache")
        self.assertIn("this launch writes nothing to global memory = ", self.good(*space, "--arg", "n=-5"))

    def test_macros_are_defined_and_undefined(self):
        source = self.path(
            "macro.cl",
            "#ifndef WIDTH\n#define WIDTH 1\n#endif\n"
            "__kernel void sum(__global const float* in, __global float* out) {\n"
            "  float s = 0.0f;\n"
            "  for (int i = 0; i < WIDTH; ++i) s += in[i * get_global_size(0) + get_global_id(0)];\n"
            "  out[get_global_id(0)] = s;\n}\n",
        )

        def loads(*flags):
            return self.one(source, "--device", "v100", "--grid", "1", "--block", "32", *flags)["counts"]["memory"][0]["requests"]

        self.assertEqual(loads(), 1)
        self.assertEqual(loads("-D", "WIDTH=7"), 7)
        self.assertEqual(loads("-DWIDTH=7"), 7)
        self.assertEqual(loads("-D", "WIDTH=7", "-U", "WIDTH"), 1)

    def test_include_folders(self):
        os.mkdir(self.path("elsewhere"))
        self.path("elsewhere/value.h", "#define VALUE 2.0f\n")
        source = self.path("k.cl", '#include "value.h"\n__kernel void k(__global float* o) { o[get_global_id(0)] = VALUE; }\n')
        self.bad(1, "VALUE(.|\\n)*'value.h' was not found", "predict", source, "--device", "v100", "--grid", "1", "--block", "32")
        self.one(source, "-I", self.path("elsewhere"), "--device", "v100", "--grid", "1", "--block", "32")

    def test_kernel_is_chosen_by_name(self):
        source = self.path(
            "two.cu",
            "__global__ void once(float* o) { o[threadIdx.x] = 1; }\n"
            "__global__ void twice(float* o) { o[threadIdx.x] = 1; o[threadIdx.x + 32] = 1; }\n",
        )
        chosen = self.one(source, "--kernel", "twice", "--device", "v100", "--grid", "1", "--block", "32")
        self.assertEqual(chosen["kernel"], "twice")
        self.assertEqual(chosen["counts"]["memory"][0]["requests"], 2)

    def test_dynamic_shared_memory_is_a_resource(self):
        args = (self.copy(), "--device", "v100", *LAUNCH)
        self.assertEqual(self.one(*args)["resources"]["shared_bytes_per_block"], 0)
        self.assertEqual(self.one(*args, "--shared", "4096")["resources"]["shared_bytes_per_block"], 4096)

    def test_kernelcast_is_the_default_model(self):
        names = [p["model"] for p in self.predictions(self.copy(), "--device", "v100", *LAUNCH)]
        self.assertEqual(names, ["kernelcast"])
        every = [p["model"] for p in self.predictions(self.copy(), "--device", "v100", *LAUNCH, "--model", "all")]
        self.assertEqual(every, ["kernelcast", "opencl-quantitative", "ske", "roofline", "mwp-cwp"])
        two = self.predictions(self.copy(), "--device", "v100", *LAUNCH, "--model", "roofline,ske")
        self.assertEqual([p["model"] for p in two], ["roofline", "ske"])

    def test_devices_by_alias_and_path(self):
        path = os.path.join(ROOT, "devices", "nvidia-geforce-gtx-280.toml")
        for name in ("gtx280", "NVIDIA GeForce GTX 280", "nvidia-geforce-gtx-280", path):
            self.assertEqual(self.one(self.copy(), "--device", name, *LAUNCH)["device"], "nvidia-geforce-gtx-280", name)

    def test_devices_all(self):
        ids = {p["device"] for p in self.predictions(self.copy(), "--device", "all", "--model", "roofline", *LAUNCH)}
        self.assertGreaterEqual(len(ids), 55)

    def test_one_device_that_cannot_run_does_not_hide_the_other(self):
        result = self.run_program(
            "predict", self.copy(), "--device", "gtx280,v100", "--grid", "1", "--block", "1024", "--arg", "n=1024", "--format", "json",
            "--model", "roofline",
        )
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "gtx-280.*1024")
        by_device = {p["device"]: p["time_s"] for p in json.loads(result.stdout)["predictions"] if p["model"] == "roofline"}
        self.assertIsNone(by_device["nvidia-geforce-gtx-280"])
        self.assertGreater(by_device["nvidia-tesla-v100-pcie-16gb"], 0)

    def test_assumptions_are_replaced_by_their_flag(self):
        source = self.path(
            "rows.cl",
            "__kernel void rows(__global const int* start, __global const float* v, __global float* out) {\n"
            "  float s = 0.0f;\n"
            "  for (int i = start[get_global_id(0)]; i < start[get_global_id(0) + 1]; ++i) s += v[i];\n"
            "  out[get_global_id(0)] = s;\n}\n",
        )
        args = (source, "--device", "v100", "--grid", "4", "--block", "64", "--counts", "symbolic")
        flags = [a["flag"] for a in self.one(*args)["assumptions"] if "trips" in a["flag"]]
        self.assertEqual(len(flags), 1, "one loop has an unknown trip count")
        self.assertRegex(flags[0], r"^--assume trips:3=")
        few, many = (self.one(*args, "--assume", f"trips:3={n}") for n in (2, 20))
        self.assertFalse([a for a in many["assumptions"] if "trips" in a["flag"]])
        self.assertGreater(many["counts"]["memory"][0]["requests"], few["counts"]["memory"][0]["requests"])

    def test_loop_nest_with_map(self):
        source = self.path(
            "scale.c",
            "void scale(float* a, int n, int m) {\n"
            "  for (int i = 0; i < n; ++i)\n    for (int j = 0; j < m; ++j) a[i * m + j] *= 2.0f;\n}\n",
        )
        args = (source, "--map", "i,j", "--device", "v100", "--block", "32,8", "--arg", "n=64", "--arg", "m=128")
        p = self.one(*args)
        self.assertEqual(p["launch"]["grid"], [4, 8, 1])
        self.assertEqual(p["counts"]["memory"][0]["bytes"], 64 * 128 * 4)
        self.assertTrue(any("--grid" in a["flag"] for a in p["assumptions"]))

    def test_fast_math_is_taken(self):
        source = self.path("d.cu", "__global__ void d(float* o, float x) { o[threadIdx.x] = o[threadIdx.x] / x; }\n")
        args = (source, "--device", "v100", "--grid", "1", "--block", "32")
        exact, fast = self.one(*args)["counts"], self.one(*args, "--use_fast_math")["counts"]
        self.assertLess(sum(fast["warp_instructions"].values()), sum(exact["warp_instructions"].values()))


if __name__ == "__main__":
    unittest.main()
