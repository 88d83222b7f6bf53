#!/usr/bin/env python3
"""Runs the loop nests of examples/offload on this machine's CPU and puts the forecasts beside the times.

tools/validate/offload_live.py PROGRAM [--cpu DEVICE_FILE] [--modes one,all,opencl] [--kernels gemm,...] [--opt 0,3] [--sizes 0.5,2,10] [--samples N] [--json FILE]
tools/validate/offload_live.py --measure-only --json FILE ...
tools/validate/offload_live.py PROGRAM --recorded FILE [--cpu DEVICE_FILE] [--modes ...] [--kernels ...] [--json FILE]

Modes: `one` thread, the nest unchanged; `all` threads, its marked loop shared (OpenMP); `opencl`, its OpenCL form on this
machine's OpenCL device, which must be the CPU (PoCL). The compiler is clang 19, whose LLVM the forecast uses; PoCL has its
own. DEVICE_FILE comes from `kernelcast probe --backend host -o FILE` (default: the operating system's tables, which have no
clock under load).

Method:

- The clock is measured beside each run and put into the device file, because it varies with the machine's load.
- A time is the fastest of several runs after a warm-up run. Every mode runs each cell in several short samples that alternate
  with the other cells of the nest, so that the load of others affects all alike. `spread` is the median distance between the
  fastest runs of two samples.
- A busy neighbor on the other hardware thread of a core, perhaps of another virtual machine, takes half of the width and of
  the queues. No-ops are timed on each processor before and after every slice of a sample (neighbour.c). A slice with fewer
  than nine tenths of the largest rate does not count. `quiet` is the share that counts; if none does, all count.
- The launch cost of OpenCL is the time of an empty kernel of the same shape, and part of the forecast. One thread may run all
  of such a kernel while the others wake up. Their delay is measured with a kernel that keeps each thread busy: as many groups
  as processors against one. Threads ask for groups, so of P threads of which P - 1 are late each bears (P - 1)/P of the delay.

- `others` is the share of processor time that other processes and virtual machines took beside a cell (/proc/stat less our
  own). Above a tenth, without a quiet slice, or with samples a quarter apart, the machine was busy: the cell gets no verdict
  and does not count in the errors.

Results go to standard output. --measure-only runs and forecasts nothing; --recorded takes the times of an earlier run's --json
and runs nothing, so that two versions of the program are compared on the same times.
"""

import argparse
import ctypes
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from opencl_nest import arguments_of, nest, parameters_of, threads_of
from opencl_run import Opencl, OpenclError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLANG = "/usr/lib/llvm-19/bin/clang"
NEIGHBOUR = os.path.join(ROOT, "tools", "validate", "neighbour.c")
OPENMP = ["/usr/lib/llvm-19/lib", "/usr/lib/llvm-14/lib"]  # libomp.so: clang's calls have kept their form
# name: (functions in order, arrays that hold the data, dimensions)
PROGRAMS = {
    "2dconv": (["convolve"], 2, 2), "2mm": (["product1", "product2"], 5, 2), "3dconv": (["convolve"], 2, 3),
    "3mm": (["product1", "product2", "product3"], 7, 2), "atax": (["row_sums", "column_sums"], 1, 2),
    "bicg": (["row_sums", "column_sums"], 1, 2),
    "cor": (["mean_of_columns", "deviation_of_columns", "standardise", "products"], 2, 2),
    "cov": (["mean_of_columns", "centre", "products"], 2, 2), "gemm": (["gemm"], 3, 2), "gesummv": (["gesummv"], 2, 2),
    "mvt": (["row_sums", "column_sums"], 1, 2), "syr2k": (["scale", "update"], 4, 2), "syrk": (["scale", "update"], 3, 2),
}
SECONDS = 0.1  # for one sample of a cell
SLICE = 0.005  # between two looks at the other thread of the core
PATIENCE = 8  # samples' lengths to wait for quiet slices
QUIET = 0.9  # of the most empty instructions a cycle
SAMPLES = 3
MOST_OTHERS = 0.1  # of the processors' time, beside a cell with a verdict
MOST_SPREAD = 0.25
LANES = 128  # work-items of a group
GROUPS = {"atax", "bicg", "gesummv", "mvt"}  # OpenCL forms with a group for each sum
COLUMNS = {"mean_of_columns", "deviation_of_columns", "products"}  # a work-item for each column


