#!/usr/bin/env python3
"""What came back from tools/gpu/gpu_session.sh: tools/gpu/gpu_results.py DEVICE FOLDER [KERNELCAST] [MEASURED].

Writes MEASURED/DEVICE.csv (validation/measured unless told), rows as `kernelcast validate` takes them: the median of the repeats of each
example by the device's events. From probe.record: FOLDER/DEVICE-measured.toml and FOLDER/probe.json."""

import csv
import os
import statistics
import subprocess
import sys

from gpu_plans import EXAMPLES, ROOT

COLUMNS = ["dataset", "kernel_id", "gpu", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "args", "buffers", "buffer_elem_bytes", "time_ms", "stat",
           "note", "symbol", "fastest_ms", "repeats", "device_name", "driver", "method"]
METHOD = "PTX by clang-19 -O3, driver API, event before and after one launch, buffers warm from the launch before"


class Reader:
    """Fields of "length:bytes", as src/probe/wire.h writes them."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def text(self):
        colon = self.data.index(b":", self.at)
        end = colon + 1 + int(self.data[self.at : colon])
        self.at = end
        return self.data[colon + 1 : end].decode(errors="replace")

    def number(self):
        return int(self.text())

    def real(self):
        return float(self.text())


def record_of(path):
    """Name, driver and {series: (failure, [seconds by events])}."""
    with open(path, "rb") as file:
        r = Reader(file.read())
    if r.text() != "kernelcast cuda record 1":
        sys.exit(f"{path} is no record of kernelcast-cuda")
    name, driver = r.text(), r.number()
    for _ in range(3):
        r.number()
    for _ in range(5):
        r.real()
    failure = r.text()
    r.number()
    notes = [r.text() for _ in range(r.number())]
    if failure:
        sys.exit(f"{path}: {failure}")
    for note in notes:
        print(f"{path}: {note}")
    series = {}
    for _ in range(r.number()):
        title, why, _items = r.text(), r.text(), r.real()
        runs = []
        for _ in range(r.number()):
            runs.append(r.real())
            for _ in range(3):
                r.real()
            r.number()
        series[title] = (why, runs)
    return name, driver, series


def rows_of(device, path):
    name, driver, series = record_of(path)
    for file, entry, grid, block, parameters in EXAMPLES:
        why, runs = series.get("example." + file, ("it was not run", []))
        if not runs:
            print(f"{file}: {why}")
            continue
        scalars = ";".join(f"{p[0]}={p[3]}" for p in parameters if p[1] == "scalar")
        buffers = ";".join(f"{p[0]}={p[2]}" for p in parameters if p[1] == "buffer")
        sizes = ";".join(f"{p[0]}={p[3]}" for p in parameters if p[1] == "buffer")
        spread = (max(runs) - min(runs)) / statistics.median(runs)
        yield {"dataset": "examples", "kernel_id": file.replace(".", "_"), "gpu": device, "grid_x": grid[0], "grid_y": grid[1], "grid_z": 1, "block_x": block[0],
               "block_y": block[1], "block_z": 1, "args": scalars, "buffers": buffers, "buffer_elem_bytes": sizes, "time_ms": f"{1e3 * statistics.median(runs):.6g}",
               "stat": "median", "note": f"spread {100 * spread:.0f} % of the median", "symbol": entry, "fastest_ms": f"{1e3 * min(runs):.6g}", "repeats": len(runs),
               "device_name": name, "driver": f"CUDA {driver // 1000}.{driver % 1000 // 10}", "method": METHOD}


def kernel_of(example):
    """The example's line in KERNELS.csv; matmul_tiled.cu has one instance of a template."""
    file, _, _, _, parameters = example
    fills = {"zero": "zero", "real": "uniform"}
    named = [f"{p[0]}={fills[p[4]] if p[4] in fills else p[4].replace('below(', 'uniform(0,').replace('sorted(', 'sorted(0,')}" for p in parameters if p[1] == "buffer" and p[4] != "byte"]
    return file.replace(".", "_"), file, file.rsplit(".", 1)[0], ";".join(named), "warm"


def main(device, folder, program=os.path.join(ROOT, "build", "bin", "kernelcast"), measured=os.path.join(ROOT, "validation", "measured")):
    examples = os.path.join(folder, "examples.record")
    if os.path.exists(examples):
        rows = list(rows_of(device, examples))
        os.makedirs(measured, exist_ok=True)
        path = os.path.join(measured, device + ".csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
        with open(os.path.join(measured, "kernels.csv"), "w", encoding="utf-8", newline="") as file:
            kernels = csv.writer(file, lineterminator="\n")
            kernels.writerow(["id", "path", "entry", "fills", "cache_state"])
            kernels.writerows(kernel_of(e) for e in EXAMPLES)
        print(f"{path}: {len(rows)} of {len(EXAMPLES)} examples")
    probe = os.path.join(folder, "probe.record")
    if os.path.exists(probe):
        toml = os.path.join(folder, device + "-measured.toml")
        command = [program, "probe", "--backend", "cuda", "--device", device, "--record", probe]
        result = subprocess.run([*command, "--format", "json", "-o", toml], check=True, capture_output=True, text=True)
        with open(os.path.join(folder, "probe.json"), "w", encoding="utf-8") as file:
            file.write(result.stdout)
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
