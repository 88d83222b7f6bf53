#!/usr/bin/env python3
"""Runs the program on every file of a folder of hostile inputs and says which are not taken.

    tools/validate/reproducers.py FOLDER [--program build/bin/kernelcast] [--seconds 60] [--megabytes 4096]

The ending of a file chooses the command: sources and LLVM IR are forecast in closed form and executed, cubins stand behind a --ptxas that
copies them, .toml is a device, .json a tuning space, .csv and .csv.gz rows of validate; make_*.py writes more inputs first. An input is taken
when the program ends in time and memory with status 0, 1 or 2, a message where that is not 0, and no control character on either stream.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

LAUNCH = ["--device", "v100", "--grid", "16", "--block", "64"]
COPY = "__global__ void copy(float* a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }\n"


def commands(path, folder):
    """Command lines for one input, without the program."""
    copy = folder / "copy.cu"
    copy.write_text(COPY)
    if path.suffix in (".cu", ".cl", ".ll", ".bc", ".ptx"):
        yield ["predict", str(path), *LAUNCH, "--counts", "closed"]
        yield ["predict", str(path), *LAUNCH, "--counts", "executed", "--max-seconds", "10"]
        yield ["explain", str(path), *LAUNCH]
    elif path.suffix == ".bin":
        ptxas = folder / "ptxas"
        ptxas.write_text(f'#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && cp "{path}" "$2"; shift; done\n')
        ptxas.chmod(0o755)
        yield ["predict", str(copy), *LAUNCH, "--arg", "n=64", "--ptxas", str(ptxas)]
    elif path.suffix == ".toml":
        yield ["devices", str(path)]
        yield ["predict", str(copy), "--device", str(path), "--grid", "16", "--block", "64", "--arg", "n=64"]
    elif path.suffix == ".json":
        yield ["tune", str(copy), "--device", "v100", "--problem", "4096", "--arg", "n=64", "--no-cache", "--space", str(path)]
    elif path.name.endswith((".csv", ".csv.gz")):
        kernels = folder / "kernels.csv"
        kernels.write_text("id,path\nk,copy.cu\n")
        yield ["validate", str(path), "--kernels", str(kernels), "--sources", str(folder)]


def trouble(options, command, folder):
    """Why it is not taken; empty: it is."""
    before = time.monotonic()
    limit = options.megabytes << 20
    arguments = list(command)
    for _ in range(6):
        try:
            done = subprocess.run([options.program, *arguments], capture_output=True, timeout=options.seconds, cwd=folder, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"not over after {options.seconds} s"
        text = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
        wanted = [n for n in re.findall(r"--arg (\S+)=VALUE", text) if f"{n}=64" not in arguments]
        if done.returncode == 0 or not wanted:
            break
        arguments += [w for n in wanted for w in ("--arg", f"{n}=64")]
    if done.returncode not in (0, 1, 2):
        return f"status {done.returncode}: {text.strip()[-200:]}"
    if done.returncode != 0 and not done.stderr.decode("utf-8", "replace").replace("kernelcast:", "").strip():
        return "no message"
    if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]", text):
        return "a control character or invalid UTF-8 on a stream"
    options.slowest = max(options.slowest, time.monotonic() - before)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", default="build/bin/kernelcast")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--megabytes", type=int, default=4096)
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    options.slowest = 0
    failures = runs = inputs = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path in options.folder.iterdir():
            shutil.copy(path, folder)
        for maker in sorted(folder.glob("make_*.py")):
            subprocess.run([sys.executable, maker.name], cwd=folder, check=True)
        for path in sorted(folder.iterdir()):
            lines = list(commands(path, folder)) if path.name not in ("copy.cu", "kernels.csv", "ptxas") else []
            inputs += bool(lines)
            for line in lines:
                runs += 1
                why = trouble(options, line, folder)
                if why:
                    failures += 1
                    print(f"{path.name}: {line[0]}: {why}")
    print(f"{inputs} inputs, {runs} runs, {failures} not taken; the slowest took {options.slowest:.1f} s")
    return 1 if failures or not inputs else 0


if __name__ == "__main__":
    sys.exit(main())
