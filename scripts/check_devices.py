#!/usr/bin/env python3
"""Checks the device files and compares their peaks with the published ones.

Reads devices/*.toml with what they inherit from devices/arch/. Fails (exit 1) when

- a key is not in device_fields.def, or a value is out of its range;
- a source is not in sources.toml, or a value has neither a source nor a reason;
- a name stands in two files;
- the peak computed from SMs, lanes and clock differs from the published peak by more than 3 %, or the memory bandwidth
  computed from bus width and clock differs by more than 3 %;
- a level of the memory is slower than the next.

Peak = SMs * lanes * 2 FLOP * clock. The clock is the boost clock unless the table states another one.
"""

import argparse
import pathlib
import re
import sys
import tomllib

TOLERANCE = 0.03
HEAD_KEYS = {"id", "name", "kind", "vendor", "inherits", "architecture", "compute_capability", "codegen_target",
             "codegen_note", "aliases", "notes"}

# id: (published FP32 TFLOP/s, published FP64 TFLOP/s, published DRAM GB/s, clock they refer to, where published).
# None: not published, or published in a form that cannot be compared; the last column then says why.
PUBLISHED = {
    "nvidia-geforce-gtx-280": (0.622, 0.0778, 141.7, "boost", "933 GFLOP/s with the extra MUL, 2/3 of it without"),
    "nvidia-geforce-gtx-480": (1.345, 0.168, 177.4, "boost", "GeForce product page; FP64 1/8 of FP32"),
    "nvidia-geforce-gt-550m": (0.284, None, 28.8, "boost", "TechPowerUp"),
    "nvidia-geforce-gtx-670": (2.46, 0.1025, 192.2, "base", "TechPowerUp, at the base clock"),
    "nvidia-geforce-gtx-680": (3.09, 0.129, 192.2, "base", "GTX 680 white paper, at the base clock"),
    "nvidia-geforce-gt-750m": (0.743, None, 80.0, "base", "TechPowerUp"),
    "nvidia-geforce-gtx-850m": (1.121, None, 80.0, "base", "TechPowerUp, at 876 MHz"),
    "nvidia-tesla-k20": (3.52, 1.17, 208, "base", "Tesla K-series data sheet"),
    "nvidia-tesla-k40": (4.29, 1.43, 288, "base", "Tesla K-series data sheet"),
    "nvidia-geforce-gtx-titan": (4.5, None, 288.4, "base", "product page; its FP64 peak is of the non-default mode"),
    "nvidia-quadro-k5200": (3.1, None, 192, "base", "data sheet"),
    "nvidia-geforce-gtx-970": (3.494, 0.109, 224, "base", "TechPowerUp, at the base clock"),
    "nvidia-geforce-gtx-980": (4.612, 0.144, 224, "base", "GTX 980 white paper, at the base clock"),
    "nvidia-geforce-gtx-titan-x": (6.144, 0.192, 336.5, "base", "product launch, at the base clock"),
    "nvidia-tesla-p100-pcie-16gb": (9.3, 4.7, 732, "boost", "P100 PCIe data sheet"),
    "nvidia-tesla-p100-sxm2-16gb": (10.6, 5.3, 732, "boost", "P100 white paper"),
    "nvidia-geforce-gtx-1080": (8.873, 0.277, 320, "boost", "GTX 1080 white paper"),
    "nvidia-geforce-gtx-1080-ti": (11.34, 0.354, 484, "boost", "TechPowerUp"),
    "nvidia-tesla-v100-sxm2-16gb": (15.7, 7.8, 900, "boost", "V100 data sheet"),
    "nvidia-tesla-v100-pcie-16gb": (14.0, 7.0, 900, "boost", "V100 data sheet"),
    "nvidia-titan-v": (14.9, 7.45, 652.8, "boost", "TechPowerUp"),
    "nvidia-geforce-rtx-2060": (6.45, 0.2016, 336, "boost", "TechPowerUp"),
    "nvidia-geforce-rtx-2070": (7.465, 0.2333, 448, "boost", "Turing white paper (reference)"),
    "nvidia-geforce-rtx-2070-super": (9.062, 0.2832, 448, "boost", "TechPowerUp"),
    "nvidia-geforce-rtx-2080-ti": (13.45, 0.4202, 616, "boost", "Turing white paper (reference)"),
    "nvidia-titan-rtx": (16.3, 0.5098, 672, "boost", "product page"),
    "nvidia-tesla-t4": (8.1, 0.2544, 320, "boost", "T4 data sheet"),
    "nvidia-geforce-gtx-1650": (2.984, 0.0932, 128, "boost", "TechPowerUp"),
    "nvidia-a100-pcie-40gb": (19.5, 9.7, 1555, "boost", "A100 white paper"),
    "nvidia-a100-sxm4-40gb": (19.5, 9.7, 1555, "boost", "A100 white paper"),
    "nvidia-a100-sxm4-80gb": (19.5, 9.7, 2039, "boost", "A100 data sheet"),
    "nvidia-a100-pcie-80gb": (19.5, 9.7, 1935, "boost", "A100 data sheet"),
    "nvidia-rtx-a4000": (19.2, 0.2995, 448, "boost", "A4000 data sheet"),
    "nvidia-rtx-a6000": (38.7, 0.6048, 768, "boost", "A6000 data sheet"),
    "nvidia-geforce-rtx-3060": (12.74, 0.199, 360, "boost", "TechPowerUp"),
    "nvidia-geforce-rtx-3060-laptop": (13.1, None, 336, "boost", "3840 lanes at the rated 1703 MHz"),
    "nvidia-geforce-rtx-3060-ti": (16.2, 0.253, 448, "boost", "TechPowerUp"),
    "nvidia-geforce-rtx-3070-ti": (21.75, 0.3398, 608, "boost", "TechPowerUp"),
    "nvidia-geforce-rtx-3080": (29.8, 0.465, 760, "boost", "GA102 white paper"),
    "nvidia-geforce-rtx-3090": (35.6, 0.556, 936, "boost", "GA102 white paper"),
    "nvidia-geforce-rtx-4070": (29.15, 0.4555, 504, "boost", "TechPowerUp"),
    "nvidia-geforce-rtx-4090": (82.6, 1.29, 1008, "boost", "Ada white paper"),
    "nvidia-l40": (90.5, 1.414, 864, "boost", "L40 data sheet"),
    "nvidia-h100-pcie": (51.2, 25.6, 2039, "boost", "H100 data sheet"),
    "nvidia-h100-sxm": (66.9, 33.5, 3352, "boost", "H100 white paper"),
    "nvidia-h200": (67, 34, 4800, "boost", "H200 data sheet"),
    "amd-radeon-hd-5870": (2.72, 0.544, 153.6, "boost", "product page"),
    "amd-radeon-hd-7970": (3.79, 0.947, 264, "boost", "product page"),
    "amd-radeon-r9-290x": (5.6, 0.7, 320, "boost", "product page"),
    "amd-radeon-rx-480": (5.8, 0.365, 256, "boost", "product page"),
    "amd-instinct-mi50": (13.3, 6.6, 1024, "boost", "product page"),
    "amd-instinct-mi100": (23.1, 11.5, 1228.8, "boost", "product page"),
    "amd-instinct-mi210": (22.6, 22.6, 1638.4, "boost", "product page"),
    "amd-instinct-mi250x": (23.95, 23.95, 1638.4, "boost", "product page: 47.9 TFLOP/s, 3276.8 GB/s for both dies"),
    "amd-instinct-mi300x": (163.4, 81.7, 5300, "boost", "product page"),
    "amd-radeon-rx-6900-xt": (23.04, 1.44, 512, "boost", "product page"),
    "amd-radeon-pro-w6600": (10.4, 0.65, 224, "boost", "product page; FP64 1/16 of FP32"),
    "amd-radeon-pro-w7800": (45.2, None, 576, "boost", "product page; FP64 is unknown in the device file"),
    "nvidia-a10": (31.2, None, 600, "boost", "A10 data sheet"),
    "nvidia-a2": (4.5, None, 200, "boost", "A2 data sheet"),
    "nvidia-a30": (10.3, 5.2, 933, "boost", "A30 data sheet"),
    "nvidia-a40": (37.4, None, 696, "boost", "A40 data sheet"),
    "nvidia-l4": (30.3, None, 300, "boost", "L4 data sheet"),
    "nvidia-l20": (59.8, None, 864, "boost", "L20 product brief"),
    "nvidia-l40s": (91.6, None, 864, "boost", "L40S data sheet"),
    "nvidia-rtx-6000-ada": (91.1, None, 960, "boost", "RTX 6000 Ada data sheet"),
    "nvidia-rtx-pro-6000-blackwell": (125, None, 1792, "boost", "RTX PRO 6000 Blackwell data sheet"),
    "nvidia-geforce-rtx-4060": (15.1, None, 272, "boost", "TechPowerUp"),
    "nvidia-geforce-rtx-4070-ti-super": (44.1, None, 672, "boost", "TechPowerUp"),
    "nvidia-geforce-rtx-4080": (48.7, None, 716.8, "boost", "Ada white paper"),
    "nvidia-geforce-rtx-5070": (30.9, None, 672, "boost", "RTX Blackwell white paper"),
    "nvidia-geforce-rtx-5070-ti": (43.9, None, 896, "boost", "RTX Blackwell white paper"),
    "nvidia-geforce-rtx-5080": (56.3, None, 960, "boost", "RTX Blackwell white paper"),
    "nvidia-geforce-rtx-5090": (104.8, None, 1792, "boost", "RTX Blackwell white paper"),
    "nvidia-gh200": (67, 34, 4000, "boost", "GH200 data sheet, 96 GB"),
    "nvidia-h100-nvl": (60, 30, 3900, "boost", "H100 data sheet"),
    "nvidia-h20": (None, 1, 4000, "boost", "H20 product brief; its 44 TFLOP/s of FP32 are beyond 78 SMs at 1980 MHz"),
    "nvidia-h800-pcie": (51, None, 2000, "boost", "H800 product brief; FP64 is told as 0.8 and as 1"),
    "nvidia-h800-sxm": (None, 1, 3350, "boost", "H800 product brief; its 67 TFLOP/s are those of 1980 MHz"),
    "nvidia-jetson-agx-orin": (5.3, None, 204.8, "boost", "Jetson AGX Orin technical brief"),
    "nvidia-b200": (75, 37, 8000, "boost", "HGX B200 data sheet, an eighth of the board"),
    "nvidia-b300": (None, None, 8000, "boost", "HGX B300 data sheet; its FP32 peak is of the board"),
    "nvidia-gb200": (80, 40, 8000, "boost", "GB200 NVL72 data sheet"),
    "nvidia-gb10": (None, None, 273, "boost", "DGX Spark data sheet; no FP32 peak"),
    "amd-instinct-mi300a": (122.6, 61.3, 5300, "boost", "product page"),
    "amd-instinct-mi325x": (163.4, 81.7, 6000, "boost", "product page"),
    "amd-instinct-mi350x": (144.2, 72.1, 8000, "boost", "product page"),
    "amd-instinct-mi355x": (157.3, 78.6, 8000, "boost", "product page"),
    "amd-radeon-pro-w7900": (61.3, None, 864, "boost", "product page"),
    "amd-radeon-rx-7800-xt": (37.3, None, 624, "boost", "product page"),
    "amd-radeon-rx-7900-xtx": (61.4, None, 960, "boost", "product page"),
    "amd-radeon-rx-9070-xt": (48.7, None, 640, "boost", "product page"),
    "amd-epyc-9654": (None, None, 460.8, "base", "AMD publishes no FLOP/s; twelve channels of DDR5-4800"),
    "amd-epyc-9755": (None, None, 614, "base", "AMD publishes no FLOP/s; product page"),
    "amd-ryzen-9-9950x": (None, None, 89.6, "base", "AMD publishes no FLOP/s; two channels of DDR5-5600"),
    "intel-core-i9-14900k": (None, None, 89.6, "base", "Intel publishes no FLOP/s; two channels of DDR5-5600"),
    "intel-xeon-platinum-8480-plus": (None, None, 307.2, "base", "Intel publishes no FLOP/s; eight channels of DDR5-4800"),
    "intel-xeon-e5-2699-v3": (None, None, 68, "base", "Intel publishes no FLOP/s; four channels of DDR4-2133"),
    "intel-xeon-e5-2699-v4": (None, None, 76.8, "base", "Intel publishes no FLOP/s; four channels of DDR4-2400"),
    "intel-xeon-platinum-8180": (None, None, 128, "base", "Intel publishes no FLOP/s; six channels of DDR4-2666"),
    "intel-xeon-platinum-8280": (None, None, 140.8, "base", "Intel publishes no FLOP/s; six channels of DDR4-2933"),
    "intel-xeon-platinum-8380": (None, None, 204.8, "base", "Intel publishes no FLOP/s; eight channels of DDR4-3200"),
    "amd-epyc-7742": (None, None, 204.8, "base", "AMD publishes no FLOP/s; eight channels of DDR4-3200"),
    "amd-epyc-7763": (None, None, 204.8, "base", "AMD publishes no FLOP/s; eight channels of DDR4-3200"),
    "nvidia-grace": (None, None, None, "base", "NVIDIA publishes no FP32 FLOP/s; bandwidth by memory size"),
    "intel-core-i7-4710mq": (None, None, 25.6, "base", "Intel publishes no FLOP/s; two channels of DDR3-1600"),
    "intel-core-i5-3340m": (None, None, 25.6, "base", "Intel publishes no FLOP/s; two channels of DDR3-1600"),
    "intel-core-i7-6700k": (None, None, 34.1, "base", "Intel publishes no FLOP/s; two channels of DDR4-2133"),
}

