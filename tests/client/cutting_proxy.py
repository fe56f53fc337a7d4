"""A network that breaks: a proxy on loopback that cuts the connection when so many bytes have gone
to the service.
"""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CuttingProxy:
    """Forwards connections to ``port``; ``cuts``: totals of bytes to the service at which a
    connection is cut.
    """

    def __init__(self, port: int, cuts: list[int]):
        self._to = port
        self.cuts = sorted(cuts)
        self.passed = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                threading.Thread(target=self._forward, args=(near, far), daemon=True).start()
                threading.Thread(target=self._back, args=(far, near), daemon=True).start()

    def _forward(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError), near, far:
            while data := near.recv(2**16):
                far.sendall(data)
                self.passed += len(data)
                if self.cuts and self.passed >= self.cuts[0]:
                    self.cuts.pop(0)
                    near.shutdown(socket.SHUT_RDWR)
                    far.shutdown(socket.SHUT_RDWR)
                    return

    def _back(self, far: socket.socket, near: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := far.recv(2**16):
                near.sendall(data)


@contextmanager
def cutting_proxy(port: int, cuts: list[int]) -> Iterator[CuttingProxy]:
    """Give a proxy to a loopback port."""
    proxy = CuttingProxy(port, cuts)
    try:
        yield proxy
    finally:
        proxy.listener.close()
