"""Real output follows the schemas in schema/."""

import os
import unittest

from check_schema import checked
from program import ROOT, Case

MATMUL = (os.path.join(ROOT, "examples", "matmul_tiled.cl"), "--global", "256,256", "--block", "16,16", "--arg", "n=256")
HISTOGRAM = (os.path.join(ROOT, "examples", "histogram.cu"), "--grid", "16", "--block", "256", "--arg", "n=65536")


class Schemas(Case):
    def test_predict(self):
        for source in (MATMUL, HISTOGRAM):
            value = checked(self.good("predict", *source, "--device", "gtx280,v100,mi100", "--format", "json"), "predict")
            self.assertEqual(len({p["device"] for p in value["predictions"]}), 3)

    def test_predict_with_a_device_that_fails(self):
        result = self.run_program(
            "predict", HISTOGRAM[0], "--device", "gtx280,v100", "--grid", "1", "--block", "1024", "--arg", "n=65536", "--format", "json"
        )
        self.assertEqual(result.returncode, 1)
        value = checked(result.stdout, "predict")
        self.assertTrue(any(p["time_s"] is None for p in value["predictions"]))
        self.assertTrue(any(p["time_s"] is not None for p in value["predictions"]))

    def test_every_schema_is_documented(self):
        with open(os.path.join(ROOT, "docs", "reference", "formats.md"), encoding="utf-8") as file:
            text = file.read()
        for name in sorted(os.listdir(os.path.join(ROOT, "schema"))):
            self.assertIn(f"schema/{name}", text)

    def test_explain(self):
        for source in (MATMUL, HISTOGRAM):
            value = checked(self.good("explain", *source, "--device", "v100,mi100", "--format", "json"), "explain")
            for e in value["explanations"]:
                self.assertAlmostEqual(sum(line["instruction_share"] for line in e["lines"]), 1.0, places=9)
                self.assertAlmostEqual(sum(line["sector_share"] for line in e["lines"]), 1.0, places=9)

    def test_devices(self):
        every = checked(self.good("devices", "--format", "json"), "devices")
        self.assertEqual(every["failures"], [])
        self.assertIn("host", {d["id"] for d in every["devices"]})
        for name in ("gtx280", "hd5870", "mi100", "host"):
            one = checked(self.good("devices", name, "--format", "json"), "devices")
            self.assertTrue(one["devices"][0]["fields"])

    def test_models(self):
        checked(self.good("models", "--format", "json"), "models")


if __name__ == "__main__":
    unittest.main()
