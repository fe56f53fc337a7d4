"""What a team writes down once: the condition, how sure to be, and what developers get to see."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.condition import Clause, Formula, clauses, groups_of
from easeml.lifecycle.ci.groups import read_group
from easeml.lifecycle.ci.parsing import parse

MOST_STEPS = 1_000_000
MOST_RELIABLE = 1e-15
"""The smallest error probability; floats cannot tell smaller ones from reliability 1."""


class Mode(StrEnum):
    """Which error is kept rare where the examples cannot tell: a false pass, or a false fail."""

    FP_FREE = "fp-free"
    FN_FREE = "fn-free"


class Adaptivity(StrEnum):
    """What developers learn: nothing, every verdict, or the first pass.

    With the first pass the test set is retired.
    """

    NONE = "none"
    FULL = "full"
    FIRST_CHANGE = "firstChange"


class Metric(StrEnum):
    """What n and o measure: a mean of scores in [0, scale], one an example, or the F1 of one class.

    Of brier, predictions are chances of the positive class, and n and o are means of their squared
    errors.
    """

    ACCURACY = "accuracy"
    F1 = "f1"
    ABSOLUTE_ERROR = "absolute-error"
    SQUARED_ERROR = "squared-error"
    SCORE = "score"
    BRIER = "brier"


_ADAPTIVITIES = {
    "none": Adaptivity.NONE,
    "full": Adaptivity.FULL,
    "firstchange": Adaptivity.FIRST_CHANGE,
    "hybrid": Adaptivity.FIRST_CHANGE,
}
_KEYS = (
    "condition",
    "reliability",
    "mode",
    "adaptivity",
    "steps",
    "script",
    "metric",
    "positive",
    "scale",
)
_OPTIONAL = ("difference", "groups", "seed", "batch")
_LONGEST_TEXT = 100_000
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True)
class Config:
    """The configuration of a series of tests on one test set.

    ``reliability`` is 1 - delta: no false verdict of the kind that ``mode`` guards against in all
    ``steps`` together, but for a probability of delta. ``positive`` is the class of F1 and Brier; ``scale``
    the largest error that counts (larger ones are cut to it). ``difference`` is the share of
    predictions that a commit is expected to change at most: it makes tests cheaper where it is
    right, and costs labels, but no guarantee, where it is wrong. ``groups``: the share of the
    examples that is in each group which the condition names, as it is written; it only tells how
    many examples a test takes. ``seed`` orders the examples; ``batch`` is how many labels are asked
    for at a time.
    """

    condition: Formula
    reliability: float
    mode: Mode = Mode.FP_FREE
    adaptivity: Adaptivity = Adaptivity.FULL
    steps: int = 1
    script: str = ""
    mail: str = ""
    metric: Metric = Metric.ACCURACY
    positive: str = "1"
    scale: float = 1.0
    difference: float | None = None
    groups: tuple[tuple[str, float], ...] = ()
    seed: int = 0
    batch: int = 50

    def __post_init__(self) -> None:
        _require(
            MOST_RELIABLE <= 1 - self.reliability < 1,
            "reliability",
            "must lie above 0 and below 1, as 0.9999",
        )
        _require(
            1 <= self.steps <= MOST_STEPS,
            "steps",
            f"must be a whole number from 1 to {MOST_STEPS:,}",
        )
        _require(0 < self.scale < math.inf, "scale", "must be a number above 0")
        _require(
            self.difference is None or 0 < self.difference <= 1,
            "difference",
            "must lie above 0 and at most 1",
        )
        for group, share in self.groups:
            _require(0 < share <= 1, f"groups, {group}", "must lie above 0 and at most 1")
        _require(self.batch >= 1, "batch", "must be at least 1")
        _require(0 <= self.seed < 2**63, "seed", "must be a whole number from 0 on")
        if self.metric in (Metric.ACCURACY, Metric.F1, Metric.BRIER):
            _require(self.scale == 1, "scale", f"is always 1 for {self.metric.value}")

    @property
    def delta(self) -> float:
        """The error probability of the whole series."""
        return 1 - self.reliability

    @property
    def names_groups(self) -> bool:
        """Whether the condition is about groups of rows."""
        return bool(groups_of(self.condition))

    @property
    def knows_sizes(self) -> bool:
        """Whether it says how large each group is that the condition names."""
        return dict(self.groups).keys() >= set(map(str, groups_of(self.condition)))

    def shares_of(self, clause: Clause) -> list[float]:
        """Return the share of each group of a clause in all examples, as far as it is said.

        1 for a clause about all examples.
        """
        named = map(str, clause.groups)
        return list(filter(None, map(dict(self.groups).get, named))) or [1.0]

    @property
    def digest(self) -> str:
        """A name of what the guarantee depends on; comments, script and batch size do not count."""
        essentials = json.dumps(self._essentials(), sort_keys=True)
        return hashlib.sha256(essentials.encode()).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, from which ``read_config`` makes the same configuration."""
        aside: dict[str, Any] = {"script": self.script, "mail": self.mail, "batch": self.batch}
        if self.groups:
            aside["groups"] = dict(self.groups)
        return {**self._essentials(), **aside}

    def _essentials(self) -> dict[str, Any]:
        return {
            "condition": str(self.condition),
            "reliability": self.reliability,
            "mode": self.mode.value,
            "adaptivity": self.adaptivity.value,
            "steps": self.steps,
            "metric": self.metric.value,
            "positive": self.positive,
            "scale": self.scale,
            "difference": self.difference,
            "seed": self.seed,
        }


