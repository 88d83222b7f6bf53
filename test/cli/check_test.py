"""The gate: ratios of two sources and of two configurations, exit statuses, JSON."""

import json
import math
import re
import unittest

from check_schema import checked
from program import COPY, Case

LAUNCH = ("--device", "v100,mi100", "--grid", "4096", "--block", "256", "--arg", "n=1048576")
TWICE = COPY.replace("out[i] = in[i]", "out[i] = in[i] + in[(i + 524288) % n]").replace("void copy", "void copy")


class Check(Case):
    def setUp(self):
        super().setUp()
        self.base = self.path("base.cl", COPY)
        self.changed = self.path("new.cl", TWICE)

    def checks(self, status, *args):
        result = self.run_program("check", *args, "--format", "json")
        self.assertEqual(result.returncode, status, result.stderr)
        return checked(result.stdout, "check")

    def test_the_same_source_is_as_fast(self):
        value = self.checks(0, self.base, self.base, *LAUNCH, "--max-slowdown", "0")
        self.assertEqual(value["gate"], "pass")
        for c in value["checks"]:
            self.assertEqual(c["ratio"], 1)
            self.assertEqual(c["ratio_interval"], [1, 1])
            self.assertEqual(c["probability_slower"], 0)

    def test_more_work_breaks_the_gate(self):
        value = self.checks(3, self.base, self.changed, *LAUNCH)
        self.assertEqual(value["gate"], "fail")
        self.assertEqual({c["device"] for c in value["checks"]}, {"nvidia-tesla-v100-pcie-16gb", "amd-instinct-mi100"})
        for c in value["checks"]:
            self.assertGreater(c["ratio"], 1.05)
            self.assertAlmostEqual(c["ratio"], c["new_time_s"] / c["base_time_s"])
            lo, hi = c["ratio_interval"]
            self.assertAlmostEqual(c["ratio"] / lo, hi / c["ratio"])
            self.assertGreater(c["probability_slower"], 0.5)
            self.assertLess(c["probability_broken"], c["probability_slower"])

    def test_swapped_it_passes_and_the_probabilities_mirror(self):
        there = self.checks(3, self.base, self.changed, *LAUNCH)
        back = self.checks(0, self.changed, self.base, *LAUNCH)
        for a, b in zip(there["checks"], back["checks"]):
            self.assertAlmostEqual(a["ratio"] * b["ratio"], 1)
            self.assertAlmostEqual(a["probability_slower"] + b["probability_slower"], 1)

    def test_a_wide_gate_lets_it_pass(self):
        self.assertIn("pass", self.good("check", self.base, self.changed, *LAUNCH, "--max-slowdown", "900%"))

    def test_configurations_of_one_source(self):
        value = self.checks(3, self.base, self.base, *LAUNCH, "--new-grid", "32768", "--new-block", "32", "--new-arg", "n=1048576")
        for c in value["checks"]:
            self.assertNotEqual(c["ratio"], 1)
        self.checks(3, self.base, self.base, *LAUNCH, "--new-grid", "16384", "--new-arg", "n=4194304")

    def test_what_has_no_forecast_breaks_the_gate_with_the_reason(self):
        value = self.checks(3, self.base, self.base, "--device", "v100,gtx280", "--grid", "4096", "--block", "256", "--arg", "n=1048576",
                            "--new-grid", "1024", "--new-block", "1024")
        by_device = {c["device"]: c for c in value["checks"]}
        self.assertIsNone(by_device["nvidia-geforce-gtx-280"]["ratio"])
        self.assertIn("new: ", by_device["nvidia-geforce-gtx-280"]["reason"])
        self.assertIsNotNone(by_device["nvidia-tesla-v100-pcie-16gb"]["ratio"])

    def test_local_memory_makes_a_ratio_less_certain(self):
        spilling = COPY.replace("out[i] = in[i]", "{ float t[64]; for (int k = 0; k < 64; ++k) t[k] = in[(i + k) % n]; out[i] = t[(int)in[i] & 63]; }")
        there = self.path("local.cl", spilling)
        width = {}
        for name, old, new in (("neither", self.base, self.changed), ("new", self.base, there), ("base", there, self.base)):
            run = self.run_program("check", old, new, *LAUNCH, "--format", "json")
            for c in checked(run.stdout, "check")["checks"]:
                self.assertEqual(c["local_memory"], name != "neither")
                width[name] = math.log(c["ratio_interval"][1] / c["ratio"])
        self.assertAlmostEqual(width["new"], width["base"])
        self.assertGreater(width["new"], 2 * width["neither"])
        text = self.good("check", there, self.base, *LAUNCH)
        self.assertIn("probably in local memory", text)
        self.assertNotIn("local memory", self.good("check", self.changed, self.base, *LAUNCH))

    def test_what_is_wrong_with_new_says_so(self):
        self.bad(2, "NEW: .*nope", "check", self.base, self.base, *LAUNCH, "--new-kernel", "nope")

    def test_a_number_without_a_percent_sign_is_a_fraction(self):
        self.good("check", self.base, self.base, *LAUNCH, "--max-slowdown", "0.05")
        self.bad(2, "--max-slowdown 5: give 5%", "check", self.base, self.base, *LAUNCH, "--max-slowdown", "5")

    def test_usage(self):
        self.bad(2, "--max-slowdown -1", "check", self.base, self.base, *LAUNCH, "--max-slowdown", "-1")
        self.bad(2, "--max-slowdown", "check", self.base, self.base, *LAUNCH, "--max-slowdown", "much")
        self.bad(2, "roofline", "check", self.base, self.base, *LAUNCH, "--model", "roofline")
        self.bad(2, "NEW", "check", self.base, *LAUNCH)
        self.bad(1, "nothing.cl", "check", self.base, self.path("nothing.cl"), *LAUNCH)

    def test_accepted_slowdowns_pass_up_to_their_time(self):
        accepted = self.path("accepted", "")
        self.checks(3, self.base, self.changed, *LAUNCH, "--accepted", accepted)
        value = self.checks(0, self.base, self.changed, *LAUNCH, "--accepted", accepted, "--accept")
        self.assertEqual({c["gate"] for c in value["checks"]}, {"accepted"})
        value = self.checks(0, self.base, self.changed, *LAUNCH, "--accepted", accepted)
        self.assertEqual(value["gate"], "pass")
        slower = self.path("slower.cl", TWICE.replace("% n]", "% n] + in[(i + 262144) % n]"))
        self.checks(3, self.base, slower, *LAUNCH, "--accepted", accepted)
        with open(accepted, "a", encoding="utf-8") as file:
            file.write("fast v100\n")
        self.bad(1, r"accepted:4: expected TIME_S DEVICE LAUNCH KERNEL", "check", self.base, self.changed, *LAUNCH, "--accepted", accepted)
        self.bad(2, r"--accept: name the file with --accepted", "check", self.base, self.changed, *LAUNCH, "--accept")

    def test_sarif(self):
        result = self.run_program("check", self.base, self.changed, *LAUNCH, "--format", "sarif")
        self.assertEqual(result.returncode, 3)
        log = json.loads(result.stdout)
        self.assertEqual(log["version"], "2.1.0")
        run = log["runs"][0]
        self.assertEqual(run["tool"]["driver"]["name"], "kernelcast")
        self.assertEqual([r["level"] for r in run["results"]], ["error"] * 2)
        for r in run["results"]:
            self.assertIn(r["ruleId"], [rule["id"] for rule in run["tool"]["driver"]["rules"]])
            self.assertRegex(r["message"]["text"], r"copy on .*: ratio 1\.\d+")
            place = r["locations"][0]["physicalLocation"]
            self.assertEqual(place["artifactLocation"]["uri"], self.changed)
            self.assertTrue(1 <= place["region"]["startLine"] <= TWICE.count("\n") + 1)
        self.assertEqual(json.loads(self.good("check", self.base, self.base, *LAUNCH, "--format", "sarif"))["runs"][0]["results"], [])

    def test_what_the_gate_sees_stands_above_the_table(self):
        text = self.run_program("check", self.base, self.changed, *LAUNCH).stdout
        value = self.checks(3, self.base, self.changed, *LAUNCH)
        self.assertRegex(text.split("\n")[1], r"A slowdown of [\d.]+ % is detected with a probability of 90 %")
        shown = float(re.search(r"slowdown of ([\d.]+) %", text).group(1))
        self.assertAlmostEqual(shown, (value["visible_ratio"] - 1) * 100, delta=0.06)

    def test_an_unchanged_kernel_is_seen_as_sharply_as_one_with_the_same_bounds(self):
        unchanged = self.checks(0, self.base, self.base, *LAUNCH)["visible_ratio"]
        changed = self.checks(3, self.base, self.changed, *LAUNCH)["visible_ratio"]
        self.assertLess(unchanged, changed)
        self.assertLess(unchanged, 1.11)

    def test_launches_that_are_bound_alike_have_a_narrow_interval(self):
        large = ("--device", "v100", "--grid", "262144", "--block", "256", "--arg", "n=67108864")
        width = lambda *args: self.checks(3, self.base, self.base, *large, *args)["checks"][0]["ratio_interval"]
        alike = width("--new-grid", "524288", "--new-arg", "n=134217728")
        other = width("--new-grid", "8388608", "--new-block", "8")
        self.assertLess(alike[1] / alike[0], 1.35**2)
        self.assertGreater(other[1] / other[0], 1.8**2)


if __name__ == "__main__":
    unittest.main()
