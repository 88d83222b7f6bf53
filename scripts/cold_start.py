#!/usr/bin/env python3
"""Median time of whole `kernelcast predict` processes, one kernel on one device: 20 runs after one to fill the page cache.

Also their processor time (user and system), which says more than the clock does on a machine that has other work."""

import os
import resource
import statistics
import subprocess
import sys
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
CASES = {
    "OpenCL, matmul_tiled.cl": ("examples/matmul_tiled.cl", "--global", "1024,1024", "--block", "16,16", "--arg", "n=1024"),
    "CUDA, stencil5.cu": ("examples/stencil5.cu", "--grid", "128,256", "--block", "32,8", "--arg", "width=4096", "--arg", "height=2048"),
    "CUDA with host code, saxpy.cu": ("examples/saxpy.cu", "--grid", "4096", "--block", "256", "--arg", "n=1048576"),
}


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def milliseconds(program, args):
    """By the clock, and of the processor."""
    begin, used = time.perf_counter(), processor_s()
    subprocess.run([program, "predict", *args, "--device", "v100"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return 1000 * (time.perf_counter() - begin), 1000 * (processor_s() - used)


def main():
    program = os.path.abspath(sys.argv[1])
    for name, args in CASES.items():
        milliseconds(program, args)
        times, used = map(sorted, zip(*(milliseconds(program, args) for _ in range(20))))
        print(
            f"cold predict: median {statistics.median(times):.0f} ms, {times[0]:.0f} to {times[-1]:.0f} ms, "
            f"of the processor {statistics.median(used):.0f} ms  ({name})"
        )


if __name__ == "__main__":
    main()
