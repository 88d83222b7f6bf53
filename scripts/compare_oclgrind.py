#!/usr/bin/env python3
"""Speed of the interpreter against Oclgrind, each on one thread, on the same launches of the same kernels.

Start-up (building the kernel, loading, start of the process) is left out: each kernel runs at two sizes, and the
difference in time is set against the difference in work. The least of several runs counts. Times are the processor's, of
the whole process: with one thread on an idle machine that is the wall time, which is given with --wall instead.

usage: compare_oclgrind.py [--build DIR] [--runs N] [--wall] [KERNEL...]
needs: oclgrind (package oclgrind), and the targets interpreter_speed and opencl_speed in the build folder
"""
import argparse
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def least_time(command, runs, wall):
    """Least time in seconds, and what the last run printed."""
    least, out = float("inf"), ""
    for _ in range(runs):
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least = min(least, time.perf_counter() - start if wall else processor)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
        out = done.stdout
    return least, out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path, help="build folder (default: build)")
    parser.add_argument("--runs", default=5, type=int, help="runs of ours at each size (default: 5)")
    parser.add_argument("--oclgrind-runs", default=1, type=int, help="runs of Oclgrind at each size (default: 1)")
    parser.add_argument("--wall", action="store_true", help="wall time instead of processor time")
    parser.add_argument("kernels", nargs="*", help="kernels to compare (default: all)")
    args = parser.parse_args()
    interpreter, opencl = (str(args.build / "bin" / name) for name in ("interpreter_speed", "opencl_speed"))
    oclgrind = shutil.which("oclgrind")
    if not oclgrind:
        sys.exit("oclgrind is not installed (package oclgrind)")
    listed = subprocess.run([interpreter, "list"], capture_output=True, text=True, check=True).stdout
    print(f"{'kernel':16} {'Oclgrind s':>11} {'ours s':>9} {'ratio':>7} {'lane instructions':>18} {'M/s':>7}")
    ratios, rates = [], []
    for line in listed.splitlines():
        kernel, small, large = line.split()
        if args.kernels and kernel not in args.kernels:
            continue
        theirs, ours, work = [], [], []
        for size in (small, large):
            theirs.append(least_time([oclgrind, "--num-threads", "1", opencl, kernel, size],
                                    args.oclgrind_runs, args.wall)[0])
            seconds, printed = least_time([interpreter, kernel, size], args.runs, args.wall)
            ours.append(seconds)
            work.append(float(printed.split()[1]))
        slow, fast, lanes = theirs[1] - theirs[0], ours[1] - ours[0], work[1] - work[0]
        if fast <= 0:
            sys.exit(f"{kernel}: {fast:.3f} s between the two sizes: too small to measure")
        ratios.append(slow / fast)
        rates.append(lanes / fast)
        print(f"{kernel:16} {slow:11.2f} {fast:9.4f} {slow / fast:7.1f} {lanes:18.4g} {lanes / fast / 1e6:7.0f}",
              flush=True)
    print(f"least ratio {min(ratios):.1f}, median {statistics.median(ratios):.1f}; "
          f"fastest {max(rates) / 1e6:.0f} million lane instructions a second")


if __name__ == "__main__":
    main()
