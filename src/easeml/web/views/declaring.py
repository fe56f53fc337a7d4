"""What a visitor has changed of what easeml proposes, kept in the address: reloads, Back and
bookmarks keep it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from easeml.client import made_request
from easeml.contract.resources import Column, Declaration, Version
from easeml.web.views.constraining import constraint_fields, constraints, told

_RULES = ("target", "objective")


@dataclass(frozen=True, slots=True)
class Change:
    """One deviation from the proposal. ``without``: the query of the address that takes it back."""

    text: str
    without: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """The changes to a proposal. Types and roles are by the column's position; ``exclude`` names
    models that are switched off, ``constrain`` holds the fields that say what may be tried of the
    others. ``goal`` is the quality that was asked about, ``asked`` the task that finds out."""

    target: str
    objective: str
    types: Mapping[int, str]
    roles: Mapping[int, str]
    exclude: tuple[str, ...]
    constrain: tuple[tuple[str, str], ...]
    goal: str = ""
    asked: str = ""

    @classmethod
    def read(cls, fields: Iterable[tuple[str, str]], version: Version) -> "Wishes":
        """Read the fields of an address or a form; what says no more than the proposal is left out."""
        given = list(fields)
        named = dict(given)
        types, roles = {}, {}
        for position, column in enumerate(version.columns):
            kind, role = named.get(f"type{position}", ""), named.get(f"role{position}", "")
            if kind and kind != column.type:
                types[position] = kind
            if role in ("input", "drop") and role != _usual_role(column):
                roles[position] = role
        proposed = version.summary.get("target") or ""
        target = named.get("target", "")
        offered = {value for name, value in given if name == "offered"}
        kept = {value for name, value in given if name == "model"}
        exclude = {value for name, value in given if name == "exclude"} | (offered - kept)
        return cls(
            target="" if target == proposed else target,
            objective=named.get("objective", ""),
            types=types,
            roles=roles,
            exclude=tuple(sorted(exclude)),
            constrain=constraint_fields(given),
            goal=named.get("goal", "").strip(),
            asked=named.get("asked", ""),
        )

    def query(self) -> str:
        """Return them as the query of an address."""
        asked = [("asked", self.asked)] if self.asked else []
        return urlencode([*self._fields(), *asked])

    def _fields(self) -> list[tuple[str, str]]:
        """All but ``asked``: an answer holds for what it was asked about only."""
        fields = [(name, getattr(self, name)) for name in _RULES if getattr(self, name)]
        fields += [(f"type{position}", kind) for position, kind in sorted(self.types.items())]
        fields += [(f"role{position}", role) for position, role in sorted(self.roles.items())]
        fields += [("exclude", name) for name in self.exclude]
        goal = [("goal", self.goal)] if self.goal else []
        return [*fields, *self.constrain, *goal]

    def declaration(self, version: Version) -> Declaration:
        """Return what they ask for."""
        name = [column.name for column in version.columns]
        return made_request(
            Declaration,
            dataset_id=version.dataset_id,
            version_id=version.id,
            target=self.target or None,
            objective=self.objective or None,
            set={name[position]: kind for position, kind in self.types.items()},
            drop=[name[position] for position, role in self.roles.items() if role == "drop"],
            keep=[name[position] for position, role in self.roles.items() if role == "input"],
            exclude=list(self.exclude),
            constrain=constraints(self.constrain),
        )

    def changes(self, version: Version) -> list[Change]:
        """Return them one by one, each with the way back."""
        name = [column.name for column in version.columns]
        verbs = {"drop": "left out", "input": "used"}
        found = [(f"{rule}: {getattr(self, rule)}", rule) for rule in _RULES if getattr(self, rule)]
        found += [(f"{name[at]}: {kind}", f"type{at}") for at, kind in sorted(self.types.items())]
        found += [
            (f"{name[at]}: {verbs[role]}", f"role{at}") for at, role in sorted(self.roles.items())
        ]
        asked = dict.fromkeys(field for field, _ in self.constrain)
        found += [
            (told(one, [value for field, value in self.constrain if field == one]), one)
            for one in asked
        ]
        fields = self._fields()
        changes = [
            Change(text, urlencode([one for one in fields if one[0] != field]))
            for text, field in found
        ]
        without = [
            (model, [one for one in fields if one != ("exclude", model)]) for model in self.exclude
        ]
        return changes + [Change(f"without {model}", urlencode(rest)) for model, rest in without]


def _usual_role(column: Column) -> str:
    """Return the role that a column has unless it is the target."""
    return "drop" if column.role == "drop" else "input"
