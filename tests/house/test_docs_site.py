"""The documentation builds as a site, strictly, and asks nobody else when it is read."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOADED = re.compile(
    r'<(?:script|img|iframe)[^>]+src="?(https?:[^">\s]+)'
    r'|<link[^>]+rel="?(?:stylesheet|preconnect|icon)"?[^>]+href="?(https?:[^">\s]+)'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built so that a wrong link or a page that the menu forgot is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def test_every_page_is_there_and_can_be_searched(site: Path):
    written = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    found = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    searched = {entry["location"].partition("#")[0] for entry in found["docs"]}
    for page in written:
        name = "index" if page.stem == "README" else page.stem
        address = page.with_name(f"{name}.html")
        assert (site / address).exists(), page
        assert str(address) in searched or str(page.parent / "") in searched, page


def test_no_page_loads_anything_from_elsewhere(site: Path):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    asked = {page.name: LOADED.findall(page.read_text("utf-8")) for page in pages}
    assert not {name: found for name, found in asked.items() if found}


def test_what_is_loaded_from_elsewhere_would_be_found():
    for bad in (
        '<script src="https://cdn.example/x.js">',
        '<link rel="stylesheet" href="https://fonts.example/css">',
        "<link rel=stylesheet href=https://fonts.example/css>",
        '<img alt="x" src="https://pictures.example/x.png">',
    ):
        assert LOADED.search(bad), bad
