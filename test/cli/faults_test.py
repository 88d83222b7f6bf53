"""Faults of the system, one at a time: whatever call on a file fails, the file is the old one or the whole new one, and a failure is said."""

import errno
import glob
import json
import os
import shutil
import stat
import subprocess
import tempfile
import unittest

from program import COPY, ROOT, Case

FAIL_CALL = os.path.join(ROOT, "test", "cli", "fail_call.c")
COMPILER = next((c for c in ("cc", "gcc", "clang", "clang-19") if shutil.which(c)), None)
OLD = "what was there before\n"
ERRORS = {
    "open": (errno.EINTR, errno.EACCES, errno.EMFILE, errno.ENOSPC),
    "read": (0, errno.EINTR, errno.EIO),
    "write": (0, errno.EINTR, errno.ENOSPC, errno.EIO),
    "close": (errno.EIO, errno.ENOSPC),
    "fchmod": (errno.EPERM,),
    "fstat": (errno.EIO,),
    "stat": (errno.EACCES,),
    "faccessat": (errno.EACCES,),
    "rename": (errno.ENOSPC, errno.EACCES),
}
LAUNCH = ("--device", "v100", "--grid", "16", "--block", "64", "--arg", "n=1024")


@unittest.skipUnless(COMPILER, "no C compiler")
class Faults(Case):
    @classmethod
    def setUpClass(cls):
        built = tempfile.TemporaryDirectory()
        cls.addClassCleanup(built.cleanup)
        cls.library = os.path.join(built.name, "fail_call.so")
        subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", cls.library, FAIL_CALL, "-ldl"], check=True)

    def faulty(self, call, nth, error, path, *args):
        """The result of a run whose nth such call on that path fails, and whether there was one."""
        mark = self.path("mark")
        if os.path.exists(mark):
            os.unlink(mark)
        env = {"LD_PRELOAD": self.library, "FAIL_CALL": f"{call}:{nth}:{error}", "FAIL_PATH": path, "FAIL_MARK": mark}
        return self.run_program(*args, env=env), os.path.exists(mark)

    def each(self, path, calls, judge, *args, most=12, prepare=lambda: None):
        """Calls prepare() before and judge(result) after every run with one fault on that path."""
        struck = 0
        for call in calls:
            for error in ERRORS[call]:
                for nth in range(1, most + 1):
                    prepare()
                    result, hit = self.faulty(call, nth, error, path, *args)
                    if not hit:
                        break
                    struck += 1
                    with self.subTest(call=call, nth=nth, error=errno.errorcode.get(error, "short")):
                        self.assertIn(result.returncode, (0, 1, 2), result.stderr)
                        self.assertNotIn("internal error", result.stderr)
                        if result.returncode != 0:
                            self.assertRegex(result.stderr, "^kernelcast: .*")
                        if error in (0, errno.EINTR):
                            self.assertEqual(result.returncode, 0, result.stderr)
                        judge(result)
        self.assertGreater(struck, 0, "no call was struck")

    def test_an_output_is_the_old_one_or_the_whole_new_one(self):
        out = self.path("out.json")
        args = ("predict", self.path("copy.cl", COPY), *LAUNCH, "--format", "json", "-o", out)
        self.good(*args)
        with open(out, encoding="utf-8") as file:
            whole = file.read()
        json.loads(whole)
        for old in (OLD, None):

            def restore():
                if old is not None:
                    self.path("out.json", old)
                    os.chmod(out, 0o640)
                elif os.path.exists(out):
                    os.unlink(out)

            def judge(result):
                text = None
                if os.path.exists(out):
                    with open(out, encoding="utf-8") as file:
                        text = file.read()
                    if old is not None:
                        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o640)
                self.assertEqual(glob.glob(out + ".*"), [])
                if result.returncode == 0:
                    self.assertEqual(text, whole)
                else:
                    self.assertEqual(text, old)
                    self.assertRegex(result.stderr, r"out\.json")

            calls = ("open", "write", "close", "rename", "stat", *(("fchmod", "faccessat") if old else ()))
            self.each("out.json", calls, judge, *args, prepare=restore)

    def reads(self, named, path, calls, *args, most=12):
        """A run with a fault gives the same answer as without, or names the file."""
        whole = self.good(*args)

        def judge(result):
            self.assertEqual(result.stdout, whole if result.returncode == 0 else "")
            if result.returncode != 0:
                self.assertRegex(result.stderr, named)

        self.each(path, calls, judge, *args, most=most)

    def test_an_input_that_cannot_be_read_is_named(self):
        args = ("predict", self.path("copy.cl", COPY), *LAUNCH, "--format", "json")
        self.reads(r"copy\.cl", "copy.cl", ("open", "read", "fstat"), *args)

    def test_an_included_header_that_cannot_be_read_is_named(self):
        self.path("part.h", "#define TWICE(x) (2 * (x))\n")
        source = self.path("twice.cu", '#include "part.h"\n__global__ void k(int* a) { a[threadIdx.x] = TWICE(a[threadIdx.x]); }\n')
        args = ("predict", source, "--device", "v100", "--grid", "16", "--block", "64", "--format", "json")
        self.reads(r"part\.h|TWICE", "part.h", ("open", "read", "fstat", "stat"), *args, most=6)

    def test_a_device_file_that_cannot_be_read_is_named(self):
        shutil.copytree(os.path.join(ROOT, "devices"), self.path("devices"))
        args = ("predict", self.path("copy.cl", COPY), *LAUNCH, "--format", "json", "--devices-dir", self.path("devices"))
        self.reads("v100", "v100-sxm2-16gb.toml", ("open", "read"), *args, most=4)

    def test_a_cache_is_never_damaged(self):
        cache = self.path("cache")
        args = ("tune", self.path("copy.cl", COPY), "--device", "v100", "--problem", "4096", "--arg", "n=4096", "--block", "32..128:*2", "--cache",
                cache)  # fmt: skip

        def table(text):  # all but the last line, which says what came from the cache and how long it took
            return text.splitlines()[:-1]

        best = table(self.good(*args))
        self.assertGreater(len(best), 3)

        def judge(result):
            self.assertEqual(table(result.stdout), best)
            self.assertEqual(glob.glob(os.path.join(cache, "**", "*.tmp"), recursive=True), [])
            self.assertEqual(table(self.good(*args)), best)

        for filled in (False, True):

            def prepare():
                shutil.rmtree(cache, ignore_errors=True)
                if filled:
                    self.good(*args)

            self.each(cache, ("read",) if filled else ("open", "write", "close", "rename"), judge, *args, most=3, prepare=prepare)

    def test_an_assembler_that_cannot_be_run_is_said(self):
        script = self.path("ptxas", "#!/bin/sh\nexit 1\n")
        os.chmod(script, 0o755)
        source = self.path("k.cu", "__global__ void k(int* a) { a[threadIdx.x] = 1; }\n")
        args = ("predict", source, "--device", "v100", "--grid", "16", "--block", "64", "--ptxas", script)
        for call, error in (("posix_spawn", errno.EAGAIN), ("posix_spawn", errno.ENOMEM), ("mkdtemp", errno.ENOSPC), ("mkdtemp", errno.EMFILE)):
            with self.subTest(call=call, error=errno.errorcode[error]):
                result, hit = self.faulty(call, 1, error, "", *args)
                self.assertTrue(hit)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"{os.strerror(error)}", result.stdout)  # in the assumptions: counts of PTX in place of machine code's


if __name__ == "__main__":
    unittest.main()
