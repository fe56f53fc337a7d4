"""Requests and files that are drawn at random: no server error, no crash, memory that stays flat.

    python benchmarks/fuzzed_requests.py [--requests 100000] [--examples 20]

Starts an easeml of its own, with an application that serves, and asks it in two ways.

- ``schemathesis`` asks each operation that the service describes so often (its phase ``fuzzing``).
- Requests of this file are cheaper to draw: a body follows the operation's schema but for hostile
  values, here and there; a file is a table, a Parquet file, a ZIP archive or a JSON text, of which
  pieces were cut out, doubled or overwritten; some requests are no HTTP. They run until so many
  were asked in all.

Two of three requests of this file are as the service wants them, with one odd value at most. Of
five ids four are of things that are there. Whoever asks is the provider, whose things they are, a
viewer or a labeller of the provider's tenant, a user of another tenant, or nobody. What ends the
access of who asks is done to others only.

    5xx      answers that are server errors: all but 503 with ``Retry-After``, which says that
             something is still made, and 502, where another host was named that is not there
    cut      connections that ended without an answer to a request of HTTP
    told     answers to another tenant, or to nobody, with an id of the provider's that was not asked for
    tasks    that ended by an error that the service did not expect, such as in reading a file
    MiB      of each kind of process with its children, shared pages counted once; a password that
             is compared takes 64 MiB of the controller meanwhile, and two are at once
"""

import io
import json
import os
import random
import re
import string
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import pandas as pd

from common import CACHE, arguments, machine_line, peer_programs, read_options, write_table
from easeml.client import Client
from easeml.contract.applications import Declaration
from live_search import new_user
from many_tenants import write_source
from service_process import EasemlProcess
from watched_memory import KINDS, MemoryWatch, processes_by_kind, proportional

EVERY = 2000  # requests between two rows
ASKERS = 3  # connections
KEPT = 60  # ids of a kind
SECONDS = 60.0  # that an answer may take
COLUMNS = ["requests", "files", "seconds", "2xx", "4xx", "503", "5xx", "cut"]
COLUMNS += [f"{kind}_mib" for kind in KINDS]
PREFIXES = {
    "application_id": "app",
    "dataset_id": "data",
    "schedule_id": "sched",
    "retrieval_id": "ret",
    "subscription_id": "sub",
    "report_id": "rep",
    "invitation_id": "inv",
    "upload_id": "up",
    "version_id": "ver",
    "task_id": "task",
    "job_id": "job",
    "model_id": "mod",
    "user_id": "usr",
    "tenant_id": "ten",
}
ID = re.compile(r'"(?:[a-z_]*)":"(([a-z]+)_[0-9a-z]{20})"')
LEFT_OUT = {"/api/v1/logout", "/api/v1/sign-ins", "/api/v1/limits", "/api/v1/me/tenant"}
"""They would end the access of who asks, or slow all down."""
WHO, WEIGHTS = ("provider", "viewer", "labeller", "user", "nobody"), (8, 1, 1, 1, 1)
STRANGERS = ("user", "nobody")
OF_PEOPLE = r"/api/v1/(keys|users|members)/"
"""schemathesis uses ids that it was answered, and would end the access of who asks by them."""
STREAMS = ("/live", "/events")
REAL = 0.8  # share of ids of things that are there
CAREFUL = 2 / 3  # share of requests with one hostile value at most
MANY = 1000
WORDS = ("wine", "target", "x0", "accuracy", "train", "2026-11-29", "model", "all", "text/csv")
HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    -(2**70),
    1e308,
    float("nan"),
    float("inf"),
    "",
    "\0",
    "\ud800",
    "a" * 5000,
    "../../etc/passwd",
    "' OR 1=1 --",
    "${jndi:ldap://x}",
    "ä̈" * 40,
    "http://169.254.169.254/",
    [],
    {},
    [[[[[[[[]]]]]]]],
    {"": {"": {"": None}}},
)
USUAL: dict[str, Any] = {
    "target": "target",
    "objective": "accuracy",
    "rows": [{f"x{place}": 0.5 for place in range(6)}],
    "models": ["naive-bayes"],
    "columns": ["x0", "x1"],
    "column": "x0",
    "role": "viewer",
    "seed": 0,
    "number": 1,
}
"""What fits the application, by the name of a field; it is drawn half of the times."""
NOT_HTTP = (
    b"\0\1\2\3" * 50,
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: e\r\nx: " + b"a" * 100_000 + b"\r\n\r\n",
    b"POST /api/v1/login HTTP/1.1\r\nhost: e\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
    b"POST /api/v1/login HTTP/1.1\r\nhost: e\r\ncontent-length: -5\r\n\r\n",
    b"POST /api/v1/login HTTP/1.1\r\nhost: e\r\ncontent-length: 9\r\ncontent-length: 8\r\n\r\n",
)
HOOKS = """
import json, os, random
import schemathesis

IDS = json.loads(os.environ["FUZZED_IDS"])
draw = random.Random(0)

@schemathesis.hook
def map_path_parameters(context, path_parameters):
    for name, ids in IDS.items():
        if path_parameters and name in path_parameters and draw.random() < 0.8:
            path_parameters[name] = draw.choice(ids)
    return path_parameters

@schemathesis.serializer("application/offset+octet-stream")
def as_bytes(context, value):
    return value if isinstance(value, bytes) else str(value).encode()

@schemathesis.check
def no_fault(context, response, case):
    assert response.status_code < 500 or response.status_code in (502, 503), response.text
"""


