"""What a person may do in a tenant that is not all theirs, and with what is deleted.

They have a role in the tenant that they belong to, and one in each application that was shared with
them. Whatever is not named here is refused: a new route is closed to all but an owner.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from easeml.contract.permissions import EVERYTHING, OF_MEMBER, OF_SHARE
from easeml.contract.states import MemberRole, Permission, Role, ShareRole
from easeml.errors import NotAllowed, NotFound
from easeml.service.access.caller import Caller
from easeml.store import Store, Tables
from easeml.store.shapes import Shape

_OF_API = re.compile(
    r"/api/v1/(?P<kind>applications|jobs|models|tasks|versions|work)/(?P<id>[^/]+)(?P<rest>(?:/.*)?)"
)
_OF_V2 = re.compile(  # which may name a version of a model
    r"/v2/models/(?P<id>[^/]+)(?:/versions/[^/]+)?(?P<rest>(?:/.*)?)"
)
_LOOKED_AT = (
    "",
    "/view",
    "/leaderboard",
    "/live",
    "/history",
    "/models",
    "/promotions",
    "/gates",
    "/measures",
    "/pareto",
    "/model-rules",
    "/doubts",
    "/goal",
    "/journey",
    "/next",
    "/reports",
    "/rollouts",
    "/rows",
    "/source",
    "/suggestions",
    "/tools",
    "/versions",
    "/watch",
)
_FIND_WORK = "find-work"  # the kind of task that looks for items
_LOOKING = "looking"  # what such a task is here: its result has all items, which owners alone see
_PREDICTIONS = {
    ("POST", "applications", "/predict"),
    ("POST", "applications", "/invocations"),
    ("POST", "v2", "/infer"),
}
_TO_LOOK = {
    *(("GET", "applications", rest) for rest in _LOOKED_AT),
    *_PREDICTIONS,
    ("GET", "v2", ""),
    ("GET", "v2", "/ready"),
    ("GET", "jobs", ""),
    ("GET", "jobs", "/ending"),
    ("GET", "jobs", "/progress"),
    ("GET", "jobs", "/tasks"),
    ("GET", "tasks", ""),
    ("GET", "tasks", "/view"),
    ("GET", "tasks", "/report"),
    ("GET", "tasks", "/reports"),
    ("GET", "versions", ""),
    ("GET", "versions", "/comparison"),
}
_TO_LABEL = {("POST", "applications", "/work"), ("POST", "work", "/answer")}
_ROUTES = {Permission.LOOK: _TO_LOOK, Permission.LABEL: _TO_LABEL}  # to change: all
_MOST_FIRST = (ShareRole.OWNER, ShareRole.VIEWER, ShareRole.LABELLER)
_OWN_ACCOUNT = (
    "GET /api/v1/me",
    "POST /api/v1/me/tenant",
    "GET /api/v1/shared",
    "GET /api/v1/notifications",  # of what they may look at
    "POST /api/v1/notifications/read",
    "GET /api/v1/users",
    "POST /api/v1/users/[^/]+/password",
    "GET /api/v1/keys",
    "POST /api/v1/keys",
    "DELETE /api/v1/keys/[^/]+",
    "DELETE /api/v1/sign-ins",
    "POST /api/v1/logout",
    "GET /api/v1/modules/titles",
    "GET /v2",
)
_LISTS = (
    "GET /api/v1/applications",
    "GET /api/v1/jobs",
    "GET /api/v1/tasks",
    "GET /api/v1/datasets",
    "GET /api/v1/datasets/[^/]+",
    "GET /api/v1/modules",
    "GET /api/v1/status",
    "GET /api/v1/events",
    "GET /api/v1/events/list",
)
_ABOUT_ONESELF = re.compile("|".join(_OWN_ACCOUNT))
_ABOUT_ALL = re.compile("|".join((*_OWN_ACCOUNT, *_LISTS)))
_PEOPLE = re.compile(
    r"/api/v1/(members/[^/]+|sign-ins|users/[^/]+/remove|tenants/[^/]+/members|invitations/accept)"
)
_WHEN_DELETED = {("POST", "applications", "/restore"), ("DELETE", "applications", "")}
_CHANGES = {("POST", "applications", "/share"), *_WHEN_DELETED}


@dataclass(frozen=True, slots=True)
class _AboutApplication(Shape):
    """What the spec of a task that looks for work says of its application."""

    application_id: str


class Asked(NamedTuple):
    """What a request is about. ``kind``: of the thing; ``rest``: of the path after its id."""

    method: str
    kind: str
    id: str
    rest: str

    @property
    def what(self) -> tuple[str, str, str]:
        """The route, without the id."""
        return self.method, self.kind, self.rest

    @property
    def is_prediction(self) -> bool:
        """Is a model asked?"""
        return self.what in _PREDICTIONS

    @property
    def changes_access(self) -> bool:
        """May it change who is let in?"""
        return self.what in _CHANGES


@dataclass(frozen=True)
class Known:
    """What is deleted (application -> tenant) and shared (application, user -> tenant, role)."""

    deleted: dict[str, str]
    shares: dict[tuple[str, str], tuple[str, ShareRole]]

    def concerns(self, caller: Caller) -> bool:
        """Is anything of it about the caller?"""
        return caller.tenant_id in self._tenants or caller.user_id in self._users

    def roles_of(self, caller: Caller) -> dict[str, ShareRole]:
        """Return what the caller is in each application that was shared with them."""
        return {
            application_id: role
            for (application_id, user_id), (_, role) in self.shares.items()
            if user_id == caller.user_id
        }

    @cached_property
    def _tenants(self) -> set[str]:
        """Those that have deleted something."""
        return set(self.deleted.values())

    @cached_property
    def _users(self) -> set[str]:
        """Those with whom something is shared."""
        return {user_id for _, user_id in self.shares}


def check_member(caller: Caller, method: str, path: str) -> None:
    """Raise ``NotAllowed`` where the caller's role in their tenant does not name a route.

    The routes of an application are those of ``admit``; these are all others.
    """
    if not caller.is_limited:
        return
    named = _ABOUT_ALL if caller.member == MemberRole.VIEWER else _ABOUT_ONESELF
    if not named.fullmatch(f"{method} {path}"):
        raise _less(caller)


def _less(caller: Caller) -> NotAllowed:
    return NotAllowed(
        f"You are a {caller.member} here, who may not do this.",
        remedy="Ask an owner of the tenant for more.",
    )


def changes_people(method: str, path: str) -> bool:
    """May a request change who is let in: who belongs to a tenant, as what, and who is signed in?"""
    return method != "GET" and _PEOPLE.fullmatch(path) is not None


def asked_for(method: str, path: str) -> Asked | None:
    """Return what of an application a request names; None where it names nothing."""
    found = _OF_API.fullmatch(path)
    if found is not None:
        return Asked(method, found["kind"], found["id"], found["rest"])
    found = _OF_V2.fullmatch(path)
    if found is not None:
        return Asked(method, "v2", found["id"], found["rest"])
    return None


def look(store: Store) -> Known:
    """Return what is deleted and shared in all tenants."""
    with store.read() as tx:
        tables = tx.unscoped()
        since = tables.applications.pick("id", "tenant_id", "deleted")
        shares = tables.shares.pick("application_id", "user_id", "tenant_id", "role")
    return Known(
        deleted={id: tenant for id, tenant, deleted in since if deleted is not None},
        shares={(application, user): (tenant, role) for application, user, tenant, role in shares},
    )


def admit(store: Store, known: Known, caller: Caller, asked: Asked) -> Caller:
    """Return as whom a caller acts: for an application that was shared, in its owner's tenant.

    Raises ``NotFound`` for what is deleted, ``NotAllowed`` for what their role does not allow.
    """
    application_id, kind = _application_of(store, known, caller, asked)
    asked = asked._replace(kind=kind)
    own = (caller.tenant_id, None)
    tenant_id, role = known.shares.get((application_id, caller.user_id), own)
    if known.deleted.get(application_id) == tenant_id and asked.what not in _WHEN_DELETED:
        raise NotFound(
            "This application is deleted.",
            where=application_id,
            remedy=f"For a day its owner can have it back: easeml app restore {application_id}",
        )
    granted = _granted(caller, tenant_id, role)
    if not _is_named(asked, granted):
        _refuse(caller, role, application_id, asked)
    if role is None:
        return caller
    return replace(caller, tenant_id=tenant_id, role=Role.USER, granted=granted)


_MORE = {ShareRole.LABELLER: "Its questions are on Work. Ask its owner for more."}


def _refuse(caller: Caller, role: ShareRole | None, application_id: str, asked: Asked) -> NoReturn:
    """Say why a caller may not do what they ask for. ``role``: in what was shared with them."""
    if role is not None:
        raise NotAllowed(
            f"This application was shared with you as a {role}.",
            where=application_id,
            remedy=_MORE.get(role, "Ask its owner for more."),
        )
    if caller.member == MemberRole.GUEST:
        raise NotFound(
            "This was not shared with you.", where=asked.id, remedy="Ask its owner to share it."
        )
    raise _less(caller)


def _granted(caller: Caller, tenant_id: str, role: ShareRole | None) -> frozenset[Permission]:
    """Return what the share of an application and the role in its tenant together allow."""
    granted = frozenset[Permission]()
    if role is not None:
        granted |= OF_SHARE[role]
    if tenant_id == caller.tenant_id:
        granted |= OF_MEMBER[caller.member]
    return granted


def _is_named(asked: Asked, granted: frozenset[Permission]) -> bool:
    """Does any of the permissions name what is asked?"""
    return granted == EVERYTHING or any(asked.what in _ROUTES[one] for one in granted)


def _application_of(store: Store, known: Known, caller: Caller, asked: Asked) -> tuple[str, str]:
    """Return the application that a thing belongs to (empty: none), and the kind of the thing.

    A version may belong to several: then the one that lets the caller do most.
    """
    if asked.kind in ("applications", "v2"):
        return asked.id, asked.kind
    with store.read() as tx:
        tables = tx.unscoped()
        if asked.kind == "tasks":
            return _of_task(tables, asked.id)
        if asked.kind == "versions":
            return _of_version(tables, known.roles_of(caller), asked.id), "versions"
        rows: Any = {"jobs": tables.jobs, "models": tables.models, "work": tables.work_items}
        found = rows[asked.kind].find(id=asked.id)
    return found.application_id if found else "", asked.kind


def _of_task(tables: Tables, task_id: str) -> tuple[str, str]:
    task = tables.tasks.find(id=task_id)
    if task is None:
        return "", "tasks"
    if task.spec_kind == _FIND_WORK:
        return _AboutApplication.from_json(task.payload).application_id, _LOOKING
    job = tables.jobs.find(id=task.job_id)
    return job.application_id if job else task.subject, "tasks"


def _of_version(tables: Tables, roles: Mapping[str, ShareRole], version_id: str) -> str:
    """Return of the applications with these roles one that uses the data of a version."""
    version = tables.versions.find(id=version_id)
    if version is None:
        return ""
    users = tables.applications.pick("id", dataset_id=version.dataset_id)
    shared = [id for (id,) in users if id in roles]
    return min(shared, key=lambda id: _MOST_FIRST.index(roles[id]), default="")
