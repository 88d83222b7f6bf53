#!/usr/bin/env python3
"""Do the tests of the published formulas fail when a formula is wrong?

    tools/validate/perturb.py BUILD [NAME...]

Changes one place of one source, compiles that source, and links it before the libraries of a test program, so that its
functions replace theirs. The named tests must pass with the unchanged source, linked the same way, and fail with the
changed one. BUILD is a folder in which the test programs are built. Nothing in the repository or in BUILD changes.
"""

import glob
import json
import os
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# name, system and row of docs/reference/papers.md (test/cli/papers_test.py compares them), source, place, change, program, tests; a header, too: the source that is compiled.
# Tests of the program kernelcast are those of test/cli.
CHANGES = [
    ("global-memory", "opencl-quantitative: (3), (4) global memory", "src/model/opencl_quantitative.cpp", "t.value() * m.global_latency.value()", "t.value() * 1.1 * m.global_latency.value()", "test_golden_model", "OpenclQuantitativeGtx280.MatrixProductGlobal"),
    ("local-memory", "opencl-quantitative: (5), (6) local memory", "src/model/opencl_quantitative.cpp", "std::gcd(stride, static_cast<std::int64_t>(m.banks))", "std::gcd(stride, static_cast<std::int64_t>(m.banks) / 2)", "test_golden_model", "OpenclQuantitativeGtx280.PrefixSumWithBankConflicts"),
    ("branches", "opencl-quantitative: (7), (8) branches", "src/model/opencl_quantitative.cpp", "divergence + (1 - divergence) / paths", "divergence + (1 - divergence)", "test_golden_model", "OpenclQuantitativeGtx280.PrefixSumWithBranches"),
    ("barriers", "opencl-quantitative: (12), (13) barriers", "src/model/opencl_quantitative.cpp", "others(f.batches_per_group - 1)", "others(f.batches_per_group)", "test_golden_model", "OpenclQuantitativeGtx280.MatrixProductLocal"),
    ("hiding", "ske: (2)-(9)", "src/model/ske.cpp", "std::log(0.96)", "std::log(0.95)", "test_golden_model", "SkeSweep.ResizeByHandAt32x4"),
    ("minimum", "ske: figure 2, tables 4 to 6", "src/model/ske.cpp", "std::ceil(on_cores / m.cores)", "(on_cores / m.cores)", "test_golden_model", "SkeSweep.*"),
    ("shared-memory", "ske: (10)-(16)", "src/model/ske.cpp", "k.shared_bytes * n_b, m.shared_bytes_per_sm", "k.shared_bytes, m.shared_bytes_per_sm", "test_unit_model", "SkeConstraints.SharedMemory"),
    ("latency", "ffma: step 1: latency, throughput", "src/probe/steps.cpp", "(two - one) / chain_length", "two / (2 * chain_length)", "test_golden_probe", "Gk110.LatenciesAreTheSpecs"),
    ("majority", "divergence: loop postpone", "src/converge/replay_pattern.cpp", ": taken > other;", ": taken < other;", "test_unit_converge", "Replay.PostponeExampleOfFourLanes"),
    ("share", "divergence: ideal gain of advance", "src/converge/closed_forms.cpp", "const double rounds = 1 - 1 / mean", "const double rounds = 1 - 2 / mean", "test_unit_converge", "ClosedForms.IndependentLanes"),
    ("loggp", "offload: (12)-(16) LogGP", "src/offload/link.cpp", "static_cast<double>(messages.size() - 1) * d.gap_s", "static_cast<double>(messages.size()) * d.gap_s", "test_unit_offload", "OneWay.*"),
    ("roof", "offload: (2)-(11)", "src/offload/offload_2017.cpp", ": std::min(memory_roof, computation_roof)", ": std::max(memory_roof, computation_roof)", "test_unit_offload", "Performance2017.IsTheSmallerRoof"),
    ("busy-power", "offload: (18), (19) busy power", "src/model/energy.cpp", "share_of_2017 = 0.6", "share_of_2017 = 0.5", "test_unit_model", "BusyPower.BothReadingsByHand"),
    ("cost", "offload: (21)-(23) energy, cost", "src/offload/cost.cpp", "w.energy * idle_w", "w.energy * busy_w", "test_unit_offload", "Cost.*"),
    ("computation", "opencl-quantitative: (1), (2) computation", "src/model/opencl_quantitative.cpp", "m.batch / m.processing_elements", "m.batch", "test_golden_model", "OpenclQuantitativeGtx280.OneAddOfAWarpCosts96Cycles"),
    ("overlap", "opencl-quantitative: (9)-(11), (14)", "src/model/opencl_quantitative.cpp", "computing = n, waiting = 1;", "computing = n, waiting = 2;", "test_golden_model", "OpenclQuantitativeGtx280.MatrixProductGlobal"),
    ("as-printed", "opencl-quantitative: (9)-(11), (14)", "src/model/opencl_quantitative.cpp", "computing = n * n;", "computing = n;", "test_golden_model", "OpenclQuantitativeGtx280.TheTableOfTheDocumentation"),
    ("flat", "opencl-quantitative: flat barriers", "src/frontend/shape/barrier_order.cpp", "(last & last_store) != 0 && (last & last_compute) == 0", "(last & last_store) != 0", "test_engines_execute", "All/FlatBarriers.*"),
    ("flat-executed", "opencl-quantitative: the same, executed", "src/execute/block_runner.cpp", "if (stored && !computed) counts_", "if (stored) counts_", "test_engines_execute", "All/FlatBarriers.*"),
    ("batches", "opencl-quantitative: (15), (16) batches", "src/model/opencl_quantitative.cpp", "launch.groups * f.batches_per_group / m.compute_units", "std::ceil(launch.groups * f.batches_per_group / m.compute_units)", "test_golden_model", "OpenclQuantitativeGtx280.MatrixProductGlobal"),
    ("table-1", "opencl-quantitative: table 1", "src/model/opencl_quantitative_paper.cpp", "m.special = Cycles<per::Thread>(45)", "m.special = Cycles<per::Thread>(44)", "test_golden_model", "DeviceFiles.Gtx280HasTheConstantsOfTheOpenclPaper"),
    ("mm-global", "opencl-quantitative: MM_Global", "src/model/opencl_quantitative_paper.cpp", "{{side, batch}, {side, 1}, {side, batch}}", "{{side, batch}, {side, 1}, {1, batch}}", "test_golden_model", "OpenclQuantitativeGtx280.MatrixProductGlobal"),
    ("mm-local", "opencl-quantitative: MM_Local 8x8, 8x16, 16x16", "src/model/opencl_quantitative_paper.cpp", "multiply_adds = steps * height", "multiply_adds = side", "test_golden_model", "OpenclQuantitativeGtx280.MatrixProductLocal"),
    ("pps-br", "opencl-quantitative: PPS_Br 64, 128, 256", "src/model/opencl_quantitative_paper.cpp", "additions = rounds - 1", "additions = rounds", "test_golden_model", "OpenclQuantitativeGtx280.PrefixSumWithBranches"),
    ("pps-conf", "opencl-quantitative: PPS_Conf 64, 128, 256", "src/model/opencl_quantitative_paper.cpp", "std::int64_t{1} << r", "std::int64_t{2} << r", "test_golden_model", "OpenclQuantitativeGtx280.PrefixSumWithBankConflicts"),
    ("figures", "opencl-quantitative: figures 9 to 12", "src/cli/replay_opencl.cpp", "cost.compute.value(), cost.branch.value()", "cost.branch.value(), cost.branch.value()", "kernelcast", "replay_test.Replay.test_opencl_quantitative_is_the_table_of_its_page"),
    ("counts", "opencl-quantitative: counts of real kernels", "src/cli/replay_opencl.cpp", "w.flat_barriers / w.blocks", "w.barriers / w.blocks - w.flat_barriers / w.blocks + 1", "kernelcast", "replay_test.Replay.test_opencl_quantitative_is_the_table_of_its_page"),
    ("hd-5870", "opencl-quantitative: HD 5870", "src/model/opencl_quantitative_paper.cpp", "m.processing_elements = 16", "m.processing_elements = 80", "test_golden_model", "OpenclQuantitativeHd5870.OrderingsOverTheRangeOfCosts"),
    ("compute", "ske: (2)-(9)", "src/model/ske.cpp", "k.instruction_cycles * compute_turns / m.clock", "1.001 * k.instruction_cycles * compute_turns / m.clock", "test_golden_model", "SkeSweep.EveryPointByTheNumbersOfTheText"),
    ("memory", "ske: (2)-(9)", "src/model/ske.cpp", "std::ceil(bytes / 4)", "std::ceil(bytes / 8)", "test_unit_model", "Ske.ConflictsAndWideData"),
    ("barrier", "ske: (2)-(9)", "src/model/ske.cpp", "barrier_issue_cycles = 4;", "barrier_issue_cycles = 5;", "test_unit_model", "Ske.Barriers"),
    ("block", "ske: (10)-(16)", "src/model/ske.cpp", "k.threads, m.max_threads_per_block, 1)", "k.threads, m.max_threads_per_sm, 1)", "test_unit_model", "SkeConstraints.ThreadsPerBlock"),
    ("threads", "ske: (10)-(16)", "src/model/ske.cpp", "k.threads * n_b, m.max_threads_per_sm, k.threads)", "k.threads, m.max_threads_per_sm, k.threads)", "test_unit_model", "SkeConstraints.ThreadsPerMultiprocessor"),
    ("registers", "ske: (10)-(16)", "src/model/ske.cpp", "k.registers, m.max_registers_per_thread, 1)", "k.registers, 2 * m.max_registers_per_thread, 1)", "test_unit_model", "SkeConstraints.Registers"),
    ("blocks", "ske: (10)-(16)", "src/model/ske.cpp", "return std::min({m.max_blocks_per_sm, by_size, by_memory})", "return std::min({m.max_blocks_per_sm, by_size})", "test_unit_model", "SkeConstraints.ActiveBlocksAreTheSmallestOfFiveFloors"),
    ("off-chip", "ske: (10)-(16)", "src/model/ske.cpp", "k.constant_bytes, m.constant_bytes, 1)", "k.constant_bytes, 2 * m.constant_bytes, 1)", "test_unit_model", "SkeConstraints.ConstantAndGlobalMemory"),
    ("table-3", "ske: tables 1, 2, 3", "src/model/ske_paper.h", "int_mul = 16;", "int_mul = 17;", "kernelcast", "replay_test.Replay.test_ske_sweep_is_the_table_of_its_page", "src/cli/replay_ske.cpp"),
    ("sweep", "ske: figure 2, tables 4 to 6", "src/cli/replay_ske.cpp", "if (i == least) return", "if (i + 1 == least) return", "kernelcast", "replay_test.Replay.test_ske_shape_and_printed_counts"),
    ("correction-a", "ske: corrections (a), (b)", "src/model/ske.cpp", "correction_a{std::log(0.92), std::log(0.92)}", "correction_a{std::log(0.95), std::log(0.96)}", "test_golden_model", "SkeSweep.CorrectionAMovesTheMinimumOfResizeTo32x2"),
    ("correction-b", "ske: corrections (a), (b)", "src/model/ske.cpp", "on_cores = on_load_store = f.active_warps * m.warp", "on_cores = on_load_store = k.threads", "test_golden_model", "SkeSweep.CorrectionBRaisesTheSmallBlocks"),
    ("capacity", "ske: (17), table 7", "src/model/ske_intra.cpp", "std::floor(m.shared_bytes_per_sm * m.multiprocessors / macroblock_bytes)", "sm * m.multiprocessors", "test_golden_model", "IntraPrediction.SharedMemoryHoldsThePapersNumberOfMacroblocks"),
    ("placement", "ske: advice on memory", "src/model/ske_intra.cpp", "input_bytes / 256, 1, 3, 0, 0}", "input_bytes / 256, 8, 3, 0, 0}", "test_golden_model", "IntraPrediction.AdviceIsInputsInSharedOutputsInGlobalMemory"),
    ("plans", "ske: three plans", "src/model/ske_intra.cpp", "memory(2, 3, 4), bytes / 7", "memory(1, 3, 1), bytes / 7", "test_golden_model", "IntraPrediction.RankOfThePlans"),
    ("division", "ffma: step 1: division", "src/probe/steps.cpp", "return (two - one) / length;", "return (two - one) / (2 * length);", "test_golden_probe", "All/Specs.DivisionIsItsInstructionsOneAfterAnother/*"),
    ("banks", "ffma: step 2: banks by FMUL pairs", "src/probe/steps.cpp", "if (rate >= free_of_conflict * theoretical) continue;", "if (rate >= 0.9 * theoretical) continue;", "test_golden_probe", "Gk110.BanksAreTheSpecs"),
    ("control", "ffma: step 3: control codes", "src/probe/steps.cpp", "if (meaning.dual) meaning.interval = 0;", "if (meaning.dual) meaning.interval = 1;", "test_golden_probe", "Gk110.MeaningOfEveryControlCodeIsTheSpecs"),
    ("orders", "ffma: step 4: six orders", "src/probe/steps.cpp", "order_groups * 6) / m.lanes", "order_groups * 7) / m.lanes", "test_golden_probe", "Gk110.OrdersOfDualIssueAreWithinTwoPointsTheSlowOnesWithinSix"),
    ("search", "ffma: step 4: six orders", "src/probe/ffma_search.cpp", "most_tried = 700", "most_tried = 1", "test_golden_probe", "Gk110.TheSearchFindsATileThatRunsAsFastAsTheBestOrder"),
    ("width", "ffma: bandwidth by access width", "src/probe/memory_steps.cpp", "return lane_bytes * m.warp_size / cycles", "return 4 * m.warp_size / cycles", "test_golden_probe", "All/Specs.BandwidthIsThatOfTheNarrowest/*"),
    ("advance", "divergence: loop advance", "src/converge/replay_pattern.cpp", "at(lane, 1) != now && (now || out_of_order)", "at(lane, 1) != now && now", "test_unit_converge", "Replay.AdvanceExamplesOfFourLanes"),
    ("condition-1", "divergence: conditions 1 to 3", "src/frontend/loops/loop_legality.cpp", "if (v == counter_)\n", "if (false)\n", "test_engines_frontend", "LabelledLoops.VerdictsAndReasons"),
    ("condition-2", "divergence: conditions 1 to 3", "src/frontend/loops/loop_legality.cpp", "v = variables_commute();", "v = yes();", "test_engines_frontend", "LabelledLoops.VerdictsAndReasons"),
    ("condition-3", "divergence: conditions 1 to 3", "src/frontend/loops/loop_legality.cpp", "const Condition c = in_tail ?", "const Condition c = false ?", "test_engines_frontend", "LabelledLoops.VerdictsAndReasons"),
    ("figure-4", "divergence: figure 4", "src/cli/replay_divergence.cpp", "c.taken = c.other = ratio / 2;", "c.taken = c.other = ratio;", "kernelcast", "replay_test.Replay.test_divergence_meets_the_printed_shares"),
    ("figure-5", "divergence: figure 5", "src/cli/replay_divergence.cpp", "static_cast<double>(plain.passes()) / static_cast<double>(advance.passes())", "static_cast<double>(plain.trips) / static_cast<double>(plain.passes())", "kernelcast", "replay_test.Replay.test_divergence_meets_the_printed_shares"),
    ("both-ways", "offload: (12)-(16) LogGP", "src/offload/link.cpp", "- i.gap_s - o.gap_s", "+ i.gap_s - o.gap_s", "test_unit_offload", "BothWays.*"),
    ("gap", "offload: (12)-(16) LogGP", "src/offload/offload_2017.cpp", "+= 2 * link.to.gap_s", "+= link.to.gap_s", "test_unit_offload", "Offload2017.PrintsTheGapToTheDeviceWithTheWrongSign"),
    ("intensity", "offload: (2)-(11)", "src/offload/offload_2017.cpp", "work.memory_instructions * bytes", "work.memory_instructions", "test_unit_offload", "Performance2017.*"),
    ("tenth", "offload: (2)-(11)", "src/offload/offload_2017.cpp", "host.bandwidth_bytes_per_s /= 10", "host.bandwidth_bytes_per_s /= 9", "test_unit_offload", "Offload2017.ATenthOfTheBandwidthCountsForTheCpuOnly"),
    ("instructions", "offload: (20) busy power", "src/offload/cost.cpp", "idle_w + instructions_per_s * instruction_j", "instructions_per_s * instruction_j", "test_unit_offload", "Power.BusyByInstructions"),
    ("cells", "offload: tables 4, 5: 39 cells", "src/cli/offload_cells.cpp", "settings.optimization = 0;", "settings.optimization = 2;", "kernelcast", "offload_test.Replay.test_the_published_table"),
]


