"""tune from outside: flags, JSON, T1 and T4, the cache, interrupts."""

import json
import os
import pty
import re
import signal
import subprocess
import threading
import time
import unittest

from check_schema import checked
from examples_test import command_of
from program import PROGRAM, ROOT, Case

SAXPY = (os.path.join(ROOT, "examples", "saxpy.cu"), "--arg", "n=1048576", "--problem", "1048576")
KERNEL = """__kernel void scale(__global const float* in, __global float* out, int n) {
#if W == 3
#error three is not supported
#endif
  int i = get_global_id(0);
  float s = 0;
  for (int k = 0; k < W; ++k) s += in[(i * W + k) % n];
  if (i < n) out[i] = s;
}
"""
T1 = """{"ConfigurationSpace": {"TuningParameters": [
  {"Name": "block_size_x", "Type": "int", "Values": "[2**i for i in range(5, 12)]"}, {"Name": "W", "Type": "int", "Values": [1, 2]}],
  "Conditions": [{"Expression": "block_size_x <= 512 or W == 1", "Parameters": ["block_size_x", "W"]}]},
 "KernelSpecification": {"Language": "OpenCL", "KernelName": "scale", "KernelFile": "k.cl", "ProblemSize": [65536],
  "LocalSize": {"X": "block_size_x", "Y": "1", "Z": "1"}, "SharedMemory": 0, "Arguments": [
  {"Name": "in", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0]"},
  {"Name": "out", "Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0]"},
  {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 65536}]}}
"""


ROWS = """__global__ void rows(const int* length, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0;
  for (int k = 0; k < length[i]; ++k) s += in[i + k];
  out[i] = s;
}
"""


