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
