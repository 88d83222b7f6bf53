"""cmake --install into an empty folder; the copy finds its own device files and forecasts an installed example."""

import json
import os
import re
import subprocess
import tempfile
import unittest


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = folder.name
        command = [os.environ["KERNELCAST_CMAKE"], "--install", os.environ["KERNELCAST_BUILD"], "--prefix", self.prefix]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.share = os.path.join(self.prefix, "share", "kernelcast")

    def program(self, *args):
        path = os.path.join(self.prefix, "bin", "kernelcast")
        result = subprocess.run([path, *args], capture_output=True, text=True, check=False, cwd="/")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_files_are_where_people_look_for_them(self):
        for path in ("bin/kernelcast", "share/man/man1/kernelcast.1", "share/kernelcast/schema/predict.schema.json",
                     "share/kernelcast/devices/nvidia-geforce-gtx-280.toml", "share/kernelcast/devices/sources.toml"):
            self.assertTrue(os.path.isfile(os.path.join(self.prefix, path)), path)

    def test_device_files_are_its_own(self):
        shown = json.loads(self.program("devices", "gtx280", "--format", "json"))["devices"][0]["file"]
        shown = os.path.join("/", shown)  # relative to the working folder
        self.assertTrue(os.path.samefile(shown, os.path.join(self.share, "devices", "nvidia-geforce-gtx-280.toml")))
        self.assertTrue(os.path.realpath(shown).startswith(os.path.realpath(self.prefix)))

    def test_documents_link_to_installed_documents(self):
        folder = os.path.join(self.prefix, "share", "doc", "kernelcast")
        linked = 0
        for place, _, files in os.walk(folder):
            for name in (f for f in files if f.endswith(".md")):
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.S | re.M)
                for target in re.findall(r"\[[^\]\[]*\]\(([^)\s#]+)[^)\s]*\)", text):
                    if not re.match(r"[a-z]+:", target):
                        linked += 1
                        self.assertTrue(os.path.exists(os.path.join(place, target)), f"{os.path.join(place, name)}: {target}")
        self.assertGreater(linked, 100)
        for path in ("README.md", "LICENSE", "docs/guide.md", "docs/reference/python.md", "docs/pictures/report.png"):
            self.assertTrue(os.path.isfile(os.path.join(folder, path)), path)

    def test_it_forecasts(self):
        example = os.path.join(self.share, "examples", "saxpy.cu")
        text = self.program("predict", example, "--device", "v100", "--grid", "64", "--block", "256", "--arg", "n=16384")
        self.assertIn("limited by", text)

    def test_packages_of_missing_headers_are_named(self):
        """Without the folders of Clang's and C++'s headers, as on a machine where only the libraries are installed."""
        hide = "for d in /usr/lib/llvm-19/lib/clang /usr/include/c++; do mount -t tmpfs none $d || exit 77; done; exec \"$@\""
        source = os.path.join(self.share, "examples", "matmul_tiled.cl")
        done = subprocess.run(["unshare", "-m", "sh", "-c", hide, "sh", os.path.join(self.prefix, "bin", "kernelcast"), "predict", source, "--device",
                               "a100", "--global", "1024,1024", "--block", "16,16", "--arg", "n=1024"], capture_output=True, text=True, check=False)
        if done.returncode == 77 or "unshare failed" in done.stderr:
            self.skipTest("mounts are not permitted here")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the header 'opencl-c-base.h' was not found", done.stderr)
        self.assertIn("install libclang-common-19-dev and g++", done.stderr)

    def test_the_library_builds_an_outside_project(self):
        cmake, build = os.environ["KERNELCAST_CMAKE"], os.path.join(self.prefix, "outside")
        source = os.path.join(self.share, "examples", "library")
        for command in ([cmake, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_CXX_COMPILER=g++"],
                        [cmake, "--build", build]):
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stdout[-3000:] + result.stderr[-3000:])
        program, example = os.path.join(build, "compare_devices"), os.path.join(self.share, "examples", "saxpy.cu")
        shown = subprocess.run([program, example, "v100", "a100"], capture_output=True, text=True, check=False)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        told = self.program("predict", example, "--device", "v100", "--grid", "4096", "--block", "256", "--arg", "n=1048576",
                            "--format", "json")
        time_us = json.loads(told)["predictions"][0]["time_s"] * 1e6
        self.assertIn(f"V100 PCIe 16GB: saxpy takes {time_us:.3g} us, limited by dram_bandwidth", shown.stdout)
        self.assertIn("V100 PCIe 16GB: 2.1 MFLOP", shown.stdout)
        listed = subprocess.run([program], capture_output=True, text=True, check=False)
        self.assertEqual(listed.returncode, 2)
        self.assertIn("nvidia-tesla-v100-pcie-16gb", listed.stderr)
        wrong = subprocess.run([program, example, "v10"], capture_output=True, text=True, check=False)
        self.assertEqual(wrong.returncode, 1)
        self.assertIn('unknown device "v10"', wrong.stderr)
        self.assertNotIn("--", wrong.stderr)
        headers = os.listdir(os.path.join(self.prefix, "include", "kernelcast"))
        self.assertEqual(sorted(headers), ["error.h", "estimate.h", "forecast.h", "launch.h", "setting.h", "source.h", "units.h"])


if __name__ == "__main__":
    unittest.main()
