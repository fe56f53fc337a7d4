"""What a visitor has changed of what easeml proposes, kept in the address.

Reloads, Back and bookmarks keep it.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from easeml.client import made_request
from easeml.contract.applications import Declaration
from easeml.contract.datasets import Column, Version
from easeml.errors import InvalidInput
from easeml.web.views.constraining import constraint_fields, constraints, told
from easeml.web.views.costing import with_costs

_LARGEST = 1e9
_VERBS = {"drop": "left out", "input": "used"}
_WAYS = ("rising", "falling")


@dataclass(frozen=True, slots=True)
class Change:
    """One deviation from the proposal. ``without``: the query of the address that takes it back."""

    text: str
    without: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """The changes to a proposal.

    Types and roles are by the column's position; ``exclude`` names models that are switched off,
    ``constrain`` holds the fields that say what may be tried of the others. ``goal`` is the quality
    that was asked about, ``asked`` the task that finds out. ``latency`` in milliseconds and
    ``size`` in kilobytes are what a model may take. ``ways`` are how the prediction has to follow
    a column.
    """

    target: str
    objective: str
    types: Mapping[int, str]
    roles: Mapping[int, str]
    exclude: tuple[str, ...]
    constrain: tuple[tuple[str, str], ...]
    goal: str = ""
    asked: str = ""
    latency: str = ""
    size: str = ""
    ways: Mapping[int, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def read(cls, fields: Iterable[tuple[str, str]], version: Version) -> "Wishes":
        """Read the fields of an address or a form; what says no more than the proposal is left out."""
        given = list(fields)
        named = dict(given)
        types, roles, ways = {}, {}, {}
        for position, column in enumerate(version.columns):
            kind = named.get(f"type{position}", "")
            if kind and kind != column.type:
                types[position] = kind
            role = named.get(f"role{position}", "")
            if role in ("input", "drop") and role != _usual_role(column):
                roles[position] = role
            way = named.get(f"way{position}", "")
            if way in _WAYS:
                ways[position] = way
        target = named.get("target", "")
        if target == (version.summary.get("target") or ""):
            target = ""
        return cls(
            target=target,
            objective=_objective(named, given),
            types=types,
            roles=roles,
            exclude=_excluded(given),
            constrain=constraint_fields(given),
            goal=named.get("goal", "").strip(),
            asked=named.get("asked", ""),
            latency=named.get("latency", "").strip(),
            size=named.get("size", "").strip(),
            ways=ways,
        )

    def query(self) -> str:
        """Return them as the query of an address."""
        asked = [("asked", self.asked)] if self.asked else []
        return urlencode([*self._fields(), *asked])

    def _fields(self) -> list[tuple[str, str]]:
        """All but ``asked``: an answer holds for what it was asked about only."""
        fields = self._rules()
        fields += [(f"type{position}", kind) for position, kind in sorted(self.types.items())]
        fields += [(f"role{position}", role) for position, role in sorted(self.roles.items())]
        fields += [(f"way{position}", way) for position, way in sorted(self.ways.items())]
        fields += [("exclude", name) for name in self.exclude]
        fields += self.constrain
        if self.goal:
            fields.append(("goal", self.goal))
        return fields

    def _rules(self) -> list[tuple[str, str]]:
        """The rules that differ from the proposal, by name."""
        rules = {
            "target": self.target,
            "objective": self.objective,
            "latency": self.latency,
            "size": self.size,
        }
        return [(name, wish) for name, wish in rules.items() if wish]

    def declaration(self, version: Version) -> Declaration:
        """Return what they ask for."""
        name = [column.name for column in version.columns]
        by_role: dict[str, list[str]] = {"drop": [], "input": []}
        for position, role in self.roles.items():
            by_role[role].append(name[position])
        return made_request(
            Declaration,
            dataset_id=version.dataset_id,
            version_id=version.id,
            target=self.target or None,
            objective=self.objective or None,
            set={name[position]: kind for position, kind in self.types.items()},
            drop=by_role["drop"],
            keep=by_role["input"],
            exclude=list(self.exclude),
            max_latency=_limit(self.latency, "latency", 0.001),
            max_size=_bytes(self.size),
            monotonic={name[position]: way for position, way in self.ways.items()},
            constrain=constraints(self.constrain),
        )

    def without(self, position: int, version: Version) -> "Wishes":
        """Return them with the column at a position left out."""
        roles = {place: role for place, role in self.roles.items() if place != position}
        if _usual_role(version.columns[position]) != "drop":
            roles[position] = "drop"
        return replace(self, roles=roles, asked="")

    def changes(self, version: Version) -> list[Change]:
        """Return them one by one, each with the way back."""
        name = [column.name for column in version.columns]
        changes = []
        for rule, wish in self._rules():
            changes.append(self._change(f"{rule}: {wish}", rule))
        for position, kind in sorted(self.types.items()):
            changes.append(self._change(f"{name[position]}: {kind}", f"type{position}"))
        for position, role in sorted(self.roles.items()):
            changes.append(self._change(f"{name[position]}: {_VERBS[role]}", f"role{position}"))
        for position, way in sorted(self.ways.items()):
            changes.append(self._change(f"{way} with {name[position]}", f"way{position}"))
        wanted: dict[str, list[str]] = {}
        for field, value in self.constrain:
            wanted.setdefault(field, []).append(value)
        for field, values in wanted.items():
            changes.append(self._change(told(field, values), field))
        for model in self.exclude:
            changes.append(self._change(f"without {model}", "exclude", model))
        return changes

    def _change(self, text: str, field: str, value: str | None = None) -> Change:
        """Return a change that leaving out a field takes back, or one of the field's values."""
        kept = []
        for name, given in self._fields():
            is_this = name == field and value in (None, given)
            if not is_this:
                kept.append((name, given))
        return Change(text, urlencode(kept))


def _objective(named: Mapping[str, str], given: list[tuple[str, str]]) -> str:
    """Return the objective: what was typed, or else what was chosen, with the costs of its table."""
    typed = named.get("named", "").strip()
    return typed or with_costs(named.get("objective", ""), given)


def _bytes(kilobytes: str) -> int | None:
    found = _limit(kilobytes, "size", 1000)
    return None if found is None else round(found)


def _limit(text: str, where: str, unit: float) -> float | None:
    """Return a limit in its own unit; None for nothing. Raises ``InvalidInput``."""
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < _LARGEST:
        raise InvalidInput(f"{text!r} is no limit above 0.", where=where)
    return found * unit


def _excluded(fields: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return the models that are switched off: those named so, and those offered and not taken."""
    names: dict[str, set[str]] = {"offered": set(), "model": set(), "exclude": set()}
    for field, value in fields:
        if field in names:
            names[field].add(value)
    left = names["offered"] - names["model"]
    return tuple(sorted(names["exclude"] | left))


def _usual_role(column: Column) -> str:
    """Return the role that a column has unless it is the target."""
    return "drop" if column.role == "drop" else "input"
