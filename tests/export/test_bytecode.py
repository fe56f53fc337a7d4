"""Bytecode goes into an image as what Python takes without looking at its source's time."""

import os
import py_compile
import subprocess
import sys
from pathlib import Path

from easeml.export.bytecode import bytecode


def test_bytecode_is_taken_whatever_the_time_of_its_source(tmp_path: Path) -> None:
    source = tmp_path / "told.py"
    source.write_text("SAID = 'compiled'\n")
    py_compile.compile(str(source), doraise=True)
    files = {"opt/packages/told.py": source, "opt/notes.txt": tmp_path / "notes.txt"}
    found = bytecode(files, tmp_path / "made")
    ((name, compiled),) = found.items()
    assert name.startswith("opt/packages/__pycache__/told.")
    image = tmp_path / "image"
    (image / name).parent.mkdir(parents=True)
    (image / name).write_bytes(compiled.read_bytes())
    (image / "opt/packages/told.py").write_text("SAID = 'from source'\n")
    os.utime(image / "opt/packages/told.py", (0, 0))
    ask = [sys.executable, "-c", "import told; print(told.SAID)"]
    environment = {**os.environ, "PYTHONPATH": str(image / "opt/packages")}
    answer = subprocess.run(ask, env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout == "compiled\n"


def test_bytecode_of_another_source_stays_where_it_is(tmp_path: Path) -> None:
    source = tmp_path / "told.py"
    source.write_text("SAID = 1\n")
    assert bytecode({"told.py": source}, tmp_path / "none") == {}
    py_compile.compile(str(source), doraise=True)
    source.write_text("SAID = 1000\n")
    assert bytecode({"told.py": source}, tmp_path / "old") == {}


def test_a_source_with_two_names_has_bytecode_by_each(tmp_path: Path) -> None:
    """As Debian's Python has a module; the bytecode of the next source once took the place of its own."""
    for name in ("first", "next"):
        (tmp_path / f"{name}.py").write_text(f"said = {name!r}\n")
        py_compile.compile(str(tmp_path / f"{name}.py"), doraise=True)
    (tmp_path / "again.py").symlink_to("first.py")
    files = {f"opt/{name}.py": tmp_path / f"{name}.py" for name in ("first", "again", "next")}
    found = bytecode(files, tmp_path / "made")
    contents = {Path(name).name.split(".")[0]: path.read_bytes() for name, path in found.items()}
    assert set(contents) == {"first", "again", "next"}
    assert contents["first"] == contents["again"] != contents["next"]
