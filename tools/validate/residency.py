#!/usr/bin/env python3
"""Does a compute unit hold as many blocks as its shared memory has room for? Asked of a recorded tuning space.

    tools/validate/residency.py DATA SOURCES [--space NAME] [--unit-bytes N] [--sample N] [--seed N] [--program PROGRAM]

Prints ln(measured / forecast), mean and standard deviation, by resident warps: of configurations whose blocks would fill the unit's shared memory
to the last byte, of others that shared memory limits, and of the rest. Where the device file says that such blocks fit and
they do not, the first are too fast next to the others with as many warps; where it says that they do not, all are alike.
DATA and SOURCES are those of replay.py.
"""

import argparse
import collections
import math
import statistics

import replay
from recorded_spaces import RAN, Space


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("sources")
    parser.add_argument("--space", default="gemm-k20")
    parser.add_argument("--unit-bytes", type=int, default=49152)
    parser.add_argument("--sample", type=int, default=400)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--program", default="build/bin/kernelcast")
    args = parser.parse_args()
    space = Space(args.data, args.space)
    sample = [r for r in replay.chosen(space.rows, args.sample, args.seed) if r["status"] == RAN]
    predicted = space.predicted(space.tune(args.program, args.sources, sample))
    groups = collections.defaultdict(list)
    for row in sample:
        forecast = predicted.get(space.key(row))
        if forecast is None:
            continue
        shared = forecast["resources"]["shared_bytes_per_block"]
        blocks = forecast["occupancy"]["blocks_per_sm"]
        room = args.unit_bytes // shared if shared else math.inf
        kind = "full to the last byte" if shared and room * shared == args.unit_bytes and blocks in (room, room - 1) else (
            "limited by shared memory" if blocks == room else "other")
        groups[forecast["occupancy"]["warps_per_sm"], kind].append(math.log(float(row["time_ms"]) * 1e-3 / forecast["time_s"]))
    print("| resident warps | blocks | configurations | ln(measured / forecast) | standard deviation |\n|---:|---|---:|---:|---:|")
    for (warps, kind), errors in sorted(groups.items()):
        print(f"| {warps:g} | {kind} | {len(errors)} | {statistics.mean(errors):.2f} | {statistics.pstdev(errors):.2f} |")


if __name__ == "__main__":
    main()
