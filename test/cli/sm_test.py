"""The cycle-level SM from the command line: the model sm, and what a run shows."""

import json
import os
import tempfile
import unittest

from check_schema import checked
from program import ROOT, Case

MATMUL = (os.path.join(ROOT, "examples", "matmul_tiled.cl"), "--global", "256,256", "--block", "16,16", "--arg", "n=256")
BENCH = ".access a lane=4 warp=128\nloop 50\n  LDG R4, R0, [a]\n  repeat 6\n    FFMA R5, R1, R2, R3\n  end\n  FADD R6, R4, R1\nend\n"


class CycleLevelSm(Case):
    def test_the_model_answers_where_there_is_a_spec_and_says_why_not_elsewhere(self):
        value = checked(
            self.good("predict", *MATMUL, "--device", "v100,k20,mi100", "--model", "sm,kernelcast", "--format", "json"), "predict"
        )
        answers = {(p["device"], p["model"]): p for p in value["predictions"]}
        for device in ("nvidia-tesla-v100-pcie-16gb", "nvidia-tesla-k20"):
            sm, closed = answers[device, "sm"], answers[device, "kernelcast"]
            self.assertLess(sm["time_s"], 4 * closed["time_s"])
            self.assertGreater(sm["time_s"], closed["time_s"] / 4)
            self.assertIn("latency", {b["name"] for b in sm["bounds"]})
        none = answers["amd-instinct-mi100", "sm"]
        self.assertIsNone(none["time_s"])
        self.assertIn("there is one of: ", none["reason"])
        self.assertIn("ask the model kernelcast", none["reason"])

    def test_it_is_found_by_name_only(self):
        value = json.loads(self.good("predict", *MATMUL, "--device", "v100", "--model", "all", "--format", "json"))
        self.assertNotIn("sm", {p["model"] for p in value["predictions"]})
        self.assertIn("sm ", self.good("models"))
        result = self.run_program("tune", MATMUL[0], "--device", "v100", "--global", "256,256", "--arg", "n=256", "--model", "sm")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--model sm", result.stderr)

    def test_a_program_of_the_users_is_watched(self):
        args = ("probe", "--backend", "sim", "--device", "v100", "--program", "-", "--warps", "4")
        value = checked(self.good(*args, "--format", "json", text=BENCH), "sm-views")
        self.assertEqual(value["warp_instructions"], 4 * 50 * 9)
        issued = sum(w["issued"] for w in value["stalls"]["by_warp"])
        self.assertEqual(issued, value["warp_instructions"])
        self.assertEqual(sum(sum(w.values()) for w in value["stalls"]["by_window"]), sum(value["stalls"]["total"].values()))
        spans = value["stalls"]["timeline"]
        self.assertEqual(len(spans), 2000)
        self.assertEqual({s["warp"] for s in spans}, {0, 1, 2, 3})
        cores = next(u for u in value["units"] if u["name"] == "cores")
        self.assertEqual(cores["busy_cycles"], sum(cores["by_window"]))
        self.assertEqual(cores["busy_cycles"], 4 * 50 * 7 * 2)
        text = self.good(*args, text=BENCH)
        self.assertIn("dependency", text)
        self.assertRegex(text, r"\n   3  [#fcduamb.]{20,}\n")
        self.assertIn("load/store", text)

    def test_a_kernel_is_watched(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "views.json")
            self.good("explain", *MATMUL, "--device", "v100", "--sm-views", path)
            with open(path, encoding="utf-8") as file:
                value = checked(file.read(), "sm-views")
        names = {i["name"] for i in value["timeline"]}
        self.assertTrue({"FFMA", "LDS", "LDG", "STS", "BAR"} <= names, names)
        self.assertGreater(value["stalls"]["total"]["barrier"], 0)

    def test_bad_flags_and_programs_are_named(self):
        sim = ("--backend", "sim", "--device", "v100")
        for args, message, status in (
            (("--backend", "host", "--program", "x"), "--backend sim", 2),
            ((*sim, "--warps", "4"), "--program", 2),
            ((*sim, "--program", "-", "--warps", "0"), "--warps 0", 2),
            ((*sim, "--program", "-", "-o", "x.toml"), "-o writes a device file", 2),
            ((*sim, "--program", "-"), ":1: there is no instruction FFMX", 1),
        ):
            result = self.run_program("probe", *args, text="FFMX R1, R2\n")
            self.assertEqual(result.returncode, status, (args, result.stderr))
            self.assertEqual(result.stdout, "")
            self.assertIn(message, result.stderr)
        for device, program, message in (
            ("k20", "FFMA R1, R2, R3, R4 {0x500}\n", ":1: a control code of NVIDIA Kepler GK110, SMX has 8 bits"),
            ("gtx280", "NOP\nFFMA R1, R2, R3, R4 {0x20}\n", ":2: NVIDIA Tesla architecture GT200, SM has no control codes"),
            ("k20", "", ":1: there is no instruction"),
            ("k20", "\x01\x02\n", r":1: there is no instruction \?\?"),
        ):
            self.bad(1, message, "probe", "--backend", "sim", "--device", device, "--program", self.path("p.txt", program))
        result = self.run_program("explain", *MATMUL, "--device", "v100,k20", "--sm-views", "x.json")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--sm-views", result.stderr)


if __name__ == "__main__":
    unittest.main()
