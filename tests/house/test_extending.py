"""The pages on extending easeml, followed literally: a plug-in is installed, found and used."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import container_images
from easeml.confinement import why_unavailable
from warm_python import WarmPython

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "extending"
NAMES = ["model", "transform", "objective", "policy", "optimizer", "tool", "kind-of-task"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"(?:# |\{# )([\w./-]+\.\w+)(?: #\})?\n")

# What commands and examples of the pages import, but for plug-ins.
IMPORTED = [
    *("easeml.cli.modules", "easeml.cli.uploading", "easeml.client.frames"),
    *("easeml.modules.checking", "easeml.modules.conformance_suites"),
    *("easeml.search.optimizers.conformance", "easeml.search.policies.conformance"),
    *("easeml.lifecycle.tool_conformance", "easeml.service.tasks.conformance", "easeml.store"),
    *("pandas", "pyarrow.parquet", "scipy.stats", "sklearn.ensemble", "skops.io"),
]


@pytest.fixture(scope="module")
def warm() -> Iterator[WarmPython]:
    with WarmPython(IMPORTED) as python:
        yield python


def follow(page: Path, folder: Path, warm: WarmPython) -> str:
    """Do what a page says, in its order; return what was printed.

    A block that begins with the name of a file is this file; other Python is run, and so is every
    command of easeml.
    """
    site, place = folder / "site", folder / "place"
    site.mkdir()
    place.mkdir()
    surroundings = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"}
    said = []
    for language, text in BLOCK.findall(page.read_text("utf-8")):
        named = FILE.match(text)
        if named:
            write(site, named[1], text)
        elif language == "python":
            said.append(checked(warm.run(["-c", text], place, surroundings)))
        elif language == "sh":
            for line in text.splitlines():
                command = ["-m", "easeml.cli", *line.split()[1:]]
                said.append(checked(warm.run(command, place, surroundings)))
    return "\n".join(said)


def write(site: Path, name: str, text: str) -> None:
    """Put a file of a plug-in in place; ``pyproject.toml`` becomes what an installation leaves."""
    if name != "pyproject.toml":
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text, "utf-8")
        return
    project = tomllib.loads(text)["project"]
    lines = []
    for group, points in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines += [f"{point} = {value}" for point, value in points.items()]
    title = f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    (site / title).mkdir()
    (site / title / "entry_points.txt").write_text("\n".join(lines), "utf-8")
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (site / title / "METADATA").write_text(metadata, "utf-8")


def run(arguments: list[str], site: Path, place: Path) -> str:
    """Run a new Python with the plug-in installed; fail with what it said where it fails."""
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"}
    command = [sys.executable, *arguments]
    return checked(
        subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False
        )
    )


def checked(done: subprocess.CompletedProcess[str]) -> str:
    """Return what a process printed; fail with what it said where it failed."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_a_plug_in_is_found_checked_and_used_as_its_page_says(
    name: str, tmp_path: Path, warm: WarmPython
) -> None:
    said = follow(PAGES / f"{name}.md", tmp_path, warm)
    if name == "policy":
        assert "highest-mean" in said
    if name == "tool":
        assert "of 400 rows contradict others" in said


@pytest.mark.skipif(bool(why_unavailable()), reason="programs need Landlock and seccomp")
def test_programs_are_made_and_checked_as_their_page_says(tmp_path: Path, warm: WarmPython) -> None:
    said = follow(PAGES / "programs.md", tmp_path, warm)
    assert "my-shell/train" in said
    assert "my-python/train" in said
    assert said.count("passed: ") == 10
    assert "failed" not in said


@pytest.mark.skipif(bool(why_unavailable()), reason="programs need Landlock and seccomp")
def test_an_objective_is_made_and_checked_as_its_page_says(
    tmp_path: Path, warm: WarmPython
) -> None:
    said = follow(PAGES / "objective-programs.md", tmp_path, warm)
    assert "my-measure/eval" in said
    assert said.count("passed: ") == 5
    assert "failed" not in said


@pytest.mark.skipif(shutil.which("podman") is None, reason="the page uses podman: install it")
def test_a_module_in_a_container_is_made_and_checked_as_its_page_says(
    tmp_path: Path, warm: WarmPython
) -> None:
    container_images.needs_containers()
    try:
        said = follow(PAGES / "containers.md", tmp_path, warm)
    finally:
        removed = ["podman", "rmi", "--force", "localhost/shell-and-awk:1"]
        subprocess.run(removed, capture_output=True, check=True)
    assert said.count("passed: ") == 10
    assert "failed" not in said