def linked(build, program):
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", f"bin/{program}"], check=True, capture_output=True, text=True).stdout
    return shlex.split(commands.strip().splitlines()[-1].split("&&")[1])


def definitions(build, source):
    """Definitions and system headers with which the source's folder is compiled."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    folder = "/".join(source.split("/")[:2])
    flags = shlex.split(next(c["command"] for c in commands if f"/{folder}/" in c["file"]))
    systems = [x for flag, value in zip(flags, flags[1:]) if flag == "-isystem" for x in (flag, value)]
    return [f for f in flags if f.startswith("-D")] + systems


def runs(program, binary, tests):
    if program == "kernelcast":
        place = {"KERNELCAST": binary, "KERNELCAST_DEVICES": os.path.join(ROOT, "devices"), "PYTHONPATH": os.path.join(ROOT, "test", "cli")}
        run = subprocess.run([sys.executable, "-m", "unittest", *tests.split()], capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **place})
        if "Ran 0 tests" in run.stderr or "has no attribute" in run.stderr:
            sys.exit(f"perturb.py: there is no test {tests}")
        return run.returncode == 0
    run = subprocess.run([binary, f"--gtest_filter={tests}"], capture_output=True, text=True, check=False)
    if "[==========] Running 0 tests" in run.stdout:
        sys.exit(f"perturb.py: {program} has no test {tests}")
    return run.returncode == 0


def united(build, folder, source, changed):
    """The text that holds the source, with the changed one."""
    whole = f'#include "{os.path.join(ROOT, source)}"'
    for path in glob.glob(os.path.join(build, *source.split("/")[:2], "CMakeFiles", "*", "Unity", "*.cxx")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if whole in text:
            changed_whole = os.path.join(folder, "whole.cpp")
            with open(changed_whole, "w", encoding="utf-8") as file:
                file.write(text.replace(whole, f'#include "{changed}"'))
            return changed_whole
    return changed


def binary_of(build, folder, source, text, program, compiled=None, whole=False):
    changed, machine_code, binary = (os.path.join(folder, name) for name in ("changed.cpp", "changed.o", "test"))
    if compiled is not None:  # the changed header is found before the repository's
        header = os.path.join(folder, source.removeprefix("src/"))
        os.makedirs(os.path.dirname(header), exist_ok=True)
        with open(header, "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(ROOT, compiled), encoding="utf-8") as file:
            text = file.read()
    with open(changed, "w", encoding="utf-8") as file:
        file.write(text)
    if whole:
        changed = united(build, folder, compiled or source, changed)
    link = linked(build, program)
    compiler = link[0]
    include = [f"-I{folder}", f"-I{ROOT}/src", f"-I{ROOT}/include", f"-I{os.path.dirname(os.path.join(ROOT, source))}"]
    more = definitions(build, compiled or source)
    subprocess.run([compiler, "-std=gnu++20", "-O1", *include, *more, "-w", "-c", changed, "-o", machine_code], check=True)
    link[link.index("-o") + 1] = binary
    link.insert(link.index("-o"), machine_code)
    subprocess.run([*link, "-Wl,--allow-multiple-definition"], check=True, cwd=build, capture_output=True)
    return binary


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    known = {change[0] for change in CHANGES}
    if unknown := set(sys.argv[2:]) - known:
        sys.exit(f"perturb.py: no change {', '.join(sorted(unknown))}; changes: {', '.join(sorted(known))}")
    bad = 0
    unchanged = tempfile.TemporaryDirectory()
    binaries = {}
    for name, row, source, place, change, program, tests, *compiled in CHANGES:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            text = file.read()
        if text.count(place) != 1:
            sys.exit(f"perturb.py: {name}: '{place}' is not once in {source}")
        # By itself where that will do; else with the other sources of its text, which may have the function inlined.
        before, after = False, True
        for whole in (False, True):
            key = (source, program, whole, *compiled)
            if key not in binaries:
                folder = os.path.join(unchanged.name, str(len(binaries)))
                os.mkdir(folder)
                binaries[key] = binary_of(build, folder, source, text, program, *compiled, whole=whole)
            before = runs(program, binaries[key], tests)
            with tempfile.TemporaryDirectory() as folder:
                wrong = text.replace(place, change)
                after = runs(program, binary_of(build, folder, source, wrong, program, *compiled, whole=whole), tests)
            if before and not after:
                break
        bad += not before or after
        print(f"{name:14} {row:44} {tests:52} unchanged: {'passes' if before else 'FAILS'}; changed: {'PASSES' if after else 'fails'}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
