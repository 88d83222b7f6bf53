"""Running the built executable. Set KERNELCAST to its path."""

import os
import subprocess
import tempfile
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PROGRAM = os.environ["KERNELCAST"]
COPY = """__kernel void copy(__global const float* in, __global float* out, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = in[i];
}
"""


class Case(unittest.TestCase):
    """A folder of its own, and short ways to run the program in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, text=None):
        full = os.path.join(self.folder, name)
        if text is not None:
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        return full

    def board_with_energies(self):
        """GTX Titan with energies of this test's own: no file of ours has that of an instruction."""
        texts = []
        for name in ("sources.toml", "nvidia-geforce-gtx-titan.toml"):
            with open(os.path.join(ROOT, "devices", name), encoding="utf-8") as file:
                texts.append(file.read())
        self.path("sources.toml", texts[0] + 'invented = "values of a test, of no board"\n')
        energies = {"instruction_j": 5e-11, "dram_byte_j": 2e-10, "constant_w": 100}
        rows = "".join(f'{key} = {{ value = {value}, source = "invented" }}\n' for key, value in energies.items())
        return self.path("nvidia-geforce-gtx-titan.toml", f"{texts[1]}\n[energy]\n{rows}")

    def run_program(self, *args, text=None, env=None, **keywords):
        return subprocess.run(
            [PROGRAM, *args],
            input=text,
            capture_output=True,
            text=True,
            timeout=keywords.pop("timeout", 60),
            check=False,
            cwd=keywords.pop("cwd", ROOT),
            env={**os.environ, "XDG_CACHE_HOME": self.folder, **(env or {})},
            **keywords,
        )

    def good(self, *args, **keywords):
        result = self.run_program(*args, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def bad(self, status, regex, *args, **keywords):
        result = self.run_program(*args, **keywords)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, regex)
        return result.stderr
