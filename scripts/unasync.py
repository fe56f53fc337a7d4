"""Make the synchronous client from the asynchronous one.

``python scripts/unasync.py`` writes ``src/easeml/client/_sync``; with ``--check`` it only compares
(exit 1: stale).
"""

import re
import subprocess
import sys
from pathlib import Path

CLIENT = Path(__file__).resolve().parent.parent / "src" / "easeml" / "client"
HEADER = (
    "# Made from ../_async/{name} by scripts/unasync.py: change that file, then run the script.\n"
)
WORDS = [  # in this order
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\basync_(\w)", r"\1"),
    (r"\b__a(enter|exit)__", r"__\1__"),
    (r"\ba(close|read)\b", r"\1"),
    (r"\baiter_", "iter_"),
    (r"\bAsync([A-Z]\w*)", r"\1"),
    (r"\b_async\b", "_sync"),
    (
        r'(?s)The asynchronous client, written by hand; .*?"""',
        'The synchronous client, made from the asynchronous one."""',
    ),
]


def made(source: Path) -> str:
    """Return the synchronous text of an asynchronous file, formatted."""
    text = source.read_text(encoding="utf-8")
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    return formatted(HEADER.format(name=source.name) + text, source.name)


def formatted(text: str, name: str) -> str:
    """Return the text of a made file as it is kept."""
    for command in (
        ["check", "--select", "I,UP028", "--fix-only", "--unsafe-fixes", "--quiet"],
        ["format", "--quiet"],
    ):
        text = _ruff(text, command, name)
    return text


def stale() -> dict[Path, str]:
    """Return the files that differ from what they should be, with the text they should have."""
    wanted = {
        CLIENT / "_sync" / source.name: made(source)
        for source in sorted((CLIENT / "_async").glob("*.py"))
    }
    return {
        path: text
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def _ruff(text: str, command: list[str], name: str) -> str:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            *command,
            "--stdin-filename",
            str(CLIENT / "_sync" / name),
            "-",
        ],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        cwd=CLIENT.parent.parent.parent,
    )
    return done.stdout


def main() -> int:
    """Write what is stale, or with ``--check`` name it."""
    found = stale()
    for path, text in found.items():
        print(path)
        if "--check" not in sys.argv:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return int(bool(found) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
