#!/usr/bin/env python3
"""Do two runs of `kernelcast probe --format json` agree? Reads both files; lists figures that neither run flags and that differ by
more than 10 %. Exit status 1 when there is one, or when more than one figure in five is flagged."""

import json
import sys


def results(path):
    with open(path, encoding="utf-8") as file:
        return {r["id"]: r for r in json.load(file)["results"]}


def main(one, two):
    one, two = results(one), results(two)
    apart, compared = [], 0
    for name in sorted(one.keys() & two.keys()):
        a, b = one[name], two[name]
        if "unstable" in (a["confidence"], b["confidence"]) or not all(isinstance(r["value"], (int, float)) for r in (a, b)):
            continue
        compared += 1
        low, high = sorted((a["value"], b["value"]))
        if high > 1.1 * low:
            apart.append(f"{name}: {a['value']:.4g} and {b['value']:.4g} {a['unit']}")
    flagged = [sum(r["confidence"] == "unstable" for r in run.values()) for run in (one, two)]
    print(f"{len(one)} and {len(two)} figures, {flagged[0]} and {flagged[1]} flagged; {compared} compared, {len(apart)} differ by more than 10 %")
    for line in apart:
        print("  " + line)
    return 1 if apart or flagged[0] > len(one) / 5 or flagged[1] > len(two) / 5 else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: tools/gpu/probe_agreement.py ONE.json TWO.json")
    sys.exit(main(*sys.argv[1:]))
