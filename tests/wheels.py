"""Small wheels for tests, written here: nothing comes from an index."""

import zipfile
from collections.abc import Sequence
from pathlib import Path


def write(folder: Path, name: str, version: str, code: str, needs: Sequence[str] = ()) -> Path:
    """Write the wheel of a package that is one module with some code; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    about = f"{name}-{version}.dist-info"
    needed = "".join(f"Requires-Dist: {one}\n" for one in needs)
    files = {
        f"{name}.py": code,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needed}",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{about}/RECORD"
    lines = [f"{path},,\n" for path in [*files, record]]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, content in {**files, record: "".join(lines)}.items():
            wheel.writestr(path, content)
    return folder
