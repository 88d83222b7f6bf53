#!/usr/bin/env python3
"""A sample of measured rows for the model sm, which is too slow to forecast all of them.

    tools/validate/sm_rows.py ROWS.csv OUT.csv [DEVICE_NAME,...]

Of each pair of GPU and kernel the row in the middle of the file's order, and that at a quarter where the pair has six rows or
more. Rows that a flag leaves out of the headline of `kernelcast validate` are passed over. Without names: every GPU of the file.
"""

import csv
import sys

LEFT_OUT = ("launch_overhead", "near_launch_floor", "replicate", "out_of_range_access")


def main():
    source, target = sys.argv[1:3]
    wanted = sys.argv[3].split(",") if len(sys.argv) > 3 else []
    with open(source, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    pairs = {}
    for row in rows:
        if row["time_ms"] and not any(f in row["flags"] for f in LEFT_OUT) and (not wanted or row["gpu"] in wanted):
            pairs.setdefault((row["gpu"], row["kernel_id"]), []).append(row)
    with open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        for _, of_pair in sorted(pairs.items()):
            writer.writerow(of_pair[len(of_pair) // 2])
            if len(of_pair) >= 6:
                writer.writerow(of_pair[len(of_pair) // 4])


if __name__ == "__main__":
    main()
