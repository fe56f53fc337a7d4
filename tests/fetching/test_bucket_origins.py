"""Fetching objects of a bucket, through a connection, from a server that answers as S3 does."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

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


@pytest.mark.parametrize("key", ["open/../a.csv", "../a.csv"])
def test_no_key_leads_out_of_the_prefix(key):
    with pytest.raises(EasemlError):
        read_origin(f"s3://bucket/{key}")