def processor_seconds(pid):
    """Of all threads of a process; 0 once it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Search:
    """A search whose progress a terminal shows: tests wait for configurations, not for seconds."""

    def __init__(self, *args, whole=False):
        if not whole:
            args = (args[0], "--device", "v100", "--problem", "65536", "--block", "64", *args[1:])
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [PROGRAM, "tune", *args, "--no-cache", "--jobs", "1"], stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=ROOT)  # fmt: skip
        os.close(theirs)
        self.shown, self.over = "", False
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        """All that the terminal is sent, so that the program never waits for it."""
        while True:
            try:
                more = os.read(self.terminal, 4096)
            except OSError:  # the program has ended
                more = b""
            with self.changed:
                self.shown += more.decode(errors="replace")
                self.over = not more
                self.changed.notify_all()
            if not more:
                return

    def wait_for(self, configurations):
        def enough():
            done = [int(n) for n in re.findall(r"\] (\d+) of \d+,", self.shown)]
            return done and done[-1] >= configurations

        with self.changed:
            self.changed.wait_for(lambda: enough() or self.over, 300)
            if not enough():
                self.process.kill()
                raise AssertionError("no progress: " + self.shown)

    def end(self, case, sent):
        self.process.send_signal(sent)
        out, _ = self.process.communicate(timeout=300)
        case.assertEqual(self.process.returncode, 130, self.shown)
        return out


class Tune(Case):
    def setUp(self):
        super().setUp()
        self.kernel = self.path("k.cl", KERNEL)

    def tune(self, *args, status=0):
        result = self.run_program("tune", *args, "--format", "json", "--cache", self.path("cache"))
        self.assertEqual(result.returncode, status, result.stderr)
        return checked(result.stdout, "tune")

    def test_launches(self):
        j = self.tune(*SAXPY, "--device", "v100,gtx280", "--block", "32..1024:*2", "--portable", "--top", "3")
        self.assertEqual([b["device"] for b in j["best"]], ["nvidia-tesla-v100-pcie-16gb"] * 3 + ["nvidia-geforce-gtx-280"] * 3)
        self.assertEqual(j["evaluated"], 6 + 5)  # GTX 280: at most 512 threads
        (refused,) = j["infeasible"]
        self.assertEqual(refused["params"], {"block_x": 1024})
        self.assertIn("1024 threads in a block", refused["reason"])
        for b in j["best"]:
            self.assertEqual(b["grid"], [-(-1048576 // b["block"][0]), 1, 1])
            self.assertLess(b["interval_s"][0], b["time_s"])
        self.assertLessEqual(j["portable"][0]["params"]["block_x"], 512)

    def test_counts_of_execution_are_those_of_predict(self):
        kernel = self.path("rows.cu", ROWS)
        common = (kernel, "--device", "v100", "--arg", "n=4096", "--buffer", "length=4096:uniform(0,200)", "--buffer",
                  "in=8192", "--buffer", "out=4096")
        space = ("--block", "64..512:*2", "--problem", "4096", "--top", "2")
        closed = self.tune(*common, *space)
        self.assertEqual({b["counts_method"] for b in closed["best"]}, {"symbolic"})
        self.assertEqual(closed["devices"][0]["recounted"], 0)
        for counts, method in (("auto", "mixed"), ("executed", "executed")):
            j = self.tune(*common, *space, "--counts", counts, "--sample", "all")
            self.assertGreaterEqual(j["devices"][0]["recounted"], 2)
            for b in j["best"]:
                self.assertEqual(b["counts_method"], method)
                self.assertGreater(b["time_s"], closed["best"][-1]["time_s"])  # about 100 rounds, where 16 were assumed
                forecast = self.run_program("predict", *common, "--block", str(b["block"][0]), "--grid", str(b["grid"][0]),
                                            "--counts", counts, "--sample", "all", "--format", "json")
                predicted = checked(forecast.stdout, "predict")["predictions"][0]
                self.assertAlmostEqual(b["time_s"], predicted["time_s"], delta=1e-6 * b["time_s"])

    def test_what_writes_nothing_is_not_the_fastest(self):
        kernel = self.path("idle.cu", """__global__ void k(const int* flag, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockDim.x == 64 && flag[0] == 0) return;
  if (i < n) y[i] = 1;
}""")
        j = self.tune(kernel, "--device", "v100", "--arg", "n=65536", "--buffer", "flag=16:zero", "--buffer", "y=65536", "--block", "{64,128}",
                      "--problem", "65536", "--counts", "executed", "--sample", "all")
        self.assertEqual([b["block"][0] for b in j["best"]], [128])
        self.assertRegex(json.dumps(j), "no thread that was counted gets to a store")

    def test_counts_that_cannot_be(self):
        for flags, text in (
            (("--counts", "guess"), "--counts guess: expected auto, symbolic or executed"),
            (("--counts", "auto", "--portable"), "--portable compares closed forms only"),
            (("--counts", "executed", "--as-printed", "--model", "ske"), "--as-printed knows closed forms only"),
        ):
            r = self.run_program("tune", *SAXPY, "--device", "v100", "--block", "64,128", *flags)
            self.assertEqual(r.returncode, 2)
            self.assertIn(text, r.stderr)

    def test_the_times_are_those_of_predict(self):
        best = self.tune(*SAXPY, "--device", "v100", "--block", "32..1024:*2")["best"]
        for b in best[:2]:
            args = ["predict", *SAXPY[:3], "--device", "v100", "--grid", str(b["grid"][0]), "--block", str(b["block"][0]), "--format", "json"]
            (p,) = json.loads(self.good(*args))["predictions"]
            self.assertEqual(p["time_s"], b["time_s"])
            self.assertEqual(p["limiter"], b["limiter"])

    def test_variants_are_kept_between_runs(self):
        args = (self.kernel, "--device", "v100", "--problem", "65536", "--block", "{64,128}", "--param", "W=1..4", "--arg", "n=65536")
        first = self.tune(*args)
        self.assertEqual(first["analyses"]["compiled"], 4)
        self.assertEqual(first["evaluated"], 6)
        self.assertIn("three is not supported", next(r["reason"] for r in first["infeasible"] if r["kind"] == "source"))
        second = self.tune(*args)
        self.assertEqual(second["analyses"]["compiled"], 1)  # the one that fails
        self.assertEqual(second["best"], first["best"])

    def test_what_is_the_same_after_preprocessing_is_compiled_once(self):
        # V counts where W is 1; X stands only where nothing reads it.
        self.kernel = self.path("k.cl", """#define SKIPPED(x) 1
