"""What a visitor has changed of what easeml proposes, kept in the address.

Reloads, Back and bookmarks keep it.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from easeml.client import made_request
from easeml.contract.applications import Declaration, one_a_target
from easeml.contract.datasets import Column, Version
from easeml.errors import InvalidInput
from easeml.web.forms import positive_number, steps_ahead
from easeml.web.views.constraining import constraint_fields, constraints, told
from easeml.web.views.costing import with_costs

_LARGEST = 1e9
_TOO = "target"  # the role of a column that is predicted beside the target
_VERBS = {
    "drop": "left out",
    "input": "used",
    "weight": "weight of the row",
    "series": "tells series apart",
    "past-only": "not known ahead",
    _TOO: "predicted too",
}
_WAYS = ("rising", "falling")
_WORDS_OF_RULE = {"together": "all targets together", "ahead": "forecast: {wish} steps ahead"}


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
    a column. ``codes`` are the values of a column, with commas, that stand for missing ones.
    ``split`` says which rows test, as a declaration does; empty: those drawn at random. ``ahead``:
    how many steps the target is forecast; empty: it is not. ``together``: whether the targets are
    one answer; empty: each has an application of its own.
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
    codes: Mapping[int, str] = dataclasses.field(default_factory=dict)
    split: str = ""
    ahead: str = ""
    together: str = ""

    @classmethod
    def read(cls, fields: Iterable[tuple[str, str]], version: Version) -> "Wishes":
        """Read the fields of an address or a form; what says no more than the proposal is left out."""
        given = list(fields)
        named = dict(given)
        target = named.get("target", "")
        if target == version.summary.get("target"):
            target = ""
        return cls(
            target=target,
            objective=_objective(named, given),
            types=_by_column(named, "type", version, _is_other_type),
            roles=_by_column(named, "role", version, _is_other_role),
            exclude=_excluded(given),
            constrain=constraint_fields(given),
            goal=named.get("goal", "").strip(),
            asked=named.get("asked", ""),
            latency=named.get("latency", "").strip(),
            size=named.get("size", "").strip(),
            ways=_by_column(named, "way", version, _is_way),
            codes=_by_column(named, "missing", version, _are_suspected),
            split=_split(named.get("split", ""), version),
            ahead=named.get("ahead", "").strip(),
            together=named.get("together", ""),
        )

    def query(self) -> str:
        """Return them as the query of an address."""
        fields = self._fields()
        if self.asked:
            fields.append(("asked", self.asked))
        return urlencode(fields)

    def _fields(self) -> list[tuple[str, str]]:
        """All but ``asked``: an answer holds for what it was asked about only."""
        fields = self._rules()
        for kind, position, wish in self._of_columns():
            fields.append((f"{kind}{position}", wish))
        fields += [("exclude", name) for name in self.exclude]
        fields += self.constrain
        if self.goal:
            fields.append(("goal", self.goal))
        return fields

    def _of_columns(self) -> Iterator[tuple[str, int, str]]:
        """Yield the wishes about columns: the kind, the column's position, and what is wished."""
        by_kind = {"type": self.types, "role": self.roles, "way": self.ways, "missing": self.codes}
        for kind, wishes in by_kind.items():
            for position, wish in sorted(wishes.items()):
                yield kind, position, wish

    def _rules(self) -> list[tuple[str, str]]:
        """The rules that differ from the proposal, by name."""
        rules = {
            "target": self.target,
            "objective": self.objective,
            "latency": self.latency,
            "size": self.size,
            "split": self.split,
            "ahead": self.ahead,
            "together": self.together,
        }
        return [(name, wish) for name, wish in rules.items() if wish]

    def targets(self, version: Version) -> list[str]:
        """Return the columns that are to be predicted, each by an application; the target first."""
        target = self.target or version.summary.get("target", "")
        return list(filter(None, dict.fromkeys([target, *self._in_role(_TOO, version)])))

    def declarations(self, version: Version, name: str) -> list[Declaration]:
        """Return what they ask for, a declaration for each target. ``name``: of the data."""
        declared = self._declared(version)
        targets = self.targets(version)
        if len(targets) < 2 or self.together:
            return [self.declaration(version)]
        return one_a_target(declared, targets, name)

    def declaration(self, version: Version) -> Declaration:
        """Return what they ask for of the target; what is predicted too is no input."""
        declared = self._declared(version)
        others = self.targets(version)[1:]
        if self.together:
            return declared.model_copy(update={"together": others})
        return declared.model_copy(update={"drop": [*declared.drop, *others]})

    def _declared(self, version: Version) -> Declaration:
        return made_request(
            Declaration,
            dataset_id=version.dataset_id,
            version_id=version.id,
            target=self.target or None,
            objective=self.objective or None,
            set=_by_name(self.types, version) | _missing_codes(self.codes, version),
            drop=self._in_role("drop", version),
            keep=self._in_role("input", version),
            weight=self._weight(version),
            split=self.split or "random",
            forecast=self._forecast(version),
            exclude=list(self.exclude),
            max_latency=_limit(self.latency, "latency", 0.001),
            max_size=_bytes(self.size),
            monotonic=_by_name(self.ways, version),
            constrain=constraints(self.constrain),
        )

    def _in_role(self, role: str, version: Version) -> list[str]:
        """Return the names of the columns that were given a role."""
        roles = _by_name(self.roles, version)
        return [name for name, given in roles.items() if given == role]

    def _forecast(self, version: Version) -> dict[str, Any] | None:
        """Return how the target is forecast; None where it is not. Raises ``InvalidInput``."""
        series = self._in_role("series", version)
        past_only = self._in_role("past-only", version)
        if self.ahead:
            ahead = steps_ahead(self.ahead, "ahead")
            return {"ahead": ahead, "series": series, "past_only": past_only}
        told = [*series, *past_only]
        if told:
            raise InvalidInput(
                f"Only a forecast has series and a past, and {told[0]} is to be of one.",
                where="ahead",
                remedy="Say how many steps ahead the target is forecast.",
            )
        return None

    def _weight(self, version: Version) -> str | None:
        """Return the column that was made the weight of rows. Raises ``InvalidInput`` for two."""
        names = self._in_role("weight", version)
        if len(names) > 1:
            raise InvalidInput(
                f"One column can be the weight of a row, and {' and '.join(names)} are to be it.",
                where="weight",
                remedy="Multiply them before, or use one.",
            )
        return next(iter(names), None)

    def without(self, position: int, version: Version) -> "Wishes":
        """Return them with the column at a position left out."""
        roles = dict(self.roles)
        roles.pop(position, None)
        if _usual_role(version.columns[position]) != "drop":
            roles[position] = "drop"
        return replace(self, roles=roles, asked="")

    def changes(self, version: Version) -> list[Change]:
        """Return them one by one, each with the way back."""
        changes = []
        for rule, wish in self._rules():
            words = _WORDS_OF_RULE.get(rule, "{rule}: {wish}")
            changes.append(self._change(words.format(rule=rule, wish=wish), rule))
        for kind, position, wish in self._of_columns():
            text = _said(kind, version.columns[position].name, wish)
            changes.append(self._change(text, f"{kind}{position}"))
        for field, values in self._constraints().items():
            changes.append(self._change(told(field, values), field))
        for model in self.exclude:
            changes.append(self._change(f"without {model}", "exclude", model))
        return changes

    def _constraints(self) -> dict[str, list[str]]:
        """Return the values of the fields of each name that say what may be tried."""
        wanted: dict[str, list[str]] = {}
        for field, value in self.constrain:
            wanted.setdefault(field, []).append(value)
        return wanted

    def _change(self, text: str, field: str, value: str | None = None) -> Change:
        """Return a change that leaving out a field takes back, or one of the field's values."""
        kept = []
        for name, given in self._fields():
            is_this = name == field and value in (None, given)
            if not is_this:
                kept.append((name, given))
        return Change(text, urlencode(kept))


