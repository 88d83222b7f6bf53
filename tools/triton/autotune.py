#!/usr/bin/env python3
"""The order in which kernelcast puts the matmul's tuning list: autotune.py DEVICE [ARCH], fastest first, as a table.

Columns: forecast in us, tile, warps, stages, registers as estimated and, where ptxas is on PATH, as it has them with its spills in bytes.
Ends with the time of compilation and of the forecasts.
"""
import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import kernelcast.triton as kt  # noqa: E402
from kernelcast import Error, Forecaster  # noqa: E402
from kernels import LAUNCHES  # noqa: E402

TILES = [(128, 256, 64), (256, 128, 64), (64, 256, 32), (128, 128, 32), (128, 64, 32), (64, 128, 32), (128, 32, 32), (64, 32, 32), (32, 64, 32),
         (256, 64, 64), (64, 64, 32), (32, 32, 32)]
WARPS_STAGES = [(1, 3), (4, 3), (4, 4), (8, 3)]


def by_ptxas(ptx, arch):
    if not shutil.which("ptxas"):
        return "-", "-"
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        said = subprocess.run(["ptxas", "-v", f"-arch=sm_{arch}", "-o", "/dev/null", file.name], capture_output=True, text=True, check=False).stderr
    registers, spills = re.search(r"Used (\d+) registers", said), re.search(r"(\d+) bytes spill stores", said)
    return registers.group(1) if registers else "-", spills.group(1) if spills else "-"


def main():
    device, arch = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 80
    kernel, arguments, *_ = LAUNCHES["matmul"]
    rows, compiling, forecasting = [], 0.0, 0.0
    for (bm, bn, bk), (warps, stages) in itertools.product(TILES, WARPS_STAGES):
        if warps == 1 and bm * bn > 64 * 64:
            continue
        values = {**arguments, "BM": bm, "BN": bn, "BK": bk}
        begin = time.perf_counter()
        compiled = kt.compile_to_ptx(kernel, values, arch=arch, num_warps=warps, num_stages=stages)
        middle = time.perf_counter()
        scalars = {str(at): values[p] for at, p in enumerate(compiled.arguments) if isinstance(values[p], int)}
        try:
            f = Forecaster(compiled.source(), device=device)((4096 // bm) * (4096 // bn), args=scalars)
            registers = f.to_dict()["resources"]["registers_per_thread"]
            rows.append((f.time_s, bm, bn, bk, warps, stages, registers, *by_ptxas(compiled.asm["ptx"], arch), f.limiter))
        except Error as error:
            rows.append((float("inf"), bm, bn, bk, warps, stages, "-", *by_ptxas(compiled.asm["ptx"], arch), str(error)[:80]))
        compiling, forecasting = compiling + middle - begin, forecasting + time.perf_counter() - middle
    print("us BM BN BK warps stages registers ptxas spills limiter")
    for seconds, *rest in sorted(rows, key=lambda row: row[0]):
        print(f"{seconds * 1e6:.1f}", *rest)
    print(f"{len(rows)} configurations: {compiling:.1f} s of Triton's compiler, {forecasting:.1f} s of forecasts and ptxas")


if __name__ == "__main__":
    main()
