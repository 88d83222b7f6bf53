"""scripts/snapshot.py: equal programs give equal snapshots, another clock does not; forecasts are those of test/data/times.csv."""

import csv
import os
import subprocess
import sys
import unittest

from program import PROGRAM, ROOT, Case

SCRIPT = os.path.join(ROOT, "scripts", "snapshot.py")


class Snapshot(Case):
    def script(self, *words, status=0):
        done = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False, env={**os.environ, "XDG_CACHE_HOME": self.folder})
        self.assertEqual(done.returncode, status, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def take(self, name, only):
        path = self.path(name)
        self.script("take", PROGRAM, "-o", path, "--only", only)
        return path

    def test_two_snapshots_of_one_program_are_equal(self):
        one, two = (self.take(name, "example/saxpy.cu/[ept]*") for name in ("one.gz", "two.gz"))
        self.assertIn("0 differ", self.script("compare", one, two, "--texts"))

    def test_a_difference_is_named(self):
        wrapper = self.path("wrapper", f"""#!/bin/sh
{PROGRAM} "$@" | sed 's/"time_s": [0-9]/"time_s": 7/'
""")
        os.chmod(wrapper, 0o755)
        one, two = self.path("one.gz"), self.path("two.gz")
        self.script("take", PROGRAM, "-o", one, "--only", "example/saxpy.cu/predict")
        self.script("take", wrapper, "-o", two, "--only", "example/saxpy.cu/predict")
        self.assertRegex(self.script("compare", one, two, status=1), r"example/saxpy.cu/predict: .*time_s: [0-9.e-]+, 7")

    def test_forecasts_are_those_of_the_list(self):
        lines = self.script("times", self.take("all.gz", "*")).splitlines()
        now = {(row["case"], row["place"]): float(row["time_s"]) for row in csv.DictReader(lines)}
        with open(os.path.join(ROOT, "test", "data", "times.csv"), encoding="utf-8") as file:
            listed = {(row["case"], row["place"]): float(row["time_s"]) for row in csv.DictReader(file)}
        # Cases on the CPU at hand depend on the machine; a new test's kernel is no change of a forecast.
        moved = [f"{case} {place}: {listed[case, place]:g} s in the list, {now[case, place]:g} s now" for case, place in sorted(listed)
                 if (case, place) in now and abs(now[case, place] / listed[case, place] - 1) > 1e-6]
        self.assertGreater(len(set(listed) & set(now)), 1500)
        self.assertEqual(moved, [], "where this is meant: scripts/snapshot.py times SNAPSHOT > test/data/times.csv")


if __name__ == "__main__":
    unittest.main()
