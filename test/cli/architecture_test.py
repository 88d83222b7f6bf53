"""Rules of the house that no compiler holds: the order of includes, and where flags may be written."""

import glob
import os
import re
import unittest

from program import ROOT, Case

# A folder may include what stands before it; so may a room of the front end.
FOLDERS = "core io profile memory device machine ptx frontend execute model count forecast advise picture tune offload converge probe validate report cli".split()
ROOMS = "source ir lift shape lower program code/nvidia code/amd code pipeline cpu loops host".split()
# Of code: what both vendors share stands in the folder itself, which the vendors' rooms include and which joins them.
MUTUAL = {("code", "code/nvidia"), ("code/nvidia", "code"), ("code", "code/amd"), ("code/amd", "code")}
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
FLAG = re.compile(r"(?<![\w-])--([a-z][\w-]*\w)")
# Options of other programs: NVIDIA's compilers, and a file of libclc.
GITS = ("--name-status", "--no-renames", "--relative")  # of `git diff`
OTHER_PROGRAMS = {"--gpu-architecture", "--std", "--use_fast_math", "--nvidiacl", "--amdhsa"}


def sources(*folders):
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "**", "*"), recursive=True)):
            if path.endswith((".cpp", ".h")) and "/frontend/headers/" not in path:
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, ROOT), file.read()


def literals(text):
    for line in text.split("\n"):
        if not re.match(r"\s*(//|#include|///)", line):
            yield from LITERAL.findall(re.split(r"\s//\s", line)[0])


class Architecture(Case):
    def test_includes_run_left_to_right(self):
        wrong = []
        for path, text in sources("src"):
            folder = path.split("/")[1]
            self.assertIn(folder, FOLDERS, path)
            for name in re.findall(r'^#include "([^"]+)"', text, re.M):
                other = name.split("/")[0]
                if other in FOLDERS and FOLDERS.index(other) > FOLDERS.index(folder):
                    wrong.append(f"{path}: {name}")
        self.assertEqual(wrong, [])

    def test_rooms_of_the_front_end_run_left_to_right(self):
        wrong = []
        for path, text in sources("src/frontend"):
            room = os.path.dirname(path)[len("src/frontend/"):]
            for name in re.findall(r'^#include "frontend/([^"]+)"', text, re.M):
                other = os.path.dirname(name)
                if other in ROOMS and room in ROOMS and (room, other) not in MUTUAL and ROOMS.index(other) > ROOMS.index(room):
                    wrong.append(f"{path}: frontend/{name}")
        self.assertEqual(wrong, [])

    def test_an_analysis_visits_the_rooms_in_order(self):
        """analyze_unit() and its helpers call what the rooms' headers declare, and never go back to an earlier room."""
        with open(os.path.join(ROOT, "src/frontend/pipeline/frontend.cpp"), encoding="utf-8") as file:
            text = file.read()
        room_of = {}
        for header in re.findall(r'^#include "frontend/([^"]+)"', text, re.M):
            with open(os.path.join(ROOT, "src/frontend", header), encoding="utf-8") as file:
                declared = re.sub(r"//.*", "", file.read())
            room = os.path.dirname(header)
            for name in re.findall(r"^\w[\w:<>,*& ]*?[ *&](\w+)\(", declared, re.M):
                room_of[name] = "code" if room.startswith("code/") else room
        bodies = dict(re.findall(r"^(?!namespace|using|struct)[\w:<>,*& ]+?[ *&](\w+)\([^;{]*\) \{\n(.*?)^\}", text, re.M | re.S))

        def rooms(function):
            for name in re.findall(r"\b(\w+)\(", bodies[function]):
                if name in bodies:
                    yield from rooms(name)
                elif name in room_of:
                    yield room_of[name]

        visits = list(rooms("analyze_unit"))
        order = ["source", "lower", "code", "pipeline"]
        left = [room for at, room in enumerate(visits) if at == 0 or visits[at - 1] != room]
        self.assertEqual(left, order)

    def test_only_the_front_end_sees_llvm(self):
        wrong = [path for path, text in sources("src", "include") if not path.startswith("src/frontend/")
                 and re.search(r'#include ["<](llvm|clang)/', text)]
        self.assertEqual(wrong, [])

    def test_no_two_sources_share_a_name(self):
        seen = {}
        for path, _ in sources("src"):
            if path.endswith(".cpp"):
                seen.setdefault(os.path.basename(path), []).append(path)
        self.assertEqual([paths for paths in seen.values() if len(paths) > 1], [])

    def test_no_code_asks_for_an_architecture(self):
        """Differences are numbers of device files and of the table in src/machine/nvidia_targets.cpp."""
        wrong = []
        for path, text in sources("src/frontend", "src/model", "src/machine"):
            for line in text.split("\n"):
                code = re.split(r"//", line)[0]
                if re.search(r"\bsm_? *(<|>|<=|>=|==|!=) *\d{2}|architecture *[=!]= *\"", code):
                    wrong.append(f"{path}: {line.strip()}")
        self.assertEqual(wrong, [])

    def test_flags_are_written_in_cli_and_report_only(self):
        wrong = []
        for path, text in sources("src", "include"):
            if path.startswith(("src/cli/", "src/report/")):
                continue
            for literal in literals(text):
                wrong += [f"{path}: --{name}" for name in FLAG.findall(literal) if f"--{name}" not in OTHER_PROGRAMS]
        self.assertEqual(wrong, [])

    def test_every_flag_of_a_message_exists(self):
        commands = re.findall(r"^  (\w+) {2,}", self.good("--help"), re.M)
        self.assertIn("predict", commands)
        helps = self.good("--help") + "".join(self.good(command, "--help") for command in commands)
        known = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", helps))
        named = {}
        for path, text in sources("src"):
            for name in re.findall(r"KC_SETTING\((\w+)\)", text):
                flag = "-" + name if len(name) == 1 else "--" + (name if name == "use_fast_math" else name.replace("_", "-"))
                named.setdefault(flag, path)
            if path.startswith(("src/cli/", "src/report/")):
                for literal in literals(text):
                    for name in FLAG.findall(literal):
                        named.setdefault(f"--{name}", path)
        self.assertGreater(len(named), 60)
        known |= {"--new", *GITS}
        self.assertEqual({flag: path for flag, path in named.items() if flag not in known}, {})


if __name__ == "__main__":
    unittest.main()
