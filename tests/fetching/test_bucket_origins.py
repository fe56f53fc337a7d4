"""Fetching objects of a bucket, through a connection, from a server that answers as S3 does."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from easeml.errors import EasemlError, TooLarge, Unreachable
from easeml.fetching import Connection, Grant, fetch, read_origin

pytest.importorskip("obstore")
_TABLE = b"a,b\n1,2\n"


class _Bucket(http.server.BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        is_signed = "Credential=KEY/" in self.headers.get("authorization", "")
        is_there = is_signed and self.path == "/bucket/open/a.csv"
        body = _TABLE if is_there else b"<Error><Code>NoSuchKey</Code></Error>"
        self.send_response(200 if is_there else 404)
        self.send_header("content-length", str(len(body)))
        self.send_header("etag", '"e1"')
        self.send_header("last-modified", "Tue, 24 Nov 2026 10:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def connection() -> Iterator[Connection]:
    """A connection to a bucket of this machine."""
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Bucket)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield Connection(
        url="s3://bucket/open",
        tenants=["*"],
        access_key_id="KEY",
        secret_access_key="hush",
        endpoint=f"http://127.0.0.1:{site.server_address[1]}",
        region="us-east-1",
    )
    site.shutdown()
    site.server_close()


def test_an_object_comes_and_what_is_not_there_is_told_without_the_key(connection, tmp_path: Path):
    grant = Grant(limit=1000, seconds=20, connection=connection)
    came = tmp_path / "came"
    found = fetch(read_origin("s3://bucket/open/a.csv"), came, grant, lambda *_: None)
    assert (came.read_bytes(), found.filename, found.etag) == (_TABLE, "a.csv", '"e1"')
    with pytest.raises(Unreachable) as raised:
        fetch(read_origin("s3://bucket/open/b.csv"), came, grant, lambda *_: None)
    assert "hush" not in str(raised.value)
    small = grant.model_copy(update={"limit": 3})
    with pytest.raises(TooLarge):
        fetch(read_origin("s3://bucket/open/a.csv"), came, small, lambda *_: None)


def test_an_object_comes_from_a_server_of_another_make(tmp_path: Path):
    moto = pytest.importorskip("moto.server", reason="make test-s3 runs it")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        address = f"http://{host}:{port}"
        rows = b"a,b\n" + b"1,2\n" * 2_000_000
        httpx.put(f"{address}/lab", timeout=60).raise_for_status()
        httpx.put(f"{address}/lab/open/a.csv", content=rows, timeout=60).raise_for_status()
        connection = Connection(
            url="s3://lab/open",
            tenants=["*"],
            access_key_id="KEY",
            secret_access_key="hush",
            endpoint=address,
            region="us-east-1",
        )
        grant = Grant(limit=len(rows), seconds=60, connection=connection)
        came = tmp_path / "came"
        found = fetch(read_origin("s3://lab/open/a.csv"), came, grant, lambda *_: None)
        assert found.size == came.stat().st_size == len(rows)
        assert found.etag
        with pytest.raises(Unreachable, match="NotFound"):
            fetch(read_origin("s3://lab/open/none.csv"), came, grant, lambda *_: None)
    finally:
        server.stop()


@pytest.mark.parametrize("key", ["open/../a.csv", "../a.csv"])
def test_no_key_leads_out_of_the_prefix(key):
    with pytest.raises(EasemlError):
        read_origin(f"s3://bucket/{key}")
