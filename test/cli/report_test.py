"""The report: one file with nine parts, text of others harmless in it, its numbers those of the other commands; in a browser where there is one."""

import html.parser
import importlib.util
import json
import os
import pathlib
import re
import unittest

import browser
from check_schema import checked
from program import ROOT, Case

PARTS = ("answer", "roofline", "bounds", "source", "occupancy", "accesses", "timeline", "compare", "assumptions")
TILED = (os.path.join(ROOT, "examples", "matmul_tiled.cu"), "--grid", "64,64", "--block", "16,16", "--arg", "n=1024")
SAXPY = (os.path.join(ROOT, "examples", "saxpy.cu"), "--grid", "4096", "--block", "256", "--arg", "n=1048576")
SPMV = (os.path.join(ROOT, "examples", "histogram.cu"), "--grid", "160", "--block", "256", "--arg", "n=65536")
TRANSPOSE = """__global__ void k(const float* in, float* out, int n) {{
  __shared__ float tile[32][{row}];
  int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * 32, top = blockIdx.y * 32;
  tile[y][x] = in[(top + y) * n + left + x];
  __syncthreads();
  out[(left + y) * n + top + x] = tile[x][y];
}}
"""
SQUARE = ("--grid", "64,64", "--block", "32,32", "--arg", "n=2048")
LARGE = (SAXPY[0], "--grid", "1024", "--block", "1024", "--arg", "n=1048576")  # more threads a block than a GTX 280 has
# What ends a script, breaks a template, turns the direction of writing, and is no UTF-8.
HOSTILE = (
    "</script><script>document.title='broken'</script><img src=x onerror=alert(1)> <!-- {{data}} {{version}} ]]> & \" ' `${1}`"
    " \u2028 \u2029 \u202e \ufeff"
).encode() + b" \xff\xfe \xc3\x28"