def processors():
    return len(os.sched_getaffinity(0))


def side(name, mib):
    _, arrays, dimensions = PROGRAMS[name]
    elements = mib * 2**20 / 8 / arrays
    n = int(round(elements ** (1 / dimensions)))
    while n**dimensions > elements:
        n -= 1
    return n


def driver(name):
    """A program that runs the functions in order and prints the seconds of the fastest run."""
    functions = PROGRAMS[name][0]
    path = os.path.join(ROOT, "examples", "offload", name + ".c")
    with open(path, encoding="utf-8") as file:
        source = file.read()
    pointers, calls, declarations = [], [], []
    for function in functions:
        parameters = re.search(rf"void {function}\(([^)]*)\)", source)[1]
        declarations.append(f"void {function}({parameters});")
        names = [p.split()[-1].lstrip("*") for p in parameters.split(",")]
        pointers += [p for p in names if p != "n" and p not in pointers]
        calls.append(f"{function}({', '.join(names)});")
    power = "* n" * PROGRAMS[name][2]
    return f"""#include <stdio.h>
#include <stdlib.h>
#include <time.h>
{chr(10).join(declarations)}
double clock_here(void);
double empty_rate(const int* processors, int count);
void stay_on(int processor);
static double now(void) {{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }}
static double* array(long count) {{
  double* a = aligned_alloc(64, (unsigned long)(count * 8 + 63) / 64 * 64);
  for (long i = 0; i < count; ++i) a[i] = (double)(i % 97) / 97.0;
  return a;
}}
int main(int count, char** words) {{
  if (count < 4) return 2;
  int n = atoi(words[1]);
  {' '.join(f'double* {p} = array(1L {power});' for p in pointers)}
  double best = 1e30, any = 1e30, hertz = 0, begin = now(), counted = 0, all = 0, full = atof(words[2]);
  int processors[256], count_of = 0;
  for (int i = 3; i < count && count_of < 256; ++i) processors[count_of++] = atoi(words[i]);
  if (count_of == 1) stay_on(processors[0]);
  {' '.join(calls)}
  double rate = empty_rate(processors, count_of);
  while (all == 0 || (counted < {SECONDS} && now() - begin < {PATIENCE} * {SECONDS})) {{
    double fastest = 1e30, slice = now();
    do {{
      double start = now();
      {' '.join(calls)}
      double took = now() - start;
      if (took < fastest) fastest = took;
    }} while (now() - slice < {SLICE});
    slice = now() - slice;
    double clock = clock_here();
    if (clock > hertz) hertz = clock;
    double before = rate;
    rate = empty_rate(processors, count_of);
    all += slice;
    if (fastest < any) any = fastest;
    if (before < {QUIET} * full || rate < {QUIET} * full) continue;
    counted += slice;
    if (fastest < best) best = fastest;
  }}
  printf("%.9e %.9e %.4f\\n", best < 1e30 ? best : any, hertz, counted / all);
  return 0;
}}
"""


def openmp():
    folder = next((f for f in OPENMP if os.path.exists(os.path.join(f, "libomp.so"))), None)
    if not folder:
        sys.exit("--modes all needs libomp: apt-get install libomp-dev")
    return folder


class Neighbours:
    """Looks at the other threads of this machine's cores."""

    def __init__(self, folder):
        path = os.path.join(folder, "neighbour.so")
        subprocess.run([CLANG, "-O1", "-shared", "-fPIC", "-o", path, NEIGHBOUR], check=True)
        library = ctypes.CDLL(path)
        self._rate = library.empty_rate
        self._rate.restype = ctypes.c_double
        self.clock = library.clock_here
        self.clock.restype = ctypes.c_double
        self.full = self.hertz = 0.0  # of empty instructions a cycle; the highest clock of late
        end = time.monotonic() + 1
        while time.monotonic() < end:
            for p in sorted(os.sched_getaffinity(0)):
                self.full = max(self.full, self.rate([p]))
            time.sleep(0.005)

    def rate(self, processors):
        """The least of empty instructions a cycle on these processors."""
        return self._rate((ctypes.c_int * len(processors))(*processors), len(processors))

    def quiet(self, rate):
        self.full = max(self.full, rate)
        return rate >= QUIET * self.full

    def idlest(self):
        """The processor with most of its core to itself now."""
        return max(sorted(os.sched_getaffinity(0)), key=lambda p: self.rate([p]))