def read_config(document: Any) -> Config:
    """Return the configuration in a parsed YAML or JSON document.

    The document is a mapping of keys, or, as published, a list of mappings of one key each; either
    may stand under a key ``ml``. ``adaptivity`` is none, full, firstChange (also hybrid), or as
    published ``none -> ADDRESS``.

    Raises:
        InvalidInput: naming the key that is missing, unknown or wrong.
    """
    keys = _flat(document)
    _check_keys(keys)
    # The published form writes an address for the verdicts behind the adaptivity.
    adaptivity, mail = _adaptivity(str(keys.get("adaptivity", "full")))
    difference = None
    if keys.get("difference") is not None:
        difference = _number(keys, "difference", 1.0)
    return Config(
        condition=parse(keys["condition"]),
        reliability=_number(keys, "reliability", 0.0),
        mode=_choice(Mode, "mode", keys.get("mode", Mode.FP_FREE)),
        adaptivity=adaptivity,
        steps=_whole(keys, "steps", 1),
        script=_text(keys, "script"),
        mail=mail or _text(keys, "mail"),
        metric=_choice(Metric, "metric", keys.get("metric", Metric.ACCURACY)),
        positive=str(keys.get("positive", "1")),
        scale=_number(keys, "scale", 1.0),
        difference=difference,
        groups=_groups(keys),
        seed=_whole(keys, "seed", 0),
        batch=_whole(keys, "batch", 50),
    )


