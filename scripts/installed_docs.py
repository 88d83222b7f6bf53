#!/usr/bin/env python3
"""The documents as they are installed, links included.

    scripts/installed_docs.py FOLDER DATA MAN       DATA, MAN: the installed folders share/kernelcast and share/man/man1, seen from FOLDER

FOLDER gets README.md, LICENSE, docs/ and the pages of validation/. Links between these stay; links to examples, device files, schemas and the
manual lead to where they are installed; of links to what is not installed the text remains.
"""
import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = ("README.md", "LICENSE", "docs/*.md", "docs/*/*.md", "docs/tutorials/*.ipynb", "docs/pictures/*", "validation/*.md")
ELSEWHERE = ("examples", "devices", "schema")
LINK = re.compile(r"(!?)\[([^\]\[]*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```$)", re.S | re.M)


def installed_files():
    return sorted({p.relative_to(ROOT) for pattern in PATTERNS for p in ROOT.glob(pattern)})


def rewritten(text, page, installed, data, man):
    """The page's text with links as the docstring says."""
    def link(match):
        picture, words, target = match.groups()
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match[0]
        path, hash_, anchor = target.partition("#")
        place = Path(os.path.normpath(page.parent / path))
        up = os.path.relpath(".", page.parent)
        if place in installed:
            return match[0]
        if place.parts[0] in ELSEWHERE:
            return f"{picture}[{words}]({os.path.normpath(os.path.join(up, data, place))}{hash_}{anchor})"
        if place.parts[:2] == ("docs", "man"):
            return f"{picture}[{words}]({os.path.normpath(os.path.join(up, man, place.name))})"
        return words
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in CODE.split(text))


def main():
    folder, data, man = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if folder.exists():
        shutil.rmtree(folder)
    files = installed_files()
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name.suffix == ".md":
            (folder / name).write_text(rewritten((ROOT / name).read_text(encoding="utf-8"), name, set(files), data, man), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / name, folder / name)


if __name__ == "__main__":
    main()
