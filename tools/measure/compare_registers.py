#!/usr/bin/env python3
"""Registers by kernelcast's estimate against those of ptxas, on the CUDA sources of public programs.

  compare_registers.py make FOLDER... -o CORPUS       PTX by nvcc and what ptxas says of it, for sm_80, sm_86 and sm_90a
  compare_registers.py compare ESTIMATOR CORPUS       ESTIMATOR is the CMake target register_estimates

Of each file at most four kernels count, drawn at random: some files hold a hundred instances of one template.
Needs nvcc and ptxas in PATH. Nothing of a corpus belongs into the repository.
"""

import argparse
import glob
import os
import random
import re
import statistics
import subprocess

TARGETS = {"sm_80": 80, "sm_86": 86, "sm_90a": 90}
FROM_TEXT = {"sm_86": "sm_80"}  # assembled from the text of another target
REPORT = re.compile(r"Compiling entry function '(\w+)'.*?\n.*?\n?\s*(\d+) bytes stack frame, (\d+) bytes spill stores"
                    r".*?\n.*?Used (\d+) registers")
PER_FILE = 4


def make(a):
    files = [f for folder in a.folders for f in glob.glob(os.path.join(folder, "**/*.cu"), recursive=True) if os.path.isfile(f)]
    random.seed(a.seed)
    random.shuffle(files)
    os.makedirs(a.corpus, exist_ok=True)
    for number, path in enumerate(files[:a.most]):
        folder = os.path.dirname(path)
        for target in TARGETS:
            name = os.path.join(a.corpus, f"{number:04}_{target}")
            text = os.path.join(a.corpus, f"{number:04}_{FROM_TEXT.get(target, target)}.ptx")
            includes = [f"-I{folder}", f"-I{folder}/include", f"-I{folder}/../include"]
            if target not in FROM_TEXT and subprocess.run(
                    ["nvcc", f"-arch={target}", "-ptx", "-O3", "-std=c++17", "-w", "-o", text, *includes, path], cwd=folder,
                    capture_output=True, check=False).returncode:
                break
            report = subprocess.run(["ptxas", f"-arch={target}", "-v", text, "-o", os.devnull], capture_output=True, text=True,
                                    check=False)
            with open(name + ".txt", "w", encoding="utf-8") as file:
                file.write(report.stderr)


def known(corpus, target):
    """{(PTX file, kernel): (registers, bytes of spill stores)}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(corpus, f"*_{target}.txt"))):
        text = path[:-4].replace(f"_{target}", "_" + FROM_TEXT.get(target, target)) + ".ptx"
        with open(path, encoding="utf-8") as file:
            for m in REPORT.finditer(file.read()):
                found[text, m[1]] = (int(m[4]), int(m[3]))
    return found


def estimates(program, sm, files):
    done = subprocess.run([program, str(sm), *files], capture_output=True, text=True, check=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return {(r[0], r[1]): [float(x) for x in r[3:7]] for r in rows}


def blocks_of_256(registers):
    return min(8, 65536 // (32 * max(8, -(-int(registers) // 8) * 8)) // 8)


def share(values):
    values = list(values)
    return f"{100 * sum(values) / max(1, len(values)):.0f} %"


def compare(a):
    print("| target | kernels | within 4 | mean abs. error | median | inside low..high | blocks of 256 right | spills right | "
          "above 64: within 10 % |\n|---|---|---|---|---|---|---|---|---|")
    for target, sm in TARGETS.items():
        truth = known(a.corpus, target)
        if not truth:
            continue
        found = estimates(os.path.abspath(a.program), sm, sorted({f for f, _ in truth}))
        random.seed(1)
        by_file = {}
        for key in truth:
            if key in found:
                by_file.setdefault(key[0], []).append(key)
        keys = [k for group in by_file.values() for k in random.sample(group, min(PER_FILE, len(group)))]
        errors = [found[k][0] - truth[k][0] for k in keys]
        large = [k for k in keys if truth[k][0] > 64]
        print(f"| {target} | {len(keys)} | {share(abs(e) <= 4 for e in errors)} | {statistics.mean(map(abs, errors)):.1f} | "
              f"{statistics.median(errors):+.0f} | {share(found[k][1] <= truth[k][0] <= found[k][2] for k in keys)} | "
              f"{share(blocks_of_256(found[k][0]) == blocks_of_256(truth[k][0]) for k in keys)} | "
              f"{share((found[k][3] > 0) == (truth[k][1] > 0) for k in keys)} | "
              f"{share(abs(found[k][0] - truth[k][0]) <= 0.1 * truth[k][0] for k in large)} of {len(large)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    m = commands.add_parser("make")
    m.add_argument("folders", nargs="+")
    m.add_argument("-o", dest="corpus", required=True)
    m.add_argument("--most", type=int, default=500, help="files, drawn at random")
    m.add_argument("--seed", type=int, default=7)
    c = commands.add_parser("compare")
    c.add_argument("program")
    c.add_argument("corpus")
    a = parser.parse_args()
    make(a) if a.command == "make" else compare(a)


if __name__ == "__main__":
    main()
