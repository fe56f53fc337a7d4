"""The sources as the tests of their shape read them: parsed once for all."""

import ast
import gc
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src" / "easeml"


@pytest.fixture(scope="session")
def trees() -> dict[Path, ast.Module]:
    """Each source by its path. To use it, join the group of tests that is called "sources"."""
    gc.disable()  # the collector would look through the growing trees again and again
    try:
        return {path: ast.parse(path.read_text("utf-8")) for path in SOURCES.rglob("*.py")}
    finally:
        gc.freeze()  # nor does it need to look at them afterwards
        gc.enable()


@pytest.fixture(scope="session")
def nodes(trees: dict[Path, ast.Module]) -> dict[Path, list[ast.AST]]:
    """All nodes of each source."""
    return {path: list(ast.walk(tree)) for path, tree in trees.items()}
