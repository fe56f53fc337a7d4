"""The sockets at which a service is asked: opened by its supervisor, inherited by its controllers.

They outlive both, so that a connection waits where nobody accepts it at this moment.
"""

import os
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

_DESCRIPTORS = "EASEML_LISTENERS"
_Found = tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[Any, ...]]
_BACKLOG = 2048  # connections that wait; the kernel may allow fewer


def listen(host: str, port: int) -> list[socket.socket]:
    """Return sockets that listen at all addresses of a host, as servers of asyncio do.

    Raises ``OSError``.
    """
    found = _found(host, port)
    with ExitStack() as opened:
        listeners = [
            opened.enter_context(socket.create_server(address, family=family, backlog=_BACKLOG))
            for family, _, _, _, address in dict.fromkeys(found)
        ]
        opened.pop_all()
    return listeners


def are_at(listeners: Sequence[socket.socket], host: str, port: int) -> bool:
    """Do sockets listen at all addresses of a host, and at no other? Raises ``OSError``."""
    wanted = {address for *_, address in _found(host, port)}
    return {one.getsockname() for one in listeners} == wanted


def _found(host: str, port: int) -> list[_Found]:
    return socket.getaddrinfo(
        host or None,
        port,
        type=socket.SOCK_STREAM,
        flags=socket.AI_PASSIVE,
    )


def port_of(listeners: Sequence[socket.socket]) -> int:
    """Return the port, which is the same at all addresses."""
    return listeners[0].getsockname()[1]


def descriptors(listeners: Sequence[socket.socket]) -> list[int]:
    """Return the numbers of sockets, for a program that inherits them."""
    return list(map(socket.socket.fileno, listeners))


def of_descriptors(numbers: Sequence[int]) -> list[socket.socket]:
    """Return inherited sockets."""
    return list(map(_own, numbers))


def as_environment(listeners: Sequence[socket.socket]) -> dict[str, str]:
    """Return the variable that tells a program which sockets it inherits."""
    return {_DESCRIPTORS: ",".join(map(str, descriptors(listeners)))}


def inherited() -> list[socket.socket]:
    """Return the sockets that a supervisor gave to this program; none where it started alone."""
    said = os.environ.pop(_DESCRIPTORS, "")
    numbers = filter(None, said.split(","))
    return of_descriptors(list(map(int, numbers)))


def _own(number: int) -> socket.socket:
    """Return an inherited socket, which no program that is started from here inherits."""
    os.set_inheritable(number, False)
    return socket.socket(fileno=number)
