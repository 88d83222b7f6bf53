"""tools/compiler_explorer.py: the answer has the shape that Compiler Explorer's tool pane reads."""
import json
import os
import subprocess
import sys
import unittest

from program import PROGRAM, ROOT

SAXPY = os.path.join(ROOT, "examples", "saxpy.cu")


def asked(*words):
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "compiler_explorer.py"), *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "KERNELCAST": PROGRAM})
    return done.returncode, json.loads(done.stdout)


class CompilerExplorer(unittest.TestCase):
    def test_lines_of_the_source_have_their_share(self):
        status, value = asked(SAXPY, "--device", "a100,v100", "--grid", "4096", "--block", "256", "--arg", "n=1048576")
        self.assertEqual((status, value["code"], value["stderr"]), (0, 0, []))
        self.assertEqual(len(value["text"].split("\n")), 2)
        self.assertRegex(value["text"], r"nvidia-a100-pcie-40gb: [\d.]+ us, limited by dram")
        with open(SAXPY, encoding="utf-8") as file:
            source = file.read().split("\n")
        lines = [a for a in value["asm"] if a["source"]]
        self.assertTrue(lines)
        for a in lines:
            self.assertIsNone(a["source"]["file"])
            self.assertRegex(source[a["source"]["line"] - 1], r"\S")

    def test_errors_are_the_program_s(self):
        status, value = asked(SAXPY, "--device", "a1000000", "--grid", "1", "--block", "32")
        self.assertEqual((status, value["code"], value["asm"]), (value["code"], status, []))
        self.assertNotEqual(status, 0)
        self.assertRegex(value["stderr"][0]["text"], "a1000000")
        self.assertEqual(asked()[0], 2)


if __name__ == "__main__":
    unittest.main()