@dataclass
class Things:
    """Ids by prefix that answers named; ``own`` are of who asks, whose access nobody may end."""

    own: set[str]
    lasting: dict[str, list[str]]
    seen: defaultdict[str, deque[str]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=KEPT))
    )

    def note(self, text: str) -> None:
        """Keep the ids of an answer."""
        for id, prefix in ID.findall(text[:20_000]):
            if id not in self.own and id not in self.lasting.get(prefix, ()):
                self.seen[prefix].append(id)

    def tells(self, text: str, asked: "Fuzzed") -> bool:
        """Has an answer an id of what lasts, which was not asked for by it?"""
        sent = asked.path + asked.body.decode("utf-8", "replace")
        every = chain.from_iterable(self.lasting.values())
        return any(id in text and id not in sent for id in every)

    def one(self, name: str, draw: random.Random, *, keeps: bool = True) -> str:
        """Draw something that is there for a parameter of a path; what lasts half of the times.

        ``keeps``: the request ends nothing.
        """
        prefix = PREFIXES.get(name, name.removesuffix("_id"))
        lasting = self.lasting.get(prefix, []) if keeps else []
        seen = self.seen.get(prefix, ())
        there = lasting if lasting and draw.random() < 0.5 else [*lasting, *seen]
        return draw.choice(there) if there else draw.choice(WORDS)


