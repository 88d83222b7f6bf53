"""cpack -G DEB: the package's dependencies are the distribution's, its program works where it is unpacked, its scripts complete."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = os.environ["KERNELCAST_BUILD"]


def run(*command, **keywords):
    return subprocess.run(command, capture_output=True, text=True, check=True, **keywords).stdout


@unittest.skipUnless(all(shutil.which(p) for p in ("cpack", "dpkg-deb", "dpkg-shlibdeps")), "needs cpack, dpkg-deb and dpkg-shlibdeps")
class Deb(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        run("cpack", "-G", "DEB", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B", cls.folder.name, cwd=BUILD)
        (cls.package,) = Path(cls.folder.name).glob("*.deb")
        cls.root = Path(cls.folder.name) / "root"
        run("dpkg-deb", "-x", str(cls.package), str(cls.root))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_depends_on_packages_of_the_distribution(self):
        depends = run("dpkg-deb", "-f", str(self.package), "Depends")
        names = [re.split(r"[ (|]", d.strip())[0] for d in depends.split(",")]
        choices = {re.split(r"[ (|]", d.strip())[0]: d for d in depends.split(",") if "|" in d}
        for name in ("libllvm19", "libclang-common-19-dev", "libstdc++-12-dev", "libc6-dev"):
            self.assertIn(name, names)
        for name in (n for n in names if n not in choices):
            self.assertEqual(run("dpkg-query", "-W", "-f", "${db:Status-Status}", name), "installed", name)
        self.assertEqual(choices["libstdc++-12-dev"].strip(), "libstdc++-12-dev | libstdc++-dev")

    def test_the_program_works_where_it_is(self):
        share = self.root / "usr" / "share" / "kernelcast"
        text = run(str(self.root / "usr" / "bin" / "kernelcast"), "predict", str(share / "examples" / "saxpy.cu"), "--device", "v100", "--grid",
                   "64", "--block", "256", "--arg", "n=16384", cwd="/")
        self.assertIn("limited by", text)
        self.assertFalse(list(self.root.rglob("*.a")), "static libraries are for developers")

    def test_completion(self):
        script = self.root / "usr" / "share" / "bash-completion" / "completions" / "kernelcast"

        def completed(*words):
            command = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _kernelcast; echo ${{COMPREPLY[@]}}"
            return run("bash", "-c", command).split()

        self.assertEqual(completed("kernelcast", "pre"), ["predict"])
        self.assertIn("--device", completed("kernelcast", "predict", "--dev"))
        self.assertEqual(completed("kernelcast", "predict", "--format", "j"), ["json"])
        self.assertEqual(completed("kernelcast", "predict", "--grid", "4"), [])
        for shell, path in (("zsh", "zsh/vendor-completions/_kernelcast"), ("fish", "fish/vendor_completions.d/kernelcast.fish")):
            file = self.root / "usr" / "share" / path
            words = shlex.split(file.read_text(), comments=True)  # quotes are closed
            self.assertTrue([w for w in words if w.startswith("predict")], shell)
            self.assertTrue([w for w in words if "NVIDIA's assembler as the source of registers" in w], shell)
            if shutil.which(shell):
                run(shell, "-n", str(file))


@unittest.skipUnless(shutil.which("cpack") and shutil.which("git"), "needs cpack and git")
class Sources(unittest.TestCase):
    def test_the_tarball_has_every_file_and_nothing_that_was_built(self):
        root = Path(__file__).resolve().parents[2]
        listed = subprocess.run(["git", "-C", str(root), "ls-files"], capture_output=True, text=True, check=False)
        if listed.returncode:
            self.skipTest("the sources are not in a git repository")
        with tempfile.TemporaryDirectory() as folder:
            run("cpack", "-G", "TGZ", "--config", os.path.join(BUILD, "CPackSourceConfig.cmake"), "-B", folder, cwd=BUILD)
            (package,) = Path(folder).glob("*.tar.gz")
            names = run("tar", "tzf", str(package)).split("\n")
        top = package.name.removesuffix(".tar.gz") + "/"
        self.assertRegex(top, r"^kernelcast-\d+\.\d+\.\d+/$")
        self.assertEqual([n for n in names if n and not n.startswith(top)], [])
        packed = {n.removeprefix(top) for n in names if not n.endswith("/")}
        self.assertEqual(set(listed.stdout.split()) - packed, set())
        self.assertEqual([n for n in packed if re.match(r"\.git(/|$)|build[^/]*/|.*__pycache__", n)], [])


if __name__ == "__main__":
    unittest.main()
