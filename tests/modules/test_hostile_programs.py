"""What hostile programs come to in a container, and free: the table of ``docs/threat-model.md``; and
what lies, and what is no table of numbers, change.

At each level of isolation programs are tried in ``tests/engine/test_attacks_of_modules.py``.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import container_images
import hostile_programs
from easeml.confinement import why_unavailable
from easeml.modules import Context, Data
from easeml.modules.process import ProcessModel
from easeml.modules.programs import ProgramFailed

RUNTIMES = ("process", "container")
HARMLESS = (  # what may be tried where nothing stops it
    *("read the files of others", "list the folder of others", "write beside the files of others"),
    *("open the network", "read the environment of another process"),
)


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> str:
    """A runtime that this machine has."""
    if request.param == "container":
        container_images.needs_containers()
    elif why_unavailable():
        pytest.skip("programs need Landlock and seccomp")
    return request.param


@pytest.fixture
def target(tmp_path: Path) -> Iterator[list[str]]:
    """What attacks are after: a file of another tenant, a port on which somebody listens, and a
    process.
    """
    secret = tmp_path / "others" / "easeml.db"
    secret.parent.mkdir()
    secret.write_text("of another tenant")
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield [str(secret), str(server.getsockname()[1]), str(os.getpid())]


def test_programs_in_a_container_come_to_what_the_page_says(
    tmp_path: Path, target: list[str]
) -> None:
    container_images.needs_containers()
    image = container_images.reference(container_images.python_image())
    shebang = container_images.shebang("container")
    came_to = hostile_programs.came_to(shebang, image, tmp_path, target)
    found = {name: hostile_programs.in_words(came) for name, came in came_to.items()}
    assert found == hostile_programs.told("container")
    assert [path.name for path in Path(target[0]).parent.iterdir()] == ["easeml.db"]


def test_attacks_succeed_where_nothing_stops_them(tmp_path: Path, target: list[str]) -> None:
    attacks = {name: hostile_programs.ATTACKS[name] for name in HARMLESS}
    command = [sys.executable, "-c", hostile_programs.program(attacks), *target]
    printed = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path).stdout
    came_to = hostile_programs.read(printed.splitlines())
    assert came_to == dict.fromkeys(HARMLESS, "succeeded")


def test_a_lie_about_quality_and_a_pickle_change_nothing(runtime: str) -> None:
    """What it says of itself is a point of a curve; what it leaves is bytes; answers are numbers."""
    begin = container_images.shebang(runtime) + "import sys\n"
    bomb = "cos\\nsystem\\n(S'touch bombed'\\ntR."
    train = f'{begin}print(\'{{"step": 1, "quality": 1.0}}\')\nopen(sys.argv[6] + "/model.pkl", "w").write("{bomb}")\n'
    predict = f'{begin}open(sys.argv[6] + "/predictions.csv", "w").write("{bomb}")\n'
    image = ""
    if runtime == "container":
        image = container_images.reference(container_images.python_image())
    told = []
    context = Context(report=lambda step, quality: told.append((step, quality)))
    model = ProcessModel("liar", {"train": train, "predict": predict}, "csv", image)
    features = np.zeros((4, 2))
    trained = model.fit(Data(features, np.array([0, 0, 1, 1]), classes=2), {}, context)
    assert told == [(1, 1.0)]
    assert trained.memory["model.pkl"].startswith(b"cos\nsystem")
    with pytest.raises(ProgramFailed, match=r"rows of 1 columns|cannot be read"):
        trained.predict(features)
