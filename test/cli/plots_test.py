"""Pages of tune, offload and validate: their data are those of JSON, in a browser they are drawn."""

import json
import os
import unittest

import browser
from check_schema import checked
from program import ROOT, Case
from report_test import Tags

SPACE = ("tune", os.path.join(ROOT, "examples", "saxpy.cu"), "--arg", "n=1048576", "--problem", "1048576", "--block", "32..1024:*2", "--top", "all")
GESUMMV = os.path.join("examples", "offload", "gesummv.c")
OFFLOAD = ("offload", GESUMMV, "--cpu", "i7-6700k", "--role", "t=temp", "--arg", "n=2000")
ROWS = """kernel_id,gpu,grid_x,grid_y,block_x,block_y,args,buffers,time_ms,flags,problem
matmul_tiled,v100,64,64,16,16,n=1024,a=1048576,0.9,,n 1024
matmul_tiled,v100,32,32,16,16,n=512,a=262144,0.2,,n 512
matmul_tiled,v100,1,1,16,16,n=16,a=256,0.005,launch_overhead,n 16
matmul_tiled,mi100,64,64,16,16,n=1024,a=1048576,1.1,,n 1024
matmul_tiled,no such gpu,64,64,16,16,n=1024,a=1048576,1.1,,n 1024
</script><b>,v100,64,64,16,16,n=1024,a=1048576,1.1,,n 1024
"""
KERNELS = "id,language,path,entry,cache_state\nmatmul_tiled,opencl,matmul_tiled.cl,matmul_tiled,warm\n</script><b>,opencl,matmul_tiled.cl,matmul_tiled,warm\n"


class Plots(Case):
    def validate(self):
        return ("validate", self.path("rows.csv", ROWS), "--kernels", self.path("kernels.csv", KERNELS), "--sources", os.path.join(ROOT, "examples"))

    def page(self, *args):
        path = self.path("page.html")
        result = self.run_program(*args, "--format", "html", "-o", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, encoding="utf-8") as file:
            page = Tags(file.read())
        self.assertEqual(page.outside, [])
        self.assertEqual([a.get("type") for a, _ in page.scripts], ["application/json", None, None])
        return path, page.data()


class Data(Plots):
    def test_tune(self):
        _, data = self.page(*SPACE, "--device", "v100")
        plain = checked(self.good(*SPACE, "--device", "v100", "--format", "json"), "tune")
        self.assertEqual(data["best"], plain["best"])

    def test_offload(self):
        _, data = self.page(*OFFLOAD, "--gpu", "gtx1080")
        plain = checked(self.good(*OFFLOAD, "--gpu", "gtx1080", "--format", "json"), "offload")
        for key in ("cpu", "gpu", "break_even"):
            self.assertEqual(data[key], plain[key])

    def test_validate(self):
        _, data = self.page(*self.validate())
        plain = checked(self.good(*self.validate(), "--format", "json"), "validate")
        self.assertEqual(data["models"], plain["models"])
        self.assertEqual([r["measured_s"] for r in data["rows"]], [r["measured_s"] for r in plain["rows"]])
        for model in plain["models"]:
            self.assertEqual([r["times"][model]["time_s"] if model in r["times"] else None for r in data["rows"]], [r["models"][model]["time_s"] for r in plain["rows"]])

    def test_what_is_wrong_on_the_command_line(self):
        self.bad(2, "--format page: expected text, json or html", *self.validate(), "--format", "page")
        self.bad(2, "--format page: expected text, json or html", *OFFLOAD, "--gpu", "gtx1080", "--format", "page")
        self.bad(2, "--format page: expected text, json, t4 or html", *SPACE, "--device", "v100", "--format", "page")
        for args in (self.validate(), (*OFFLOAD, "--gpu", "gtx1080"), (*SPACE, "--device", "v100")):
            self.bad(1, "is a directory", *args, "--format", "html", "-o", self.folder)


@unittest.skipUnless(browser.find(), "no chromium")
class InABrowser(Plots):
    def drawn(self, *args, sections):
        path, _ = self.page(*args)
        with browser.Browser() as b:
            b.open(path)
            self.assertEqual((b.complaints, b.requests), ([], []))
            for name in sections:
                self.assertGreater(b.value(f"document.querySelector('#{name} .body').textContent.length"), 4, name)
            self.assertTrue(all(b.value("[...document.querySelectorAll('canvas')].map(c => c.toDataURL().length > 2000 && Boolean(c.getAttribute('aria-label')))")))
            self.assertNotRegex(b.value("document.body.innerText"), r"\b(NaN|undefined|null|\[object)")
            # Every choice can be taken.
            b.value("document.querySelectorAll('#controls select').forEach(s => { for (let i = 0; i < s.options.length; ++i) { s.selectedIndex = i; s.dispatchEvent(new Event('change')); } })")
            self.assertEqual(b.complaints, [])
            b.size(400, 800)
            b.open(path)
            self.assertLessEqual(b.value("document.documentElement.scrollWidth"), 400)
            return b.value("document.body.innerText")

    def test_tune(self):
        text = self.drawn(*SPACE, "--device", "v100,a100", sections=("best", "pareto", "refused"))
        self.assertIn("tied with the best", text)

    def test_tune_over_several_parameters(self):
        source = self.path("k.cl", "__kernel void k(__global const float* a, __global float* o, int n) {\n  int i = get_global_id(0);\n  float s = 0;\n"
                           "  for (int j = 0; j < W; ++j) s += a[j * n + i];\n  if (i < n) o[i] = s * V;\n}\n")
        self.drawn("tune", source, "--device", "v100", "--param", "W=1,2,4", "--param", "V=1,2", "--block", "32..1024:*2", "--problem", "65536", "--arg", "n=65536", "--top", "all",
                   sections=("best", "pareto", "heat", "parallel", "refused"))

    def test_offload(self):
        text = self.drawn(*OFFLOAD, "--gpu", "gtx1080", sections=("answer", "repetitions", "sizes", "assumptions"))
        even = json.loads(self.good(*OFFLOAD, "--gpu", "gtx1080", "--format", "json"))["break_even"]["repetitions"]
        self.assertIn(f"From {even:.3g} repetitions on" if even else "No number of repetitions", text)

    def test_offload_to_several(self):
        self.drawn(*OFFLOAD, "--devices", "gtx1080,v100", sections=("answer", "repetitions", "sizes", "ranking", "assumptions"))

    def test_validate(self):
        text = self.drawn(*self.validate(), sections=("rows", "scores"))
        self.assertIn("rows by", text)


if __name__ == "__main__":
    unittest.main()
