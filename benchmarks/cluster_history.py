"""Clients that use an easeml at the same time, and keep what they asked and what they were told.

The keepers of the books: :class:`History` is what :mod:`linearizability` checks. Clients ask one of
several controllers, at random. A request that may have arrived and was not answered well may have
changed something, or not; what never left, or was refused, has not.
"""

import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from cluster_objects import specified
from easeml.contract.states import AttemptState, PromotionKind, PromotionState
from easeml.store import Store
from killing import ROW
from linearizability import NotLinearizable, Operation, check
from service_process import EasemlProcess

_PATIENCE = httpx.Timeout(30.0, connect=5.0)
_AGAIN_SECONDS = 0.5
_MADE_SECONDS = 180.0  # within which what is asked for again and again is made
_PAUSE = (0.05, 0.4)  # seconds between two questions of a client
_LAGS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)
_POLICIES = ("default", "round-robin", "random")  # all of which serve every search
_TASKS = 40  # the newest, which are looked at
_MODELS = 6  # the best, to which is rolled back
_LAST = 99  # number of the client that looks at all in the end
_OWN = (PromotionKind.ROLLBACK, PromotionKind.PIN)  # what clients asked for


@dataclass(frozen=True)
class Said:
    """An answer; ``content`` is None and ``answered`` infinite where none came."""

    content: Any
    asked: float
    answered: float = math.inf

    @property
    def came(self) -> bool:
        """Is there an answer?"""
        return self.answered < math.inf


@dataclass
class History:
    """What was asked and told, by all clients."""

    operations: list[Operation] = field(default_factory=list)

    def note(self, of: str, kind: str, said: Said, value: Any = None, answer: Any = None) -> None:
        """Keep an operation."""
        told = answer if said.came else None
        self.operations.append(Operation(of, kind, value, told, said.asked, said.answered))


class Caller:
    """A client. What it is told of an object, it notes."""

    def __init__(self, history: History, addresses: Sequence[str], key: str, draw: random.Random):
        self._history = history
        self._addresses = addresses
        self._draw = draw
        headers = {"authorization": f"Bearer {key}"}
        self._http = httpx.Client(timeout=_PATIENCE, headers=headers, trust_env=False)
        self._refusal = ""

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Said | None:
        """Send a request to a controller; None where it was refused or never left."""
        address = self._draw.choice(self._addresses)
        asked = time.time()
        try:
            answer = self._http.request(method, f"{address}/api/v1{path}", json=body, **more)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            time.sleep(_AGAIN_SECONDS)
            return None
        except httpx.TransportError:
            return Said(None, asked)
        if answer.status_code >= 500:
            return Said(None, asked)
        if answer.status_code >= 400:
            self._refusal = answer.text
            return None
        return Said(answer.json(), asked, time.time())

    def look(self, path: str) -> Said | None:
        """Return what is there; None where no answer came."""
        said = self.ask("GET", path)
        return said if said is not None and said.came else None

    def change(
        self,
        of: str,
        kind: str,
        path: str,
        body: Any = None,
        *,
        value: Any = None,
        method: str = "POST",
        told: Callable[[Any], Any] = lambda _: None,
    ) -> Said | None:
        """Change an object; ``told``: what the answer says of it."""
        said = self.ask(method, path, body)
        if said is not None:
            answer = told(said.content) if said.came else None
            self._history.note(of, kind, said, value, answer)
        return said

    def make(
        self,
        of: str,
        path: str,
        body: Any = None,
        content_type: str = "application/json",
        **more: Any,
    ) -> Any:
        """Have something made, and ask again under the same key until that is acknowledged.

        Raises ``TimeoutError``.
        """
        headers = {"Idempotency-Key": of, "content-type": content_type}
        began = time.time()
        while time.time() < began + _MADE_SECONDS:
            said = self.ask("POST", path, body, headers=headers, **more)
            if said is not None and said.came:
                whole = replace(said, asked=began)
                self._history.note(of, "make", whole, value=said.content["id"])
                return said.content
            time.sleep(_AGAIN_SECONDS)
        raise TimeoutError(f"{of} was not made in {_MADE_SECONDS:g} s. {self._refusal}")

    def close(self) -> None:
        """End its connections."""
        self._http.close()


