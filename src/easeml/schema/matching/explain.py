"""Why a source does not fit: the most obvious reason that no other makes needless."""

from __future__ import annotations

from easeml.schema.matching.budget import LIMIT, Budget, Undecided
from easeml.schema.matching.conflict import conflict
from easeml.schema.matching.match import forbidden_flags, match
from easeml.schema.matching.misfits import Misfits
from easeml.schema.structure import Structure


def why_not(destination: Structure, source: Structure, *, limit: int = LIMIT) -> str:
    """Return one sentence that says why ``source`` does not fit ``destination``; empty if it fits.

    Looked at in this order: what links may form, a node that nothing takes, a place that nothing
    fills, numbers of like nodes, and at last a least set of variables, classes and links that
    cannot all hold: without any one of them there would be a match. Where ``match`` is undecided
    within ``limit``, the sentence says that.
    """
    try:
        if match(destination, source, limit=limit) is not None:
            return ""
    except Undecided as error:
        return f"It could not be decided: {error}"

    flags = forbidden_flags(destination, source)
    if flags:
        return f"The data is not of the form it takes: {' and '.join(flags)}."

    budget = Budget(limit)
    try:
        misfits = Misfits(destination, source, budget)
        return misfits.reason() or conflict(destination, source, budget)
    except Undecided:
        return "There is no match; the reason was not found within the limit of work."