def parse_config(text: str) -> Config:
    """Return the configuration in YAML (or JSON) text; see ``read_config``.

    Raises:
        InvalidInput: with line and column where the text is no YAML.
    """
    import yaml

    if len(text) > _LONGEST_TEXT:
        raise InvalidInput(f"The configuration is longer than {_LONGEST_TEXT:,} characters.")
    try:
        document = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        remedy = ""
        if "escape" in str(error):
            remedy = "Write the condition without quotes, or in single quotes."
        raise InvalidInput(
            f"This is not YAML: {error.problem}.", where=place, remedy=remedy
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidInput("This is not YAML.") from error
    return read_config(document)


def _groups(keys: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return the shares of groups, by the groups as conditions are shown."""
    shares = keys.get("groups") or {}
    if not isinstance(shares, Mapping):
        raise InvalidInput(
            "The groups are no mapping of groups to shares.",
            where="groups",
            remedy="Write it as in groups: {sex = female: 0.4}.",
        )
    found = []
    for name in map(str, shares):
        group = read_group(f"[{name}]")
        if group is None:
            raise InvalidInput(f"'{name}' names no group of rows.", where="groups")
        found.append((str(group), _number(shares, name, 0.0)))
    return tuple(sorted(found))


def uses_old(formula: Formula) -> bool:
    """Tell whether a condition needs the predictions of an old model."""
    parts = chain.from_iterable(map(attrgetter("parts"), clauses(formula)))
    return any((part.o, part.d) != (0, 0) for part in parts)


def _check_keys(keys: Mapping[str, Any]) -> None:
    """Refuse keys that mean nothing, and a configuration that lacks one it must have."""
    known = {*_KEYS, *_OPTIONAL, "mail"}
    for key in keys:
        if key not in known:
            raise InvalidInput(
                f"'{key}' is not a key of the configuration.", where=key, remedy=_known_keys()
            )
    for key in ("condition", "reliability"):
        if keys.get(key) is None:
            raise InvalidInput(f"The key '{key}' is missing.", where=key, remedy=_known_keys())


def _flat(document: Any) -> dict[str, Any]:
    """Return the keys of a document, whichever of its forms it has."""
    if isinstance(document, Mapping) and set(document) == {"ml"}:
        document = document["ml"]
    parts = document if isinstance(document, list) else [document]
    keys: dict[str, Any] = {}
    for part in parts:
        if not isinstance(part, Mapping):
            raise InvalidInput(
                "The configuration is not a mapping of keys to values.", remedy=_known_keys()
            )
        _add(keys, part)
    return keys


def _add(keys: dict[str, Any], part: Mapping[Any, Any]) -> None:
    for key, value in part.items():
        if key in keys:
            raise InvalidInput(f"The key '{key}' stands there twice.", where=str(key))
        keys[str(key)] = value


def _adaptivity(text: str) -> tuple[Adaptivity, str]:
    """Return the adaptivity, and the mail address behind an arrow, if there is one."""
    word, _, mail = text.partition("->")
    plain = re.sub(r"[-_ ]", "", word.strip()).lower()
    if plain not in _ADAPTIVITIES:
        raise InvalidInput(
            f"The adaptivity '{text}' is not known.",
            where="adaptivity",
            remedy="Use none, full or firstChange.",
        )
    return _ADAPTIVITIES[plain], mail.strip()


def _choice(kind: type[_Choice], key: str, value: Any) -> _Choice:
    try:
        return kind(str(value).strip().lower())
    except ValueError as error:
        known = ", ".join(item.value for item in kind)
        raise InvalidInput(
            f"The {key} '{value}' is not known.", where=key, remedy=f"Use one of {known}."
        ) from error


def _text(keys: Mapping[str, Any], key: str) -> str:
    return str(keys.get(key) or "")


def _number(keys: Mapping[str, Any], key: str, default: float) -> float:
    # Prepared for both of the ways in which a value is no number.
    value = keys.get(key, default)
    refusal = InvalidInput(f"The {key} '{value}' is not a number.", where=key)
    if isinstance(value, bool):
        raise refusal  # though Python takes True for 1
    try:
        number = float(value)  # YAML reads 1e-4 as text
    except (TypeError, ValueError) as error:
        raise refusal from error
    _require(math.isfinite(number), key, "must be finite")
    return number


def _whole(keys: Mapping[str, Any], key: str, default: int) -> int:
    number = _number(keys, key, default)
    _require(number == int(number), key, "must be a whole number")
    return int(number)


def _require(holds: bool, key: str, rule: str) -> None:
    if not holds:
        raise InvalidInput(f"The {key} {rule}.", where=key)


def _known_keys() -> str:
    return f"Known keys: {', '.join((*_KEYS, *_OPTIONAL))}."