def _served(application: Any) -> tuple[str, bool]:
    """Return the live model of an application, and whether it is pinned."""
    model = application["live_model"]
    return (model["id"] if model else "", application["pinned"])


class Client(Caller):
    """A client that does what people do with ``applications``, in no order."""

    def __init__(self, crowd: "Crowd", number: int):
        seed = f"{crowd.seed} {number}"
        super().__init__(crowd.history, crowd.addresses, crowd.key, random.Random(seed))
        self._crowd = crowd
        self._number = number
        self._label = f"{crowd.seed}-{number}"
        self._count = 0
        self._made: list[tuple[str, str]] = []  # name and id of small applications
        self._ways = (
            *[self.look_at_application] * 6,
            *[self.predict] * 6,
            *[self.look_at_tasks] * 4,
            *[self.look_at_lists] * 2,
            *[self.look_at_settings] * 3,
            *[self.pin, self.unpin, self.unpin, self.roll_back] * 2,
            *[self.rename, self.limit, self.limit_tenant, self.drain, self.delete, self.restore],
            *[self.set_policy, self.cancel, self.upload, self.declare],
        )

    def act(self) -> None:
        """Do one of these things, and pause."""
        self._draw.choice(self._ways)()
        time.sleep(self._draw.uniform(*_PAUSE))

    def _new(self) -> int:
        self._count += 1
        return self._count

    def _any_application(self) -> str:
        return self._draw.choice(self._crowd.applications)

    def look_at_application(self) -> Any:
        """Look at what an application serves, its name, and the limits of its search."""
        application = self._any_application()
        return self.look_at(application)

    def look_at(self, application: str) -> Any:
        """Look at an application; return what it says of itself, None where no answer came."""
        said = self.look(f"/applications/{application}")
        if said is None:
            return None
        told = said.content
        note = self._history.note
        note(f"live {application}", "get", said, answer=_served(told))
        note(f"register name {application}", "get", said, answer=told["name"])
        if told["job"] is not None:
            limit = told["job"]["limits"].get("tasks")
            note(f"register limit {told['job']['id']}", "get", said, answer=limit)
        return told

    def predict(self) -> None:
        """Ask an endpoint; a question that is not answered says nothing."""
        application = self._any_application()
        said = self.ask("POST", f"/applications/{application}/predict", {"rows": [self._crowd.row]})
        if said is not None and said.came:
            model = said.content["model_id"]
            self._history.note(f"live {application}", "predict", said, answer=model)

    def look_at_tasks(self) -> list[str]:
        """Look at the newest tasks; return those under way."""
        said = self.look(f"/tasks?newest_first=true&limit={_TASKS}")
        if said is None:
            return []
        tasks = said.content["items"]
        for task in tasks:
            self._history.note(f"task {task['id']}", "get", said, answer=task["state"])
        under_way = [task for task in tasks if task["state"] in ("waiting", "running")]
        return [task["id"] for task in under_way if task["kind"] == "train"]

    def look_at_lists(self) -> None:
        """Look at which of the applications and data sets are there that clients made."""
        for kind, names in self._crowd.names.items():
            # Whoever is named after the question was asked may be in the answer, or not.
            asked_about = list(names)
            said = self.look(f"/{kind}?limit=200")
            if said is None:
                continue
            assert said.content["next"] is None, "one page is one look; more are several"
            for name in asked_about:
                found = [one["id"] for one in said.content["items"] if one["name"] == name]
                answer = tuple(sorted(found))
                self._history.note(f"named {kind} {name}", "list", said, answer=answer)

    def look_at_settings(self) -> None:
        """Look at the policy, what the tenant may use, and which devices rest."""
        note = self._history.note
        if said := self.look("/settings"):
            policy = [one["value"] for one in said.content["items"] if one["name"] == "policy"]
            note("register policy", "get", said, answer=policy[0])
        tenant = self._crowd.tenant
        if said := self.look(f"/tenants/{tenant}/limits"):
            note(f"register uploads {tenant}", "get", said, answer=said.content["uploads"])
        if said := self.look("/devices?limit=200"):
            for device in said.content["items"]:
                if device["state"] != "silent":
                    rests = device["state"] in ("drained", "draining")
                    note(f"register rests {device['id']}", "get", said, answer=rests)

    def pin(self) -> None:
        """Hold what serves."""
        application = self._any_application()
        self.change(f"live {application}", "pin", f"/applications/{application}/pin", told=_served)

    def unpin(self) -> None:
        """Let better models serve again."""
        application = self._any_application()
        self.change(f"live {application}", "unpin", f"/applications/{application}/unpin")

    def roll_back(self) -> None:
        """Let one of the best models serve."""
        application = self._any_application()
        said = self.look(f"/applications/{application}/models?best={_MODELS}")
        models = said.content["items"] if said else []
        if not models:
            return
        model = self._draw.choice(models)["id"]
        path = f"/applications/{application}/rollback"
        self.change(f"live {application}", "roll back", path, {"model_id": model}, value=model)

    def rename(self) -> None:
        """Give an application a new name."""
        application = self._any_application()
        name = f"renamed {self._label}-{self._new()}"
        path = f"/applications/{application}/rename"
        self.change(f"register name {application}", "set", path, {"name": name}, value=name)

    def limit(self) -> None:
        """Change how many tasks a search may have: always more than it will."""
        told = self.look_at_application()
        if not told or told["job"] is None:
            return
        job = told["job"]["id"]
        most = 100_000 + 1000 * self._number + self._new()
        path = f"/jobs/{job}/limits"
        self.change(f"register limit {job}", "set", path, {"max_tasks": most}, value=most)

    def limit_tenant(self) -> None:
        """Change what the tenant may use: always more than it will."""
        most = 1000 * (1 + self._number) + self._new()
        tenant = self._crowd.tenant
        limits = {"uploads": most, "priority": 1.0 + most / 10_000}
        path = f"/tenants/{tenant}/limits"
        of = f"register uploads {tenant}"
        self.change(of, "set", path, limits, value=most, method="PUT")

    def set_policy(self) -> None:
        """Choose another policy."""
        value = self._draw.choice(_POLICIES)
        self.change("register policy", "set", "/settings/policy", {"value": value}, value=value)

    def drain(self) -> None:
        """Let a device rest for a moment."""
        said = self.look("/devices?limit=200")
        devices = [one["id"] for one in said.content["items"]] if said else []
        if not devices:
            return
        device = self._draw.choice(devices)
        self._drain(device, draining=True)
        time.sleep(self._draw.uniform(0.2, 2.0))
        self._drain(device, draining=False)

    def _drain(self, device: str, *, draining: bool) -> None:
        path = f"/devices/{device}/drain"
        of = f"register rests {device}"
        self.change(of, "set", path, {"draining": draining}, value=draining)

    def drain_none(self) -> None:
        """Let all devices work that rest."""
        said = self.look("/devices?limit=200")
        for device in said.content["items"] if said else []:
            if device["state"] in ("drained", "draining"):
                self._drain(device["id"], draining=False)

    def cancel(self) -> None:
        """Cancel a task that is under way."""
        under_way = self.look_at_tasks()
        if under_way:
            task = self._draw.choice(under_way)
            path = f"/tasks/{task}/cancel"
            self.change(f"task {task}", "cancel", path, told=lambda told: told["state"])

    def upload(self) -> None:
        """Bring a small table."""
        name = f"table {self._label}-{self._new()}"
        self._crowd.names["datasets"].append(name)
        table = f"a,b\n1,x\n2,{name}\n".encode()
        sent = {"params": {"filename": "table.csv", "name": name}, "content": table}
        kind = "application/octet-stream"
        self.make(f"named datasets {name}", "/datasets", content_type=kind, **sent)

    def declare(self) -> None:
        """Declare a small application."""
        name = f"small {self._label}-{self._new()}"
        self._crowd.names["applications"].append(name)
        declaration = {**self._crowd.declaration, "name": name, "max_tasks": 1}
        made = self.make(f"named applications {name}", "/applications", declaration)
        self._made.append((name, made["id"]))

    def delete(self) -> None:
        """Delete a small application."""
        if self._made:
            name, one = self._draw.choice(self._made)
            path = f"/applications/{one}"
            of = f"named applications {name}"
            self.change(of, "delete", path, value=one, method="DELETE")

    def restore(self) -> None:
        """Take back that a small application was deleted."""
        if self._made:
            name, one = self._draw.choice(self._made)
            path = f"/applications/{one}/restore"
            self.change(f"named applications {name}", "restore", path, value=one)


