"""A small stand-in for the service, on a real loopback port: a scripted search behind the REST
contract.
"""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa

KEY = "secret-key"


@dataclass
class FakeService:
    """What the service holds, what it was asked, and what it does wrong on purpose.

    ``failures``: statuses with which the next requests are refused; ``drop``: requests whose
    connection is cut after they were carried out.
    """

    url: str = ""
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    drop: int = 0
    made: dict[str, dict[str, Any]] = field(default_factory=dict)  # by idempotency key
    uploads: list[bytes] = field(default_factory=list)
    looks: int = 0  # at the application
    looks_to_model: int = 2
    looks_to_end: int = 4
    version_error: str = ""
    events_a_connection: int = 2
    total_events: int = 6
    jobs_of: str = ""  # the application whose jobs were listed last

    def answer(  # noqa: PLR0911
        self, method: str, path: str, query: dict[str, str], headers: dict[str, str], body: bytes
    ) -> tuple[int, Any]:
        """Return status and JSON of an authenticated request."""
        match method, path.removeprefix("/api/v1").strip("/").split("/"):
            case "POST", ["datasets"]:
                return 201, self._once(headers, lambda: self._uploaded(body, query))
            case "GET", ["datasets"]:
                return 200, {"items": [self._dataset({"name": "wine"}), self._fetched()]}
            case "POST", ["datasets", "origins"]:
                return 201, self._once(headers, self._fetched)
            case "GET", ["datasets", "data_2"]:
                return 200, self._fetched()
            case "GET", ["versions", _]:
                return 200, {**self._version(query), "summary": {"rows": 1200}}
            case "POST", ["applications", "propose"]:
                return _proposed(json.loads(body))
            case "GET", ["applications"]:
                named = {"app_1": "table", "app_2": "prices", "app_3": "prices"}
                apps = [{**self._application(), "id": one, "name": named[one]} for one in named]
                return 200, {"items": apps}
            case "POST", ["applications"]:
                return 201, self._once(headers, self._application)
            case "GET", ["applications", "app_1"]:
                self.looks += 1
                return 200, self._application()
            case "GET", ["applications", "app_1", "model-rules"]:
                return 200, {"application_id": "app_1"}
            case "GET", ["versions", version, "export"]:
                return 200, {"version": version, "since": query.get("since")}
            case "POST", ["applications", "app_1", "feedback"]:
                return _feedback(json.loads(body))
            case "POST", ["applications", "app_1", "predict"]:
                return 200, _prediction(headers, body)
            case "POST", ["applications", "app_1", "imports"]:
                self.uploads.append(body)
                return 201, _page({})["items"][0]
            case "GET", ["scheduler", "decisions"]:
                return 200, _decisions(query)
            case "GET", ["modules", "titles"]:
                return 200, {"titles": {"forest": "Random forest"}}
            case "GET", ["tasks"]:
                return 200, _page(query)
            case "GET", ["jobs"]:
                self.jobs_of = query["application_id"]
                return 200, {"items": []}
            case "GET", ["jobs", "job_1", "ending"]:
                return 200, {"job_id": "job_1", "text": "Expected in 2 to 5 min (nine of ten)."}
            case "POST", ["jobs", "job_1", action]:
                return 200, {
                    **self._application()["job"],
                    "state": {"pause": "paused", "stop": "stopped"}[action],
                }
        return 404, _problem(404, "not-found", f"There is no {path}.", remedy="Look at the list.")

    def _once(self, headers: dict[str, str], make: Any) -> Any:
        key = headers["idempotency-key"]
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def _uploaded(self, body: bytes, query: dict[str, str]) -> dict[str, Any]:
        self.uploads.append(body)
        return self._dataset(query)

    def _dataset(self, query: dict[str, str]) -> dict[str, Any]:
        return {
            "id": "data_1",
            "name": query["name"],
            "created": 1.0,
            "version": self._version(query),
        }

    def _fetched(self) -> dict[str, Any]:
        made = self._dataset({"name": "prices"})
        operation = {"name": "upload", "origin": {"address": "https://lab.org/prices.csv"}}
        told = {"operation": operation, "summary": {"rows": 1200}}
        return {**made, "id": "data_2", "version": {**made["version"], **told}}

    def _version(self, query: dict[str, str]) -> dict[str, Any]:
        state = "failed" if self.version_error else "ready"
        operation = {"name": "upload", "filename": query.get("filename", "table.csv")}
        version = {
            "id": "ver_1",
            "dataset_id": "data_1",
            "number": 1,
            "operation": operation,
            "created": 1.0,
        }
        return {**version, "state": state, "error": self.version_error}

    def _application(self) -> dict[str, Any]:
        live = {
            "id": "mod_1",
            "name": "forest",
            "quality": 0.9,
            "task_id": "task_1",
            "created": 2.0,
        }
        job = {
            "id": "job_1",
            "application_id": "app_1",
            "version_id": "ver_1",
            "created": 1.0,
            "candidates": 9,
            "waiting_reason": "No worker runs.",
        }
        ended = self.looks >= self.looks_to_end
        state = "resting" if ended else "running"
        settled = self.looks > self.looks_to_end
        return {
            "id": "app_1",
            "name": "table",
            "state": "searching",
            "dataset_id": "data_1",
            "version_id": "ver_1",
            "target": "y",
            "objective": "accuracy",
            "endpoint": "/api/v1/applications/app_1/predict",
            "live_model": live if self.looks >= self.looks_to_model else None,
            "job": {**job, "state": state, "settled": settled, "best_quality": 0.9},
            "created": 1.0,
        }


