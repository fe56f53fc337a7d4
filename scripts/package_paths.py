"""Print the files and folders of site-packages that hold what a lock file names, one a line.

.venv/bin/python scripts/package_paths.py requirements.lock
"""

import re
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path

_NAME = re.compile(r"^[\w.-]+", re.MULTILINE)  # of a package; comments begin with "#"


def paths_of(package: Distribution) -> set[Path]:
    """Return what a package has put into site-packages; its programs lie elsewhere."""
    folder = Path(str(package.locate_file("")))
    tops = {file.parts[0] for file in package.files or []}
    return {folder / top for top in tops - {"..", "__pycache__"}}


def main() -> None:
    """Print each path once, though several packages may share a folder."""
    names = _NAME.findall(Path(sys.argv[1]).read_text("utf-8"))
    paths = set().union(*(paths_of(distribution(name)) for name in names))
    print("\n".join(sorted(map(str, paths))))


if __name__ == "__main__":
    main()
