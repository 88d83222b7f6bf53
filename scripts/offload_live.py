#!/usr/bin/env python3
"""Runs the loop nests of examples/offload on this machine's CPU, one thread, and puts the forecasts beside the times.

scripts/offload_live.py PROGRAM [--cpu DEVICE_FILE] [--kernels gemm,atax,...] [--opt 0,3] [--sizes 0.5,2,10] [--json FILE]

The compiler is clang 19, whose LLVM the forecast asks. DEVICE_FILE is what `kernelcast probe --backend host -o FILE`
wrote; without it the operating system's tables have to do, which know no clock under load. The clock is measured
beside each run and put into the device file: it changes with what else the machine does. A time is the fastest of
several runs after a first one, so data are as warm as their size allows. Results go to standard output.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLANG = "/usr/lib/llvm-19/bin/clang"
# name: (functions in order, arrays that hold the data, dimensions)
PROGRAMS = {
    "2dconv": (["convolve"], 2, 2), "2mm": (["product1", "product2"], 5, 2), "3dconv": (["convolve"], 2, 3),
    "3mm": (["product1", "product2", "product3"], 7, 2), "atax": (["row_sums", "column_sums"], 1, 2),
    "bicg": (["row_sums", "column_sums"], 1, 2),
    "cor": (["mean_of_columns", "deviation_of_columns", "standardise", "products"], 2, 2),
    "cov": (["mean_of_columns", "centre", "products"], 2, 2), "gemm": (["gemm"], 3, 2), "gesummv": (["gesummv"], 2, 2),
    "mvt": (["row_sums", "column_sums"], 1, 2), "syr2k": (["scale", "update"], 4, 2), "syrk": (["scale", "update"], 3, 2),
}
SECONDS = 0.3  # for the runs of one cell


def side(name, mib):
    _, arrays, dimensions = PROGRAMS[name]
    elements = mib * 2**20 / 8 / arrays
    n = int(round(elements ** (1 / dimensions)))
    while n**dimensions > elements:
        n -= 1
    return n


def driver(name):
    """A program that runs the functions in order and prints the seconds of the fastest run."""
    functions = PROGRAMS[name][0]
    path = os.path.join(ROOT, "examples", "offload", name + ".c")
    with open(path, encoding="utf-8") as file:
        source = file.read()
    pointers, calls, declarations = [], [], []
    for function in functions:
        parameters = re.search(rf"void {function}\(([^)]*)\)", source)[1]
        declarations.append(f"void {function}({parameters});")
        names = [p.split()[-1].lstrip("*") for p in parameters.split(",")]
        pointers += [p for p in names if p != "n" and p not in pointers]
        calls.append(f"{function}({', '.join(names)});")
    power = "* n" * PROGRAMS[name][2]
    return f"""#include <stdio.h>
