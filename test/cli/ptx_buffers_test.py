#!/usr/bin/env python3
"""Buffers of PTX: its parameters of 64 bits are pointers where something reads memory through them, and may be where nothing does."""
import os
import subprocess
import tempfile
import unittest

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 unread, .param .u32 n)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
"""


class Buffers(unittest.TestCase):
    def predict(self, *flags):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.ptx")
            with open(path, "w", encoding="utf-8") as file:
                file.write(TEXT)
            command = [os.environ["KERNELCAST"], "predict", path, "--device", "a100", "--grid", "1", "--block", "32", *flags]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_pointer_that_nothing_reads_may_be_given(self):
        done = self.predict("--buffer", "0=32", "--buffer", "1=32")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.predict("--buffer", "0=32", "--arg", "1=5").returncode, 0)

    def test_a_number_of_32_bits_is_no_buffer(self):
        done = self.predict("--buffer", "0=32", "--buffer", "2=32")
        self.assertEqual(done.returncode, 2)
        self.assertIn('no pointer parameter or array "n"', done.stderr)
        self.assertIn("out, unread", done.stderr)


if __name__ == "__main__":
    unittest.main()
