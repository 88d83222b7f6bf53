"""Hostile inputs: each ends soon, with one message, within its limits of memory, and leaves nothing behind."""

import gzip
import json
import os
import resource
import signal
import subprocess
import time
import unittest

from program import COPY, PROGRAM, ROOT, Case

TUNE = ("--device", "v100", "--problem", "4096", "--arg", "n=4096")


def t1(values="[32, 64]", condition="x > 0"):
    """A space in Kernel Tuner's format."""
    return json.dumps({
        "ConfigurationSpace": {"TuningParameters": [{"Name": "x", "Type": "int", "Values": values}],
                               "Conditions": [{"Expression": condition, "Parameters": ["x"]}]},
        "KernelSpecification": {"Language": "OpenCL", "KernelName": "copy", "KernelFile": "copy.cl", "ProblemSize": [4096],
                                "LocalSize": {"X": "x", "Y": "1", "Z": "1"}, "Arguments": []}})  # fmt: skip


def small_memory():
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


class Limits(Case):
    def copy(self):
        return self.path("copy.cl", COPY)

    def within(self, seconds, *args, **keywords):
        """Standard error and status of a run that must be over by then."""
        start = time.monotonic()
        result = self.run_program(*args, timeout=4 * seconds, **keywords)
        self.assertLess(time.monotonic() - start, seconds)
        self.assertNotIn("internal error", result.stderr)
        self.assertLess(len(result.stderr), 2000)
        return result

    def refused(self, regex, *args, seconds=20, **keywords):
        result = self.within(seconds, *args, **keywords)
        self.assertIn(result.returncode, (1, 2))
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, regex)

    def tuned(self, text):
        return ("tune", self.copy(), *TUNE, "--no-cache", "--space", self.path("space.json", text))

    def test_expressions(self):
        self.refused("more than 2000 operators", *self.tuned(t1(condition="+".join(["x"] * 40000))))
        self.refused("more than 2000 operators", "tune", self.copy(), *TUNE, "--block", "64", "--constraint", "+".join(["1"] * 30000))
        self.refused("write a shorter one", *self.tuned(t1(condition="all([all([y != x for y in range(1000000)]) for x in range(1000000)])")))
        self.refused("write a shorter one", *self.tuned(t1(values="[[[z for z in range(1000)] for y in range(1000)] for x in range(300)]")))

    def test_json(self):
        deep = "[" * 100000 + "]" * 100000
        self.refused("space.json:1: lists and objects nest deeper", *self.tuned('{"ConfigurationSpace": ' + deep + "}"))

    def test_tables(self):
        wide = ",".join(f"c{i}" for i in range(200000)) + "\n" + ",".join(["1"] * 200000) + "\n"
        args = ("--kernels", self.path("kernels.csv", "id,path\nk,k.cu\n"), "--sources", self.folder)
        self.refused("wide.csv:1: more than 1000 columns", "validate", self.path("wide.csv", wide), *args)
        bomb = self.path("bomb.csv.gz")
        with gzip.open(bomb, "wb", compresslevel=1) as file:
            for _ in range(600):
                file.write(b"1,2,3,4\n" * (1 << 17))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.refused("bomb.csv.gz: .*512", "validate", bomb, *args)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, max(before, 2 << 20))  # KiB

    def test_one_signal_ends_the_evaluation_of_expressions(self):
        # Each of the values takes most of the steps that an evaluation may have.
        text = t1(values="[x for x in range(1, 100000)]", condition="all([y < 1000000 for y in range(1000000)])")
        for sent in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([PROGRAM, *self.tuned(text)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                time.sleep(1)
                self.assertIsNone(process.poll())
                start = time.monotonic()
                process.send_signal(sent)
                process.communicate(timeout=10)
                self.assertLess(time.monotonic() - start, 1)
            self.assertEqual(process.returncode, 130)

    def test_pipes_that_nobody_writes_to(self):
        os.mkfifo(self.path("pipe.toml"))
        os.mkfifo(self.path("pipe.h"))
        launch = ("--grid", "4", "--block", "64", "--arg", "n=256")
        self.refused("pipe.toml: a pipe to which nothing was written", "predict", self.copy(), "--device", self.path("pipe.toml"), *launch)
        source = self.path("k.cl", '#include "pipe.h"\n' + COPY)
        self.refused("pipe.h", "predict", source, "--device", "v100", *launch)

    def test_an_assembler_that_hangs_ends_with_the_program(self):
        hanging = self.path("ptxas", f"#!/bin/sh\necho $$ > {self.folder}/pid\nexec sleep 600\n")
        os.chmod(hanging, 0o755)
        temporary = self.path("tmp")
        os.mkdir(temporary)
        for sent in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen(
                [PROGRAM, "predict", self.copy(), "--device", "v100", "--grid", "4", "--block", "64", "--arg", "n=256", "--ptxas", hanging],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": temporary},
            ) as process:  # fmt: skip
                deadline = time.monotonic() + 20
                while not os.path.exists(self.path("pid")) and time.monotonic() < deadline:
                    time.sleep(0.05)
                time.sleep(0.2)
                self.assertEqual(len(os.listdir(temporary)), 1)
                start = time.monotonic()
                process.send_signal(sent)
                process.wait(10)
                self.assertLess(time.monotonic() - start, 1)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(os.listdir(temporary), [])
            with open(self.path("pid"), encoding="utf-8") as file:
                child = int(file.read())
            time.sleep(0.2)
            try:
                with open(f"/proc/{child}/stat", encoding="utf-8") as file:
                    self.assertEqual(file.read().rsplit(")", 1)[1].split()[0], "Z")  # killed, and nobody has asked
            except FileNotFoundError:
                pass
            os.remove(self.path("pid"))

    def test_no_folder_for_temporary_files(self):
        false = self.path("ptxas", "#!/bin/sh\nexit 1\n")
        os.chmod(false, 0o755)
        result = self.within(20, "predict", self.copy(), "--device", "v100", "--grid", "4", "--block", "64", "--arg", "n=256", "--ptxas", false,
                             env={"TMPDIR": "/nonexistent"})  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("set TMPDIR", result.stdout)

    def test_a_cache_that_cannot_be_written(self):
        kernels = self.path("kernels.csv", "id,path,language,entry\nk,copy.cl,opencl,copy\n")
        self.copy()
        rows = self.path("rows.csv", "kernel_id,gpu,grid_x,block_x,args,time_ms\nk,NVIDIA V100,16,64,n=1024,0.01\n")
        self.path("file", "")
        result = self.within(20, "validate", rows, "--kernels", kernels, "--sources", self.folder, "--cache", self.path("file") + "/x")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "warning: --cache .*: analyses are not kept")

    def test_private_and_shared_arrays_beyond_all_memory(self):
        for name, declaration, bits in (("private", "", 28), ("private", "", 24), ("shared", "__shared__ ", 31), ("shared", "__shared__ ", 33)):
            body = f"__global__ void k(int* a) {{\n  {declaration}char s[1ull << {bits}];\n  for (int i = 0; i < a[0]; ++i) s[i * a[2]] = a[threadIdx.x];\n"
            source = self.path(f"{name}{bits}.cu", body + "  __syncthreads();\n  a[0] = s[a[5] & 255];\n}\n")
            for counts in ("auto", "executed"):
                start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
                result = self.within(30, "predict", source, "--device", "v100", "--grid", "4", "--block", "64", "--counts", counts, "--max-memory",
                                     "512M", "--buffer", "a=1024")  # fmt: skip
                self.assertIn(result.returncode, (0, 1, 2), result.stderr)
                if declaration:
                    self.assertNotEqual(result.returncode, 0)
                    self.assertRegex(result.stderr, "shared")
                self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, max(start, 2 << 20))  # KiB

    def test_shared_arrays_of_ptx_beyond_all_memory(self):
        for size in ((1 << 31) - 4, 1 << 31, 1 << 33):
            source = self.path("k.ptx", f""".version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a) {{
  .reg .b32 %r<7>;
  .reg .b64 %rd<2>;
  .shared .align 4 .b8 s[{size}];
  mov.u32 %r1, %tid.x;
  mov.u32 %r4, s;
  shl.b32 %r2, %r1, 2;
  add.u32 %r5, %r4, %r2;
  st.shared.u32 [%r5], %r1;
  bar.sync 0;
  xor.b32 %r6, %r2, 4;
  add.u32 %r6, %r6, %r4;
  ld.shared.u32 %r3, [%r6];
  ld.param.u64 %rd1, [a];
  st.global.u32 [%rd1], %r3;
  ret;
}}
""")
            launch = ("predict", source, "--device", "v100", "--grid", "1", "--block", "32", "--max-memory", "512M")
            self.refused(f"the shared memory of a block, in bytes, is {size}, but", *launch, "--counts", "symbolic")
            self.refused("--max-memory", *launch, "--counts", "executed")

    def test_eight_gigabytes_of_address_space(self):
        result = subprocess.run(
            [PROGRAM, "predict", os.path.join(ROOT, "examples", "spmv_csr.cu"), "--device", "v100", "--grid", "64", "--block", "256", "--arg",
             "rows=16384"],
            capture_output=True, text=True, check=False, preexec_fn=small_memory, timeout=60,
        )  # fmt: skip
        if result.returncode != 0:
            self.assertRegex(result.stderr, "ulimit -v")
        self.assertNotIn("internal error", result.stderr)
        self.assertNotEqual(result.returncode, 70)

    def test_one_processor(self):
        one = {next(iter(os.sched_getaffinity(0)))}
        result = subprocess.run(
            [PROGRAM, "tune", self.copy(), *TUNE, "--block", "32..256:*2", "--no-cache"],
            capture_output=True, text=True, check=False, preexec_fn=lambda: os.sched_setaffinity(0, one), timeout=60,
        )  # fmt: skip
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_what_sources_say_is_no_command_to_a_terminal(self):
        source = self.path("k.cu", '__global__ void k(int* a) __asm__("\\033[31mEVIL\\007");\n__global__ void k(int* a) { a[threadIdx.x] = 1; }\n')
        result = self.run_program("explain", source, "--device", "v100", "--grid", "1", "--block", "64")
        for stream in (result.stdout, result.stderr):
            self.assertNotRegex(stream, "[\x00-\x08\x0b-\x1f\x7f]")
        device = os.path.join(ROOT, "devices", "nvidia-tesla-v100-sxm2-16gb.toml")
        if os.path.exists(device):
            with open(device, encoding="utf-8") as file:
                text = file.read()
            name = next(line for line in text.splitlines() if line.startswith("name ="))
            evil = self.path("evil.toml", text.replace(name, 'name = "\\u001b[31mEVIL\\u009b"').replace('id = "', 'id = "x-', 1))
            for command in (("devices", evil), ("predict", self.copy(), "--device", evil, "--grid", "1", "--block", "64", "--arg", "n=64")):
                result = self.run_program(*command)
                for stream in (result.stdout, result.stderr):
                    self.assertNotRegex(stream, "[\x00-\x08\x0b-\x1f\x7f-\x9f]")


if __name__ == "__main__":
    unittest.main()
