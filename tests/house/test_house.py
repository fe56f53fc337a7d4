"""What holds for the house as a whole: import times by what is loaded, and words that must never be
committed.
"""

import subprocess
import sys

import pytest

HEAVY = ["pandas", "sklearn", "lightgbm", "skrub", "pyarrow", "scipy"]


def loaded_by(module: str) -> set[str]:
    program = f"import {module}, sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


@pytest.mark.parametrize(
    ("module", "not_loaded"),
    [
        ("easeml", [*HEAVY, "sqlalchemy", "fastapi", "httpx", "numpy"]),
        ("easeml.cli", [*HEAVY, "sqlalchemy", "fastapi", "uvicorn", "numpy"]),
        ("easeml.client", [*HEAVY, "sqlalchemy", "fastapi", "numpy"]),
        ("easeml.api.controller", HEAVY),
        ("easeml.api.log_writer", [*HEAVY, "fastapi", "numpy"]),
        ("easeml.store", [*HEAVY, "alembic", "numpy"]),
    ],
)
def test_importing_a_room_leaves_heavy_libraries_alone(module: str, not_loaded: list[str]):
    assert not loaded_by(module) & set(not_loaded)