#include <stdlib.h>
#include <time.h>
{chr(10).join(declarations)}
static double now(void) {{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }}
static double* array(long count) {{
  double* a = aligned_alloc(64, (unsigned long)(count * 8 + 63) / 64 * 64);
  for (long i = 0; i < count; ++i) a[i] = (double)(i % 97) / 97.0;
  return a;
}}
int main(int count, char** words) {{
  if (count < 2) return 2;
  int n = atoi(words[1]);
  {' '.join(f'double* {p} = array(1L {power});' for p in pointers)}
  double best = 1e30, hertz = 0, begin = now();
  for (int run = 0; run < 4 || now() - begin < {SECONDS}; ++run) {{
    double start = now();
    {' '.join(calls)}
    double took = now() - start;
    if (run > 0 && took < best) best = took;
    unsigned long sum = 1, step = 3;  // dependent additions of registers: one cycle each
    double from = now();
    for (int i = 0; i < 20000; ++i) __asm__ volatile("add %1, %0\\n add %1, %0\\n add %1, %0\\n add %1, %0" : "+r"(sum) : "r"(step));
    double clock = 80000 / (now() - from);
    if (clock > hertz) hertz = clock;
  }}
  printf("%.9e %.9e\\n", best, hertz);
  return 0;
}}
"""


def measured(name, sizes, opt, folder):
    program = os.path.join(folder, f"{name}-{opt}")
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(driver(name))
    nest = os.path.join(ROOT, "examples", "offload", name + ".c")  # a file of its own: nothing is known of its callers
    subprocess.run([CLANG, f"-O{opt}", "-march=native", "-fno-math-errno", "-c", "-o", program + ".o", nest], check=True)
    subprocess.run([CLANG, "-O1", "-o", program, program + ".c", program + ".o", "-lm"], check=True)
    runs = [subprocess.run([program, str(n)], capture_output=True, text=True, check=True).stdout.split() for n in sizes]
    return [(float(seconds), float(hertz)) for seconds, hertz in runs]


def at_clock(device, hertz, folder):
    """The device file with the clock that was measured beside the run: it changes with what else the machine does."""
    if not os.path.exists(device):
        return device
    with open(device, encoding="utf-8") as file:
        text = file.read()
    value = f'sustained_clock_hz = {{ value = {hertz}, source = "measured beside the run" }}'
    path = os.path.join(folder, "host.toml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^sustained_clock_hz = .*$", value, text, flags=re.M))
    return path


def forecast(program, name, n, opt, cpu):
    out = subprocess.run(
        [program, "offload", os.path.join("examples", "offload", name + ".c"), "--kernel", ",".join(PROGRAMS[name][0]), "--cpu", cpu,
         "--gpu", "gtx1080", "--cpu-threads", "1", "--cpu-opt", str(opt), "--arg", f"n={n}", "--format", "json"],
        capture_output=True, text=True, check=True, cwd=ROOT)
    cpu_side = json.loads(out.stdout)["cpu"]
    return cpu_side["time_s"], cpu_side["interval_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--cpu", default="host")
    parser.add_argument("--kernels", default=",".join(PROGRAMS))
    parser.add_argument("--opt", default="0,3")
    parser.add_argument("--sizes", default="0.5,2,10")
    parser.add_argument("--json")
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    cpu = os.path.abspath(args.cpu) if os.path.exists(args.cpu) else args.cpu
    if not os.path.exists(CLANG):
        sys.exit(f"{CLANG} is needed: apt-get install clang-19")
    rows = []
    print(f"{'nest':10}{'-O':>3}{'n':>7}{'measured':>14}{'forecast':>14}{'ratio':>8}{'clock':>10}  90 %")
    with tempfile.TemporaryDirectory() as folder:
        for opt in args.opt.split(","):
            for name in args.kernels.split(","):
                sizes = [side(name, float(s)) for s in args.sizes.split(",")]
                for n, (time, hertz) in zip(sizes, measured(name, sizes, opt, folder)):
                    said, (low, high) = forecast(program, name, n, opt, at_clock(cpu, hertz, folder))
                    rows.append({"nest": name, "opt": int(opt), "n": n, "measured_s": time, "clock_hz": hertz, "forecast_s": said, "interval_s": [low, high]})
                    print(f"{name:10}{opt:>3}{n:>7}{time * 1e3:11.4f} ms{said * 1e3:11.4f} ms{said / time:8.2f}{hertz / 1e9:6.2f} GHz  "
                          f"{'in' if low <= time <= high else 'OUT'}", flush=True)
    for opt in sorted({r["opt"] for r in rows}):
        errors = sorted(abs(r["forecast_s"] / r["measured_s"] - 1) for r in rows if r["opt"] == opt)
        inside = sum(r["interval_s"][0] <= r["measured_s"] <= r["interval_s"][1] for r in rows if r["opt"] == opt)
        bias = math.exp(statistics.mean(math.log(r["forecast_s"] / r["measured_s"]) for r in rows if r["opt"] == opt))
        print(f"-O{opt}: {len(errors)} cells, error: median {statistics.median(errors):.1%}, nine in ten within "
              f"{errors[min(len(errors) - 1, math.ceil(0.9 * len(errors)) - 1)]:.1%}; geometric mean of the ratio {bias:.3f}; "
              f"in the interval {inside}")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
