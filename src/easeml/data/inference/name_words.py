"""What the name of a column tells."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

# Identifiers in one word, such as specobjid; words such as paid and acid end alike.
_JOINED_ID = re.compile(
    r"(obj|object|user|cust|customer|client|order|product|prod|item|tweet|post|session|account|acct|patient|subject|"
    r"student|record|rec|row|run|case|trans|transaction|event|device|image|img|doc|sample|msg|message|member|person)ids?$"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case: ``customerID`` is customer, id."""
    return tuple(map(str.lower, _PARTS.findall(name)))


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDENTIFIERS = _set("id ids uuid guid pid rowid identifier oid")
COUNTERS = IDENTIFIERS | _set("index idx row no nr number num key rank record")
CODES = _set(
    "code codes zip zipcode postal postcode plz class subclass type category cat cluster segment zone zoning district "
    "region sector phone telephone fax mobile label flag species kind grade mode channel"
)
DIALLED = _set(
    "zip zipcode postal postcode plz phone telephone fax mobile iban ssn isbn ean barcode"
)
CODED = DIALLED | _set("code codes cod cods cd")
ENTITIES = _set(
    "user author customer patient subject client account session household provider student employee person "
    "individual device hospital store shop company brewery supplier vendor seller buyer driver vehicle flight phone "
    "member visitor family machine sensor station site product item participant volunteer respondent "
    "pupil animal series recording"
)
_OF_ENTITIES = _set("number no nr key name code")  # that they are told apart by
MEASURES = _set(
    "years months weeks days hours minutes seconds count total sum num amount age size mean avg average rate ratio per"
)
DESCRIPTIONS = _set(
    "sex gender race ethnicity country nationality continent region state province county city district zip marital "
    "religion colour color weekday month season origin"
)
MOMENTS = _set("time timestamp date datetime epoch created updated unix ts day")
CALENDAR = _set("year quarter month week day weekday hour minute second")
PREDICTIONS = _set("pred preds prediction predictions predicted proba probs forecast yhat")


def has_word(name: str, some: Collection[str]) -> bool:
    """Whether one of some words is in a name."""
    return not set(words(name)).isdisjoint(some)


def names_identifier(name: str) -> bool:
    """Whether a name says that the column names the row, or something."""
    is_said = has_word(name, IDENTIFIERS)
    return is_said or any(map(_JOINED_ID.search, words(name)))


def names_entity(name: str) -> bool:
    """Whether a name says that rows with the same value are of the same somebody or something."""
    if has_word(name, MEASURES):
        return False  # years at a company are no company
    *_, before, last = ("", "", *words(name))
    is_numbered = before in ENTITIES and last in _OF_ENTITIES
    return is_numbered or last in IDENTIFIERS | ENTITIES
