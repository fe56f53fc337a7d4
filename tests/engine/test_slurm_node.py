"""The program on a node of Slurm, driven through its pipes: no cluster is needed."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import bodies_for_tests
import pytest

from easeml.contract.tasks import Limits
from easeml.engine.executors import packing, slurm_node
from easeml.engine.executors.frames import receive, send
from easeml.engine.executors.node import Told
from easeml.engine.executors.slurm_node import Attempt, Ended, Part

LIMITS = Limits(seconds=60, memory=256 * 2**20, threads=1)


class Node:
    """The program, and the pipes to it that ``srun`` keeps on a cluster."""

    def __init__(self, folder: Path):
        bodies = Path(bodies_for_tests.__file__).parent
        environment = {"SLURM_JOB_ID": "1", "TMPDIR": str(folder), "PYTHONPATH": str(bodies)}
        self.program = subprocess.Popen(
            [sys.executable, "-P", "-m", slurm_node.__name__],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        told = Told.of(LIMITS, bodies_for_tests.run, (), "none")
        self.send("told", told.model_dump_json().encode())
        assert self.receive() == ("hi", b"1")

    def send(self, kind: str, content: bytes = b"", *, attempt: int = 0) -> None:
        assert self.program.stdin is not None
        send(self.program.stdin, kind, content, attempt)

    def receive(self) -> tuple[str, bytes]:
        """Return the next message that is no beat: its kind and its content."""
        assert self.program.stdout is not None
        while (message := receive(self.program.stdout))[0] == "beat":
            continue
        return message[0], message[-1]

    def begin(self, attempt: int) -> None:
        """Tell of an attempt with one part, which follows."""
        told = Attempt(limits=LIMITS, parts=[Part()], sent=[0])
        self.send("run", told.model_dump_json().encode(), attempt=attempt)

    def send_part(self, attempt: int, folder: Path, behaviour: str) -> None:
        (folder / "do").write_text(behaviour)
        with tempfile.TemporaryFile() as packed:
            packing.pack([folder / "do"], packed)
            self.send("part", packed.read(), attempt=attempt)
        self.send("done", attempt=attempt)

    def ending(self) -> str:
        """Wait for the last message of an attempt."""
        while (message := self.receive())[0] not in ("end", "kill"):
            continue
        return Ended.model_validate_json(message[1]).ending if message[1] else "killed"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    made = Node(tmp_path_factory.mktemp("n"))
    yield made
    assert made.program.stdin is not None
    made.program.stdin.close()
    assert made.program.wait(30) == 0


@pytest.mark.parametrize("comes", ["before", "among the parts", "while it runs"])
@pytest.mark.parametrize(("kind", "content"), [("kill", b""), ("ask", b"0.0")])
def test_what_was_meant_for_the_attempt_before_harms_no_other(
    node: Node, tmp_path: Path, kind: str, content: bytes, comes: str
) -> None:
    node.begin(1)
    node.send_part(1, tmp_path, "finish")
    assert node.ending() == "finished"
    if comes == "before":
        node.send(kind, content, attempt=1)
    node.begin(2)
    if comes == "among the parts":
        node.send(kind, content, attempt=1)
    node.send_part(2, tmp_path, "end-when-asked")
    if comes == "while it runs":
        assert node.receive() == ("go", b"")
        node.send(kind, content, attempt=1)
    node.send("ask", b"30.0", attempt=2)
    assert node.ending() == "finished"


@pytest.mark.parametrize("is_early", [True, False])
def test_a_kill_of_its_own_ends_an_attempt_and_the_next_one_runs(
    node: Node, tmp_path: Path, is_early: bool
) -> None:
    node.begin(3)
    if is_early:
        node.send("kill", attempt=3)
    node.send_part(3, tmp_path, "hang")
    if not is_early:
        assert node.receive() == ("go", b"")
        node.send("kill", attempt=3)
    assert node.ending() == "killed"
    node.begin(4)
    node.send_part(4, tmp_path, "finish")
    assert node.ending() == "finished"