__kernel void scale(__global const float* in, __global float* out, int n) {
  int i = get_global_id(0);
  float s = 0;
#if W == 1
  for (int k = 0; k < V; ++k)
#endif
  s += in[(i * W) % n] * SKIPPED(X);  // X
  if (i < n) out[i] = s;
}
""")
        space = ("--device", "v100", "--arg", "n=65536", "--problem", "65536", "--block", "X,1,1", "--top", "all", "--counts", "symbolic", "--jobs", "1")
        j = self.tune(self.kernel, *space, "--param", "W=1,2", "--param", "V=1,2,3", "--param", "X=64,128")
        self.assertEqual(j["analyses"]["compiled"], 3 + 1)
        self.assertEqual(j["analyses"]["same_after_preprocessing"], 12 - 4)
        self.assertEqual(len(j["best"]), 12)
        for b in j["best"]:  # each by itself
            values = [f for name, value in b["params"].items() for f in ("--param", f"{name}={value}")]
            result = self.run_program("tune", self.kernel, *space, *values, "--format", "json", "--no-cache")
            alone = checked(result.stdout, "tune")
            self.assertEqual(alone["analyses"]["same_after_preprocessing"], 0)
            (same,) = alone["best"]
            for key in ("time_s", "resources", "bounds", "block", "grid"):
                self.assertEqual(b.get(key), same.get(key), key)
        again = self.tune(self.kernel, *space, "--param", "W=1,2", "--param", "V=1,2,3", "--param", "X=64,128")
        self.assertEqual(again["analyses"]["compiled"], 0)
        self.assertEqual(again["best"], j["best"])

    def test_a_t1_file_is_taken_unchanged(self):
        space = self.path("k.t1.json", T1)
        j = self.tune(self.kernel, "--space", space, "--device", "v100", "--top", "all")
        self.assertEqual(j["space"]["combinations"], 14)
        self.assertEqual(j["space"]["configurations"], 7 + 5)
        self.assertEqual(j["evaluated"], 6 + 5)
        self.assertEqual({r["kind"] for r in j["infeasible"]}, {"constraint", "threads per block"})
        self.assertIn("grid_size_x=2048", next(b["defines"] for b in j["best"] if b["params"]["block_size_x"] == 32))

    def test_t4(self):
        t4 = json.loads(self.good("tune", *SAXPY, "--device", "gtx280", "--block", "32..1024:*2", "--format", "t4", "--no-cache"))
        self.assertEqual(t4["schema_version"], "1.0.0")
        ok = [r for r in t4["results"] if r["invalidity"] == "correct"]
        self.assertEqual(len(ok), 5)
        self.assertEqual(ok[0]["times"]["runtimes"], [ok[0]["measurements"][0]["value"]])
        self.assertEqual([r["invalidity"] for r in t4["results"][5:]], ["runtime"])

    def test_the_optimiser_finds_what_enumeration_finds(self):
        args = (self.kernel, "--device", "v100", "--problem", "65536", "--block", "32..1024:+32", "--param", "W=1,2,4,8", "--arg", "n=65536", "--top", "1")
        every = self.tune(*args)
        some = self.tune(*args, "--search", "optimise")
        self.assertEqual(some["best"][0]["time_s"], every["best"][0]["time_s"])
        self.assertEqual((every["complete"], some["complete"]), (True, False))

    def test_interrupted_it_shows_the_best_so_far(self):
        for sent in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(sent):
                search = Search(self.kernel, "--param", "W=4..4000", "--arg", "n=65536", "--format", "json")
                search.wait_for(2)
                out = search.end(self, sent)
                j = checked(out, "tune")
                self.assertTrue(j["interrupted"])
                self.assertGreaterEqual(j["evaluated"], 2)
                self.assertLess(j["evaluated"], 3997)
                self.assertEqual(len(j["best"]), min(10, j["evaluated"]))
                self.assertEqual(j["infeasible"], [])  # the variant that was compiled at the time is none of these

    def test_interrupted_on_a_busy_machine_it_shows_the_best_so_far(self):
        # Without a processor for longer than the program may need for its end.
        search = Search(self.kernel, "--param", "W=4..4000", "--arg", "n=65536", "--format", "json")
        search.wait_for(1)
        search.process.send_signal(signal.SIGINT)
        time.sleep(0.1)  # most often enough for the handler to run and too little for the end
        search.process.send_signal(signal.SIGSTOP)
        time.sleep(4)
        j = checked(search.end(self, signal.SIGCONT), "tune")
        self.assertTrue(j["interrupted"])
        self.assertGreaterEqual(len(j["best"]), 1)

    def test_interrupted_while_it_compiles_it_ends_soon(self):
        # Compilations for many devices, in two threads: none begins after the interrupt, and one that was under way
        # touches nothing of the search, which is over.
        args = ("examples/saxpy.cu", "--device", "all", "--problem", "1048576", "--block", "1..1024", "--tile", "1..500", "--arg", "n=1048576")
        for tenths in range(1, 9):
            process = subprocess.Popen([PROGRAM, "tune", *args, "--no-cache", "--jobs", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT)
            time.sleep(tenths / 10)
            before = processor_seconds(process.pid)
            spent = before
            process.send_signal(signal.SIGINT)
            while process.poll() is None:
                spent = max(spent, processor_seconds(process.pid))
                time.sleep(0.005)
            process.stderr.close()
            self.assertIn(process.returncode, (130, -signal.SIGINT))
            self.assertLess(spent - before, 2)  # of two threads

    def test_interrupted_it_evaluates_what_the_best_so_far_need(self):
        # Enough steps that the evaluation looks for interrupts.
        size = '"len([k for k in range(20000)]) // 20000 * block_size_x"'
        text = T1.replace('"X": "block_size_x"', f'"X": {size}').replace("[1, 2]", str(list(range(100, 200)))).replace("range(5, 12)", "range(6, 7)")
        search = Search(self.kernel, "--device", "v100", "--space", self.path("space.json", text), "--format", "json", whole=True)
        search.wait_for(1)
        j = checked(search.end(self, signal.SIGINT), "tune")
        self.assertTrue(j["interrupted"])
        self.assertGreaterEqual(len(j["best"]), 1)

    def test_an_assembler_is_asked_and_what_is_kept_without_it_is_not_taken_for_its_answer(self):
        args = (self.kernel, "--device", "v100", "--problem", "65536", "--block", "64,{1,2}", "--param", "W=1,2", "--arg", "n=65536", "--cache", self.path("kept"))
        script = self.path("ptxas", "#!/bin/sh\necho it was asked\nexit 1\n")
        os.chmod(script, 0o755)
        texts = [self.good("tune", *args, *more) for more in ((), ("--ptxas", script), ("--ptxas", script), ())]
        self.assertEqual(["ptxas says: it was asked" in t for t in texts], [False, True, True, False])
        self.assertEqual(["analyses: 2," in t for t in texts], [True, True, False, False])
        self.bad(2, r"--ptxas /no/such/ptxas: there is no program", "tune", *args, "--ptxas", "/no/such/ptxas")

    def test_interrupted_where_nothing_can_run_it_says_so(self):
        broken = self.path("broken.cl", "__kernel void k(__global float* a) { a[W] = undeclared; }\n")
        search = Search(broken, "--param", "W=4..40000", "--max-variants", "100000")
        search.wait_for(1)
        out = search.end(self, signal.SIGINT)
        self.assertIn("interrupted: nothing that was tried can run", out)
        self.assertIn("undeclared", out)

    def test_an_argument_that_every_variant_wants_ends_the_search(self):
        args = (self.kernel, "--device", "v100", "--problem", "65536", "--block", "64", "--param", "W=4..4000", "--no-cache")
        begin = time.monotonic()
        self.bad(1, r'the value of parameter "n" .*: give --arg n=VALUE; the first 16 of 3997 variants all end so', "tune", *args)
        self.bad(1, r'has no parameter "m".*; the first 16 of 3997 variants', "tune", *args, "--arg", "n=65536", "--arg", "m=3")
        self.assertLess(time.monotonic() - begin, 20)  # all of them take a minute or more

    def test_a_loop_nest_needs_no_size(self):
        j = self.tune(os.path.join(ROOT, "examples", "matmul.c"), "--map", "i,j", "--device", "v100", "--block", "8..32:*2,{4,8}", "--arg", "n=1024")
        self.assertEqual(j["evaluated"], 6)
        for b in j["best"]:
            self.assertEqual([g * t for g, t in zip(b["grid"], b["block"])][:2], [1024, 1024])

    # The shape of SKE's published sweep, from a kernel that does what the paper's does.
    def test_ske_as_printed_sweeps_block_sizes(self):
        j = json.loads(self.good(*command_of(os.path.join(ROOT, "examples", "resize.cu")), "--top", "all", "--format", "json", "--no-cache"))
        checked(json.dumps(j), "tune")
        time_of = {b["block"][1]: b["time_s"] for b in j["best"]}
        self.assertEqual(min(time_of, key=time_of.get), 4)
        self.assertLess(time_of[12], min(time_of[11], time_of[13]))
        self.assertGreater(time_of[1], 2 * time_of[2])
        self.assertIn("threads per SM", [c["name"] for c in j["best"][0]["constraints"] if c["status"] == "active"])

    def test_ske_as_printed_ranks_plans_of_intra_prediction(self):
        j = json.loads(self.good(*command_of(os.path.join(ROOT, "examples", "intra_prediction.cu")), "--top", "all", "--format", "json", "--no-cache"))
        best = {}
        for b in j["best"]:
            best.setdefault(b["params"]["PLAN"], b)
        self.assertEqual(list(best), [1, 2, 3])
        self.assertEqual(best[2]["grid"][0] * best[2]["block"][0], 48000)

    def test_measured_on_opencl(self):
        buffers = [word for name in "abc" for word in ("--buffer", f"{name}=65536")]
        result = self.run_program("tune", os.path.join(ROOT, "examples", "matmul_tiled.cl"), "--device", "v100", "--problem", "256,256", "--block", "TILE,TILE",
                                  "--param", "TILE=8,16", "--arg", "n=256", *buffers, "--measure", "opencl", "--format", "json", "--no-cache")
        if "no OpenCL" in result.stderr:
            self.skipTest(result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)
        j = checked(result.stdout, "tune")
        self.assertEqual([r["rank"] for r in j["measured"]["runs"]], [1, 2])
        self.assertTrue(all(r["time_s"] > 0 for r in j["measured"]["runs"]))

    def test_text_names_what_limits_and_what_cannot_run(self):
        out = self.good("tune", *SAXPY, "--device", "gtx280", "--block", "32..1024:*2", "--no-cache")
        self.assertIn("the best is limited by", out)
        self.assertIn("1024 threads in a block", out)
        self.assertIn("cannot be told from the best", out)


if __name__ == "__main__":
    unittest.main()
