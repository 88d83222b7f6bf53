"""No estimate of any model lies below the physical floor: every example on every device."""

import glob
import json
import os
import unittest

from examples_test import command_of
from program import ROOT, Case


class Floor(Case):
    def answered(self, *args):
        """The predictions; devices whose code generation lacks an instruction are named on standard error."""
        result = self.run_program(*args, "--format", "json", timeout=150)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["predictions"]

    def test_no_model_answers_below_it(self):
        answers = 0
        for path in sorted(p for p in glob.glob(os.path.join(ROOT, "examples", "*")) if os.path.isfile(p)):
            command = command_of(path)
            if command[0] not in ("predict", "explain"):
                continue
            args = ["predict", *command[1:]]
            args[args.index("--device") + 1] = "all"
            if "--model" in args:
                del args[args.index("--model"): args.index("--model") + 2]
            for p in self.answered(*args, "--model", "all", "--counts", "symbolic"):
                where = f"{os.path.basename(path)} {p['device']} {p['model']}"
                if p["time_s"] is None:
                    continue
                answers += 1
                self.assertIsNotNone(p["floor_s"], where)
                self.assertGreaterEqual(p["time_s"], p["floor_s"], where)
                self.assertLessEqual(p["achieved"]["fraction_of_peak"], 1, where)
                if p["limiter"] == "floor":
                    self.assertEqual(p["bounds"][0]["time_s"], p["time_s"], where)
        self.assertGreater(answers, 3000)

    def test_products_take_what_the_hardware_needs(self):
        """2 * 4096^3 operations on tensor cores of 165.2 TFLOP/s (GeForce RTX 4090) and 312 TFLOP/s (A100)."""
        args = ["predict", *command_of(os.path.join(ROOT, "examples", "matmul_wmma.cu"))[1:], "--format", "json"]
        for p in json.loads(self.good(*args, "--model", "kernelcast"))["predictions"]:
            peak = {"nvidia-geforce-rtx-4090": 165.2e12}.get(p["device"], 312e12)
            self.assertEqual(p["counts"]["tensor_multiply_adds"], {"f16_f32": 4096**3})
            self.assertAlmostEqual(p["floor_s"], 2 * 4096**3 / peak, delta=0.01 * p["floor_s"])
            self.assertGreaterEqual(p["time_s"], p["floor_s"])
            self.assertAlmostEqual(p["achieved"]["tensor_flop_per_s"] * p["time_s"], 2 * 4096**3, delta=1e6)


if __name__ == "__main__":
    unittest.main()