class Tags(html.parser.HTMLParser):
    """Elements, and what stands in scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.scripts, self._script, self.outside = [], [], [], None, []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "script":
            self._script = attributes
            self.scripts.append([attributes, ""])
        self.outside += [v for k, v in attributes.items() if k in ("src", "href") and v and not v.startswith("#")]

    def handle_endtag(self, tag):
        if tag == "script":
            self._script = None

    def handle_data(self, text):
        if self._script is not None:
            self.scripts[-1][1] += text

    def data(self):
        (text,) = [s for a, s in self.scripts if a.get("type") == "application/json"]
        return json.loads(text)


class Report(Case):
    def report(self, *args, name="report.html", status=0):
        path = self.path(name)
        result = self.run_program("report", *args, "-o", path)
        self.assertEqual(result.returncode, status, result.stderr)
        return path

    def page(self, *args, **keywords):
        with open(self.report(*args, **keywords), encoding="utf-8", newline="") as file:
            return file.read()

    def hostile(self):
        path = self.path("h'o<b>\x1b[31m\x07stile.cu")
        with open(path, "wb") as file:
            file.write(b"// " + HOSTILE + b"\n__global__ void k(float* a) {\n  a[threadIdx.x] = 1.0f;  // " + HOSTILE + b"\n}\n")
        return path


class Structure(Report):
    def test_nine_parts_in_one_file(self):
        text = self.page(*TILED, "--device", "a100")
        page = Tags(text)
        self.assertEqual([i for i in page.ids if i in PARTS], list(PARTS))
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertEqual(page.outside, [])
        self.assertLess(len(text), 5e6)
        self.assertIn(("html", {"lang": "en"}), page.tags)
        self.assertIn("default-src 'none'", text)
        for link in re.findall(r'href="#([\w-]+)"', text):
            self.assertIn(link, page.ids)

    def test_its_data_are_those_of_the_other_commands(self):
        args = (*TILED, "--device", "a100,v100")
        data = checked(self.good("report", *args, "--format", "json"), "report")
        explained = json.loads(self.good("explain", *args, "--format", "json"))["explanations"]
        self.assertEqual([d["device"] for d in data["devices"]], [e["device"] for e in explained])
        for d, e in zip(data["devices"], explained):
            self.assertEqual(d["prediction"], e["predictions"][0])
            for key in ("accesses", "loops", "branches", "registers", "assumptions"):
                self.assertEqual(d["explanation"][key], e[key])
            for key in ("instructions", "sectors"):
                self.assertAlmostEqual(sum(line[key] for line in d["lines"]), 1)
            self.assertEqual(len(d["pictures"]), len(e["accesses"]))
        self.assertEqual(Tags(self.page(*args)).data()["devices"], data["devices"])

    def test_advice_is_that_of_advise(self):
        source = self.path("transpose.cu", TRANSPOSE.format(row=32))
        (d,) = json.loads(self.good("report", source, *SQUARE, "--device", "a100", "--format", "json"))["devices"]
        advised = json.loads(self.good("advise", source, *SQUARE, "--device", "a100", "--format", "json"))["findings"]
        self.assertTrue(advised)
        self.assertEqual(d["advice"], advised)
        # All conflicts are on the line that reads columns.
        self.assertEqual([line["line"] for line in d["lines"] if line["conflicts"] > 0], [6])

    def test_no_two_runs_differ(self):
        self.assertEqual(self.page(*SAXPY, "--device", "a100"), self.page(*SAXPY, "--device", "a100"))

    def test_lanes(self):
        source = self.path("transpose.cu", TRANSPOSE.format(row=32))
        (d,) = json.loads(self.good("report", source, *SQUARE, "--device", "a100", "--format", "json"))["devices"]
        by_kind = {(a["space"], a["kind"]): p for a, p in zip(d["explanation"]["accesses"], d["pictures"])}
        load = by_kind["global", "load"]["lanes"]
        self.assertEqual([x - load[0] for x in load], [4 * lane for lane in range(32)])
        self.assertEqual(by_kind["shared", "store"]["lanes"], [4 * lane for lane in range(32)])
        self.assertEqual(by_kind["shared", "load"]["lanes"], [128 * lane for lane in range(32)])

    def test_an_argument_that_only_moves_addresses_need_not_be_given(self):
        text = "__global__ void k(const float* a, float* c, int n, int off) {\n  int i = blockIdx.x * 32 + threadIdx.x;\n  if (i < n) c[i] = a[i + off];\n}\n"
        launch = (self.path("moved.cu", text), "--grid", "4", "--block", "32", "--arg", "n=128", "--device", "a100", "--format", "json")
        first = lambda *more: json.loads(self.good("report", *launch, *more))["devices"][0]["pictures"][0]["lanes"]
        self.assertEqual(first(), first("--arg", "off=0"))
        self.assertEqual(first("--arg", "off=2")[0] - first()[0], 8)

    def test_inactive_lanes_and_data_decided_addresses_have_none(self):
        half = self.path("half.cu", "__global__ void k(const int* i, float* a) {\n  if (threadIdx.x < 16) a[i[threadIdx.x]] = 1;\n}\n")
        (d,) = json.loads(self.good("report", half, "--grid", "1", "--block", "32", "--counts", "symbolic", "--device", "a100", "--format", "json"))["devices"]
        pictures = {a["buffer"]: p for a, p in zip(d["explanation"]["accesses"], d["pictures"])}
        self.assertEqual(pictures["i"]["lanes"], [4 * lane for lane in range(16)] + ["off"] * 16)
        self.assertIn("loaded from memory", pictures["a"]["reason"])


    def test_the_code_of_the_target_has_lines_of_the_source(self):
        for device, target, instruction in (("a100", "sm_80", "fma.rn.f32"), ("mi100", "gfx908", "v_fma")):
            (d,) = json.loads(self.good("report", *TILED, "--device", device, "--format", "json"))["devices"]
            listing = d["listing"]
            self.assertEqual((listing["target"], [os.path.basename(f) for f in listing["files"]]), (target, ["matmul_tiled.cu"]))
            self.assertEqual({line["file"] for line in d["lines"]} - {""}, set(listing["files"]))
            lines = {line for text, file, line in listing["lines"] if instruction in text}
            self.assertEqual(lines, {19})


class WhatIf(Report):
    def grid(self, *args):
        (d,) = json.loads(self.good("report", *args, "--format", "json"))["devices"]
        return d, d["what_if"]

    def at(self, grid, **changed):
        k = 0
        for axis in grid["axes"]:
            value = axis["values"].index(changed[axis["name"]]) if axis["name"] in changed else axis["base"]
            k = k * len(axis["values"]) + value
        return grid["seconds"][k]

    def test_the_base_is_the_forecast(self):
        for args in (TILED, SAXPY):
            d, grid = self.grid(*args, "--device", "v100")
            points = 1
            for axis in grid["axes"]:
                points *= len(axis["values"])
            self.assertEqual(len(grid["seconds"]), points)
            self.assertEqual(len(grid["limiter"]), points)
            self.assertAlmostEqual(self.at(grid) / d["prediction"]["time_s"], 1, delta=1e-3)

    def test_other_blocks_are_the_forecast_of_that_launch(self):
        _, grid = self.grid(*SAXPY, "--device", "v100")
        other = json.loads(self.good("predict", SAXPY[0], "--grid", "1024", "--block", "1024", "--arg", "n=1048576", "--device", "v100", "--format", "json"))
        self.assertAlmostEqual(self.at(grid, block=1024) / other["predictions"][0]["time_s"], 1, delta=1e-3)

    def test_bandwidth_is_the_forecast_of_that_device(self):
        with open(os.path.join(ROOT, "devices", "nvidia-tesla-v100-pcie-16gb.toml"), encoding="utf-8") as file:
            text = file.read()
        value = re.search(r"^dram_bandwidth_bytes_per_s *= *\{? *(?:value *= *)?([\d.e+_]+)", text, re.M)
        self.assertTrue(value)
        faster = text[: value.start(1)] + repr(2 * float(value.group(1).replace("_", ""))) + text[value.end(1):]
        sustained = re.search(r"^sustained_dram_bandwidth", text, re.M)
        if sustained:
            self.skipTest("the device has a measured bandwidth")
        folder = pathlib.Path(self.folder, "devices")
        for kind in ("arch", ""):
            (folder / kind).mkdir(exist_ok=True, parents=True)
            for file in pathlib.Path(ROOT, "devices", kind).glob("*.toml"):
                (folder / kind / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
        (folder / "nvidia-tesla-v100-pcie-16gb.toml").write_text(faster, encoding="utf-8")
        _, grid = self.grid(*SAXPY, "--device", "v100")
        other = json.loads(self.good("predict", *SAXPY, "--device", "v100", "--devices-dir", str(folder), "--format", "json"))
        self.assertAlmostEqual(self.at(grid, bandwidth=2) / other["predictions"][0]["time_s"], 1, delta=1e-3)

    def test_more_of_a_resource_is_never_slower_where_nothing_else_changes(self):
        _, grid = self.grid(*SAXPY, "--device", "v100")
        for name in ("bandwidth", "l2", "l1"):
            axis = next(a for a in grid["axes"] if a["name"] == name)
            series = [self.at(grid, **{name: v}) for v in axis["values"]]
            self.assertEqual(series, sorted(series, reverse=True), name)

    def test_a_block_that_cannot_change_says_why(self):
        _, grid = self.grid(*TILED, "--device", "v100")
        axis = grid["axes"][0]
        self.assertEqual((axis["name"], len(axis["values"])), ("block", 1))
        self.assertIn("more than one dimension", axis["note"])


class Hostile(Report):
    def test_text_of_others_is_harmless(self):
        text = self.page(self.hostile(), "--grid", "1", "--block", "32", "--device", "a100")
        page = Tags(text)
        self.assertEqual([a.get("type") for a, _ in page.scripts], ["application/json", None, None])
        self.assertNotIn("img", [t for t, _ in page.tags])
        data = text[text.index('id="data">'):]
        data = data[: data.index("</script>")]
        self.assertNotIn("<", data)
        for c in "\x1b\x07\u202e":
            self.assertNotIn(c, text)
        self.assertIn("document.title='broken'", "".join(page.data()["sources"][0]["lines"]))
        self.assertIn("{{data}}", page.data()["sources"][0]["lines"][0])

    def test_long_lines_and_files_stay_below_the_limit(self):
        source = "// " + "x" * 10_000_000 + "\n" + "// more\n" * 50_000 + "__global__ void k(float* a) {\n  a[threadIdx.x] = 1.0f;\n}\n"
        text = self.page(self.path("long.cu", source), "--grid", "1", "--block", "32", "--device", "a100")
        self.assertLess(len(text), 5e6)
        (file,) = Tags(text).data()["sources"]
        self.assertIn("  a[threadIdx.x] = 1.0f;", file["lines"])
        self.assertEqual(file["lines"].index("  a[threadIdx.x] = 1.0f;") + file["first"], 50_003)

    def test_all_devices_stay_below_the_limit(self):
        text = self.page(*SAXPY, "--device", "all", status=0)
        self.assertLess(len(text), 5e6)
        self.assertGreater(len(Tags(text).data()["devices"]), 50)

    def test_a_source_that_does_not_compile_gives_no_file(self):
        path = self.path("report.html")
        self.bad(1, "error: ", "report", self.path("bad.cu", "__global__ void k() { oops; }\n"), "--grid", "1", "--block", "32", "--device", "a100", "-o", path)
        self.assertFalse(os.path.exists(path))

    def test_a_path_that_cannot_be_written_is_told_before_the_work(self):
        bad = self.path("bad.cu", "no C++ at all\n")  # the compiler's messages would come first otherwise
        for path in (self.path("no/such/folder/r.html"), self.folder):
            for flag in ("-o", "--trace"):
                result = self.run_program("report", bad, "--grid", "1", "--block", "32", "--device", "a100", flag, path)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
                self.assertIn(path, result.stderr)

    def test_inputs_are_not_written_over(self):
        source = self.path("k.cu", "__global__ void k(float* a) { a[0] = 1; }\n")
        for flag in ("-o", "--trace"):
            self.bad(2, "is read in this run", "report", source, "--grid", "1", "--block", "32", "--device", "a100", flag, source)

    def test_formats_and_models(self):
        self.bad(2, "--format text: expected html or json", "report", *SAXPY, "--device", "a100", "--format", "text")
        self.bad(2, "--model roofline: the report is of the model kernelcast", "report", *SAXPY, "--device", "a100", "--model", "roofline")


class SideBySide(Report):
    def test_two_versions(self):
        old, new = (self.path(f"row{n}.cu", TRANSPOSE.format(row=n)) for n in (32, 33))
        data = checked(self.good("report", old, "--compare", new, *SQUARE, "--device", "a100,v100", "--format", "json"), "report")
        for d, c in zip(data["devices"], data["compared"]["devices"]):
            self.assertEqual(d["device"], c["device"])
            predicted = json.loads(self.good("predict", new, *SQUARE, "--device", d["device"], "--format", "json"))["predictions"][0]
            self.assertEqual(c["prediction"], predicted)
            self.assertAlmostEqual(c["ratio"]["value"], predicted["time_s"] / d["prediction"]["time_s"])
            self.assertLess(c["ratio"]["interval"][0], c["ratio"]["value"])
            self.assertGreater(c["ratio"]["interval"][1], c["ratio"]["value"])
        self.assertIn("+  __shared__ float tile[32][33];", data["compared"]["diff"])

    def test_a_device_that_fails_stands_with_its_reason(self):
        path = self.report(*LARGE, "--device", "a100,gtx280", status=1)
        with open(path, encoding="utf-8") as file:
            good, bad = Tags(file.read()).data()["devices"]
        self.assertTrue(good["detail"])
        self.assertFalse(bad["detail"])
        self.assertTrue(bad["failure"])

    def test_trace(self):
        trace = self.path("trace.json")
        self.report(*TILED, "--device", "v100", "--trace", trace)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        spans = [e for e in events if e["ph"] == "X"]
        self.assertTrue(spans)
        for warp in {e["tid"] for e in spans}:
            own = sorted((e["ts"], e["dur"]) for e in spans if e["tid"] == warp)
            for (a, length), (b, _) in zip(own, own[1:]):
                self.assertLessEqual(a + length, b)

    def test_no_timeline_is_told(self):
        trace = self.path("trace.json")
        result = self.run_program("report", os.path.join(ROOT, "examples", "matmul_wmma.cu"), "--grid", "8,8", "--block", "32", "--arg", "n=128", "--device", "v100", "--trace", trace)
        if result.returncode == 0:
            self.skipTest("the cycle-level model runs matrix instructions")
        self.assertIn("--trace", result.stderr)
        self.assertFalse(os.path.exists(trace))


@unittest.skipUnless(browser.find(), "no chromium")
class InABrowser(Report):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        super().setUp()
        self.browser.complaints.clear()
        self.browser.requests.clear()
        self.browser.size(1280, 900)

    def opened(self, *args, **keywords):
        self.browser.open(self.report(*args, **keywords))
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.browser.requests, [])
        return self.browser.value

    def set_slider(self, value, name, index):
        value(f"(s => {{ s.value = {index}; s.dispatchEvent(new Event('input')); }})(document.getElementById('what-if-{name}'))")

    def test_nine_parts_are_filled_without_a_word_on_the_console(self):
        value = self.opened(*TILED, "--device", "a100,v100")
        for part in PARTS:
            self.assertGreater(value(f"document.querySelector('#{part} .body').textContent.length"), 80, part)
            self.assertGreater(value(f"document.querySelector('#{part} .body').getBoundingClientRect().height"), 50, part)
        # Every plot has drawn something, and has a name and a table beside it.
        drawn = "[...document.querySelectorAll('canvas')].map(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(x => x !== 0))"
        self.assertTrue(all(value(drawn)))
        self.assertGreaterEqual(len(value(drawn)), 7)
        self.assertTrue(value("[...document.querySelectorAll('canvas')].every(c => c.getAttribute('role') === 'img' && c.getAttribute('aria-label'))"))
        self.browser.complaints.clear()  # reading what was drawn is slow, it says
        self.assertNotRegex(value("document.body.innerText"), r"\b(NaN|undefined|null|\[object)")
        value("(s => { s.value = 1; s.dispatchEvent(new Event('change')); })(document.getElementById('device'))")
        self.assertIn("V100", value("document.querySelector('#answer .body').textContent"))
        self.assertEqual(self.browser.complaints, [])

    def test_what_if_changes_a_number_as_the_forecast_does(self):
        value = self.opened(*SAXPY, "--device", "v100")
        before = value("document.getElementById('what-if-time').textContent")
        self.assertEqual(before, value("document.getElementById('time').textContent"))
        self.set_slider(value, "bandwidth", 0)
        self.assertIn("dram bandwidth", value("document.getElementById('what-if-words').textContent"))
        slow = value("document.getElementById('what-if-time').textContent")
        self.assertNotEqual(before, slow)
        other = json.loads(self.good("report", *SAXPY, "--device", "v100", "--format", "json"))["devices"][0]["what_if"]
        self.assertIn(float(slow.split()[0]), [round(s * 1e6, 2) for s in other["seconds"]])
        value("[...document.querySelectorAll('#bounds button')].at(-1).click()")
        self.assertEqual(before, value("document.getElementById('what-if-time').textContent"))

    def test_lines_open_and_accesses_are_drawn(self):
        value = self.opened(self.path("t.cu", TRANSPOSE.format(row=32)), *SQUARE, "--device", "a100")
        self.assertIn("bank conflicts", value("document.querySelector('#source .advice').textContent"))
        value("document.querySelector('#line-6 button').click()")
        self.assertEqual(value("document.querySelector('#line-6 button').getAttribute('aria-expanded')"), "true")
        self.assertIn("shared load", value("document.querySelector('#line-6').nextElementSibling.textContent"))
        self.assertIn("ld.shared", value("[...document.querySelectorAll('tr.chosen td.target')].map(t => t.textContent).join()"))
        value("[...document.querySelectorAll('td.target')].find(t => t.textContent.includes('st.shared')).closest('tr').querySelector('button').click()")
        self.assertTrue(value("document.getElementById('line-4').classList.contains('chosen')"))
        value("[...document.querySelectorAll('#line-6 + tr a')].find(a => a.closest('tr').textContent.includes('shared load')).click()")
        self.assertIn("32 wavefronts for this request: up to 32 different words of one bank", value("document.querySelector('#accesses').textContent"))

    def test_hostile_text_stays_text(self):
        value = self.opened(self.hostile(), "--grid", "1", "--block", "32", "--device", "a100")
        self.assertNotEqual(value("document.title"), "broken")
        self.assertEqual(value("document.querySelectorAll('img').length"), 0)
        self.assertIn("document.title='broken'", value("document.getElementById('source').textContent"))

    def test_two_versions(self):
        value = self.opened(self.path("a.cu", TRANSPOSE.format(row=32)), "--compare", self.path("b.cu", TRANSPOSE.format(row=33)), *SQUARE, "--device", "a100")
        self.assertIn("New over old", value("document.getElementById('compare').textContent"))

    def test_counts_by_execution_and_devices_that_fail(self):
        self.opened(*SPMV, "--device", "v100,mi100")
        self.opened(*LARGE, "--device", "gtx280,a100", status=1)

    def test_narrow_windows_do_not_scroll_sideways(self):
        self.browser.size(400, 800)
        value = self.opened(*TILED, "--device", "a100")
        self.assertLessEqual(value("document.documentElement.scrollWidth"), 400)

    def test_accessibility(self):
        spec = importlib.util.find_spec("axe_core_python")
        if spec is None:
            self.skipTest("no axe: pip install axe-core-python")
        (script,) = pathlib.Path(spec.origin).parent.glob("axe.min.js")
        for scheme in ("light", "dark"):
            self.browser.scheme(scheme)
            value = self.opened(self.path("t.cu", TRANSPOSE.format(row=32)), *SQUARE, "--device", "a100")
            value("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            value(script.read_text(encoding="utf-8") + "; 0")
            faults = value("axe.run().then(r => r.violations.map(v => [v.impact, v.id, v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary)]))")
            self.assertEqual([f for f in faults if f[0] in ("serious", "critical")], [], scheme)


if __name__ == "__main__":
    unittest.main()