@dataclass
class Crowd:
    """Clients of some applications. ``declaration``: of small ones that they make; ``row``: what
    they have predicted.
    """

    addresses: Sequence[str]
    key: str
    tenant: str
    declaration: dict[str, Any]
    row: dict[str, Any]
    applications: list[str]
    seed: int
    history: History = field(default_factory=History)
    names: dict[str, list[str]] = field(
        default_factory=lambda: {"applications": [], "datasets": []}
    )
    faults: list[BaseException] = field(default_factory=list)
    _is_over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def of(self, count: int) -> Iterator[None]:
        """Have so many clients act meanwhile; at last each object is looked at once more."""
        clients = [Client(self, number) for number in range(count)]
        threads = [threading.Thread(target=self._run, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()
        if self.faults:
            raise self.faults[0]

    def drain_none(self) -> None:
        """Let all devices work."""
        client = Client(self, _LAST)
        client.drain_none()
        client.close()

    def look_at_all(self) -> None:
        """Look at each object once more, now that nobody changes any."""
        last = Client(self, _LAST)
        for application in self.applications:
            assert last.look_at(application) is not None, application
        last.look_at_lists()
        last.look_at_settings()
        last.look_at_tasks()
        last.close()

    def _run(self, client: Client) -> None:
        try:
            while not self._is_over.is_set():
                client.act()
        except BaseException as fault:
            self.faults.append(fault)
        finally:
            client.close()


def crowd_of(services: Sequence[EasemlProcess], applications: list[str], seed: int) -> Crowd:
    """Return clients of applications over the wine table; others may be added to these later."""
    first = services[0]
    told = first.call("GET", f"/api/v1/applications/{applications[0]}")
    tenant = first.call("GET", "/api/v1/tenants")["items"][0]["id"]
    small = {"dataset_id": told["dataset_id"], "target": "target"}
    addresses = [service.url for service in services]
    return Crowd(addresses, first.key, tenant, small, ROW, applications, seed)


def kept_by(store: Store, applications: Sequence[str]) -> list[Operation]:
    """Return what easeml did by itself, as its database tells it: accepted results and promotions.

    When exactly it did so is not known, only that it did, before now.
    """
    operations = []
    with store.read() as tx:
        tables = tx.unscoped()
        for attempt in tables.attempts.list(limit=None, state=AttemptState.DONE):
            of = f"task {attempt.task_id}"
            accepted = Operation(of, "accept", attempt.id, None, attempt.started, time.time())
            operations.append(accepted)
        found = tables.promotions.list(application_id=list(applications), limit=None)
        for one in found:
            if one.state == PromotionState.LIVE and one.kind not in _OWN:
                what = (one.previous_model_id, one.model_id, one.kind)
                of = f"live {one.application_id}"
                operations.append(Operation(of, "promote", what, None, 0.0, time.time()))
    return operations


@dataclass(frozen=True)
class Verdict:
    """What the check of a history found.

    ``lag``: seconds by which predictions may be behind what the application says that it serves.
    """

    operations: int
    unanswered: int
    objects: int
    looks: int
    seconds: float
    lag: float


def check_history(operations: Sequence[Operation]) -> Verdict:
    """Check all but predictions, then predictions as well, with the least lag that explains them.

    Raises ``NotLinearizable``.
    """
    began = time.monotonic()
    stated = [one for one in operations if one.kind != "predict"]
    checked = check(stated, specified)
    looks = checked.looks
    for lag in _LAGS:
        try:
            looks += check(_late(operations, lag), specified).looks
        except NotLinearizable:
            if lag == _LAGS[-1]:
                raise
            continue
        unanswered = sum(not one.is_answered for one in operations)
        seconds = time.monotonic() - began
        return Verdict(len(operations), unanswered, len(checked.orders), looks, seconds, lag)
    raise AssertionError("The last lag returns or raises.")


def _late(operations: Sequence[Operation], lag: float) -> list[Operation]:
    """Let predictions tell what served up to ``lag`` seconds before they were asked for."""
    with_predictions = {one.of for one in operations if one.kind == "predict"}
    found = []
    for one in operations:
        if one.of in with_predictions:
            early = one.asked - lag if one.kind == "predict" else one.asked
            found.append(replace(one, asked=early))
    return found
