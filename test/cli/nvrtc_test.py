"""--nvrtc against a made-up run-time compiler, and against NVIDIA's where there is one or KERNELCAST_NVRTC names it."""

import glob
import json
import os
import subprocess
import unittest

from check_schema import checked
from program import COPY, ROOT, Case

FAKE = os.path.join(ROOT, "test", "cli", "fake_nvrtc.c")
SCALE = """#ifndef REGISTERS
#define REGISTERS 40
#endif
#if REGISTERS > 0
#endif
extern "C" __global__ void scale(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 2 * a[i];
}
"""
TEMPLATE = "template <int N> __global__ void times(float* a) { a[threadIdx.x] *= N; }\n"
LAUNCH = ("--grid", "16", "--block", "64", "--arg", "n=1024")
TUNE = ("--problem", "65536", "--block", "64..1024:*2", "--arg", "n=65536")


class Nvrtc(Case):
    def setUp(self):
        super().setUp()
        self.library = self.built()
        self.source = self.path("scale.cu", SCALE)

    def built(self, *defines):
        out = self.path("libnvrtc" + "".join(defines) + ".so")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", out, *(f"-D{d}" for d in defines), FAKE], check=True)
        return out

    def explained(self, *args, source=None, launch=LAUNCH, **keywords):
        text = self.good("explain", source or self.source, "--device", "a100", *launch, *args, "--format", "json", **keywords)
        return checked(text, "explain")["explanations"][0]

    def test_registers_spills_and_shared_memory_are_its_own(self):
        ours = self.explained()
        theirs = self.explained("--nvrtc", self.library, "-D", "STACK=24", "-D", "SHARED=512")
        registers = theirs["registers"]
        self.assertEqual([registers[k] for k in ("per_thread", "low", "high", "method", "spill_bytes")], [40, 40, 40, "NVRTC 99.9", 24])
        self.assertNotEqual(ours["registers"]["method"], "NVRTC 99.9")
        self.assertEqual(theirs["shared"]["static_bytes"], 512)
        self.assertEqual(theirs["lines"], ours["lines"])  # counts stay ours
        text = self.good("explain", self.source, "--device", "a100", *LAUNCH, "--nvrtc", self.library)
        self.assertIn("registers  40 per thread by NVRTC 99.9\n", text)
        self.assertIn("(NVRTC 99.9)", self.good("predict", self.source, "--device", "a100", *LAUNCH, "--nvrtc", self.library))
        hopper = json.loads(self.good("explain", self.source, "--device", "h100", *LAUNCH, "--nvrtc", self.library, "-D", "SHARED=512", "--format", "json"))
        self.assertEqual(hopper["explanations"][0]["shared"]["static_bytes"], 512)  # without the system's kilobyte

    def test_the_assembler_counts_and_the_compiler_has_the_registers(self):
        script = self.path("ptxas", "#!/bin/sh\necho it was asked\nexit 1\n")
        os.chmod(script, 0o755)
        both = self.explained("--nvrtc", self.library, "--ptxas", script)
        self.assertEqual(both["registers"]["method"], "NVRTC 99.9")
        self.assertIn("it was asked", json.dumps(both))

    def test_it_is_given_what_the_user_gave(self):
        source = self.path("show.cu", "// SHOW\n" + TEMPLATE)
        launch = ("--grid", "16", "--block", "64", "--device", "a100")
        flags = ("-D", "A=1", "-D", "B", "-U", "C", "-I", self.folder, "--std", "gnu++17", "--use_fast_math")
        message = self.bad(1, "does not compile it", "predict", source, *launch, "--kernel", "times<3>", *flags, "--nvrtc", self.library)
        self.assertIn(f"--gpu-architecture=sm_80 -DA=1 -DB -UC -I{self.folder} --std=c++17 --use_fast_math of times<3>", message)

    def test_kernels_are_found_by_name(self):
        template = self.path("t.cu", TEMPLATE)
        launch = ("--grid", "16", "--block", "64")
        found = self.explained("--kernel", "times<3>", "--nvrtc", self.library, source=template, launch=launch)
        self.assertEqual(found["registers"]["method"], "NVRTC 99.9")
        # Static functions and unnamed namespaces are spelled differently by the two compilers.
        static = self.path("s.cu", "static __global__ void fill(float* a) { a[threadIdx.x] = 1; }\n")
        found = self.explained("-D", "SYMBOL=_Z4fillPf", "--nvrtc", self.library, source=static, launch=launch)
        self.assertEqual(found["registers"]["per_thread"], 40)
        predict = ("--device", "a100", *launch, "--nvrtc", self.library)
        self.bad(1, "NVRTC 99.9 made no code for fill", "predict", static, *predict, "-D", "SYMBOL=_Z5otherPf")
        self.bad(1, "NVRTC 99.9 does not say how many registers fill", "predict", static, *predict, "-D", "SYMBOL=_Z4fillPf", "-D", "REGISTERS=0")

    def test_a_library_that_cannot_be_used(self):
        for command in (["predict", self.source], ["explain", self.source], ["check", self.source, self.source]):
            self.bad(2, r"--nvrtc: /no/such\.so: cannot open", *command, "--device", "a100", *LAUNCH, "--nvrtc", "/no/such.so")
        self.bad(2, r"--nvrtc: /no/such\.so: cannot open", "tune", self.source, "--device", "a100", *TUNE, "--nvrtc", "/no/such.so")
        self.bad(2, r"the library has no nvrtcGetCUBIN, as NVRTC of CUDA 11\.2 and later has", "predict", self.source, "--device", "a100", *LAUNCH, "--nvrtc",
                 self.built("MISSING"))
        other = self.path("copy.cl", COPY)
        self.bad(2, r"--nvrtc .*takes CUDA C\+\+ alone, and .*copy\.cl", "predict", other, "--device", "a100", *LAUNCH, "--nvrtc", self.library)
        self.bad(2, r"takes CUDA C\+\+ alone", "tune", other, "--device", "a100", *TUNE, "--nvrtc", self.library)

    def test_a_source_that_it_refuses(self):
        host = self.path("host.cu", "#include <vector>\n" + SCALE)
        message = self.bad(1, r"--nvrtc: NVRTC 99\.9 does not compile it: \S*host\.cu\(2\): catastrophic error", "predict", host, "--device", "a100", *LAUNCH, "--nvrtc",
                           self.library)
        self.assertIn("note: it compiles device code alone", message)
        self.assertNotIn("warning", message)
        self.good("predict", host, "--device", "a100", *LAUNCH)

    def test_devices_out_of_its_reach_keep_the_estimate_and_say_so(self):
        for device, why in (("k20", "code of sm_35 cannot be read"), ("t4", "NVRTC 99.9 does not know sm_75")):
            text = self.good("explain", self.source, "--device", device, *LAUNCH, "--nvrtc", self.library)
            self.assertRegex(text, rf"NVIDIA's registers of scale: {why}.* = those of max-live estimate  \[--nvrtc\]")
        text = self.good("explain", self.source, "--device", "w6600", *LAUNCH, "--nvrtc", self.library)
        self.assertIn("by code generator", text)

    def tune(self, *args, **keywords):
        return checked(self.good("tune", self.source, "--device", "a100", *TUNE, *args, "--format", "json", **keywords), "tune")

    def test_tune_knows_what_fits(self):
        kept = self.path("kept")
        asked = self.path("asked", "")
        flags = ("--param", "REGISTERS=40,120", "--cache", kept)
        env = {"KERNELCAST_FAKE_NVRTC": asked}
        first = self.tune(*flags, "--nvrtc", self.library, env=env)
        with open(asked, encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 2)  # their optimised modules are the same, their registers are not
        self.assertEqual(first["devices"][0]["infeasible"], {"registers": 1})
        reasons = [r["reason"] for r in first["infeasible"]]
        self.assertEqual(reasons, ["1024 threads may have 64 registers each, the kernel needs 120 by NVRTC 99.9"])
        for best in first["best"]:
            self.assertEqual(best["probability_cannot_run"], 0)
        self.tune(*flags, "--nvrtc", self.library, env=env)
        with open(asked, encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 2)  # kept
        self.assertEqual(self.tune(*flags)["infeasible"], [])  # not taken for ours

    def test_tune_leaves_out_what_it_refuses(self):
        result = self.tune("--param", "REFUSE=0,1", "--nvrtc", self.library, "--no-cache")
        self.assertIn("NVRTC 99.9 does not compile it", json.dumps(result))
        self.assertEqual(result["devices"][0]["infeasible"], {"source": 5})
        self.bad(1, "--nvrtc: NVRTC 99.9 does not compile it", "tune", self.source, "--device", "a100", *TUNE, "--param", "REFUSE=1,2", "--no-cache", "--nvrtc", self.library)

    def test_validate_takes_its_registers(self):
        self.path("kernels.csv", "id,language,path,entry\nscale,cuda,scale.cu,scale\n")
        rows = self.path("rows.csv", "kernel_id,gpu,grid_x,block_x,args,time_ms\nscale,v100,16,64,n=1024,1\n")
        flags = ("--kernels", self.path("kernels.csv"), "--sources", self.folder, "--model", "kernelcast", "--nvrtc", self.library, "--format", "json")
        self.assertIn("NVRTC 99.9", self.good("validate", rows, *flags))


REAL = os.environ.get("KERNELCAST_NVRTC") or next(iter(sorted(glob.glob("/usr/local/cuda*/lib64/libnvrtc.so"))), None)


@unittest.skipUnless(REAL, "there is no libnvrtc.so")
class RealNvrtc(Case):
    def test_examples(self):
        for name, args in (("matmul_tiled", ("--arg", "n=1024")), ("stencil5", ("--arg", "width=512", "--arg", "height=512"))):
            text = self.good("explain", os.path.join(ROOT, "examples", name + ".cu"), "--device", "a100", "--grid", "32,32", "--block", "16,16", *args,
                             "--nvrtc", REAL)
            self.assertRegex(text, r"registers  \d+ per thread by NVRTC \d+\.\d")

    def test_templates_are_instantiated(self):
        source = self.path("t.cu", TEMPLATE)
        text = self.good("explain", source, "--kernel", "times<3>", "--device", "a100", "--grid", "16", "--block", "64", "--nvrtc", REAL)
        self.assertRegex(text, r"registers  \d+ per thread by NVRTC")


if __name__ == "__main__":
    unittest.main()
