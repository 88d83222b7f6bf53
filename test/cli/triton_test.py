#!/usr/bin/env python3
"""Eleven kernels as Triton compiles them (tools/triton): each is forecast from its .ptx, its metadata, device, grid and arguments alone."""
import json
import os
import subprocess
import unittest
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data" / "triton"
DEVICES = {"sm80": "a100", "sm90": "h100", "sm100": "b200"}


def predict(path, device):
    launch = json.loads(path.with_suffix(".json").read_text())
    command = [os.environ["KERNELCAST"], "predict", str(path), "--device", device, "--grid", ",".join(map(str, launch["grid"])), "--format", "json"]
    for position, value in launch["args"].items():
        command += ["--arg", f"{position}={value}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Triton(unittest.TestCase):
    def test_each_kernel_has_a_forecast(self):
        seen = 0
        for path in sorted(DATA.glob("*.ptx")):
            device = DEVICES.get(path.stem.rsplit(".", 1)[-1])
            if device is None:
                continue
            with self.subTest(path.name):
                done = predict(path, device)
                self.assertEqual(done.returncode, 0, done.stderr)
                p = json.loads(done.stdout)["predictions"][0]
                self.assertEqual(p["kernel"], path.name.split(".")[0].replace("fp8_matmul", "matmul"))
                self.assertGreaterEqual(p["time_s"], p["floor_s"])
                seen += 1
        self.assertGreaterEqual(seen, 32)

    def test_products_are_counted(self):
        """2 M N K operations, whatever instruction multiplies."""
        for name, device in (("matmul.sm80", "a100"), ("matmul.sm90", "h100"), ("persistent_matmul.sm80", "a100")):
            with self.subTest(name):
                p = json.loads(predict(DATA / f"{name}.ptx", device).stdout)["predictions"][0]
                tensor = next(b for b in p["bounds"] if b["name"] == "tensor")
                self.assertIn("137.4 GFLOP", tensor["why"])

    def test_streams_move_their_bytes(self):
        """64 Mi elements of 4 bytes, three times, at no more than the memory's bandwidth."""
        p = json.loads(predict(DATA / "vector_add.sm80.ptx", "a100").stdout)["predictions"][0]
        self.assertEqual(p["counts"]["footprint_bytes"], 3 * 4 * 2**26)
        self.assertLess(3 * 4 * 2**26 / p["time_s"], 1.6e12)

    def test_one_lane_of_a_block_copies_in_bulk(self):
        """elect.sync gives a lane and whether it is this one: 1,024 tiles of two 128 x 4096 blocks of 16-bit numbers, not as many for each lane."""
        for name, device in (("persistent_matmul.sm90", "h100"), ("persistent_matmul.sm100", "b200")):
            with self.subTest(name):
                p = json.loads(predict(DATA / f"{name}.ptx", device).stdout)["predictions"][0]
                loads = sum(m["bytes"] for m in p["counts"]["memory"] if (m["space"], m["kind"]) == ("global", "load"))
                self.assertEqual(loads, 1024 * 2 * 128 * 4096 * 2)


if __name__ == "__main__":
    unittest.main()
