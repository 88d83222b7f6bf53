"""tools/validate/offload_opendwarfs.py on a small suite of our own: two programs, made-up times, known decisions."""

import json
import math
import os
import subprocess
import sys
import unittest

from program import PROGRAM, ROOT, Case

SCRIPT = os.path.join(ROOT, "tools", "validate", "offload_opendwarfs.py")
KERNEL = """#define unused 1
__kernel void NAME(__global const float* in, /* a, b */ __global float* out, int n) {
  int i = get_group_id(0) * get_local_size(0) + get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = in[i] * 2.0f;
}
"""
FACTS = """
[one]
file = "one/kernel.cl"
block = [[64], [64], [64], [64]]
grid = [[1], [1], [1], [16384]]
args = { n = [64, 64, 64, 1048576], in = 5 }
  [one.kernels.first]
[two]
file = "two/kernel.cl"
block = [[64], [64], [64], [64]]
grid = [[1], [1], [1], [16384]]
args = { n = [64, 64, 64, 1048576] }
  [two.kernels.second]
  [two.kernels.third]
  skip = "no reason"
  [two.kernels.absent]
"""
# A launch costs 10 us on the CPU and 20 us on both GPUs; the large size takes the CPU long.
TABLE = """application,kernel,size,device,median_us
one,first,tiny,i7-6700k,10
one,first,tiny,gtx1080,20
one,first,tiny,k20c,20
one,first,large,i7-6700k,900
one,first,large,gtx1080,60
one,first,large,k20c,100
two,second,tiny,i7-6700k,10
two,second,tiny,gtx1080,20
two,second,tiny,k20c,5
two,second,small,i7-6700k,10
two,third,tiny,i7-6700k,10
two,absent,tiny,i7-6700k,10
two,absent,tiny,gtx1080,20
two,absent,tiny,k20c,5
"""


class OpenDwarfs(Case):
    def run_script(self, *args):
        out = subprocess.run([sys.executable, SCRIPT, PROGRAM, *args], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(out.returncode, 0, out.stderr)
        return out.stdout

    def suite(self):
        for program, kernel in (("one", "first"), ("two", "second")):
            os.makedirs(self.path(os.path.join("suite", program)), exist_ok=True)
            self.path(os.path.join("suite", program, "kernel.cl"), KERNEL.replace("NAME", kernel))
        return self.path("table.csv", TABLE), self.path("suite")

    def test_without_sources_it_skips(self):
        self.assertIn("SKIP", self.run_script(self.path("table.csv", TABLE)))

    def test_decisions_and_launch_costs(self):
        table, sources = self.suite()
        kept = self.path("kept.json")
        flags = ["--facts", self.path("facts.toml", FACTS), "--json", kept]
        text = self.run_script(table, sources, *flags)
        with open(kept, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        self.assertEqual([(r["kernel"], r["size"], r["threads"]) for r in rows],
                         [("first", "large", 8), ("first", "tiny", 1), ("second", "tiny", 1)])
        tiny = {r["kernel"]: r for r in rows if r["size"] == "tiny"}
        # What a launch costs comes from the other program: measured less forecast.
        first, second = tiny["first"], tiny["second"]
        self.assertAlmostEqual(first["launch"]["gtx1080"], 20e-6 - second["forecast"]["gtx1080"])
        self.assertAlmostEqual(first["launch"]["i7-6700k"], 10e-6 - second["forecast"]["i7-6700k"])
        self.assertAlmostEqual(second["launch"]["k20c"], 20e-6 - first["forecast"]["k20c"])
        # The table says CPU, GPU, CPU for the GTX 1080.
        self.assertIn("GPU                                1 right (33.3%%), loss %.4f" % math.exp(2 * math.log(2) / 3), text)
        self.assertIn("CPU                                2 right (66.7%%), loss %.4f" % math.exp(math.log(15) / 3), text)
        self.assertIn("absent (1 sizes): no kernel 'absent' in the source", text)
        self.assertIn("third (1 sizes): no reason", text)
        self.assertIn("second (1 sizes): not measured on every device", text)
        again = self.run_script(table, "--reuse", kept)
        self.assertEqual(again, text)


if __name__ == "__main__":
    unittest.main()
