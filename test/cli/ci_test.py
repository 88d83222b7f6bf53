"""ci/: the script, and the steps of the GitHub action and the GitLab template as their runners start them."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

from check_schema import checked
from program import COPY, PROGRAM, Case

ROOT = Path(__file__).resolve().parents[2]
SLOW = COPY.replace("out[i] = in[i]", "out[i] = in[i] + in[(i * 32 + 524288) % n]")
PLAN = "# kernels\n\ncopy.cl --device a100 --global 1048576 --block 256 --arg n=1048576\n"


class ContinuousIntegration(Case):
    def setUp(self):
        super().setUp()
        self.tree = Path(self.path("copy.cl", COPY)).parent
        (self.tree / ".kernelcast").write_text(PLAN)
        self.git("init", "-q", "-b", "main")
        self.git("add", "copy.cl", ".kernelcast")
        self.git("commit", "-qm", "copy")
        self.environment = {**os.environ, "KERNELCAST": PROGRAM}

    def git(self, *args):
        subprocess.run(["git", "-C", str(self.tree), "-c", "user.name=t", "-c", "user.email=t@example.org", *args], check=True,
                       stdout=subprocess.DEVNULL)

    def change(self, text):
        (self.tree / "copy.cl").write_text(text)

    def run_script(self, *args):
        return subprocess.run([str(ROOT / "ci" / "check.sh"), *args], cwd=self.tree, env=self.environment, capture_output=True, text=True,
                              check=False)

    def test_nothing_changed(self):
        done = self.run_script("HEAD")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("No kernel of .kernelcast has changed.", done.stdout)

    def test_slower_and_as_fast(self):
        self.change(SLOW)
        done = self.run_script("HEAD")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("**fail**", done.stdout)
        self.assertIn("Nine in ten true ratios", done.stdout)
        self.change(COPY + "\n// a comment\n")
        done = self.run_script("HEAD")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("**pass**", done.stdout)

    def test_a_header_is_part_of_the_kernel(self):
        self.change('#include "work.h"\n' + COPY.replace("in[i]", "WORK"))
        (self.tree / "work.h").write_text("#define WORK in[i]\n")
        self.git("add", "copy.cl", "work.h")
        self.git("commit", "-qm", "header")
        (self.tree / "work.h").write_text("#define WORK in[i] + in[(i * 32 + 524288) % n]\n")
        done = self.run_script("HEAD")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("HEAD:copy.cl", done.stdout)

    def test_a_kernel_that_does_not_compile(self):
        self.change(COPY.replace("out[i]", "nothing[i]"))
        done = self.run_script("HEAD")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no forecast (status 1)", done.stdout)
        self.assertIn("copy.cl", done.stderr)

    def test_bad_revision_and_plan(self):
        self.assertIn("no-such-revision", self.run_script("no-such-revision").stderr)
        self.assertIn("no.plan cannot be read", self.run_script("HEAD", "no.plan").stderr)

    def test_steps_of_the_github_action(self):
        self.change(SLOW)
        text = (ROOT / "ci" / "github" / "action.yml").read_text()
        step = re.search(r"- name: Check\n.*?run: \|\n(.*)", text, re.S)[1]
        script = "\n".join(line[8:] for line in step.splitlines())
        script = script.replace("${{ inputs.base }}", "HEAD").replace("${{ inputs.plan }}", ".kernelcast")
        folder = self.tree / "bin"
        folder.mkdir()
        (folder / "kernelcast").symlink_to(PROGRAM)
        summary = self.tree / "summary.md"
        environment = {**self.environment, "GITHUB_ACTION_PATH": str(ROOT / "ci" / "github"), "GITHUB_STEP_SUMMARY": str(summary),
                       "PATH": f"{folder}:{os.environ['PATH']}"}
        environment.pop("KERNELCAST")
        done = subprocess.run(["bash", "-e", "-c", script], cwd=self.tree, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("**fail**", summary.read_text())

    def test_steps_of_the_gitlab_template(self):
        self.change(SLOW)
        text = (ROOT / "ci" / "gitlab" / "kernelcast.yml").read_text()
        steps = re.search(r"  script:\n((?:    - .*\n)+)", text)[1]
        script = "\n".join(line[6:] for line in steps.splitlines())
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        environment = {**self.environment, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "KERNELCAST_PLAN": ".kernelcast",
                       "KERNELCAST_CHECK": str(ROOT / "ci" / "check.sh")}
        done = subprocess.run(["sh", "-e", "-c", script], cwd=self.tree, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("**fail**", (self.tree / "kernelcast.md").read_text())

    PROGRAM_TEXT = """#include <cstdlib>
