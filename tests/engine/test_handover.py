"""What an easeml that runs and the next one say to each other, and what the next one takes over."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeml.engine import handover, listening, prefork, signals, supervisor, upgrade_supervisor
from easeml.engine.handover import Answer, Asked, Channel, Handed
from easeml.engine.managed_process import Adopted, ManagedProcess
from easeml.engine.signals import Stop
from easeml.engine.succession import Succession
from easeml.errors import Conflict, NotAllowed, NotFound, TimedOut
from easeml.settings import Settings


def test_a_request_is_taken_once_and_answered(tmp_path: Path) -> None:
    assert handover.take(tmp_path) is None
    request = handover.ask(tmp_path)
    taken = handover.take(tmp_path)
    assert taken is not None
    assert (taken.id, taken.python) == (request, sys.executable)
    assert handover.take(tmp_path) is None
    assert handover.answer_to(tmp_path, request) is None
    handover.answer(tmp_path, Answer(request, version="2.0.0"))
    answer = handover.wait_for_answer(tmp_path, request, 10.0, lambda: True)
    assert answer == Answer(request, version="2.0.0")
    assert handover.answer_to(tmp_path, "another") is None


def test_a_request_that_nobody_takes_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "_TAKEN_WITHIN", 0.0)
    request = handover.ask(tmp_path)
    assert handover.wait_for_answer(tmp_path, request, 10.0, lambda: True) is None
    assert handover.take(tmp_path) is None


def test_who_waits_is_told_that_nobody_answers(tmp_path: Path) -> None:
    request = handover.ask(tmp_path)
    with pytest.raises(Conflict, match="ended"):
        handover.wait_for_answer(tmp_path, request, 10.0, lambda: False)
    handover.take(tmp_path)
    with pytest.raises(TimedOut, match="goes on"):
        handover.wait_for_answer(tmp_path, request, 0.0, lambda: True)
    with pytest.raises(NotFound, match="does not run"):
        upgrade_supervisor(tmp_path, 10.0)


def test_what_is_no_request_is_put_aside(tmp_path: Path) -> None:
    for text in ("[]", "null", "{", "{}", '{"id": 1}'):
        (tmp_path / "upgrade.json").write_text(text)
        assert handover.take(tmp_path) is None
        assert not (tmp_path / "upgrade.json").exists()


def test_who_waits_leaves_the_request_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "_TAKEN_WITHIN", 0.0)
    own = handover.ask(tmp_path)
    handover.take(tmp_path)
    other = handover.ask(tmp_path)
    with pytest.raises(TimedOut):
        handover.wait_for_answer(tmp_path, own, 0.2, lambda: True)
    handover.take_back(tmp_path, own)
    taken = handover.take(tmp_path)
    assert taken is not None
    assert taken.id == other


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """A home that this process holds, as a supervisor does that looks for no requests."""
    with supervisor._only_one(tmp_path):
        yield tmp_path


def test_who_no_longer_waits_asks_for_nothing(running: Path) -> None:
    with pytest.raises(TimedOut):
        upgrade_supervisor(running, 0.0)
    assert handover.take(running) is None


def test_only_one_asks_for_an_upgrade_at_a_time(running: Path) -> None:
    with handover.only_one(running), pytest.raises(Conflict, match="Another easeml upgrade"):
        upgrade_supervisor(running, 0.0)
    with pytest.raises(TimedOut):  # it is asked again
        upgrade_supervisor(running, 0.0)


def test_an_upgrade_is_asked_for_by_the_user_whose_service_it_is(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(NotAllowed, match="another user"):
        upgrade_supervisor(running, 0.0)


def test_an_upgrade_of_a_home_that_cannot_be_read_is_not_allowed(
    running: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(NotAllowed, match="another user"):
        upgrade_supervisor(running, 0.0)


@pytest.fixture
def stop() -> Iterator[Stop]:
    """What signals set, while a test lasts."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield Stop.on_signals()
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("stop")
def test_what_was_asked_of_one_that_has_ended_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_PORT_FREE_WITHIN", 0.0)
    handover.ask(tmp_path)
    (taken,) = listening.listen("127.0.0.1", 0)
    settings = Settings(home=tmp_path, port=listening.port_of([taken]), isolation="none")
    with taken, pytest.raises(Conflict, match="address"):
        supervisor.run_supervisor(settings, lambda *_: None)
    assert handover.take(tmp_path) is None


