"""--restrict-includes: what a source names outside of the folders is not there, by whatever way it is named."""

import os
import unittest

from program import Case

LAUNCH = ("--device", "v100", "--grid", "4", "--block", "64")
SECRET = "root:x:0:0:the secret line:/root\n"


class RestrictedIncludes(Case):
    def setUp(self):
        super().setUp()
        for name in ("in", "in/sub", "out"):
            os.mkdir(self.path(name))
        self.secret = self.path("out/secret", SECRET)
        self.restricted = ("--restrict-includes", self.path("in"))

    def kernel(self, text, name="in/k.cu"):
        return self.path(name, text + "\n__global__ void k(int* a) { a[threadIdx.x] = ONE; }\n")

    def hidden(self, source, *args):
        for command in ("predict", "explain"):
            result = self.run_program(command, source, *LAUNCH, *self.restricted, *args)
            self.assertNotIn("secret line", result.stdout + result.stderr)
        return result

    def test_without_the_flag_lines_are_shown(self):
        source = self.kernel(f'#include "{self.secret}"')
        self.assertIn("secret line", self.run_program("predict", source, *LAUNCH).stderr)

    def test_an_absolute_name(self):
        result = self.hidden(self.kernel(f'#include "{self.secret}"'))
        self.assertIn("was not found in the folders of --restrict-includes", result.stderr)

    def test_dots_and_links(self):
        os.symlink(self.secret, self.path("in/link.h"))
        os.symlink(self.path("out"), self.path("in/folder"))
        for name in ("../out/secret", "sub/../../out/secret", "link.h", "folder/secret", "/usr/include/../.." + self.secret):
            with self.subTest(name):
                self.hidden(self.kernel(f'#include "{name}"'))
        self.path("out/one.h", "#define ONE 1\n")
        source = self.kernel('#include "one.h"')
        self.good("predict", source, *LAUNCH, "-I", self.path("out"))
        self.assertEqual(self.hidden(source, "-I", self.path("out")).returncode, 1)

    def test_whether_a_file_exists_is_not_told(self):
        text = "#if __has_include(\"{}\")\n#error it exists\n#endif\n#define ONE 1"
        result = self.run_program("predict", self.kernel(text.format(self.secret)), *LAUNCH, *self.restricted)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = self.run_program("predict", self.kernel(text.format(self.secret)), *LAUNCH)
        self.assertIn("it exists", result.stderr)

    def test_a_line_directive(self):
        source = self.path("in/k.cu", f'#line 1 "{self.secret}"\n__global__ void k(int* a) {{ a[threadIdx.x] = a[threadIdx.x + 1]; }}\n')
        self.assertEqual(self.hidden(source).returncode, 0)

    def test_bodies_beside_the_source(self):
        os.symlink(self.path("out/body.cu"), self.path("in/body.cu"))
        self.path("out/body.cu", "__device__ int secret_body(int x) { return x; }\n")
        source = self.path("in/k.cu", "__device__ int secret_body(int);\n__global__ void k(int* a) { a[threadIdx.x] = secret_body(3); }\n")
        self.assertEqual(self.run_program("predict", source, *LAUNCH).returncode, 0)
        self.assertNotEqual(self.run_program("predict", source, *LAUNCH, *self.restricted).returncode, 0)

    def test_what_lies_within_is_read(self):
        self.path("in/sub/part.h", "#define ONE 1\n")
        self.path("out/other.h", "#define TWO 2\n")
        source = self.path("in/k.cu", '#include <stdint.h>\n#include <vector>\n#include "sub/part.h"\n#include "other.h"\n'
                           "__global__ void k(int32_t* a) { a[threadIdx.x] = ONE + TWO; }\n")  # fmt: skip
        self.good("predict", source, *LAUNCH, "-I", self.path("out"), *self.restricted, "--restrict-includes", self.path("out"))
        nest = self.path("in/nest.c", "#include <math.h>\nvoid k(float* a, int n) { for (int i = 0; i < n; ++i) a[i] = sqrtf(a[i]); }\n")
        self.good("predict", nest, "--map", "i", "--device", "v100", "--block", "64", "--arg", "n=64", *self.restricted)

    def test_compilers_that_read_files_themselves(self):
        source = self.kernel("#define ONE 1")
        self.bad(2, "leave out --restrict-includes", "predict", source, *LAUNCH, *self.restricted, "--nvrtc", self.path("none.so"))


if __name__ == "__main__":
    unittest.main()
