#!/usr/bin/env python3
"""Table of executions by fuzz target from what scripts/fuzz.sh has added up.

    scripts/fuzz_table.py [build/fuzz/executions.tsv]
"""

import collections
import sys

INTERRUPTED = 72  # libFuzzer's status after a signal


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "build/fuzz/executions.tsv"
    runs = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            target, ran, seconds, coverage, status = line.rstrip("\n").split("\t")
            runs[target].append((int(ran), int(seconds or 0), int(coverage or 0), int(status)))
    print("| target | executions | runs | seconds | edges reached | inputs found |\n|---|---|---|---|---|---|")
    total = 0
    for target in sorted(runs):
        ran = sum(r[0] for r in runs[target])
        total += ran
        print(f"| `{target}` | {ran:,} | {len(runs[target])} | {sum(r[1] for r in runs[target]):,} | "
              f"{max(r[2] for r in runs[target]):,} | {sum(r[3] not in (0, INTERRUPTED) for r in runs[target])} |")  # fmt: skip
    print(f"| all | {total:,} | {sum(map(len, runs.values()))} | | | |")


if __name__ == "__main__":
    main()
