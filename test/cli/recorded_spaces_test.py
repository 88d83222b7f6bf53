"""The scripts that hold tune against recorded spaces, on a space of a few configurations."""

import gzip
import json
import os
import sys
import unittest

from program import PROGRAM, ROOT, Case

sys.path.insert(0, os.path.join(ROOT, "tools", "validate"))
import failures
import recorded_spaces
import replay

KERNEL = """#ifndef W
#define W 1
#endif
__global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int k = 0; k < W; ++k) s += in[(i * W + k) % n];
  if (i < n) out[i] = s;
}
"""
T1 = {
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "block_size_x", "Type": "int", "Values": [64, 512, 2048]},
            {"Name": "W", "Type": "int", "Values": [1, 8]},
            {"Name": "K", "Type": "int", "Values": [3]},
        ],
        "Conditions": [{"Expression": "W * K < 24 or block_size_x < 2048", "Parameters": ["W", "K", "block_size_x"]}],
    },
    "KernelSpecification": {
        "Language": "CUDA", "KernelName": "scale", "KernelFile": "k.cu", "ProblemSize": [65536, 1, 7], "SharedMemory": 0,
        "LocalSize": {"X": "block_size_x", "Y": "1", "Z": "1"}, "GridDivX": ["block_size_x"],
    },
}
ROWS = """kernel_id,gpu,block_size_x,W,time_ms,status
k,Tesla V100-PCIE-16GB,64,1,1.0,ok
k,Tesla V100-PCIE-16GB,64,8,8.0,ok
k,Tesla V100-PCIE-16GB,512,1,2.0,ok
k,Tesla V100-PCIE-16GB,512,8,9.0,ok
k,Tesla V100-PCIE-16GB,2048,1,,RuntimeFailedConfig
k,Tesla V100-PCIE-16GB,2048,8,,RuntimeFailedConfig
"""


class RecordedSpaces(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("spaces"))
        self.path("k.cu", KERNEL)
        self.path("kernels.csv", "id,wrapper,entry\nk,k.cu,scale\n")
        self.path("rows.csv", "kernel_id,args,grid_z\nk,n=65536,1\n")
        self.path("spaces/s.t1.json", json.dumps(T1))
        with gzip.open(self.path("spaces/s.csv.gz"), "wt") as file:
            file.write(ROWS)
        recorded_spaces.SPACES["s"] = "s"
        self.addCleanup(recorded_spaces.SPACES.pop, "s")
        os.environ["XDG_CACHE_HOME"] = self.path("cache")
        self.space = recorded_spaces.Space(self.folder, "s")

    def test_rows_outside_the_conditions_are_no_part_of_the_space(self):
        self.assertEqual([self.space.key(r) for r in self.space.rows], [(64, 1), (64, 8), (512, 1), (512, 8), (2048, 1)])
        self.assertEqual([self.space.threads(r) for r in self.space.rows], [64, 64, 512, 512, 2048])

    def test_only_the_sample_is_forecast_with_the_grid_that_ran(self):
        answer = self.space.tune(PROGRAM, ".", self.space.rows[1:])
        predicted = self.space.predicted(answer)
        self.assertEqual(set(predicted), {(64, 8), (512, 1), (512, 8)})  # 2,048 threads cannot run
        self.assertEqual(predicted[64, 8]["grid"], [1024, 1, 1])
        self.assertEqual(answer["devices"][0]["infeasible"]["threads per block"], 1)

    def test_rates_are_weighted_by_what_was_drawn(self):
        groups = list(failures.groups(self.space, 1, 1))
        self.assertEqual([(name, len(rows), size) for name, rows, size in groups],
                         [("failed", 1, 1), ("ran, large blocks", 1, 2), ("ran, others", 0, 2), ("did not compile", 0, 0)])
        self.assertEqual(sum(size for _, _, size in groups), len(self.space.rows))
        points = [(1.0, True, 5), (0.2, True, 15), (0.6, False, 3), (0.0, False, 9)]
        self.assertEqual(failures.share(points, True, 0.5), "1 of 2 (25.0 %)")
        self.assertEqual(failures.share(points, False, 0.5), "1 of 2 (25.0 %)")
        self.assertEqual(failures.share(points, False, 0.7), "0 of 2 (0.0 %)")
        self.assertEqual(failures.share(points[2:], True, 0.5), "none recorded")

    def test_random_search_is_the_exact_expectation(self):
        self.assertAlmostEqual(replay.expected_loss([1, 2, 4], 1), (0 + 1 + 3) / 3)
        self.assertAlmostEqual(replay.expected_loss([1, 2, 4], 2), (0 + 0 + 1) / 3)
        self.assertAlmostEqual(replay.expected_loss([4, 1, 2], 3), 0)

    def test_halves_are_spaces_of_their_own(self):
        right = [(t, t) for t in (1.0, 2.0, 4.0, 8.0)]
        self.assertEqual(replay.over_halves(replay.halves_of(right)), (0, 0))
        first, five = replay.over_halves(replay.halves_of([(1 / t, t) for _, t in right]))  # the wrong way round
        pairs = [(1, 2), (1, 4), (1, 8), (2, 4), (2, 8), (4, 8)]
        self.assertAlmostEqual(first, sum(b / a - 1 for a, b in pairs) / 6, delta=0.3)
        self.assertEqual(five, 0)  # halves of two
        self.assertEqual(replay.over_halves(replay.halves_of([(None, 1.0), (3.0, 2.0)]))[1] >= 0, True)

    def test_a_loss_is_worth_as_many_random_tries_as_lose_no_more(self):
        known = [(t, t) for t in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)]
        halves = replay.halves_of(known)
        random_loss = [sum(replay.expected_loss([t for _, t in h], n) for h in halves) / len(halves) for n in (1, 2, 3)]
        self.assertGreater(random_loss[0], random_loss[1])
        self.assertEqual(replay.tries_of_random_search(halves, random_loss[0]), 1)
        self.assertEqual(replay.tries_of_random_search(halves, (random_loss[0] + random_loss[1]) / 2), 2)
        self.assertEqual(replay.tries_of_random_search(halves, 0), 3)  # all of a half


if __name__ == "__main__":
    unittest.main()