@dataclass
class Seen:
    """What came of all requests: answers by class, and what should not have been."""

    asked: int = 0
    files: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    by_who: Counter[tuple[str, int]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    done: deque[str] = field(default_factory=lambda: deque(maxlen=300))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_shut_out(self) -> bool:
        """Is who asks most let in no more? Then all else shows nothing."""
        return self.by_who["provider", 401] > 100 + 0.1 * self.asked

    def note(self, who: str, status: int, about: str) -> None:
        """Count an answer; 0: none came."""
        if status == 0:
            name = "cut"
        elif status in (502, 503):
            name = "503"
        else:
            name = f"{status // 100}xx"
        with self.lock:
            self.asked += 1
            self.answers[name] += 1
            self.by_who[who, status] += 1
            if name in ("cut", "5xx"):
                self.faults.append(about)
            if status < 300 and not about.startswith("GET"):
                self.done.append(f"{who} {about[:200]}")


@dataclass(frozen=True)
class Door:
    """An operation that the service describes."""

    method: str
    path: str
    about: dict[str, Any]


@dataclass(frozen=True)
class Fuzzed:
    """A request that was drawn."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    is_file: bool


class Drawing:
    """Draws requests from the document of an API."""

    def __init__(self, document: dict[str, Any], things: Things, seed: int):
        self._document = document
        self.things = things
        self._draw = random.Random(seed)
        self._odd = 0  # hostile values that the request may have yet
        self._files = [make() for make in (_csv, _parquet, _archive, _lines)]
        self._doors = [
            Door(method.upper(), path, about)
            for path, methods in document["paths"].items()
            if path not in LEFT_OUT
            for method, about in methods.items()
        ]
        weights = {True: 3, False: 1}  # doors of files are few
        self._weights = [weights["octet-stream" in str(one.about)] for one in self._doors]

    def request(self) -> Fuzzed:
        """Draw one."""
        draw = self._draw
        self._odd = 1 if draw.random() < CAREFUL else MANY
        door = draw.choices(self._doors, self._weights)[0]
        path = door.path
        headers = {}
        query = {}
        for one in door.about.get("parameters", ()):
            if one["in"] == "path":
                value = self._id(one["name"], door)
                path = path.replace(f"{{{one['name']}}}", _quoted(value))
            elif one["in"] == "query" and draw.random() < 0.6:
                query[one["name"]] = str(self._value(one.get("schema", {}), 0))
            elif one["in"] == "header" and draw.random() < 0.8:
                headers[one["name"]] = _plain(str(self._value(one.get("schema", {}), 0)))
        if query:
            path += "?" + urlencode(query, errors="replace")
        body, content_type = self._body(door)
        if content_type:
            headers["content-type"] = content_type
        return Fuzzed(door.method, path, headers, body, "json" not in content_type and body != b"")

    def _id(self, name: str, door: Door) -> str:
        """Draw a value for a parameter of a path."""
        if self._odd and self._draw.random() > REAL:
            self._odd = max(0, self._odd - 1)
            return str(self._draw.choice(HOSTILE))
        if name in USUAL:
            return str(USUAL[name])
        return self.things.one(name, self._draw, keeps=door.method != "DELETE")

    def _body(self, door: Door) -> tuple[bytes, str]:
        content = door.about.get("requestBody", {}).get("content", {})
        if not content:
            return b"", ""
        kind = self._draw.choice(list(content))
        if kind != "application/json":
            return self._file(), kind.replace("*", "png")
        text = json.dumps(self._value(content[kind].get("schema", {}), 0)).encode()
        return (_spoilt(text, self._draw) if self._draw.random() < 0.05 else text), kind

    def _file(self) -> bytes:
        file = self._draw.choice(self._files)
        return file if self._draw.random() < 0.1 else _spoilt(file, self._draw)

    def _value(self, schema: dict[str, Any], depth: int) -> Any:
        draw = self._draw
        if (self._odd and draw.random() < 0.08) or depth > 6:
            self._odd = max(0, self._odd - 1)
            return draw.choice(HOSTILE)
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self._value(self._document["components"]["schemas"][name], depth + 1)
        for way in ("anyOf", "oneOf", "allOf"):
            if way in schema:
                return self._value(draw.choice(schema[way]), depth + 1)
        if "enum" in schema:
            return draw.choice(schema["enum"])
        make = {
            "object": self._object,
            "array": self._array,
            "integer": lambda about, __: self._number(about, (0, 1, 2, 7, 100)),
            "number": lambda about, __: self._number(about, (0.0, 0.5, 1.0, 3.7, -2.5)),
            "boolean": lambda _, __: draw.random() < 0.5,
            "null": lambda _, __: None,
        }.get(schema.get("type", ""), self._text)
        return make(schema, depth)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        needed = schema.get("required", ())
        made = {}
        for name, about in schema.get("properties", {}).items():
            if self._draw.random() < (0.95 if name in needed else 0.4):
                made[name] = self._value(about, depth + 1)
                if name in USUAL and self._draw.random() < 0.5:
                    made[name] = USUAL[name]
                if name in PREFIXES and self._draw.random() < REAL:
                    made[name] = self.things.one(name, self._draw)
        if self._odd and self._draw.random() < 0.1:
            self._odd -= 1
            made[self._text({}, depth)] = self._draw.choice(HOSTILE)
        return made

    def _number(self, schema: dict[str, Any], choices: tuple[float, ...]) -> float:
        """Return one of some numbers, within the bounds of the schema where one is."""
        least, most = schema.get("minimum", -1e9), schema.get("maximum", 1e9)
        fitting = [one for one in choices if least <= one <= most]
        return self._draw.choice(fitting or choices)

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        count = self._draw.choice((0, 1, 1, 2, 5))
        return [self._value(schema.get("items", {}), depth + 1) for _ in range(count)]

    def _text(self, _: dict[str, Any], __: int) -> str:
        if self._draw.random() < 0.5:
            return self._draw.choice(WORDS)
        return "".join(self._draw.choices(string.printable + "äß漢\u202e", k=8))


def _quoted(value: str) -> str:
    return quote(value.encode("utf-8", "replace"), safe="")


def _plain(value: str) -> str:
    """Return a value that may be in a header."""
    return "".join(one for one in value if " " <= one <= "~")


def _spoilt(content: bytes, draw: random.Random) -> bytes:
    """Return a file of which pieces are cut out, doubled or overwritten."""
    made = bytearray(content)
    for _ in range(draw.choice((1, 1, 2, 5))):
        start = draw.randrange(len(made) + 1)
        end = min(len(made), start + draw.choice((1, 2, 8, 100)))
        piece = bytes(made[start:end])
        noise = draw.choice((b"", piece * 3, draw.randbytes(len(piece)), b"\0", b'"', b"\xff\xfe"))
        made[start:end] = noise
    return bytes(made[: draw.randrange(len(made) + 1)] if draw.random() < 0.1 else made)


def _frame() -> pd.DataFrame:
    words = ["yes", "no"] * 15
    return pd.DataFrame({"x0": range(30), "x1": [n / 7 for n in range(30)], "target": words})


def _csv() -> bytes:
    return _frame().to_csv(index=False).encode()


def _parquet() -> bytes:
    return _frame().to_parquet()


def _lines() -> bytes:
    return _frame().to_json(orient="records", lines=True).encode()


def _archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(6):
            archive.writestr(f"{number % 2}/{number}.txt", f"text {number}")
    return file.getvalue()


def ask_often(
    easeml: EasemlProcess, drawing: Drawing, keys: dict[str, str], seen: Seen, seed: int, most: int
) -> None:
    """Ask until so many were asked in all."""
    draw = random.Random(seed)
    address = urlsplit(easeml.url)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=SECONDS)
    while seen.asked < most:
        if draw.random() < 0.01:
            _no_http(str(address.hostname), int(address.port or 0), draw)
            seen.note("no HTTP", 400, "")  # the service only has to go on
            continue
        one = drawing.request()
        who = draw.choices(WHO, WEIGHTS)[0]
        headers = {**one.headers, "authorization": f"Bearer {keys[who]}"}
        seen.files += one.is_file
        status, text = _answer(connection, one, headers)
        drawing.things.note(text)
        if who in STRANGERS and drawing.things.tells(text, one):
            seen.told.append(f"{who} {one.method} {one.path} {text[:2000]}")
        about = {"who": who, "body": repr(one.body[:2000]), "answer": text[:2000]}
        seen.note(who, status, f"{one.method} {one.path} {json.dumps({'status': status, **about})}")


def _answer(connection: HTTPConnection, one: Fuzzed, headers: dict[str, str]) -> tuple[int, str]:
    """Return status and text of an answer; 0: none came, although the request was sent again."""
    why = ""
    for _ in range(2):  # a connection may end between two requests
        try:
            connection.request(one.method, one.path, one.body or None, headers)
            answer = connection.getresponse()
            kind = answer.getheader("content-type", "")
            if "event-stream" in kind:
                connection.close()
                return answer.status, ""
            text = answer.read().decode("utf-8", "replace")
            return answer.status, text if "json" in kind else ""
        except (OSError, HTTPException) as error:
            why = repr(error)
            connection.close()
    return 0, why


def _no_http(host: str, port: int, draw: random.Random) -> None:
    connection = HTTPConnection(host, port, timeout=SECONDS)
    try:
        connection.connect()
        connection.sock.sendall(draw.choice(NOT_HTTP))
        connection.sock.recv(1000)
    except OSError:
        pass
    finally:
        connection.close()


def ask_by_schemathesis(
    easeml: EasemlProcess, things: Things, examples: int, folder: Path, out: Path
) -> None:
    """Let schemathesis ask each operation so often; its report is kept.

    Raises ``SystemExit`` where it found something.
    """
    programs = peer_programs(CACHE, "schemathesis", ["schemathesis"])
    hooks = folder / "fuzzed_hooks.py"
    hooks.write_text(HOOKS, "utf-8")
    ids = {
        name: things.lasting[prefix]
        for name, prefix in PREFIXES.items()
        if prefix in things.lasting
    }
    command = [str(programs / "schemathesis"), "run", f"{easeml.url}/api/v1/openapi.json"]
    command += ["--phases", "fuzzing", "--checks", "no_fault", "--seed", "0", "--no-shrink"]
    command += ["--max-examples", str(examples), "--continue-on-failure", "--no-color"]
    command += ["--generation-database", "none", "--suppress-health-check", "all"]
    command += ["--request-timeout", str(SECONDS), "--warnings", "off"]
    command += ["-H", f"Authorization: Bearer {easeml.key}"]
    for path in sorted(LEFT_OUT):
        command += ["--exclude-path", path]
    command += ["--exclude-path-regex", f"({'|'.join(STREAMS)})$|^{OF_PEOPLE}"]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "fuzzed_hooks", "PYTHONPATH": str(folder)}
    environment["FUZZED_IDS"] = json.dumps(ids)
    run = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    told = re.sub(r"(?i)bearer \S+", "Bearer KEY", run.stdout + run.stderr)
    (out / "schemathesis.txt").write_text(told.replace(str(folder), "."), "utf-8")
    print(told[-1500:], flush=True)


def new_member(easeml: EasemlProcess, name: str, role: str) -> str:
    """Make a user who acts in the provider's tenant; return a key of theirs."""
    tenant = easeml.call("GET", "/api/v1/me")["tenant_id"]
    key = new_user(easeml, name)
    easeml.call("POST", f"/api/v1/tenants/{tenant}/members", {"user": name, "role": role})
    with Client(easeml.url, key) as client:
        return client.act_in(tenant).secret or ""


def settle(easeml: EasemlProcess, folder: Path, keys: Iterable[str]) -> Things:
    """Make an application that serves, and others that may be ended; return what is there."""
    source = folder / "wine.csv"
    write_source(source, 0)
    own = {easeml.call("GET", "/api/v1/me")["id"]}
    lasting: dict[str, list[str]] = defaultdict(list)
    with Client(easeml.url, easeml.key) as client:
        dataset = client.upload(source)
        version = client.wait_version_ready(dataset.version.id)
        wish = Declaration(
            dataset_id=dataset.id, target="target", models=["naive-bayes"], max_tasks=3
        )
        application = client.create_application(wish)
        client.wait(application.id, until="first-model", timeout=300)
        models = [one.id for one in client.models(application.id)]
    for id in (dataset.id, version.id, application.id, application.job.id, *models):
        lasting[id.partition("_")[0]].append(id)
    for one in easeml.call("GET", "/api/v1/users")["items"]:
        if one["name"] == "victim":
            lasting["usr"].append(one["id"])
        else:
            own.add(one["id"])
    for key in keys:
        with Client(easeml.url, key) as client:
            own |= {one.id for one in client.api_keys()}
    for one in easeml.call("GET", "/api/v1/tenants")["items"]:
        own.add(one["id"])
    return Things(own, lasting)


def write_rows(
    out: Path, seen: Seen, memory: MemoryWatch, is_over: Callable[[], bool], began: float
) -> None:
    """Write a row whenever so many requests were asked, until all were."""
    rows: list[list[object]] = []
    while True:
        over = is_over()
        if over or seen.asked >= EVERY * len(rows):
            counts = [seen.answers[name] for name in ("2xx", "4xx", "503", "5xx", "cut")]
            mib = [memory.now[kind] for kind in KINDS]
            row = [seen.asked, seen.files, round(time.monotonic() - began), *counts, *mib]
            rows.append(row)
            print(*row, flush=True)
            write_table(out / "requests.csv", COLUMNS, rows)
            (out / "faults.txt").write_text("\n".join(seen.faults[:500]), "utf-8")
        if over or seen.is_shut_out():
            return
        time.sleep(1)


def unexpected_tasks(easeml: EasemlProcess) -> list[str]:
    """Return of all tasks the errors that the service did not expect."""
    found = easeml.call("GET", "/api/v1/tasks?limit=200&state=failed")["items"]
    return [json.dumps(one) for one in found if "internal" in json.dumps(one).lower()]


def main() -> None:
    """Ask, and write what came of it."""
    parser = arguments(__file__, __doc__)
    parser.add_argument("--requests", type=int, default=100_000, help="in all")
    parser.add_argument("--examples", type=int, default=20, help="of schemathesis, an operation")
    options = read_options(parser, requests=300, examples=0)
    print(machine_line("fastapi", "uvicorn"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        easeml = EasemlProcess(folder / "home", workers=1)
        easeml.start()
        try:
            keys = {role: new_member(easeml, role, role) for role in ("viewer", "labeller")}
            keys |= {"provider": easeml.key, "user": new_user(easeml, "ann")}
            new_user(easeml, "victim")
            things = settle(easeml, folder, keys.values())
            keys["nobody"] = "wrong"
            before = sorted(processes_by_kind(easeml))
            memory = MemoryWatch(easeml, 20, proportional)
            memory.start()
            if options.examples:
                ask_by_schemathesis(easeml, things, options.examples, folder, options.out)
            fuzz(easeml, things, keys, options.requests, memory, options.out)
            after = sorted(processes_by_kind(easeml))
            lines = [line for line in easeml.output if "Traceback" in line]
            print(f"the same processes as before: {before == after}; tracebacks: {len(lines)}")
            (options.out / "service.log").write_text("".join(easeml.output), "utf-8")
            print(*unexpected_tasks(easeml), sep="\n")
            memory.stop()
        finally:
            easeml.stop()


def fuzz(
    easeml: EasemlProcess,
    things: Things,
    keys: dict[str, str],
    most: int,
    memory: MemoryWatch,
    out: Path,
) -> None:
    """Ask so often, by several connections."""
    document = easeml.call("GET", "/api/v1/openapi.json")
    seen = Seen()
    askers = []
    for seed in range(ASKERS):
        drawing = Drawing(document, things, seed)
        arguments = (easeml, drawing, keys, seen, seed, most)
        askers.append(threading.Thread(target=ask_often, args=arguments, daemon=True))
    for one in askers:
        one.start()
    write_rows(
        out, seen, memory, lambda: not any(one.is_alive() for one in askers), time.monotonic()
    )
    (out / "done.txt").write_text("\n".join(seen.done), "utf-8")
    (out / "told.txt").write_text("\n".join(seen.told), "utf-8")
    print(f"told to strangers: {len(seen.told)}")
    if seen.is_shut_out():
        raise SystemExit(f"Who asks has lost their access: see {out / 'done.txt'}.")
    counts = [(who, status, count) for (who, status), count in sorted(seen.by_who.items())]
    write_table(out / "answers.csv", ["who", "status", "answers"], counts)


if __name__ == "__main__":
    main()
