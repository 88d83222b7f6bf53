#!/usr/bin/env python3
"""Builds everything from clean without a compiler cache in build/clean and prints wall and processor time."""

import os
import resource
import shutil
import subprocess
import sys
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
FOLDER = os.path.join(ROOT, "build", "clean")


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    environment = {**os.environ, "CCACHE_DISABLE": "1"}
    begin = time.perf_counter()
    for command in (["cmake", "--preset", "release", "-S", ROOT, "-B", FOLDER], ["cmake", "--build", FOLDER]):
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            print(run.stdout[-3000:] + run.stderr[-3000:], file=sys.stderr)
            return 1
    wall = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cores = len(os.sched_getaffinity(0))
    print(f"clean build: {wall:.0f} s on {cores} cores, {used.ru_utime + used.ru_stime:.0f} s of processor time; other load now {os.getloadavg()[0]:.1f}")
    shutil.rmtree(FOLDER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
