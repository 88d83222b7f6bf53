#!/usr/bin/env python3
"""A corpus of PTX that nvcc makes of public CUDA sources, for the round trip of the reader and the printer.

    tools/validate/ptx_corpus.py OUT FOLDER... --nvcc NVCC [--arch sm_80,sm_90a,sm_100a,sm_120a] [--number 200] [--include DIR]... [--seconds S]
    KERNELCAST_PTX_CORPUS=OUT KERNELCAST_PTXAS=PTXAS build/bin/test_engines_ptx --gtest_filter='PtxCorpus.*'

Of each FOLDER at most NUMBER files with a kernel are taken, one of each of its subfolders before a second of any. A file is compiled for
every architecture in turn; after S seconds no further file begins. What is there already stays. Prints how many files there are for each
architecture and what nvcc did not compile.
"""
import argparse
import collections
import random
import re
import subprocess
import time
from pathlib import Path


def sources(folder, number):
    """Files with a kernel: one of each folder, then a second of each, and so on; in an order that does not follow their names."""
    by_folder = collections.defaultdict(list)
    for path in sorted(Path(folder).rglob("*.cu")):
        if "__global__" in path.read_text(errors="replace"):
            by_folder[path.parent].append(path)
    folders = sorted(by_folder)
    random.Random(1).shuffle(folders)
    ranked = [(rank, at, path) for at, f in enumerate(folders) for rank, path in enumerate(by_folder[f])]
    return [path for _, _, path in sorted(ranked)][:number]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="sm_80,sm_90a,sm_100a,sm_120a")
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    end, refused, made = time.monotonic() + args.seconds, {}, collections.Counter()
    for folder in args.folders:
        for source in sources(folder.resolve(), args.number):
            for arch in args.arch.split(","):
                name = re.sub(r"\W", "_", f"{folder.resolve().name}_{source.relative_to(folder.resolve())}") + f".{arch}"
                out, failed = args.out / (name + ".ptx"), args.out / (name + ".failed")
                if not out.exists() and not failed.exists():
                    if time.monotonic() > end:
                        continue
                    command = [args.nvcc, "-ptx", "-std=c++17", "-lineinfo", f"-arch={arch}", str(source), "-o", str(out), "-I", str(source.parent)]
                    for include in args.include:
                        command += ["-I", str(Path(include).resolve())]
                    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, cwd=source.parent)
                    if done.returncode != 0:
                        out.unlink(missing_ok=True)
                        failed.write_text((re.findall(r".*error.*", done.stderr) or done.stderr.splitlines() or ["?"])[0])
                if out.exists():
                    made[folder.name, arch] += 1
                elif failed.exists():
                    refused.setdefault(source, failed.read_text()[:110])
                    break
    for (folder, arch), count in sorted(made.items()):
        print(f"{count:5} files of {folder} for {arch}")
    print(f"{len(refused)} sources that nvcc does not compile alone:")
    for why, count in collections.Counter(re.sub(r".*(error.*)", r"\1", w) for w in refused.values()).most_common(20):
        print(f"{count:5} {why}")


if __name__ == "__main__":
    main()
