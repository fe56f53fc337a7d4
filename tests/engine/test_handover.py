"""What an easeml that runs and the next one say to each other, and what the next one takes over."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from easeml.engine import handover, listening, upgrade_supervisor
from easeml.engine.handover import Answer, Channel, Handed
from easeml.engine.managed_process import Adopted
from easeml.errors import Conflict, NotFound, TimedOut


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
