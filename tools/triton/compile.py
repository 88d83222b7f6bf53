#!/usr/bin/env python3
"""Compiles the kernels of kernels.py by Triton's own compiler, without a GPU: compile.py OUT ARCH... [--only NAME,...]

Writes OUT/NAME.smARCH.ptx, stripped of debug sections, and OUT/NAME.smARCH.json with Triton's metadata (num_warps, shared, name, num_ctas)
and the launch (grid, args by position). Needs triton from PyPI and the package kernelcast.
"""
import argparse
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from kernelcast.triton import compile_to_ptx  # noqa: E402
from kernels import LAUNCHES  # noqa: E402


def stripped(ptx):
    """Without the DWARF sections; .file and .loc stay, files without their folders."""
    text = ptx.split("\t.section\t.debug_")[0]
    return re.sub(r'(\.file\t\d+ ")[^"]*/', r"\1", text).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("arch", type=int, nargs="+")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, (kernel, arguments, grid, warps, stages) in LAUNCHES.items():
        if given.only and name not in given.only.split(","):
            continue
        for arch in given.arch:
            try:
                compiled = compile_to_ptx(kernel, arguments, arch=arch, num_warps=warps, num_stages=stages)
            except Exception as error:  # Triton raises many kinds; the table goes on
                print(f"{name} sm_{arch}: {type(error).__name__}: {str(error).strip().splitlines()[-1]}", file=sys.stderr)
                failed += 1
                continue
            meta = compiled.metadata
            args = {str(at): arguments[p] for at, p in enumerate(compiled.arguments) if isinstance(arguments[p], (int, float))}
            stem = given.out / f"{name}.sm{arch}"
            stem.with_name(stem.name + ".ptx").write_text(stripped(compiled.asm["ptx"]))
            described = {"name": meta["name"], "num_warps": meta["num_warps"], "shared": meta["shared"], "num_ctas": 1, "grid": grid, "args": args}
            stem.with_name(stem.name + ".json").write_text(json.dumps(described, indent=1) + "\n")
            print(f"{name} sm_{arch}: {len(compiled.asm['ptx'])} bytes, {meta['shared']} bytes of shared memory")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
