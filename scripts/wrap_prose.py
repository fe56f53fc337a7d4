"""Wrap the prose of the documentation: ``python scripts/wrap_prose.py [FILE ...]``.

Without files all of it, but for the list of changes and the reference, which is made. Tables, code
and headings stay as they are (formatters of Markdown would pad each table to its widest cell).
With ``--check`` nothing is written; exit code 1: a file would change.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100
ITEM = re.compile(r" *(?:[-*+]|\d+\.) +")  # how a line of a list begins
LEFT = re.compile(r"(?:\||#|<|!!!|---|\[[^\]]+\]:| {4,}[^ ])")  # what is no prose
# What stays on one line: code, links, words.
TOKEN = re.compile(r"(?:`[^`]*`|!?\[[^\]]*\]\([^)]*\)|[^\s`])+|`")
# What would be read as something else at the beginning of a line.
MARK = re.compile(r"(?:[-*+>#|=]+|\d+[.)])$")


def pages() -> list[Path]:
    """Return the files whose prose is wrapped."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    made = ROOT / "docs" / "reference"
    return sorted(path for path in found if path.name != "CHANGELOG.md" and path.parent != made)


def wrapped(text: str) -> str:
    """Return a page with its paragraphs and items of lists filled."""
    lines: list[str] = []
    for block in blocks(text.splitlines()):
        is_prose = bool(block[0].strip()) and not is_code(block[0]) and not is_left(block[0])
        lines += filled(block) if is_prose else block
    return "\n".join(lines) + "\n"


def blocks(lines: list[str]) -> Iterator[list[str]]:
    """Give the lines that belong together: a paragraph, an item, a block of code, or one line."""
    block: list[str] = []
    for line in lines:
        if block and is_code(block[0]):  # until its fence comes again
            block.append(line)
            if is_code(line):
                yield block
                block = []
            continue
        if block and goes_on(block, line):
            block.append(line)
            continue
        if block:
            yield block
        block = [line]
    if block:
        yield block


def goes_on(block: list[str], line: str) -> bool:
    """Tell whether a line continues a paragraph or an item."""
    inside_item = bool(ITEM.match(block[0])) and line.startswith(" ")
    starts = is_code(line) or ITEM.match(line) or (is_left(line) and not inside_item)
    is_prose = bool(block[-1].strip()) and not is_left(block[0])
    has_end = block[-1].endswith(("  ", "\\"))  # a line that is to end there
    return is_prose and bool(line.strip()) and not starts and not has_end


def is_left(line: str) -> bool:
    """Tell whether a line is no prose: of a table, a heading, HTML, or set in as code is."""
    return bool(LEFT.match(line)) and not ITEM.match(line)


def is_code(line: str) -> bool:
    """Tell whether a line begins or ends a block of code."""
    return line.lstrip().startswith("```")


def filled(block: list[str]) -> list[str]:
    """Return a paragraph or an item in lines that fit; what follows its mark is set in."""
    item = ITEM.match(block[0])
    start = item[0] if item else block[0][: len(block[0]) - len(block[0].lstrip())]
    inset = " " * len(start)
    first, *others = TOKEN.findall(" ".join(block)[len(start) :])
    lines = [start + first]
    for token in others:
        if len(lines[-1]) + 1 + len(token) <= WIDTH or MARK.match(token):
            lines[-1] += f" {token}"
        else:
            lines.append(inset + token)
    end = "  " if block[-1].endswith("  ") else ""
    return [*lines[:-1], lines[-1] + end]


def main() -> int:
    """Write what is not wrapped, or with ``--check`` name it."""
    named = [Path(name).resolve() for name in sys.argv[1:] if name != "--check"]
    is_check = "--check" in sys.argv
    stale = 0
    for page in named or pages():
        text = page.read_text("utf-8")
        if wrapped(text) == text:
            continue
        stale += 1
        print(page.relative_to(ROOT))
        if not is_check:
            page.write_text(wrapped(text), "utf-8")
    return int(is_check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
