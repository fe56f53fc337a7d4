"""Fetching from the web: what comes, what is refused, and that no trick leads behind the door."""

import http.server
import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from easeml.errors import EasemlError, InvalidInput, NotAllowed, TooLarge, Unreachable
from easeml.fetching import Grant, fetch, read_origin
from easeml.fetching.guard import is_public

_TABLE = b"a,b\n1,2\n"


class _Site(http.server.BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        path, _, target = self.path.partition("?")
        if path.startswith("/page"):
            self._answer(200, b"<!-- v2 --><HTML><title>Sign in</title>")
        elif path == "/to":
            self._answer(302, b"", location=target)
        elif path == "/packed.csv":
            self._answer(200, b"\x1f\x8b", **{"content-encoding": "gzip"})
        elif path == "/cut.csv":
            self._answer(200, _TABLE, **{"content-length": "1000"})
        elif path == "/endless.csv":
            self._pour()
        elif path == "/table":
            self._answer(200, _TABLE, etag='"v1"', **{"content-type": "text/csv; charset=utf-8"})
        else:
            self._answer(404, b"")

    def _answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _pour(self) -> None:
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            pass


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a site on this machine."""
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield site.server_address[1]
    site.shutdown()
    site.server_close()


@pytest.fixture
def secure_port(tmp_path: Path) -> Iterator[int]:
    """The port of the same site with TLS; its certificate is in ``tmp_path``, as ``site.pem``."""
    certificate, key = tmp_path / "site.pem", tmp_path / "key.pem"
    _certify(certificate, key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    site.socket = context.wrap_socket(site.socket, server_side=True)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield site.server_address[1]
    site.shutdown()
    site.server_close()


def _certify(certificate: Path, key: Path) -> None:
    """Write a certificate of localhost, which signs itself, and its key."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(private, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(Encoding.PEM))
    key.write_bytes(
        private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def test_a_file_comes_by_tls_from_a_site_that_proves_its_name(
    secure_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"https://localhost:{secure_port}/table"
    with pytest.raises(Unreachable, match="certificate"):
        _fetch(address, tmp_path, "localhost")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "site.pem"))
    found = _fetch(address, tmp_path, "localhost")
    assert ((tmp_path / "came").read_bytes(), found.filename) == (_TABLE, "table.csv")
    with pytest.raises(Unreachable, match="certificate"):  # of this name, and not of that
        _fetch(address.replace("localhost", "127.0.0.1"), tmp_path, "127.0.0.1")


def _grant(*trusted: str) -> Grant:
    return Grant(limit=1_000_000, seconds=20, trusted=list(trusted))


def _fetch(address: str, path: Path, *trusted: str):
    return fetch(read_origin(address), path / "came", _grant(*trusted), lambda *_: None)


def test_a_file_comes_with_its_digest_tag_and_ending(port, tmp_path):
    from hashlib import sha256

    found = _fetch(f"http://localhost:{port}/table", tmp_path, "localhost")
    assert (tmp_path / "came").read_bytes() == _TABLE
    assert (found.digest, found.size) == (sha256(_TABLE).hexdigest(), len(_TABLE))
    assert (found.filename, found.etag) == ("table.csv", '"v1"')


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/none", Unreachable),
        ("/packed.csv", Unreachable),
        ("/cut.csv", Unreachable),
        ("/endless.csv", TooLarge),
        ("/to?/to?/to?/to?/to?/to?/to?/table", Unreachable),
        ("/to?file:///etc/passwd", InvalidInput),
        ("/to?s3://bucket/key", NotAllowed),
        ("/to?http://127.0.0.1:{port}/table", NotAllowed),
        ("/to?http://[::ffff:7f00:1]:{port}/table", NotAllowed),
    ],
)
def test_what_misbehaves_is_refused(port, tmp_path, path, error):
    address = f"http://localhost:{port}{path.format(port=port)}"
    with pytest.raises(error):
        _fetch(address, tmp_path, "localhost")


@pytest.mark.parametrize("path", ["/page.csv", "/page.csv.gz", "/page?format=csv&gid=1"])
def test_a_page_in_place_of_a_table_is_called_one(port, tmp_path, path):
    with pytest.raises(Unreachable, match="answers with a web page") as caught:
        _fetch(f"http://localhost:{port}{path}", tmp_path, "localhost")
    assert "sign in" in str(caught.value.remedy)


@pytest.mark.parametrize("path", ["/page", "/page.html?about=csv"])
def test_a_page_that_is_asked_for_comes(port, tmp_path, path):
    assert _fetch(f"http://localhost:{port}{path}", tmp_path, "localhost").size > 0


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0", "[::]"],
)
def test_this_machine_is_not_reached_by_any_of_its_names(port, tmp_path, host):
    with pytest.raises((NotAllowed, Unreachable)):
        _fetch(f"http://{host}:{port}/table", tmp_path)


def test_a_name_that_means_another_address_a_moment_later_changes_nothing(
    port, tmp_path, monkeypatch
):
    answers = iter(["8.8.8.8", "127.0.0.1", "127.0.0.1"])
    reached = []

    def looked_up(host, port, *_, **__):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    def connect(address, *_, **__):
        reached.append(address[0])
        raise OSError("no network in a test")

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(Unreachable):
        _fetch(f"http://rebinding.example:{port}/table", tmp_path)
    assert reached == ["8.8.8.8"]


def test_one_address_within_is_enough_to_refuse_a_host(tmp_path, monkeypatch):
    def looked_up(host, port, *_, **__):
        return [(2, 1, 6, "", (one, port)) for one in ("8.8.8.8", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    with pytest.raises(NotAllowed):
        _fetch("https://both.example/table", tmp_path)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200",
        "0.0.0.0", "224.0.0.1", "255.255.255.255", "168.63.129.16", "192.0.0.1", "198.18.0.1",
        "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
        "::ffff:10.0.0.1", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
    ],
)  # fmt: skip
def test_no_address_within_is_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/passwd", "/etc/passwd", "ftp://host/x", "gopher://host/", "", "http://",
        "http://user:secret@host/x", "https://host:22/x", "https://host/x?X-Amz-Signature=1",
        "https://host/x?api_key=1", "http://host/\nx", "http://host/a b", "https://host:99999/",
        "s3://bucket", "s3://bucket/../key", "postgresql://name", "postgresql://user@name",
        "postgresql://name/db", "data:text/csv,a", "http://" + "a" * 3000,
    ],
)  # fmt: skip
def test_what_is_no_address_or_holds_a_secret_is_refused_with_a_remedy(address):
    with pytest.raises(EasemlError) as raised:
        read_origin(address)
    assert raised.value.remedy
    assert "secret" not in str(raised.value)