# Width of the memory interface in bits and transfers per pin and cycle of memory_clock_hz (TechPowerUp; Intel): their
# product with the clock is the published bandwidth. NVIDIA's drivers count half the rate of a pin, AMD the command clock.
MEMORY_BUS = {
    (128, 2): ("nvidia-geforce-gt-550m", "nvidia-geforce-gt-750m", "nvidia-geforce-gtx-850m",
        "nvidia-geforce-gtx-1650", "intel-core-i7-4710mq", "intel-core-i5-3340m", "intel-core-i7-6700k",
        "amd-ryzen-9-9950x", "intel-core-i9-14900k"),
    (768, 2): ("amd-epyc-9654", "amd-epyc-9755"),
    (192, 2): ("nvidia-geforce-rtx-2060", "nvidia-geforce-rtx-3060", "nvidia-geforce-rtx-3060-laptop",
        "nvidia-geforce-rtx-4070"),
    (256, 2): ("nvidia-geforce-gtx-670", "nvidia-geforce-gtx-680", "nvidia-quadro-k5200", "nvidia-geforce-gtx-970",
        "nvidia-geforce-gtx-980", "nvidia-geforce-gtx-1080", "nvidia-geforce-rtx-2070",
        "nvidia-geforce-rtx-2070-super", "nvidia-tesla-t4", "nvidia-rtx-a4000", "nvidia-geforce-rtx-3060-ti",
        "nvidia-geforce-rtx-3070-ti", "intel-xeon-e5-2699-v3", "intel-xeon-e5-2699-v4"),
    (320, 2): ("nvidia-tesla-k20", "nvidia-geforce-rtx-3080"),
    (352, 2): ("nvidia-geforce-gtx-1080-ti", "nvidia-geforce-rtx-2080-ti"),
    (384, 2): ("nvidia-geforce-gtx-480", "nvidia-tesla-k40", "nvidia-geforce-gtx-titan",
        "nvidia-geforce-gtx-titan-x", "nvidia-titan-rtx", "nvidia-rtx-a6000", "nvidia-geforce-rtx-3090",
        "nvidia-geforce-rtx-4090", "nvidia-l40", "intel-xeon-platinum-8180", "intel-xeon-platinum-8280"),
    (512, 2): ("nvidia-geforce-gtx-280", "intel-xeon-platinum-8480-plus", "intel-xeon-platinum-8380", "amd-epyc-7742",
        "amd-epyc-7763"),
    (3072, 2): ("nvidia-titan-v",),
    (4096, 2): ("nvidia-tesla-p100-pcie-16gb", "nvidia-tesla-p100-sxm2-16gb", "nvidia-tesla-v100-sxm2-16gb",
        "nvidia-tesla-v100-pcie-16gb", "amd-instinct-mi50", "amd-instinct-mi100", "amd-instinct-mi210",
        "amd-instinct-mi250x"),
    (5120, 2): ("nvidia-a100-pcie-40gb", "nvidia-a100-sxm4-40gb", "nvidia-a100-sxm4-80gb", "nvidia-a100-pcie-80gb",
        "nvidia-h100-pcie", "nvidia-h100-sxm"),
    (6144, 2): ("nvidia-h200",),
    (256, 4): ("amd-radeon-hd-5870", "amd-radeon-rx-480"),
    (384, 4): ("amd-radeon-hd-7970",),
    (512, 4): ("amd-radeon-r9-290x",),
    (8192, 4): ("amd-instinct-mi300x",),
    (128, 8): ("amd-radeon-pro-w6600",),
    (256, 8): ("amd-radeon-rx-6900-xt", "amd-radeon-pro-w7800"),
}