def splits(version: Version) -> dict[str, str]:
    """Return how rows to test can be chosen beside at random, each with its words.

    By times, of which the latest rows test, and by groups, or columns whose rows are alike, which
    stay together.
    """
    found = {}
    for column in version.columns:
        if column.nature == "time" or column.type == "timestamp":
            found[f"time:{column.name}"] = f"the latest rows by {column.name}"
        elif column.nature == "group" or column.alike:
            found[f"group:{column.name}"] = f"rows of other {column.name} than those trained with"
    return found


def has_times(version: Version) -> bool:
    """Tell whether rows may be sorted by time, so that a target can follow its own past."""
    return any(way.startswith("time:") for way in splits(version))


def _split(text: str, version: Version) -> str:
    """Return a split that can be chosen; empty for another."""
    if text not in splits(version):
        return ""
    return text


def _by_name(wishes: Mapping[int, str], version: Version) -> dict[str, str]:
    """Return wishes about columns by their names instead of their positions."""
    return {version.columns[position].name: wish for position, wish in wishes.items()}


def _missing_codes(codes: Mapping[int, str], version: Version) -> dict[str, str]:
    """Return what stands for missing values, as a declaration sets it."""
    by_name = _by_name(codes, version)
    return {f"{name}.missing": values for name, values in by_name.items()}


def _by_column(
    named: Mapping[str, str],
    kind: str,
    version: Version,
    is_wish: Callable[[Column, str], bool],
) -> dict[int, str]:
    """Return the fields of a kind that are a wish for their column, by the column's position."""
    found = {}
    for position, column in enumerate(version.columns):
        given = named.get(f"{kind}{position}", "")
        if given and is_wish(column, given):
            found[position] = given
    return found


def _said(kind: str, column: str, wish: str) -> str:
    """Say what is wished of a column."""
    told = {
        "way": f"{wish} with {column}",
        "missing": f"{column}: {wish} is missing",
        "role": f"{column}: {_VERBS.get(wish, wish)}",
    }
    return told.get(kind, f"{column}: {wish}")


def _is_other_type(column: Column, kind: str) -> bool:
    return kind != column.type


def _is_other_role(column: Column, role: str) -> bool:
    return role in _VERBS and role != _usual_role(column)


def _are_suspected(column: Column, codes: str) -> bool:
    return codes == ",".join(column.suspected_codes)


def _is_way(column: Column, way: str) -> bool:
    return way in _WAYS


def _objective(named: Mapping[str, str], given: list[tuple[str, str]]) -> str:
    """Return the objective: what was typed, or else what was chosen, with the costs of its table."""
    typed = named.get("named", "").strip()
    if typed:
        return typed
    return with_costs(named.get("objective", ""), given)


def _bytes(kilobytes: str) -> int | None:
    found = _limit(kilobytes, "size", 1000)
    if found is None:
        return None
    return round(found)


def _limit(text: str, where: str, unit: float) -> float | None:
    """Return a limit in its own unit; None for nothing. Raises ``InvalidInput``."""
    problem = InvalidInput(f"{text!r} is not a limit above 0.", where=where)
    return positive_number(text, problem, _LARGEST, unit)


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
    if column.role == "drop":
        return "drop"
    return "input"
