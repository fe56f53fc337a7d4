"""Jobs of small Python programs, run to their end."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from queue import SimpleQueue

import pytest
from typer.testing import CliRunner

from easeml.cli.main import app
from easeml.errors import InvalidInput
from easeml.gang import Ending, read_job, run_job
from easeml.gang.states import Interrupted

# What a shell starts in the background ignores Ctrl-C, and so does the command where these tests do.
HEEDING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from easeml.cli import main
main()
"""
SERVER = """
import os, socket
listener = socket.create_server(("127.0.0.1", int(os.environ["EASEML_PORT_SERVER_0_DATA"])))
while True:
    asking, _ = listener.accept()
    asking.sendall(b"5")
    asking.close()
"""
# Asks until the server listens; the first attempt dies after what it has learnt is kept.
WORKER = """
import os, signal, socket, sys
from pathlib import Path
port = int(os.environ["EASEML_PORT_SERVER_0_DATA"])
answer = b""
while not answer:
    try:
        with socket.create_connection(("127.0.0.1", port)) as asked:
            answer = asked.recv(1)
    except ConnectionRefusedError:
        pass
kept = Path(os.environ["EASEML_CHECKPOINT"]) / os.environ["EASEML_INDEX"]
found = int(kept.read_text()) if kept.exists() else 0
half = kept.with_suffix(".half")
half.write_text(str(found + int(answer)))
half.replace(kept)  # the other may die while this one writes: a checkpoint is whole or not there
print("worker", os.environ["EASEML_INDEX"], "has", found)
if os.environ["EASEML_INDEX"] == "1" and os.environ["EASEML_ATTEMPT"] == "1":
    print("out of luck")
    sys.exit(7)
if os.environ["EASEML_ATTEMPT"] == "1":
    signal.pause()
"""


def job(tmp_path: Path, restarts: int, **programs: tuple[str, str]) -> Path:
    """Write a job: role -> program, and more of its description."""
    text = f"restarts = {restarts}\ngrace = 60\n"
    for role, (program, more) in programs.items():
        (tmp_path / f"{role}.py").write_text(program)
        command = json.dumps([sys.executable, f"{role}.py"])
        text += f"[roles.{role}]\ncommand = {command}\n{more}\n"
    file = tmp_path / "job.toml"
    file.write_text(text)
    return file


def run(file: Path, expect: int) -> dict:
    """Run a job by command; return its report."""
    done = CliRunner().invoke(app, ["gang", "run", str(file), "--json"])
    assert done.exit_code == expect, done.output
    return json.loads(done.stdout)


def test_all_start_together_and_again_from_the_checkpoint_when_one_dies(tmp_path: Path) -> None:
    file = job(
        tmp_path,
        1,
        server=(SERVER, 'ports = ["data"]\nbackground = true'),
        worker=(WORKER, "count = 2"),
    )
    report = run(file, 0)
    assert report["ending"] == "done"
    assert report["attempts"] == 2
    (death,) = report["deaths"]
    assert (death["role"], death["index"], death["exit_code"]) == ("worker", 1, 7)
    assert report["tail"] == ["worker 1 has 0", "out of luck"]
    logs = Path(report["folder"]) / "logs"
    assert (logs / "worker-1-attempt-2.log").read_text() == "worker 1 has 5\n"
    assert len(list(logs.iterdir())) == 6


def test_no_restart_is_left(tmp_path: Path) -> None:
    dies = "import os\nprint('attempt', os.environ['EASEML_ATTEMPT'], flush=True)\nos.abort()\n"
    report = run(job(tmp_path, 1, only=(dies, "")), 1)
    assert report["ending"] == "failed"
    assert [one["reason"] for one in report["deaths"]] == ["only 0 was ended by SIGABRT"] * 2
    assert report["tail"] == ["attempt 2"]


