"""Atomics by type and space, blocks that wait for one another, arguments on which no count depends: forecasts of small kernels."""

import json
import unittest

from program import Case

RTX3080 = ("--device", "rtx3080", "--grid", "1024", "--block", "256")


def kernel(parameters, body):
    return f"extern \"C\" __global__ void k({parameters}) {{\n  {body}\n}}\n"


def add(kind, place, before=""):
    return kernel(f"{kind}* d, const int* x", f"{before} atomicAdd({place}, ({kind})x[threadIdx.x]);")


class Atomics(Case):
    def predicted(self, text, *args):
        return json.loads(self.good("predict", self.path("k.cu", text), *(args or RTX3080), "--format", "json"))["predictions"][0]

    def seconds(self, text, *args):
        return self.predicted(text, *args)["time_s"]

    def bound(self, text, name):
        return next((b["time_s"] for b in self.predicted(text)["bounds"] if b["name"] == name), 0)

    def test_an_integer_sum_is_joined_and_a_real_one_is_not(self):
        updates = 1024 * 256
        real = self.bound(add("float", "d"), "atomics")
        integer = self.bound(add("int", "d"), "atomics")
        self.assertAlmostEqual(real / (updates * 3.57 / (1.71e9 * 1.15)), 1, delta=0.01)
        self.assertAlmostEqual(integer / (updates / 32 * 1.09 / (1.71e9 * 1.15)), 1, delta=0.01)

    def test_64_bits_take_as_long_as_32(self):
        self.assertEqual(self.bound(add("double", "d"), "atomics"), self.bound(add("float", "d"), "atomics"))

    def test_words_apart_are_updated_at_the_same_time(self):
        one, many = (self.bound(add("float", place), "atomics") for place in ("d", "d + threadIdx.x + blockIdx.x * blockDim.x"))
        self.assertGreater(one / many, 50)

    def test_shared_memory_retries_what_it_has_no_instruction_for(self):
        shared = "__shared__ {0} s[256]; s[threadIdx.x] = 0; __syncthreads(); if (blockIdx.x > 4000) d[threadIdx.x] = s[threadIdx.x];"
        times = {kind: self.seconds(add(kind, "s", shared.format(kind))) for kind in ("int", "float", "double")}
        self.assertGreater(times["float"] / times["int"], 3)
        self.assertGreater(times["double"] / times["float"], 3)

    def test_a_chain_of_blocks_takes_a_hop_each(self):
        chain = kernel(
            "float* d, volatile int* flag",
            "if (threadIdx.x == 0) { while (flag[blockIdx.x] == 0) {} d[blockIdx.x + 1] = d[blockIdx.x] + 1; __threadfence();"
            " flag[blockIdx.x + 1] = 1; }",
        )
        p = self.predicted(chain)
        self.assertAlmostEqual(p["time_s"] / (1024 * 2 * 222 / (1.71e9 * 1.15)), 1, delta=0.1)
        self.assertIn("waits until another block has written", json.dumps(p["assumptions"]))
        alone = chain.replace("while (flag[blockIdx.x] == 0) {}", "")
        self.assertLess(self.seconds(alone), p["time_s"] / 20)

    def test_an_argument_that_is_only_stored_gets_a_default(self):
        search = kernel("const int* a, int* o, int n, int color", "int i = threadIdx.x; while (a[i] > n) ++i; o[i] = color;")
        p = self.predicted(search, *RTX3080, "--arg", "n=5")
        self.assertIn("'color', on which no count depends", json.dumps(p["assumptions"]))
        self.assertNotIn("not executed", json.dumps(p["assumptions"]))


if __name__ == "__main__":
    unittest.main()