def read_fields(path):
    """{section.key: (minimum, maximum, integer)} from the table of fields."""
    row = re.compile(r'^KC_FIELD\((\w+),\s*(\w+),\s*([\d.eE+-]+),\s*([\d.eE+-]+),\s*(true|false),', re.M)
    return {f"{m[1]}.{m[2]}": (float(m[3]), float(m[4]), m[5] == "true") for m in row.finditer(path.read_text())}


def normalised(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


class Checker:
    def __init__(self, root):
        self.folder = root / "devices"
        self.fields = read_fields(root / "include/kernelcast/device_fields.def")
        self.sources = tomllib.loads((self.folder / "sources.toml").read_text())["sources"]
        self.problems = []
        self.used_sources = set()
        self.files = {}

    def problem(self, where, text):
        self.problems.append(f"{where}: {text}")

    def load(self, path):
        """Parsed file, checked once."""
        if path in self.files:
            return self.files[path]
        data = tomllib.loads(path.read_text())
        self.files[path] = data
        if data.get("id") != path.stem:
            self.problem(path.name, f"id is {data.get('id')!r}, not the file's name")
        for key, section in data.items():
            if not isinstance(section, dict):
                if key not in HEAD_KEYS:
                    self.problem(path.name, f"unknown key {key}")
                continue
            for name, entry in section.items():
                self.check_entry(path.name, f"{key}.{name}", entry)
        return data

    def check_entry(self, file, field, entry):
        if field not in self.fields:
            return self.problem(file, f"{field} is not in device_fields.def")
        if set(entry) == {"unknown"}:
            if not entry["unknown"].strip():
                self.problem(file, f"{field}: unknown without a reason")
            return None
        if set(entry) != {"value", "source"}:
            return self.problem(file, f"{field}: wants exactly value and source, or exactly unknown")
        minimum, maximum, integer = self.fields[field]
        if not minimum <= entry["value"] <= maximum:
            self.problem(file, f"{field} = {entry['value']} is outside {minimum:g} to {maximum:g}")
        if integer and entry["value"] != int(entry["value"]):
            self.problem(file, f"{field} = {entry['value']} is not a whole number")
        key = entry["source"].split(" ")[0]
        if key not in self.sources:
            self.problem(file, f"{field}: source {key!r} is not in sources.toml")
        self.used_sources.update(word.strip(",;:()") for word in entry["source"].split())
        return None

    def resolve(self, path):
        """(head, {section.key: entry}) with inherited values; the device's own values win."""
        head, values, seen = {}, {}, set()
        while path:
            if path in seen or not path.exists():
                self.problem(path.name, "inherits in a circle" if path in seen else "inherited file does not exist")
                break
            seen.add(path)
            data = self.load(path)
            for key, section in data.items():
                if isinstance(section, dict):
                    for name, entry in section.items():
                        values.setdefault(f"{key}.{name}", entry)
                elif key in ("notes",):
                    head[key] = head.get(key, []) + section
                else:
                    head.setdefault(key, section)
            path = self.folder / "arch" / f"{data['inherits']}.toml" if "inherits" in data else None
        return head, values


def peak(values, lanes_key, clock):
    def get(key):
        return values.get(key, {}).get("value")
    hz = get(f"clock.{clock}_clock_hz") or get("clock.base_clock_hz")
    units, lanes = get("compute.units"), get(f"compute.{lanes_key}")
    return None if None in (hz, units, lanes) else units * lanes * 2 * hz / 1e12


def check_memory(checker, file, values):
    """Bandwidth against bus width and clock, and against the L2."""
    def get(key):
        return values.get(f"memory.{key}", {}).get("value")
    bandwidth, clock = get("dram_bandwidth_bytes_per_s"), values.get("clock.memory_clock_hz", {}).get("value")
    bus = [key for key, ids in MEMORY_BUS.items() if pathlib.Path(file).stem in ids]
    if len(bus) != 1 and (bus or clock is not None):  # some data sheets leave the memory clock out
        return checker.problem(file, "stands in MEMORY_BUS of scripts/check_devices.py not exactly once")
    if bus and bandwidth and clock:
        expected = bus[0][0] / 8 * bus[0][1] * clock
        if abs(bandwidth / expected - 1) > TOLERANCE:
            checker.problem(file, f"{bus[0][0]} bits at {clock:g} Hz are {expected:.4g} bytes/s, not {bandwidth:.4g}")
    if bandwidth and (get("l2_bandwidth_bytes_per_s") or bandwidth) < bandwidth:
        checker.problem(file, "the L2 is slower than the memory behind it")
    latencies = [get(f"{level}_latency_cycles") for level in ("l1", "l2", "dram")]
    known = [latency for latency in latencies if latency is not None]
    if known != sorted(known):
        checker.problem(file, f"latencies of L1, L2 and DRAM do not rise: {known}")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    checker = Checker(parser.parse_args().root)
    names = {}
    print(f"{'device':34} {'FP32 TFLOP/s':>20} {'FP64 TFLOP/s':>20} {'DRAM GB/s':>18}  known/all")
    inherited = set()
    for path in sorted(checker.folder.glob("*.toml")):
        if path.name == "sources.toml":
            continue
        head, values = checker.resolve(path)
        inherited.add(head.get("inherits"))
        for key in ("name", "kind", "vendor", "architecture", "codegen_target"):
            if not head.get(key):
                checker.problem(path.name, f"{key} is missing")
        for name in {normalised(n) for n in [head["id"], head["name"], *head.get("aliases", [])]}:
            if names.setdefault(name, path.name) != path.name:
                checker.problem(path.name, f"the name {name} also stands in {names[name]}")
        if path.stem not in PUBLISHED:
            checker.problem(path.name, "no published peak to compare with in scripts/check_devices.py")
            continue
        fp32, fp64, dram, clock, _ = PUBLISHED[path.stem]
        bandwidth = values.get("memory.dram_bandwidth_bytes_per_s", {}).get("value")
        cells = []
        for what, ours, theirs in (("FP32", peak(values, "fp32_lanes_per_unit", clock), fp32),
                                   ("FP64", peak(values, "fp64_lanes_per_unit", clock), fp64),
                                   ("DRAM", bandwidth and bandwidth / 1e9, dram)):
            cells.append(f"{'?' if ours is None else f'{ours:.4g}'} / {'?' if theirs is None else f'{theirs:.4g}'}")
            if theirs is None:
                continue
            if ours is None:
                checker.problem(path.name, f"{what} peak cannot be computed, {theirs} is published")
            elif abs(ours / theirs - 1) > TOLERANCE:
                checker.problem(path.name, f"{what} peak is {ours:.4g}, published is {theirs:.4g} ({clock} clock)")
        check_memory(checker, path.name, values)
        known = sum("value" in e for e in values.values())
        print(f"{path.stem:34} {cells[0]:>20} {cells[1]:>20} {cells[2]:>18}  {known}/{len(values)}")
    for missing in set(PUBLISHED) - {p.stem for p in checker.folder.glob("*.toml")}:
        checker.problem(missing, "in the table of published peaks, but there is no such file")
    for path in sorted((checker.folder / "arch").glob("*.toml")):
        if path not in checker.files:
            checker.problem(path.name, "no device inherits it")
    for path in sorted((checker.folder / "sm").glob("*.toml")):  # specs of the cycle-level SM
        for source in re.findall(r'source = "([^"]*)"', path.read_text()):
            checker.used_sources.update(word.strip(",;:()") for word in source.split())
    for key in sorted(set(checker.sources) - checker.used_sources):
        checker.problem("sources.toml", f"{key} is cited by no file")
    print(f"{len(names)} names, {len(checker.files)} files, {len(checker.sources)} sources, "
          f"{len(checker.problems)} problems")
    for text in checker.problems:
        print("error:", text, file=sys.stderr)
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main())
