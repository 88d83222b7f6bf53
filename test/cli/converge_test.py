"""`converge --replay` from outside: step counts, JSON, bad input."""

import json
import os
import random
import unittest

from check_schema import checked
from program import ROOT, Case

PATTERN = os.path.join(ROOT, "converge", "examples", "pattern.txt")


class Replay(Case):
    def replay(self, pattern, policy, *more):
        return checked(self.good("converge", "--replay", pattern, "--policy", policy, "--format", "json", *more), "converge-replay")

    def test_worked_example(self):
        steps = {p: self.replay(PATTERN, p)["steps"] for p in ("plain", "majority", "round-robin")}
        self.assertEqual(steps, {"plain": 6, "majority": 5, "round-robin": 4})
        self.assertEqual(self.replay(PATTERN, "majority")["plain_steps"], 6)

    def test_speedup_is_the_ratio(self):
        value = self.replay(PATTERN, "round-robin")
        self.assertAlmostEqual(value["speedup"], value["plain_steps"] / value["steps"])

    def test_large_patterns_have_no_best(self):
        draw = random.Random(1)
        text = "\n".join("".join(draw.choice("TF") for _ in range(200)) for _ in range(32))
        value = self.replay(self.path("large", text), "majority", "--flush", "8")
        self.assertIsNone(value["best_steps"])
        self.assertEqual(value["options"]["flush"], 8)
        self.assertLess(value["steps"], value["plain_steps"])

    def test_text(self):
        self.assertRegex(self.good("converge", "--replay", PATTERN, "--policy", "advance"), r"advance +\d+ +speedup 1\.\d+")

    def test_standard_input(self):
        value = json.loads(self.good("converge", "--replay", "-", "--policy", "plain", "--format", "json", text="TTT\nFFF\n"))
        self.assertEqual(value["steps"], 6)

    def test_bad_input(self):
        bad = self.path("bad", "TF\nT1\n")
        self.bad(1, r"bad:2:2: expected T or F", "converge", "--replay", bad, "--policy", "plain")
        self.bad(2, r"--policy best: expected plain, majority", "converge", "--replay", PATTERN, "--policy", "best")
        self.bad(2, r"--replay needs --policy", "converge", "--replay", PATTERN)
        self.bad(2, r"--first X: expected T or F", "converge", "--replay", PATTERN, "--policy", "plain", "--first", "X")
        self.bad(2, r"--flush 0: expected", "converge", "--replay", PATTERN, "--policy", "plain", "--flush", "0")
        self.bad(1, r"nowhere", "converge", "--replay", "nowhere", "--policy", "plain")


if __name__ == "__main__":
    unittest.main()