@pytest.mark.skipif(shutil.which("podman") is None, reason="the page uses podman: install it")
def test_an_image_of_the_prototype_is_checked_as_its_page_says(
    tmp_path: Path, warm: WarmPython
) -> None:
    container_images.needs_containers()
    try:
        said = follow(PAGES / "prototype.md", tmp_path, warm)
    finally:
        removed = ["podman", "rmi", "--force", "localhost/old-accuracy:1"]
        subprocess.run(removed, capture_output=True, check=True)
    assert said.count("passed: ") == 3
    assert "failed" not in said


@pytest.mark.skipif(bool(why_unavailable()), reason="programs need Landlock and seccomp")
@pytest.mark.parametrize(("page", "checks"), [("optimizer", 4), ("transform", 9)])
def test_others_are_made_and_checked_as_their_pages_say(
    page: str, checks: int, tmp_path: Path, warm: WarmPython
) -> None:
    said = follow(PAGES / f"{page}-programs.md", tmp_path, warm)
    assert said.count("passed: ") == checks
    assert f"{checks} passed in" in said
    assert "failed" not in said


def test_without_its_entry_point_a_plug_in_is_not_found(tmp_path: Path, warm: WarmPython) -> None:
    text = (PAGES / "optimizer.md").read_text("utf-8")
    page = tmp_path / "page.md"
    page.write_text(text.replace('"easeml.optimizers"', '"other.optimizers"'), "utf-8")
    with pytest.raises(AssertionError, match="There is no optimizer 'local'"):
        follow(page, tmp_path, warm)


def test_a_broken_plug_in_is_told_and_harms_no_other(tmp_path: Path) -> None:
    write(tmp_path, "broken.py", "POLICIES = 1 / 0\n")
    write(tmp_path, "twin.py", "class Twin:\n    name = 'fifo'\n\n\nPOLICIES = (Twin(),)\n")
    points = 'b = "broken"\nt = "twin"\ng = "gone"\n'
    head = '[project]\nname = "x"\nversion = "1"\n[project.entry-points."easeml.policies"]\n'
    write(tmp_path, "pyproject.toml", head + points)
    code = (
        "from easeml.search.policies import installed_policies as found;"
        "print(*found().problems, type(found().named('fifo')).__name__, sep='\\n')"
    )
    *problems, fifo = run(["-c", code], tmp_path, tmp_path).splitlines()
    assert len(problems) == 3
    assert any("division by zero" in problem for problem in problems)
    assert any("another policy 'fifo'" in problem for problem in problems)
    assert fifo == "Fifo"


def test_the_costs_that_are_told_are_those_of_the_examples() -> None:
    told = re.findall(r"(\d+) files, (\d+) lines \|$", (PAGES / "README.md").read_text(), re.M)
    counted = []
    for name in [*NAMES, "resource"]:
        blocks = [text for _, text in BLOCK.findall((PAGES / f"{name}.md").read_text("utf-8"))]
        files = [text for text in blocks if FILE.match(text)]
        lines = sum(len(text.splitlines()) - 1 for text in files)  # without the name of the file
        counted.append((str(len(files)), str(lines)))
    assert len(counted) == len(NAMES) + 1
    for cost in counted:
        assert cost in told


def test_a_resource_with_its_page_is_five_files_and_made_as_its_page_says(tmp_path: Path) -> None:
    """Its files are put into a copy of the sources, which is then used as the page says."""
    place = tmp_path / "copy"
    for part in ("src", "scripts", "docs/reference"):
        shutil.copytree(ROOT / part, place / part)  # with its bytecode: compiling takes seconds
    files, said = [], []
    for language, text in BLOCK.findall((PAGES / "resource.md").read_text("utf-8")):
        named = FILE.match(text)
        if named:
            file = place / "src" / named[1]
            assert not file.exists()
            file.write_text(text, "utf-8")
            files.append(file)
        elif language == "python":
            said.append(run(["-c", text], place / "src", place))
        else:
            for line in text.splitlines():
                run(line.split()[1:], place / "src", place)
    assert len(files) == 5
    assert said == [
        "{'items': [], 'next': None}\n"
        "Give what the tenant's applications have cost, oldest first.\n"
        "200 True\n"
    ]
    assert "## GET /api/v1/spendings\n" in (place / "docs/reference/rest.md").read_text("utf-8")
