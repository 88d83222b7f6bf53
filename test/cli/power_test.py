"""offload --measure-power against a made-up powercap tree and a made-up NVML."""

import os
import subprocess
import threading
import time
import unittest

from check_schema import checked
from program import ROOT, Case

GEMM = os.path.join("examples", "offload", "gemm.c")
FAKE = os.path.join(ROOT, "test", "cli", "fake_nvml.c")


class Power(Case):
    def tree(self):
        zone = self.path("powercap/intel-rapl:0")
        os.makedirs(zone)
        self.put(zone, "name", "package-0")
        self.put(zone, "max_energy_range_uj", "20000000")
        self.put(zone, "energy_uj", "0")
        return self.path("powercap"), zone

    @staticmethod
    def put(folder, name, text):
        with open(os.path.join(folder, name + ".new"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.replace(os.path.join(folder, name + ".new"), os.path.join(folder, name))  # never seen half written

    def counting(self, zone, watts):
        """Lets the counter grow, through several wraps of its 20 J."""
        over = threading.Event()

        def count():
            begin = time.monotonic()
            while not over.wait(0.002):
                self.put(zone, "energy_uj", str(int((time.monotonic() - begin) * watts * 1e6) % 20000000))

        thread = threading.Thread(target=count)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(over.set)

    def library(self, *defines):
        out = self.path("libfake" + "".join(defines) + ".so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", out, *(f"-D{d}" for d in defines), FAKE], check=True)
        return out

    def answer(self, *args):
        return checked(self.good("offload", GEMM, "--arg", "n=64", "--measure-power", *args, "--format", "json"), "offload")

    def test_both_meters(self):
        root, zone = self.tree()
        self.counting(zone, 100)
        v = self.answer("--cpu", "host", "--gpu", "gtx1080", "--powercap", root, "--nvml", self.library())
        self.assertAlmostEqual(v["cpu"]["idle_w"], 100, delta=10)
        self.assertAlmostEqual(v["cpu"]["busy_w"], 100, delta=10)
        self.assertEqual(v["cpu"]["idle_method"], "RAPL, package-0")
        self.assertRegex(v["cpu"]["power_method"], r"RAPL, package-0, multiply-adds on \d+ threads")
        self.assertAlmostEqual(v["cpu"]["energy_j"], v["cpu"]["time_s"] * v["cpu"]["busy_w"])
        self.assertEqual(v["gpu"]["idle_w"], 42)
        self.assertRegex(v["gpu"]["idle_method"], r"NVML, mean of \d+ readings")

    def test_the_energy_counter_of_newer_gpus(self):
        v = self.answer("--cpu", "i7-6700k", "--gpu", "v100", "--nvml", self.library())
        self.assertAlmostEqual(v["gpu"]["idle_w"], 55, delta=2)
        self.assertEqual(v["gpu"]["idle_method"], "NVML, its energy counter")
        self.assertIn("0.189 of the thermal design power", v["cpu"]["idle_method"])
        self.assertIn("meters are read for --cpu host", v["cpu"]["idle_method"])

    def test_without_meters_the_reason_is_said(self):
        v = self.answer("--cpu", "host", "--gpu", "k40", "--powercap", self.path("absent"), "--nvml", self.library())
        self.assertIn("absent cannot be listed: No such file", v["cpu"]["reason"])
        self.assertIn("NVML sees NVIDIA GeForce GTX 1080, Tesla V100-PCIE-16GB", v["gpu"]["idle_method"])
        for defines, text in (("FAIL_INIT", "nvmlInit_v2: Driver Not Loaded"), ("MISSING", "has no nvmlDeviceGetPowerUsage")):
            v = self.answer("--cpu", "i7-6700k", "--gpu", "k40", "--nvml", self.library(defines))
            self.assertIn(text, v["gpu"]["idle_method"])

    def test_given_powers_come_first(self):
        v = self.answer("--cpu", "i7-6700k", "--gpu", "gtx1080", "--nvml", self.library(), "--gpu-idle-w", "7", "--cpu-idle-w", "9")
        self.assertEqual((v["gpu"]["idle_w"], v["gpu"]["idle_method"]), (7, "--gpu-idle-w"))
        self.assertEqual((v["cpu"]["idle_w"], v["cpu"]["idle_method"]), (9, "--cpu-idle-w"))


if __name__ == "__main__":
    unittest.main()
