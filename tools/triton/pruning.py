#!/usr/bin/env python3
"""What pruning a tuning list costs: pruning.py DEVICE [ARCH] [--keep 0.1] [--compiled 1], in processor and elapsed time.

60 configurations of the matrix product are pruned by `kernelcast.triton.early_config_prune`. Those kept are compiled by Triton in full,
ptxas included, as `@triton.autotune` would. Prints both times and their ratios, and the list that is kept.
Triton's cache on disk is a new folder.
"""
import argparse
import itertools
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
sys.path.insert(0, str(Path(__file__).parent))
import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402

import kernelcast.triton as kt  # noqa: E402
from kernels import LAUNCHES  # noqa: E402

TILES = [(128, 256, 64), (64, 256, 32), (128, 128, 32), (128, 64, 32), (64, 128, 32), (128, 32, 32), (64, 32, 32), (64, 64, 64), (64, 64, 32), (32, 32, 32)]
WARPS, STAGES = (4, 8), (2, 3, 4)


def spent():
    """Seconds of this process and of those that it ran, and seconds of the clock."""
    used = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used), time.perf_counter()


def compile_in_full(kernel, values, config, arch):
    triton.compile(kt._Specialization(kernel, values).source(), target=GPUTarget("cuda", arch, 32),
                   options={"num_warps": config.num_warps, "num_stages": config.num_stages})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device")
    parser.add_argument("arch", nargs="?", type=int, default=80)
    parser.add_argument("--keep", type=float, default=0.1)
    parser.add_argument("--compiled", type=float, default=1.0)
    args = parser.parse_args()
    kernel, arguments, *_ = LAUNCHES["matmul"]
    configs = [triton.Config({"BM": m, "BN": n, "BK": k}, num_warps=w, num_stages=s) for (m, n, k), w, s in itertools.product(TILES, WARPS, STAGES)]
    named = {k: v for k, v in arguments.items() if k not in ("BM", "BN", "BK")}
    prune = kt.early_config_prune(kernel, grid=lambda meta: (4096 // meta["BM"]) * (4096 // meta["BN"]), device=args.device, keep=args.keep,
                                  compiled=args.compiled)
    compile_in_full(kernel, {**arguments, **configs[0].kwargs}, triton.Config({}, num_warps=1, num_stages=1), args.arch)  # both begin warm
    begin = spent()
    kept = prune(configs, named)
    pruned = spent()
    for config in kept:
        compile_in_full(kernel, {**arguments, **config.kwargs}, config, args.arch)
    compiled = spent()
    pruning, compiling = ([b - a for a, b in zip(*pair)] for pair in ((begin, pruned), (pruned, compiled)))
    print(f"{len(configs)} configurations pruned to {len(kept)}: {pruning[0]:.2f} s of processor time, {pruning[1]:.2f} s")
    print(f"those {len(kept)} compiled in full: {compiling[0]:.2f} s, {compiling[1]:.2f} s")
    print(f"ratio {pruning[0] / compiling[0]:.2f} of processor time, {pruning[1] / compiling[1]:.2f} of elapsed time")
    for config in kept:
        print(config)


if __name__ == "__main__":
    main()