def _decisions(query: dict[str, str]) -> dict[str, Any]:
    """Return two decisions, those after the number that is asked for."""
    steps = []
    for number in (1, 2):
        candidates = [
            {"name": "forest", "score": 0.003, "mean": 0.8, "sd": 0.1, "cost": 4, "chosen": True},
            {"name": "line", "score": 0.001, "mean": 0.7, "sd": 0.1, "cost": 2, "chosen": False},
        ]
        step = {
            "number": number,
            "moment": 1.0,
            "sentence": f"{query.get('application', 'all')}: forest {number}",
            "policy": "gain-per-cost",
            "rule": "most gain",
            "tenant": "ann",
            "own": True,
            "candidate": "forest",
            "waiting": 1,
            "compared": 2,
            "candidates": candidates,
            "state": "done",
            "quality": 0.81,
            "seconds": 3.0,
        }
        steps.append(step)
    return {"items": [step for step in steps if step["number"] > int(query["after"])]}


def _proposed(declaration: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    if declaration["target"] == "nowhere":
        return 422, _problem(422, "invalid-input", "There is no column 'nowhere'.")
    return 200, _proposal(declaration)


def _proposal(declaration: dict[str, Any]) -> dict[str, Any]:
    chosen = declaration["set"].get("x", "number")
    columns = [
        {
            "name": "x",
            "type": chosen,
            "role": "input",
            "missing": 0.25,
            "examples": ["1", "2"],
            "evidence": "all numbers",
        },
        {
            "name": "id",
            "type": "number",
            "role": "drop",
            "evidence": "a different one in every row",
        },
        {"name": "y", "type": "category", "role": "target"},
    ]
    objectives = [{"name": "accuracy", "title": "Accuracy", "default": True}]
    models = [
        {"name": "forest", "title": "Forest", "fits": True},
        {"name": "line", "title": "Line", "fits": False},
    ]
    sides = {"schema_in": {}, "schema_out": {}}
    return {
        "columns": columns,
        "target": declaration["target"] or "y",
        "objectives": objectives,
        "models": models,
        **sides,
    }


def _prediction(headers: dict[str, str], body: bytes) -> dict[str, Any]:
    if headers["content-type"] == "text/csv":
        count = len(body.decode().strip().splitlines()) - 1
    elif headers["content-type"] == "application/vnd.apache.arrow.stream":
        count = pa.ipc.open_stream(body).read_all().num_rows
    else:
        count = len(json.loads(body)["rows"])
    return {
        "model_id": "mod_1",
        "model_name": "forest",
        "request_id": f"req_{hashlib.sha256(body).hexdigest()[:8]}",
        "predictions": [f"class {n}" for n in range(count)],
    }


def _page(query: dict[str, str]) -> dict[str, Any]:
    start = int(query.get("after", 0))
    tasks = [
        {"id": f"task_{n}", "kind": "train", "lane": "search", "state": "done", "subject": "app_1", "job_id": "job_1",
         "attempts": 1, "cost": 1.0, "created": float(n)}
        for n in range(start, min(start + 2, 5))
    ]  # fmt: skip
    return {"items": tasks, "next": str(start + 2) if start + 2 < 5 else None}


def _feedback(told: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
    """Keep truths; refuse them where one is a question mark, naming the row of the request."""
    values = [one["value"] for one in told]
    if "?" not in values:
        return 200, {"kept": len(told), "known": 0}
    where = f"row {values.index('?')}: value"
    return 422, _problem(422, "invalid-input", "It is empty.", remedy="Say it.", where=where)


def _problem(status: int, code: str, detail: str, **more: str) -> dict[str, Any]:
    return {
        "type": f"urn:easeml:problem:{code}",
        "title": code,
        "status": status,
        "detail": detail,
        "code": code,
        **more,
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    service: FakeService

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._handle("GET")

    def do_POST(self) -> None:
        self._handle("POST")

    def _handle(self, method: str) -> None:  # noqa: PLR0911
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self._body(headers)
        self.service.requests.append((method, url.path, headers, body))
        if self.service.failures:
            status = self.service.failures.pop(0)
            return self._send(status, _problem(status, "not-ready", "Not yet."))
        if url.path == "/healthz":
            return self._send(200, {"status": "ok"})
        if url.path == "/api/v1/login":
            return self._login(json.loads(body))
        if headers.get("authorization") != f"Bearer {KEY}":
            return self._send(
                401, _problem(401, "not-signed-in", "Who are you?", remedy="Run `easeml login`.")
            )
        if url.path == "/api/v1/events":
            return self._stream(int(headers.get("last-event-id", query.get("after", 0))))
        status, answer = self.service.answer(method, url.path, query, headers, body)
        if self.service.drop:
            self.service.drop -= 1
            self.close_connection = True
            return None
        return self._send(status, answer)

    def _login(self, request: dict[str, str]) -> None:
        if request["password"] != "right password":
            return self._send(401, _problem(401, "not-signed-in", "Name or password is wrong."))
        return self._send(
            201,
            {"id": "key_1", "name": "login", "tenant_id": "ten_1", "created": 1.0, "secret": KEY},
        )

    def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(headers.get("content-length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _stream(self, last: int) -> None:
        """Send a few events, then cut the connection in the middle of the next one."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(b": hello\n\n")
        for seq in range(
            last + 1, min(last + self.service.events_a_connection, self.service.total_events) + 1
        ):
            event = {
                "seq": seq,
                "kind": "task.done",
                "subject": f"task_{seq}",
                "created": time.time(),
            }
            self.wfile.write(f"id: {seq}\nevent: task.done\ndata: {json.dumps(event)}\n\n".encode())
        self.wfile.write(b"id: 99\ndata: {")
        self.close_connection = True

    def _send(self, status: int, answer: Any) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def running_service() -> Iterator[FakeService]:
    """Serve a ``FakeService`` on a free loopback port."""
    service = FakeService()
    handler = type("Handler", (_Handler,), {"service": service})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        service.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield service
        server.shutdown()
        thread.join()
