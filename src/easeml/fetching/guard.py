"""Speaking to addresses that people name, without opening a door to what lies behind this machine.

A host is looked up once, every address that it has is checked, and the connection goes to an
address that was checked: a name that means another address a moment later changes nothing.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

import httpcore

from easeml.errors import NotAllowed, Unreachable

_TRANSLATED = IPv6Network("64:ff9b::/96")  # IPv4 addresses behind NAT64
_WIRE_SERVER = IPv4Address("168.63.129.16")  # metadata of one cloud, at a public address


def trusted_hosts(setting: str) -> frozenset[str]:
    """Return the hosts that the setting ``outgoing_hosts`` names."""
    names = map(str.strip, setting.lower().split(","))
    return frozenset(filter(None, names))


class Guarded(httpcore.NetworkBackend):
    """Connects to addresses that were checked, whatever the host's name may mean by then.

    A connection ends after some seconds, however slowly the other side goes on: timeouts of single
    reads begin anew with each byte.
    """

    def __init__(self, trusted: frozenset[str], seconds: float):
        """``trusted``: see ``checked_addresses``; ``seconds``: longest life of a connection."""
        self._trusted = trusted
        self._seconds = seconds
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in checked_addresses(host, port, self._trusted):
            try:
                stream = self._plain.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
                return _Ending(stream, time.monotonic() + self._seconds)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class _Ending(httpcore.NetworkStream):
    """A connection that reads and writes until a moment, and no longer."""

    def __init__(self, stream: httpcore.NetworkStream, ends: float):
        self._stream = stream
        self._ends = ends

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = self._left(timeout, httpcore.ConnectTimeout)
        return _Ending(self._stream.start_tls(ssl_context, server_hostname, left), self._ends)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def _left(self, timeout: float | None, too_late: type[httpcore.TimeoutException]) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise too_late("it takes too long")
        if timeout is None:
            return left
        return min(left, timeout)


def check_written(host: str, trusted: frozenset[str]) -> None:
    """Refuse a host that lies in an own network by the way it is written, asking nobody.

    A name is looked up where it is spoken to (``checked_addresses``). Raises ``NotAllowed``.
    """
    name = host.lower().rstrip(".")
    if f".{name}".endswith(".localhost"):
        name = "127.0.0.1"
    try:
        found = socket.getaddrinfo(name, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return
    _check_public(host, [str(one[4][0]) for one in found], trusted)


def checked_addresses(host: str, port: int, trusted: frozenset[str]) -> list[str]:
    """Return the addresses of a host, all of which are of the Internet, or the host is trusted.

    Raises ``NotAllowed`` where one of them is not, ``Unreachable`` for a name that is not known.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreachable(
            "There is no such host.", where=host, remedy="See to the spelling."
        ) from error
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    _check_public(host, addresses, trusted)
    return addresses


def _check_public(host: str, addresses: list[str], trusted: frozenset[str]) -> None:
    if host.lower() in trusted or all(map(is_public, addresses)):
        return
    raise NotAllowed(
        "This host lies in a network of the provider's own.",
        where=host,
        remedy="The provider can allow it by name: setting outgoing_hosts.",
    )


def is_public(text: str) -> bool:
    """Whether an address is one of the Internet, whatever form it is written in."""
    address = ip_address(text.partition("%")[0])
    inner = _inside(address)
    if inner is not None:
        return is_public(str(inner))
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and address != _WIRE_SERVER
    )


def _inside(address: IPv4Address | IPv6Address) -> IPv4Address | None:
    """The IPv4 address to which packets for an IPv6 address go, where it holds one."""
    if isinstance(address, IPv4Address):
        return None
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour
