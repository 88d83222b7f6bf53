#!/usr/bin/env python3
"""Where the closed forms of the model kernelcast and the cycle-level model sm differ on kernels that show one thing each.

    tools/validate/sm_closed_forms.py [PROGRAM] [DEVICE,...]

Latency hiding: chains of multiply-adds, and of loads that the L2 holds, with more and more warps on each SM. Barriers: a loop
with two of them, by the size of the block. Dual issue: more and more independent chains of multiply-adds in a thread. The
tables hold the time by kernelcast over that by sm, both without the time of a launch.
"""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
WARPS = (1, 2, 4, 8, 16, 32)
CHAINS = (1, 2, 4, 8)
DEVICES = "k20,gtx980,v100,rtx3080"

CHAIN = """__global__ void chain(float* out, float a, float b, int n) {
  float x = b;
  for (int i = 0; i < n; ++i) x = x * a + b;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""
LOADS = """__global__ void loads(const float* in, float* out, int n) {
  int at = threadIdx.x;
  float x = 0;
  for (int i = 0; i < n; ++i) x += in[at + (i & 63) * 4096];
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""
BARRIERS = """__global__ void barriers(float* out, int n) {
  __shared__ float tile[1024];
  int t = threadIdx.x;
  float x = t;
  for (int i = 0; i < n; ++i) {
    tile[t] = x;
    __syncthreads();
    x += tile[t ^ 1];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = x;
}
"""


def several_chains(count):
    names = range(count)
    return (
        "__global__ void several(float* out, float a, float b, int n) {\n"
        + "".join(f"  float x{k} = b + {k};\n" for k in names)
        + "  for (int i = 0; i < n; ++i) {\n"
        + "".join(f"    x{k} = x{k} * a + b;\n" for k in names)
        + "  }\n  out[blockIdx.x * blockDim.x + threadIdx.x] = "
        + " + ".join(f"x{k}" for k in names)
        + ";\n}\n"
    )


def run(program, *args):
    return json.loads(subprocess.run([program, *args, "--format", "json"], check=True, capture_output=True, text=True).stdout)


def units_of(program, device):
    fields = run(program, "devices", device)["devices"][0]["fields"]
    return int(next(f["value"] for f in fields if (f["section"], f["key"]) == ("compute", "units")))


def ratio(program, source, device, blocks, threads, *args):
    """Seconds of kernelcast over those of sm, without the launch."""
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
        file.write(source)
        file.flush()
        value = run(
            program, "predict", file.name, "--device", device, "--grid", str(blocks), "--block", str(threads), "--model", "kernelcast,sm", *args
        )
    seconds = {}
    for p in value["predictions"]:
        launch = next(b["time_s"] for b in p["bounds"] if b["name"] == "launch")
        seconds[p["model"]] = p["time_s"] - launch
    return seconds["kernelcast"] / seconds["sm"]


def table(heading, columns, rows):
    print(f"| {heading} | " + " | ".join(map(str, columns)) + " |\n|---" + "|---:" * len(columns) + "|")
    for name, values in rows:
        print(f"| {name} | " + " | ".join(f"{v:.2f}" for v in values) + " |")
    print()


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "bin", "kernelcast")
    devices = (sys.argv[2] if len(sys.argv) > 2 else DEVICES).split(",")
    units = {d: units_of(program, d) for d in devices}
    n = ("--arg", "n=4096")
    table("chain of multiply-adds, warps", WARPS, [(d, [ratio(program, CHAIN, d, units[d], 32 * w, *n) for w in WARPS]) for d in devices])
    buffers = ("--buffer", "in=262144")
    table("loads, warps", WARPS, [(d, [ratio(program, LOADS, d, units[d], 32 * w, *n, *buffers) for w in WARPS]) for d in devices])
    table("barriers, warps", WARPS, [(d, [ratio(program, BARRIERS, d, units[d], 32 * w, *n) for w in WARPS]) for d in devices])
    table(
        "16 warps, chains of a thread",
        CHAINS,
        [(d, [ratio(program, several_chains(c), d, units[d], 512, *n) for c in CHAINS]) for d in devices],
    )


if __name__ == "__main__":
    main()
