#!/usr/bin/env python3
"""Do the tests of the published formulas fail when a formula is wrong?

    tools/validate/perturb.py BUILD [NAME...]

Changes one place of one source, compiles that source, and links it before the libraries of a test program, so that its
functions replace theirs. The named tests must pass with the unchanged source, linked the same way, and fail with the
changed one. BUILD is a folder in which the test programs are built. Nothing in the repository or in BUILD changes.
"""

import os
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# name, row of docs/reference/papers.md, source, place, change, program, tests
CHANGES = [
    ("global-memory", "opencl-quantitative (3), (4)", "src/model/opencl_quantitative.cpp", "t.value() * m.global_latency.value()", "t.value() * 1.1 * m.global_latency.value()", "test_golden_model", "OpenclQuantitativeGtx280.MatrixProductGlobal"),
    ("local-memory", "opencl-quantitative (5), (6)", "src/model/opencl_quantitative.cpp", "std::gcd(stride, static_cast<std::int64_t>(m.banks))", "std::gcd(stride, static_cast<std::int64_t>(m.banks) / 2)", "test_golden_model", "OpenclQuantitativeGtx280.PrefixSumWithBankConflicts"),
    ("branches", "opencl-quantitative (7), (8)", "src/model/opencl_quantitative.cpp", "divergence + (1 - divergence) / paths", "divergence + (1 - divergence)", "test_golden_model", "OpenclQuantitativeGtx280.PrefixSumWithBranches"),
    ("barriers", "opencl-quantitative (12), (13)", "src/model/opencl_quantitative.cpp", "others(f.batches_per_group - 1)", "others(f.batches_per_group)", "test_golden_model", "OpenclQuantitativeGtx280.MatrixProductLocal"),
    ("hiding", "ske (8)", "src/model/ske.cpp", "std::log(0.96)", "std::log(0.95)", "test_golden_model", "SkeSweep.ResizeByHandAt32x4"),
    ("minimum", "ske figure 2: minimum and highs", "src/model/ske.cpp", "std::ceil(on_cores / m.cores)", "(on_cores / m.cores)", "test_golden_model", "SkeSweep.*"),
    ("shared-memory", "ske (13)", "src/model/ske.cpp", "k.shared_bytes * n_b, m.shared_bytes_per_sm", "k.shared_bytes, m.shared_bytes_per_sm", "test_unit_model", "SkeConstraints.SharedMemory"),
    ("latency", "ffma step 1", "src/probe/steps.cpp", "(two - one) / chain_length", "two / (2 * chain_length)", "test_golden_probe", "Gk110.LatenciesAreTheSpecs"),
    ("majority", "divergence: loop postpone", "src/converge/replay_pattern.cpp", ": taken > other;", ": taken < other;", "test_unit_converge", "Replay.PostponeExampleOfFourLanes"),
    ("share", "divergence 1/(1 - a)", "src/converge/closed_forms.cpp", "const double rounds = 1 - 1 / mean", "const double rounds = 1 - 2 / mean", "test_unit_converge", "ClosedForms.IndependentLanes"),
    ("loggp", "offload (12)", "src/offload/link.cpp", "static_cast<double>(messages.size() - 1) * d.gap_s", "static_cast<double>(messages.size()) * d.gap_s", "test_unit_offload", "OneWay.*"),
    ("roof", "offload (6)", "src/offload/offload_2017.cpp", ": std::min(memory_roof, computation_roof)", ": std::max(memory_roof, computation_roof)", "test_unit_offload", "Performance2017.IsTheSmallerRoof"),
    ("busy-power", "offload (19)", "src/model/energy.cpp", "share_of_2017 = 0.6", "share_of_2017 = 0.5", "test_unit_model", "BusyPower.BothReadingsByHand"),
    ("cost", "offload (22), (23)", "src/offload/cost.cpp", "w.energy * idle_w", "w.energy * busy_w", "test_unit_offload", "Cost.*"),
]


def linked(build, program):
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", f"bin/{program}"], check=True, capture_output=True, text=True).stdout
    return shlex.split(commands.strip().splitlines()[-1].split("&&")[1])


def passes(build, folder, source, text, program, tests):
    changed, machine_code, binary = (os.path.join(folder, name) for name in ("changed.cpp", "changed.o", "test"))
    with open(changed, "w", encoding="utf-8") as file:
        file.write(text)
    link = linked(build, program)
    compiler = link[0]
    include = [f"-I{ROOT}/src", f"-I{ROOT}/include", f"-I{os.path.dirname(os.path.join(ROOT, source))}"]
    subprocess.run([compiler, "-std=c++20", "-O1", *include, "-c", changed, "-o", machine_code], check=True)
    link[link.index("-o") + 1] = binary
    link.insert(link.index("-o"), machine_code)
    subprocess.run([*link, "-Wl,--allow-multiple-definition"], check=True, cwd=build, capture_output=True)
    run = subprocess.run([binary, f"--gtest_filter={tests}"], capture_output=True, text=True, check=False)
    if "[==========] Running 0 tests" in run.stdout:
        sys.exit(f"perturb.py: {program} has no test {tests}")
    return run.returncode == 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    known = {change[0] for change in CHANGES}
    if unknown := set(sys.argv[2:]) - known:
        sys.exit(f"perturb.py: no change {', '.join(sorted(unknown))}; changes: {', '.join(sorted(known))}")
    bad = 0
    for name, row, source, place, change, program, tests in CHANGES:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            text = file.read()
        if text.count(place) != 1:
            sys.exit(f"perturb.py: {name}: '{place}' is not once in {source}")
        with tempfile.TemporaryDirectory() as folder:
            before = passes(build, folder, source, text, program, tests)
            after = passes(build, folder, source, text.replace(place, change), program, tests)
        bad += not before or after
        print(f"{name:14} {row:34} {tests:52} unchanged: {'passes' if before else 'FAILS'}; changed: {'PASSES' if after else 'fails'}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