__global__ void scale(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += 2 * x[i]; }
__global__ void fill(float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 1; }
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * 4);
  cudaMalloc(&y, n * 4);
  fill<<<(n + 255) / 256, 256>>>(x, n);
  fill<<<(n + 255) / 256, 256>>>(y, n);
  for (int k = 0; k < 10; ++k) scale<<<(n + 255) / 256, 256>>>(x, y, n);
}
"""

    def check(self, *words):
        return subprocess.run([PROGRAM, "check", *words, "--device", "a100"], cwd=self.tree, capture_output=True, text=True, check=False)

    def test_all_changed_sources_of_a_folder(self):
        """Launches are found in the host code of both sides and matched by kernel; a file that cannot be compared is named and counts."""
        (self.tree / "sub").mkdir()
        (self.tree / "sub" / "scale.cu").write_text(self.PROGRAM_TEXT)
        self.git("add", "sub")
        self.git("commit", "-qm", "program")
        done = self.check(".", "--base-ref", "HEAD")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("no launch of a changed source is compared", done.stdout)
        (self.tree / "sub" / "scale.cu").write_text(self.PROGRAM_TEXT.replace("2 * x[i]", "2 * x[(i * 33L) % n]"))
        (self.tree / "sub" / "new.cu").write_text(self.PROGRAM_TEXT)
        self.git("add", "-N", "sub/new.cu")
        done = self.check(".", "--base-ref", "HEAD", "--format", "json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("sub/new.cu: not in HEAD", done.stderr)
        answer = checked(done.stdout, "check")
        self.assertEqual([(c["file"], c["kernel"], c["launch"], c["gate"]) for c in answer["checks"]],
                         [("sub/scale.cu", "fill", "4096,1,1/256,1,1", "pass"), ("sub/scale.cu", "scale", "4096,1,1/256,1,1", "fail")])
        self.assertEqual(answer["checks"][0]["ratio"], 1)
        done = self.check("sub/scale.cu", "--base-ref", "HEAD", "--argv", "4194304", "--format", "markdown")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stdout, r"(?s)A slowdown of \d+ % is detected.*\| sub/scale\.cu: scale .*16384,1,1/256,1,1.*\*\*fail\*\*")
        sarif = json.loads(self.check(".", "--base-ref", "HEAD", "--format", "sarif").stdout)["runs"][0]["results"]
        self.assertEqual([r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in sarif], ["sub/scale.cu"])
        accepted = ("--accepted", "accepted")
        self.assertEqual(self.check(".", "--base-ref", "HEAD", *accepted, "--accept").returncode, 0)
        self.assertIn("sub/scale.cu: scale", (self.tree / "accepted").read_text())
        self.change(SLOW)  # OpenCL's launches are not in the source
        done = self.check(".", "--base-ref", "HEAD", *accepted)
        self.assertEqual(done.returncode, 1)
        self.assertIn("copy.cl: host code is read of CUDA and HIP only: give --global and --block", done.stderr)

    def test_kernels_of_a_folder_with_one_launch(self):
        self.change(SLOW)
        done = self.check(".", "--base-ref", "HEAD", "--global", "1048576", "--block", "256", "--arg", "n=1048576")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("copy.cl: copy", done.stdout)
        self.assertEqual(self.check(".").returncode, 2)
        self.assertIn("leave out flags that begin with --new-", self.check(".", "--base-ref", "HEAD", "--new-grid", "3").stderr)
        self.assertIn("no-such", self.check(".", "--base-ref", "no-such").stderr)
        done = self.check("n" * 5000, "--base-ref", "HEAD")
        self.assertIn(done.returncode, (1, 2))
        self.assertNotIn("internal error", done.stderr)

    def test_messages_of_base_ref(self):
        copy = str(self.tree / "copy.cl")
        launch = ["--device", "a100", "--global", "1048576", "--block", "256", "--arg", "n=1048576"]
        for arguments, expected in ((["check", copy, "--base-ref", "no-such", *launch], "no-such"),
                                    (["check", copy, "--base-ref", "--output=x", *launch], "base-ref"),
                                    (["check", copy, copy, "--base-ref", "HEAD", *launch], "give one file"),
                                    (["check", copy, *launch], "--base-ref")):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (1, 2))
            self.assertIn(expected, done.stderr)
        self.assertFalse((self.tree / "x").exists())


if __name__ == "__main__":
    unittest.main()