def test_who_is_asked_to_stop_while_the_next_begins_stops_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: Stop
) -> None:
    def begin(*_: object) -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        assert signal.SIGTERM in signal.sigpending()
        raise OSError

    monkeypatch.setattr(os, "execve", begin)
    process = ManagedProcess("prefork", 1, tmp_path, lambda _: Adopted(1))
    with (tmp_path / "lock").open("w") as lock:
        succession = Succession(Settings(home=tmp_path), lock.fileno(), [], [process], stop)
        with pytest.raises(OSError):
            succession._become(Asked("1", "python"), Adopted(1))
    assert stop.asked


def test_a_process_that_ended_before_it_was_handed_over_has_ended() -> None:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    assert Adopted(pid).poll() == 1
    assert Adopted(pid).wait(1) == 1


class Draining(ManagedProcess):
    """A process with requests under way that do not end."""

    def __init__(self, told: list[str]):
        self._told = told

    @property
    def pid(self) -> int | None:
        return None if "end" in self._told else 1

    def drain(self) -> None:
        self._told.append("drain")

    def end(self, seconds: float) -> None:
        self._told.append("end")


class Ended(Adopted):
    """A process that has ended."""

    def poll(self) -> int | None:
        return -9


def test_nobody_waits_for_requests_under_way_while_nobody_answers_others(
    tmp_path: Path, stop: Stop
) -> None:
    told: list[str] = []
    succession = Succession(Settings(home=tmp_path), 0, [], [Draining(told)], stop)
    succession._drain(Ended(1))
    assert told == ["drain", "end"]


def test_nobody_waits_for_requests_under_way_once_easeml_is_asked_to_end(
    tmp_path: Path, stop: Stop
) -> None:
    told: list[str] = []
    succession = Succession(Settings(home=tmp_path), 0, [], [Draining(told)], stop)
    stop.asked = True
    succession._drain(Adopted(os.getpid()))
    assert told == ["drain", "end"]


@pytest.mark.usefixtures("stop")
def test_signals_that_came_before_are_heard() -> None:
    signals.hold()
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
    assert Stop.on_signals().asked


def test_words_arrive_one_by_one_and_so_does_the_end() -> None:
    ours, theirs = Channel.pair()
    assert ours.hear(0.001) is None
    theirs.say(handover.WAITS)
    theirs.say(handover.CHANGED)
    assert [ours.hear(), ours.hear()] == [handover.WAITS, handover.CHANGED]
    theirs.close()
    assert ours.hear() == ""
    ours.say(handover.GO)  # to nobody
    ours.close()


def test_what_is_handed_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    handed = Handed("request", 3, [4, 5], 6)
    monkeypatch.setattr(os, "environ", handed.as_environment())
    assert Handed.of_this() == handed
    assert Handed.of_this() is None


def test_a_connection_waits_where_nobody_accepts_until_another_program_does() -> None:
    (listener,) = listening.listen("127.0.0.1", 0)
    port = listening.port_of([listener])
    with socket.create_connection(("127.0.0.1", port)) as waiting:
        program = (
            "from easeml.engine import listening\n"
            "listener, = listening.inherited()\n"
            "assert not listener.get_inheritable()\n"
            "listener.accept()[0].sendall(b'here')\n"
        )
        variables = {**os.environ, **listening.as_environment([listener])}
        open_files = listening.descriptors([listener])
        command = [sys.executable, "-c", program]
        with subprocess.Popen(command, env=variables, pass_fds=open_files) as accepting:
            listener.close()
            assert waiting.recv(4) == b"here"
            assert accepting.wait() == 0


def test_settings_with_another_address_do_not_fit(tmp_path: Path) -> None:
    listeners = listening.listen("127.0.0.1", 0)
    same = Settings(
        home=tmp_path, host="127.0.0.1", port=listening.port_of(listeners), isolation="none"
    )
    prefork._check_fits(same, listeners)
    for other in ({"host": "127.0.0.2"}, {"host": "0.0.0.0"}, {"port": same.port + 1}):
        with pytest.raises(Conflict, match="The settings name"):
            prefork._check_fits(same.model_copy(update=other), listeners)
    listeners[0].close()


def test_sockets_that_were_opened_are_closed_where_the_next_cannot_be() -> None:
    (taken,) = listening.listen("127.0.0.1", 0)
    with taken, pytest.raises(OSError, match="in use"):
        listening.listen("127.0.0.1", listening.port_of([taken]))


def test_a_child_of_the_program_before_is_waited_for_and_ended() -> None:
    pid = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
    adopted = Adopted(pid)
    assert adopted.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        adopted.wait(0.0)
    adopted.send_signal(signal.SIGTERM)
    assert adopted.wait() == -signal.SIGTERM
    adopted.send_signal(signal.SIGTERM)  # nobody is hit
    assert adopted.poll() == -signal.SIGTERM