def test_processes_may_end_before_all_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who watches a process that has ended takes it out of the list, which is gone through then."""
    monkeypatch.setattr(threading.Thread, "start", threading.Thread.run)
    file = job(tmp_path, 0, short=("pass\n", "count = 3\n"))
    report = run_job(read_job(file.read_text(), "job"), tmp_path, tmp_path / "kept", print)
    assert report.ending is Ending.DONE


def test_all_start_or_none(tmp_path: Path) -> None:
    file = job(tmp_path, 0, here=("open('started', 'w')\n", ""))
    file.write_text(file.read_text() + '[roles.there]\ncommand = ["./no-such-program"]\n')
    refused = CliRunner().invoke(app, ["gang", "run", str(file)])
    assert refused.exit_code == 2
    assert "no-such-program" in refused.stderr
    assert not (tmp_path / "started").exists()

    # A file that may be executed, and cannot be: it is found out when the others have started.
    broken = tmp_path / "no-such-program"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    with pytest.raises(InvalidInput, match="there 0 cannot be started"):
        run_job(read_job(file.read_text(), "job"), tmp_path, tmp_path / "kept", print)


def test_an_interrupt_ends_all_and_what_they_have_started(tmp_path: Path) -> None:
    # The parent waits for its child, which holds the other end of a named pipe open.
    parent = "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'])\n"
    (tmp_path / "child.py").write_text(
        "import signal\nholds = open('pipe', 'w')\nprint('here', file=holds, flush=True)\n"
        "signal.pause()\n"
    )
    os.mkfifo(tmp_path / "pipe")
    file = job(tmp_path, 5, parent=(parent, ""))
    events: SimpleQueue = SimpleQueue()

    def interrupt() -> None:
        with (tmp_path / "pipe").open() as pipe:
            assert pipe.readline() == "here\n"
            events.put(Interrupted())
            pipe.read()  # until nobody holds the other end

    reader = threading.Thread(target=interrupt, daemon=True)
    reader.start()
    report = run_job(read_job(file.read_text(), "job"), tmp_path, tmp_path / "kept", print, events)
    assert report.ending == Ending.INTERRUPTED
    assert report.attempts == 1
    reader.join(30)
    assert not reader.is_alive()


# Starts a child in a session of its own, which a signal to the group does not reach.
LEAVES_A_CHILD = """
import subprocess, sys
subprocess.Popen([sys.executable, "child.py"], start_new_session=True)
open("pipe").readline()
"""
CHILD = """
import signal
holds = open("pipe", "w")
print("here", file=holds, flush=True)
signal.pause()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows what a process was told")
def test_what_a_process_has_started_in_another_session_ends_with_it(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    os.mkfifo(tmp_path / "pipe")
    run(job(tmp_path, 0, parent=(LEAVES_A_CHILD, "")), 0)
    nobody_writes = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert os.read(nobody_writes, 1) == b""
    os.close(nobody_writes)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows what a process was told")
def test_what_a_killed_run_left_is_ended_before_the_next_begins(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    file = job(tmp_path, 0, only=(CHILD, ""))
    command = [sys.executable, "-c", HEEDING, "gang", "run", str(file)]
    with (
        subprocess.Popen(command, stdout=subprocess.DEVNULL) as running,
        (tmp_path / "pipe").open() as pipe,
    ):
        assert pipe.readline() == "here\n"
        running.kill()
        running.wait()
        (tmp_path / "only.py").write_text("print('well')\n")
        run(file, 0)
        assert pipe.read() == ""


def test_a_job_does_not_run_twice_at_once_in_a_folder(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    file = job(tmp_path, 0, only=("open('pipe').read()\n", ""))
    command = [sys.executable, "-c", HEEDING, "gang", "run", str(file)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as first:
        with (tmp_path / "pipe").open("w"):
            second = CliRunner().invoke(app, ["gang", "run", str(file)])
            assert second.exit_code != 0
            assert "is running there already" in second.output
        assert first.wait(60) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=["ctrl-c", "closed"])
def test_the_terminal_ends_the_command(tmp_path: Path, number: int) -> None:
    waits = "import signal\nprint('up', file=open('pipe', 'w'), flush=True)\nsignal.pause()\n"
    os.mkfifo(tmp_path / "pipe")
    file = job(tmp_path, 5, only=(waits, ""))
    command = [sys.executable, "-c", HEEDING, "gang", "run", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert (tmp_path / "pipe").read_text() == "up\n"
        running.send_signal(number)
        said, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "interrupted" in said


def test_a_process_that_wants_more_memory_than_its_limit_dies_alone(tmp_path: Path) -> None:
    waits = "import signal\nsignal.pause()\n"
    # The limit is set when the program has begun: it asks until the machine refuses.
    hungry = "held = []\nwhile True:\n    held.append(bytearray(50_000_000))\n"
    file = job(tmp_path, 0, waits=(waits, "background = true"), hungry=(hungry, 'memory = "300MB"'))
    report = run(file, 1)
    (death,) = report["deaths"]
    assert death["role"] == "hungry"
    assert report["tail"][-1] == "MemoryError"
    used = {one["role"]: one for one in report["usages"]}
    assert set(used) == {"waits", "hungry"}
    assert used["hungry"]["memory"] > 200e6


def test_a_job_that_may_need_more_memory_than_the_machine_has_is_refused(tmp_path: Path) -> None:
    file = job(tmp_path, 0, large=("open('started', 'w')\n", 'count = 4\nmemory = "900TB"'))
    refused = CliRunner().invoke(app, ["gang", "run", str(file)])
    assert refused.exit_code == 2
    assert "lower memory or count" in " ".join(refused.stderr.split())
    assert not (tmp_path / "started").exists()


def test_a_page_follows_a_job_and_settings_are_suggested_by_what_earlier_runs_used(
    tmp_path: Path,
) -> None:
    large = 'bytearray(200_000_000)\nraise SystemExit(f"<b>{5}")\n'
    failed = run(job(tmp_path, 0, only=(large, "")), 1)
    page = Path(failed["page"]).read_text()
    assert "job: failed" in page
    assert "only 0 ended with exit code 1." in page
    assert "&lt;b&gt;5" in page  # what a process prints is no part of the page
    assert "http-equiv" not in page  # it is over
    assert (Path(failed["folder"]) / "logs/only-0-attempt-1.log").is_file()
    assert 'href="logs/only-0-attempt-1.log"' in page

    looks = (
        "import pathlib\ntext = pathlib.Path('job.gang/report.html').read_text()\n"
        "print('job: running' in text, 'http-equiv' in text, flush=True)\n"
    )
    done = run(job(tmp_path, 0, only=(looks, "")), 0)
    log = Path(done["folder"]) / "logs/only-0-attempt-1.log"
    assert log.read_text() == "True True\n"
    (said,) = done["suggestions"]
    peak = int(said.split("at most ")[1].split("MB")[0])
    assert peak >= 200  # of the run before


def test_a_limit_that_was_suggested_lets_the_same_program_end(tmp_path: Path) -> None:
    """A limit counts what a program has asked for, also what it never touches."""
    asks = (
        "import mmap, time\nasked = mmap.mmap(-1, 2_000_000_000, mmap.MAP_PRIVATE)\n"
        "time.sleep(1)\n"  # it is seen while it lives
    )
    file = job(tmp_path, 0, only=(asks, ""))
    (said,) = run(file, 0)["suggestions"]
    limit = said.split("; ")[1].split(" would")[0]
    file.write_text(f"{file.read_text()}\n{limit}\n")
    assert run(file, 0)["suggestions"] == []


def test_a_page_that_cannot_be_written_ends_no_job(tmp_path: Path) -> None:
    (tmp_path / "job.gang" / "report.html" / "taken").mkdir(parents=True)
    assert run(job(tmp_path, 0, only=("pass\n", "")), 0)["ending"] == "done"
