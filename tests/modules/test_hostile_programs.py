"""What hostile programs come to in each runtime: bounded attacks, each of which would succeed free."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import container_images
from easeml.confinement import why_unavailable
from easeml.folders import remove_folder
from easeml.modules import Context, Data, runtimes
from easeml.modules.process import ProcessModel
from easeml.modules.programs import Limits, ProgramFailed

RUNTIMES = ("process", "container")
LIMITS = Limits(seconds=15, memory=128 * 2**20, disk=16 * 2**20, files=1000, printed=2**16)
BEGIN = """\
import ctypes, os, socket, sys, time
from pathlib import Path
secret, port, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
def succeeds(code):
    if code < 0:
        raise OSError(ctypes.get_errno(), "refused")
"""
REFUSED = {
    "read the files of others": "open(secret).read()",
    "list the folder of others": "os.listdir(os.path.dirname(secret))",
    "write beside the files of others": "open(secret + '.mine', 'w')",
    "plant code in the system": "open('/usr/lib/planted', 'w')",
    "change the kernel": "open('/proc/sys/kernel/core_pattern', 'w').write('x')",
    "open the network": "socket.create_connection(('127.0.0.1', port), 2)",
    "leave the machine": "socket.create_connection(('192.0.2.1', 80), 2)",
    "signal another process": "os.kill(pid, 9)",
    "read the memory of another process": "open(f'/proc/{pid}/mem', 'rb').read(1)",
    "read the environment of another process": "open(f'/proc/{pid}/environ', 'rb').read()",
    "mount": "succeeds(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
    "make a user namespace": "succeeds(libc.unshare(0x10000000))",
    "clone into a user namespace": "succeeds(libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0))",
    "make a device": "os.mknod('disk', 0o60600, os.makedev(8, 0))",
    "fork for ever": "for _ in range(1000):\n    if os.fork() == 0:\n        time.sleep(9)\n        os._exit(0)",
    "take all memory": "held = [b'x' * 2**20 for _ in range(400)]",
    "fill the disk with one file": "open('big', 'wb').truncate(2**40)",
    "trace its parent": "succeeds(libc.ptrace(16, os.getppid(), 0, 0))",
}
ENDED = {
    "fill the disk with many files": (
        "for i in range(64):\n    open(f'{i}', 'wb').write(b'x' * 2**20)\ntime.sleep(9)",
        "wrote more",
    ),
    "fill the disk with names": (
        "for i in range(2000):\n    open(f'{i}', 'w')\ntime.sleep(9)",
        "1,000 files",
    ),
    "nest folders for ever": (
        "for i in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\ntime.sleep(9)",
        "1,000 files",
    ),
    "print for ever": ("while True:\n    print('flood of words')", "printed more"),
    "hang": ("time.sleep(60)", "ran longer"),
}


@pytest.fixture(params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> str:
    """A runtime that this machine has."""
    if request.param == "container":
        container_images.needs_containers()
    elif why_unavailable():
        pytest.skip("programs need Landlock and seccomp")
    return request.param


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of another tenant."""
    path = tmp_path / "others" / "easeml.db"
    path.parent.mkdir()
    path.write_text("of another tenant")
    return path


@pytest.fixture
def port() -> Iterator[int]:
    """A port of this machine on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def attack(runtime: str, folder: Path, code: str, secret: Path, port: int, limits: Limits) -> None:
    """Run a program in Python that does this."""
    place = folder / "own"
    for name in ("module", "data", "memory", "output"):
        (place / name).mkdir(parents=True)
    program = place / "module" / "train"
    program.write_text(f"{container_images.shebang(runtime)}{BEGIN}{code}\n")
    program.chmod(0o755)
    image = ""
    if runtime == "container":
        image = container_images.reference(container_images.python_image())
    arguments = [str(secret), str(port), str(os.getpid())]
    try:
        runtimes.run(place, "train", arguments, limits, image=image)
    finally:
        remove_folder(place)


@pytest.mark.parametrize("name", REFUSED)
def test_an_attack_fails(runtime: str, name: str, tmp_path: Path, secret: Path, port: int) -> None:
    with pytest.raises(ProgramFailed):
        attack(runtime, tmp_path, REFUSED[name], secret, port, LIMITS)
    assert [path.name for path in secret.parent.iterdir()] == ["easeml.db"]


@pytest.mark.parametrize("name", ENDED)
def test_a_program_is_ended(
    runtime: str, name: str, tmp_path: Path, secret: Path, port: int
) -> None:
    code, why = ENDED[name]
    seconds = 2 if name == "hang" else LIMITS.seconds
    limits = Limits(seconds, LIMITS.memory, LIMITS.disk, LIMITS.files, LIMITS.printed)
    with pytest.raises(ProgramFailed, match=why):
        attack(runtime, tmp_path, code, secret, port, limits)
    assert not (tmp_path / "own").exists()


def test_the_same_program_without_an_attack_works(
    runtime: str, tmp_path: Path, secret: Path, port: int
) -> None:
    attack(runtime, tmp_path, "open('mine', 'w').write('x')", secret, port, LIMITS)


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