class Others:
    """Time that others took of the processors that we may use, while something of ours ran."""

    def __init__(self):
        self.taken = self.elapsed = 0.0

    def beside(self, run):
        busy, own, start = busy_seconds(), own_seconds(), time.monotonic()
        result = run()
        self.elapsed += (time.monotonic() - start) * processors()
        self.taken += (busy_seconds() - busy) - (own_seconds() - own)
        return result

    def share(self):
        return round(max(0.0, self.taken) / self.elapsed, 3) if self.elapsed > 0 else 0.0


def busy_seconds(stat=None):
    """Seconds since the machine started in which our processors were not idle, or another virtual machine had them."""
    if stat is None:
        try:
            with open("/proc/stat", encoding="ascii") as file:
                stat = file.read()
        except OSError:
            return 0.0
    ticks = 0
    for line in stat.splitlines():
        found = re.match(r"cpu(\d+) (.+)", line)
        if found and int(found[1]) in os.sched_getaffinity(0):
            user, nice, system, _, _, irq, softirq, steal = (int(x) for x in found[2].split()[:8])
            ticks += user + nice + system + irq + softirq + steal
    return ticks / os.sysconf("SC_CLK_TCK")


def own_seconds():
    return sum(os.times()[:4])


def busy(row):
    """Why a cell gets no verdict; empty: it does. Times recorded without `others` are taken as they are."""
    if "others" not in row:
        return ""
    if row["others"] > MOST_OTHERS:
        return f"others took {row['others']:.0%}"
    if row.get("quiet", 1) == 0:
        return "no quiet slice"
    return f"samples {row['spread']:.0%} apart" if row["spread"] > MOST_SPREAD else ""


