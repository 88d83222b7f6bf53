#!/usr/bin/env python3
"""What pruning a tuning list costs: pruning.py DEVICE [ARCH] [--keep 0.1], in processor time.

60 configurations of the matrix product are forecast by `kernelcast.triton.early_config_prune`, which has Triton compile each to PTX. Those
kept are compiled by Triton in full, ptxas included, as `@triton.autotune` would. Prints both times and their ratio, and the list that is
kept.
Triton's cache on disk is a new folder.
"""
import argparse
import itertools
import os
import resource
import sys
import tempfile
from pathlib import Path

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
sys.path.insert(0, str(Path(__file__).parent))
import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler.compiler import ASTSource  # noqa: E402

import kernelcast.triton as kt  # noqa: E402
from kernels import LAUNCHES  # noqa: E402

TILES = [(128, 256, 64), (64, 256, 32), (128, 128, 32), (128, 64, 32), (64, 128, 32), (128, 32, 32), (64, 32, 32), (64, 64, 64), (64, 64, 32), (32, 32, 32)]
WARPS, STAGES = (4, 8), (2, 3, 4)


def spent():
    """Seconds of this process and of those that it ran."""
    return sum(u.ru_utime + u.ru_stime for u in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)))


def compile_in_full(kernel, values, config, arch):
    constants = {k: v for k, v in values.items() if not isinstance(v, str)}
    signature = {p.name: values[p.name] if isinstance(values[p.name], str) else "constexpr" if p.is_constexpr else "i32" for p in kernel.params}
    constants = {k: v for k, v in constants.items() if signature[k] == "constexpr"}
    attributes = {(at,): [["tt.divisibility", 16]] for at, p in enumerate(kernel.params) if signature[p.name] != "constexpr"}
    triton.compile(ASTSource(kernel, signature, constants, attributes), target=GPUTarget("cuda", arch, 32),
                   options={"num_warps": config.num_warps, "num_stages": config.num_stages})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device")
    parser.add_argument("arch", nargs="?", type=int, default=80)
    parser.add_argument("--keep", type=float, default=0.1)
    args = parser.parse_args()
    kernel, arguments, *_ = LAUNCHES["matmul"]
    configs = [triton.Config({"BM": m, "BN": n, "BK": k}, num_warps=w, num_stages=s) for (m, n, k), w, s in itertools.product(TILES, WARPS, STAGES)]
    named = {k: v for k, v in arguments.items() if k not in ("BM", "BN", "BK")}
    prune = kt.early_config_prune(kernel, grid=lambda meta: (4096 // meta["BM"]) * (4096 // meta["BN"]), device=args.device, keep=args.keep)
    compile_in_full(kernel, {**arguments, **configs[0].kwargs}, triton.Config({}, num_warps=1, num_stages=1), args.arch)  # both begin warm
    to_ptx = 0.0
    compile_to_ptx = kt.compile_to_ptx

    def timed(*given, **options):
        nonlocal to_ptx
        start = spent()
        compiled = compile_to_ptx(*given, **options)
        to_ptx += spent() - start
        return compiled

    kt.compile_to_ptx = timed
    begin = spent()
    kept = prune(configs, named)
    pruning = spent() - begin
    kt.compile_to_ptx = compile_to_ptx
    begin = spent()
    for config in kept:
        compile_in_full(kernel, {**arguments, **config.kwargs}, config, args.arch)
    compiling = spent() - begin
    print(f"{len(configs)} configurations pruned to {len(kept)}: {pruning:.2f} s, of which Triton's way to PTX {to_ptx:.2f} s")
    print(f"those {len(kept)} compiled in full: {compiling:.2f} s; ratio {pruning / compiling:.2f}")
    for config in kept:
        print(config)


if __name__ == "__main__":
    main()
