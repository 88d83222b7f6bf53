"""Text for people without a browser: `explain --annotate`, `predict --format csv`."""

import csv
import io
import json
import os
import unittest

from program import ROOT, Case

SAXPY = (os.path.join(ROOT, "examples", "saxpy.cu"), "--grid", "4096", "--block", "256", "--arg", "n=1048576")
TRANSPOSE = """__global__ void k(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 32;
  tile[y][x] = in[(top + y) * n + left + x];
  __syncthreads();
  out[(left + y) * n + top + x] = tile[x][y];
}
"""
SQUARE = ("--grid", "64,64", "--block", "32,32", "--arg", "n=2048", "--device", "a100")


class Csv(Case):
    def rows(self, text):
        return list(csv.DictReader(io.StringIO(text)))

    def test_numbers_are_those_of_json(self):
        args = ("predict", *SAXPY, "--device", "a100,mi100", "--model", "kernelcast,roofline")
        rows = self.rows(self.good(*args, "--format", "csv"))
        for row, p in zip(rows, json.loads(self.good(*args, "--format", "json"))["predictions"], strict=True):
            self.assertEqual((row["device"], row["model"]), (p["device"], p["model"]))
            self.assertAlmostEqual(float(row["time_s"]) / p["time_s"], 1, places=7)
            self.assertEqual(row["limiter"], p["limiter"])
            self.assertEqual(row["interval_lo_s"] == "", p["interval_s"] is None)
            self.assertEqual(row["grid"], "4096x1x1")

    def test_what_has_commas_is_quoted_and_a_failure_has_its_reason(self):
        result = self.run_program("predict", SAXPY[0], "--grid", "1024", "--block", "1024", "--arg", "n=1048576", "--device", "a100,gtx280", "--format", "csv")
        self.assertEqual(result.returncode, 1)
        good, bad = self.rows(result.stdout)
        self.assertEqual(good["reason"], "")
        self.assertEqual(bad["time_s"], "")
        self.assertIn("1024, but NVIDIA GeForce GTX 280 allows at most 512", bad["reason"])

    def test_launches_of_host_code_have_none(self):
        source = self.path("p.cu", "__global__ void k() {}\nint main() { k<<<1, 32>>>(); }\n")
        self.bad(2, "--format csv: give --grid and --block", "predict", source, "--device", "a100", "--format", "csv")


class Annotate(Case):
    def lines(self, *args):
        text = self.good("explain", self.path("t.cu", TRANSPOSE), *SQUARE, "--annotate", *args)
        return {int(line[32:37]): line for line in text.splitlines() if line[37:40] == " | "}

    def test_margins_are_those_of_json(self):
        lines = self.lines()
        (e,) = json.loads(self.good("explain", self.path("t.cu", TRANSPOSE), *SQUARE, "--format", "json"))["explanations"]
        for share in e["lines"]:
            shown = lines[share["at"]["line"]][:8].strip()
            self.assertTrue(shown.endswith(" %"))
            self.assertAlmostEqual(float(shown[:-2]), 100 * share["instruction_share"], delta=0.06)
        self.assertEqual([n for n, line in lines.items() if line[16:24].strip()], [6])  # bank conflicts
        self.assertIn("tile[x][y]", lines[6])
        self.assertEqual(sorted(lines), list(range(1, 8)))

    def test_it_is_text(self):
        self.bad(2, "--annotate: is text for a terminal", "explain", *SAXPY, "--device", "a100", "--annotate", "--format", "json")

    def test_control_characters_of_the_source_are_shown_as_escapes(self):
        text = self.good("explain", self.path("c.cu", "__global__ void k(float* a) { a[0] = 1; }  // \u202e hidden \u009b1m\n"), "--grid", "1", "--block", "32",
                         "--device", "a100", "--annotate")
        self.assertNotIn("\u202e", text)
        self.assertNotIn("\u009b", text)
        self.assertIn("hidden", text)


if __name__ == "__main__":
    unittest.main()
