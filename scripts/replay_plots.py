#!/usr/bin/env python3
"""Plots of `kernelcast replay`, to lie beside the figures of the texts: scripts/replay_plots.py PROGRAM FOLDER [NAME,...]

Writes FOLDER/NAME-TABLE.svg for the tables that are figures in the texts: SKE's block-size sweep, the bars of the OpenCL paper, both
sweeps of the divergence paper, the six orders of FFMA, the 39 cells of the offload table. Needs matplotlib.
"""

import json
import os
import subprocess
import sys

NAMES = ("opencl-quantitative", "ske", "ffma", "divergence", "offload")


def replayed(program, name):
    text = subprocess.run([program, "replay", name, "--format", "json"], capture_output=True, text=True, check=True).stdout
    return {t["id"]: (t["columns"], t["rows"]) for t in json.loads(text)["tables"]}


def lines(axes, columns, rows, x, ys, **keywords):
    at = columns.index(x)
    points = [r for r in rows if isinstance(r[at], (int, float))]
    for y in ys:
        axes.plot([r[at] for r in points], [r[columns.index(y)] for r in points], marker="o", label=y, **keywords)
    axes.set_xlabel(x)
    axes.legend()


def ske(tables):
    columns, rows = tables["sweep"]

    def draw(axes):
        lines(axes, columns, rows, "h", ["resize", "RGB to gray", "Gaussian"])
        for r in rows:
            if r[-1] == "high":
                axes.axvline(r[0], color="grey", linestyle=":", linewidth=1)
        axes.set_yscale("log")
        axes.set_ylabel("microseconds (dotted: highs of the measured curve)")

    return {"sweep": draw}


def opencl_quantitative(tables):
    columns, rows = tables["figures-9-to-12"]

    def bars(figure):
        def draw(axes):
            of = [r for r in rows if r[columns.index("figure")] == figure]
            axes.bar([f"{r[1]} {r[2]}" for r in of], [r[columns.index("settled, ms")] for r in of])
            axes.set_ylabel("ms, settled, GTX 280")

        return draw

    return {f"figure-{n}": bars(n) for n in (9, 10, 11, 12)}


def divergence(tables):
    def postpone(axes):
        columns, rows = tables["postpone-sweep"]
        lines(axes, columns, rows, "ratio", columns[1:])
        axes.axhline(1, color="grey", linewidth=1)
        axes.set_ylabel("speedup")

    def advance(axes):
        columns, rows = tables["advance-sweep"]
        ratios = [float(c) for c in columns[1:9]]
        for r in rows:
            axes.plot(ratios, r[1:9], marker="o", label=f"a = {r[0]}")
            axes.axhline(r[-1], color="grey", linestyle=":", linewidth=1)
        axes.set_xlabel("instructions in the paths / outside (dotted: 1/(1 - a))")
        axes.set_ylabel("speedup")
        axes.legend()

    return {"figure-4": postpone, "figure-5": advance}


def ffma(tables):
    columns, rows = tables["step-4"]

    def draw(axes):
        orders = [r for r in rows if r[0].startswith("ffma.order.")]
        axes.bar(["-".join(r[0].split(".")[2]) for r in orders], [100 * r[columns.index("value")] for r in orders])
        axes.set_ylabel("% of peak")

    return {"figure-4": draw}


def offload(tables):
    def cells(columns, rows):
        def draw(axes):
            ratio = lambda r, cpu, gpu: r[columns.index(cpu)] / r[columns.index(gpu)]
            axes.scatter([ratio(r, "printed: CPU", "printed: GPU") for r in rows], [ratio(r, "CPU", "GPU") for r in rows])
            axes.axvline(1, color="grey", linewidth=1)
            axes.axhline(1, color="grey", linewidth=1)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel("CPU/GPU, printed")
            axes.set_ylabel("CPU/GPU, forecast")

        return draw

    return {name: cells(*table) for name, table in tables.items() if name.startswith("cells-")}


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.splitlines()[0])
    try:
        import matplotlib
    except ImportError:
        sys.exit("matplotlib is needed: python3 -m pip install matplotlib")
    matplotlib.use("svg")
    from matplotlib import pyplot

    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    names = sys.argv[3].split(",") if len(sys.argv) == 4 else NAMES
    os.makedirs(folder, exist_ok=True)
    for name in names:
        if name not in NAMES:
            sys.exit(f"{name}: expected {', '.join(NAMES)}")
        for table, draw in globals()[name.replace("-", "_")](replayed(program, name)).items():
            figure, axes = pyplot.subplots(figsize=(7, 4.5))
            draw(axes)
            axes.set_title(f"{name}: {table}")
            path = os.path.join(folder, f"{name}-{table}.svg")
            figure.savefig(path, bbox_inches="tight")
            pyplot.close(figure)
            print(path)


if __name__ == "__main__":
    main()