def measured(name, sizes, opt, threads, folder, neighbours):
    """(seconds, clock, spread, quiet share, others' share) for each size."""
    program = os.path.join(folder, f"{name}-{opt}-{threads}")
    with open(program + ".c", "w", encoding="utf-8") as file:
        file.write(driver(name))
    with open(os.path.join(ROOT, "examples", "offload", name + ".c"), encoding="utf-8") as file:
        text = file.read()  # a file of its own: nothing is known of its callers
    own = program + "-nest.c"
    with open(own, "w", encoding="utf-8") as file:
        # Threads share the outermost marked loop; inside it the nest is as it was.
        file.write(re.sub(r"#pragma omp target teams distribute parallel for( collapse\(\d\))?", "#pragma omp parallel for", text))
    flags = ["-fopenmp"] if threads > 1 else []
    link = ["-L" + openmp(), "-Wl,-rpath," + openmp(), "-lomp"] if threads > 1 else []
    subprocess.run([CLANG, f"-O{opt}", "-march=native", "-fno-math-errno", *flags, "-c", "-o", program + ".o", own], check=True)
    subprocess.run([CLANG, "-O1", "-o", program, program + ".c", NEIGHBOUR, program + ".o", "-lm", *link], check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true", "OMP_WAIT_POLICY": "active"}
    samples, others = [[] for _ in sizes], [Others() for _ in sizes]
    for _ in range(SAMPLES):
        for n, of, beside in zip(sizes, samples, others):
            where = sorted(os.sched_getaffinity(0))[:threads] if threads > 1 else [neighbours.idlest()]
            command = [program, str(n), str(neighbours.full), *map(str, where)]
            out = beside.beside(lambda: subprocess.run(command, capture_output=True, text=True, check=True, env=environment)).stdout.split()
            of.append(tuple(float(x) for x in out))
    return [(fastest_of([(s, q) for s, _, q in of]), max(h for _, h, _ in of), spread(s for s, _, _ in of), quiet_share(q for _, _, q in of),
             beside.share()) for of, beside in zip(samples, others)]


def quiet_share(shares):
    return round(statistics.mean(shares), 3)


def spread(seconds):
    """Fastest of the samples against the one in the middle, a share."""
    ordered = sorted(seconds)
    return ordered[len(ordered) // 2] / ordered[0] - 1


def made_for(device):
    """The CPU for which PoCL makes code, as LLVM names it: its devices are called pthread-CPU-model. Distributions build PoCL
    for a few CPUs, of which it takes the best that this one can run."""
    found = re.match(r"(?:pthread|cpu)-((?:x86-64[-v\d]*|skylake-avx512|[a-z]\w*))-", device)
    return found[1] if found else "native"


def launches(name, source, n):
    """(kernel, grid, block, names of its arguments) of one run of the OpenCL form, in order."""
    along = (n + LANES - 1) // LANES
    for kernel in re.findall(r"__kernel void (\w+)\(", source):
        if name in GROUPS:
            grid = (n,)
        elif kernel in COLUMNS:
            grid = (along,)
        else:
            grid = (along, n, n) if PROGRAMS[name][2] == 3 else (along, n)
        text = parameters_of(source, kernel)[2]
        yield kernel, grid, (LANES, 1, 1)[: len(grid)], [re.search(r"(\w+)\s*$", p)[1] for p in text.split(",")]


EMPTY = """__kernel void empty(__global double* a, int n) { if (n < 0) a[0] = 1; }
__kernel void busy(__global double* a, int n) {
  double x = n;
  for (int i = 0; i < n; ++i) x = x * 0.5 + 1;
  if (x < 0) a[0] = x;
}"""
BUSY = 40000  # steps, of a multiply-add's latency each


def best_of(run, seconds, neighbours):
    """(seconds of the fastest run, share of the time that was quiet), after a first run."""
    run()
    everywhere = sorted(os.sched_getaffinity(0))
    best = some = math.inf
    counted = spent = 0.0
    rate = neighbours.rate(everywhere)
    while some == math.inf or (counted < seconds and spent < PATIENCE * seconds):
        slice_s, fast = 0.0, math.inf
        while slice_s < SLICE:
            took = run()
            slice_s, fast = slice_s + took, min(fast, took)
        neighbours.hertz = max(neighbours.hertz, neighbours.clock())
        before, rate = rate, neighbours.rate(everywhere)
        spent, some = spent + slice_s, min(some, fast)
        if neighbours.quiet(before) and neighbours.quiet(rate):
            counted, best = counted + slice_s, min(best, fast)
    return (best if best < math.inf else some), counted / spent


def measured_opencl(device, name, sizes, neighbours):
    """[(seconds of one run, seconds of empty launches of the same shape, spread, quiet share, others' share)] for each size."""
    with open(os.path.join(ROOT, "examples", "offload", name + ".cl"), encoding="utf-8") as file:
        source = file.read()
    program, empty_program = device.program(source), device.program(EMPTY)
    cells = []
    for n in sizes:
        buffers, steps, empties = {}, [], []
        for kernel, grid, block, names in launches(name, source, n):
            for p in names:
                if p != "n" and p not in buffers:
                    count = n ** PROGRAMS[name][2]
                    buffers[p] = device.buffer((ctypes.c_double * count)(*((i % 97) / 97.0 for i in range(count))))
            steps.append((device.kernel(program, kernel, [n if p == "n" else buffers[p] for p in names]), grid, block))
            empties.append((device.kernel(empty_program, "empty", [next(iter(buffers.values())), 0]), grid, block))
        cells.append((steps, empties, [], [], Others()))
    for _ in range(SAMPLES):
        for steps, empties, times, costs, others in cells:
            times.append(others.beside(lambda of=steps: best_of(lambda: sum(device.run(*s) for s in of), SECONDS, neighbours)))
            costs.append(best_of(lambda of=empties: sum(device.run(*s) for s in of), SECONDS / 5, neighbours))
    late = lateness(device, device.kernel(empty_program, "busy", [next(iter(buffers.values())), BUSY]), neighbours)
    return [(fastest_of(times), fastest_of(costs) + late * len(steps), spread(t for t, _ in times), quiet_share(q for _, q in times),
             others.share()) for steps, _, times, costs, others in cells]


def lateness(device, busy, neighbours):
    """Seconds by which a launch takes longer because the threads do not begin together."""
    one, all_of = ([best_of(lambda: device.run(busy, (groups,), (1,)), SECONDS / 3, neighbours) for _ in range(SAMPLES)]
                   for groups in (1, processors()))
    return max(0.0, fastest_of(all_of) - fastest_of(one)) * (processors() - 1) / processors()


def fastest_of(samples):
    """Of (seconds, quiet share): the fastest that met quiet, if any did."""
    return min([s for s, q in samples if q > 0] or [s for s, _ in samples])


def forecast_opencl(program, name, n, cpu, made_for, folder):
    """Seconds of all launches without what a launch costs, and the interval. `made_for`: whose code the runtime makes."""
    with open(os.path.join(ROOT, "examples", "offload", name + ".cl"), encoding="utf-8") as file:
        source = file.read()
    low = high = total = 0.0
    for kernel, grid, block, _ in launches(name, source, n):
        path = os.path.join(folder, f"{name}-{kernel}.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(nest("#include <math.h>\n" + source, kernel, block, grid))
        side = cpu_side_of(
            [program, "offload", path, "--kernel", kernel, "--cpu", cpu, "--gpu", "gtx1080", "--grid", "1", "--cpu-threads",
             str(threads_of(grid, processors())), "--cpu-isa", made_for, "--arg", f"n={n}", *arguments_of(grid), "--format", "json"])
        own = side["time_s"] - side["launch_s"]
        factor = side["interval_s"][1] / side["time_s"]
        low, high, total = low + own / factor, high + own * factor, total + own
    return total, (low, high)


def at_clock(device, hertz, folder):
    """The device file with the clock that was measured beside the run: it changes with what else the machine does."""
    if not os.path.exists(device):
        return device
    with open(device, encoding="utf-8") as file:
        text = file.read()
    value = f'sustained_clock_hz = {{ value = {hertz}, source = "measured beside the run" }}'
    path = os.path.join(folder, os.path.basename(device))  # the id is the name of the file
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^sustained_clock_hz = .*$", value, text, flags=re.M))
    return path


def cpu_side_of(arguments):
    out = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT)
    if out.returncode != 0:
        sys.exit(out.stderr.strip())
    return json.loads(out.stdout)["cpu"]


def forecast(program, name, n, opt, threads, cpu):
    cpu_side = cpu_side_of(
        [program, "offload", os.path.join("examples", "offload", name + ".c"), "--kernel", ",".join(PROGRAMS[name][0]), "--cpu", cpu,
         "--gpu", "gtx1080", "--cpu-threads", str(threads), "--cpu-opt", str(opt), "--arg", f"n={n}", "--format", "json"])
    return cpu_side["time_s"], cpu_side["interval_s"]


def print_row(r):
    said = r.get("forecast_s")
    line = f"{r['nest']:10}{r['mode']:>12}{r['n']:>7}{r['measured_s'] * 1e3:11.4f} ms"
    if said is not None:
        line += f"{said * 1e3:11.4f} ms{said / r['measured_s']:8.2f}"
    line += f"{r['spread']:8.1%}{r['clock_hz'] / 1e9:6.2f} GHz" + (f"{r['quiet']:7.0%}" if "quiet" in r else f"{'-':>7}")
    if said is not None:
        low, high = r["interval_s"]
        line += f"  {'busy: ' + busy(r) if busy(r) else 'in' if low <= r['measured_s'] <= high else 'OUT'}"
    print(line, flush=True)


def print_summary(rows):
    for mode in dict.fromkeys(r["mode"] for r in rows):
        every = [r for r in rows if r["mode"] == mode]
        of = [r for r in every if not busy(r)]
        if not of:
            print(f"{mode}: {len(every)} cells, no verdict: the machine was busy")
            continue
        errors = sorted(abs(r["forecast_s"] / r["measured_s"] - 1) for r in of)
        inside = sum(r["interval_s"][0] <= r["measured_s"] <= r["interval_s"][1] for r in of)
        bias = math.exp(statistics.mean(math.log(r["forecast_s"] / r["measured_s"]) for r in of))
        print(f"{mode}: {len(errors)} cells, error: median {statistics.median(errors):.1%}, nine in ten within "
              f"{errors[min(len(errors) - 1, math.ceil(0.9 * len(errors)) - 1)]:.1%}; geometric mean of the ratio {bias:.3f}; "
              f"in the interval {inside}; spread of samples, median {statistics.median(r['spread'] for r in of):.1%}"
              + (f"; {len(every) - len(of)} more without a verdict: the machine was busy" if len(of) < len(every) else ""))


def measured_rows(name, sizes, modes, opts, device, folder, neighbours):
    """A row without a forecast for each cell of one nest."""
    rows = []
    for mode in modes:
        if mode == "opencl":
            continue
        threads = processors() if mode == "all" else 1
        for opt in opts:
            for n, (seconds, hertz, apart, quiet, others) in zip(sizes, measured(name, sizes, opt, threads, folder, neighbours)):
                rows.append({"nest": name, "mode": f"-O{opt} {threads}T", "n": n, "measured_s": seconds, "clock_hz": hertz, "spread": apart,
                             "quiet": quiet, "others": others})
    if device:
        neighbours.hertz = 0.0
        for n, (seconds, cost, apart, quiet, others) in zip(sizes, measured_opencl(device, name, sizes, neighbours)):
            rows.append({"nest": name, "mode": "OpenCL", "n": n, "measured_s": seconds, "clock_hz": neighbours.hertz, "spread": apart, "quiet": quiet,
                         "others": others, "launch_s": cost, "made_for": made_for(device.name)})
    return rows


def with_forecast(row, program, cpu, folder):
    """The row with forecast and interval; the launch cost of OpenCL is the measured one."""
    name, n, device = row["nest"], row["n"], at_clock(cpu, row["clock_hz"], folder)
    if row["mode"] == "OpenCL":
        said, (low, high) = forecast_opencl(program, name, n, device, row.get("made_for", "native"), folder)
        cost = row["launch_s"]
        return {**row, "forecast_s": said + cost, "interval_s": [low + cost, high + cost]}
    opt, threads = re.fullmatch(r"-O(\d) (\d+)T", row["mode"]).groups()
    said, interval = forecast(program, name, n, opt, int(threads), device)
    return {**row, "forecast_s": said, "interval_s": list(interval)}


def recorded_rows(path, kernels, modes):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    wanted = lambda mode: "opencl" if mode == "OpenCL" else "one" if mode.endswith(" 1T") else "all"
    return [r for r in rows if r["nest"] in kernels and wanted(r["mode"]) in modes]


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?")
    parser.add_argument("--cpu", default="host")
    parser.add_argument("--modes", default="one")
    parser.add_argument("--kernels", default=",".join(PROGRAMS))
    parser.add_argument("--opt", default="0,3")
    parser.add_argument("--sizes", default="0.5,2,10")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--json")
    parser.add_argument("--measure-only", action="store_true")
    parser.add_argument("--recorded")
    return parser


def opencl_device():
    try:
        device = Opencl()
    except OpenclError as e:
        sys.exit(f"--modes opencl: {e}")
    print(f"OpenCL device: {device.name}")
    return device


def main():
    global SAMPLES
    parser = options()
    args = parser.parse_args()
    SAMPLES = args.samples
    if args.measure_only and (args.program or args.recorded or not args.json):
        parser.error("--measure-only takes --json FILE, no PROGRAM and no --recorded")
    if not args.measure_only and not args.program:
        parser.error("PROGRAM is needed for forecasts")
    program = args.program and os.path.abspath(args.program)
    cpu = os.path.abspath(args.cpu) if os.path.exists(args.cpu) else args.cpu
    modes = args.modes.split(",")
    for mode in modes:
        if mode not in ("one", "all", "opencl"):
            parser.error(f"--modes {mode}: expected one, all or opencl")
    if not args.recorded and not os.path.exists(CLANG):
        sys.exit(f"{CLANG} is needed: apt-get install clang-19")
    device = opencl_device() if "opencl" in modes and not args.recorded else None
    columns = "" if args.measure_only else f"{'forecast':>14}{'ratio':>8}"
    print(f"{'nest':10}{'mode':>12}{'n':>7}{'measured':>14}{columns}{'spread':>8}{'clock':>10}{'quiet':>7}{'' if args.measure_only else '  90 %'}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        neighbours = None if args.recorded else Neighbours(folder)
        for name in args.kernels.split(","):
            if args.recorded:
                of = recorded_rows(args.recorded, [name], modes)
            else:
                of = measured_rows(name, [side(name, float(s)) for s in args.sizes.split(",")], modes, args.opt.split(","), device, folder, neighbours)
            for row in of:
                rows.append(row if args.measure_only else with_forecast(row, program, cpu, folder))
                print_row(rows[-1])
    if not rows:
        sys.exit(f"{args.recorded}: no recorded times of these nests and modes")
    if not args.measure_only:
        print_summary(rows)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
