"""Columns that may know the answer, with the way to leave them out."""

from dataclasses import dataclass

from easeml.contract.applications import Proposal
from easeml.contract.datasets import Version
from easeml.web.views.declaring import Wishes


@dataclass(frozen=True, slots=True)
class Suspect:
    """A column that is used. ``why``: what shows that it may know the answer.

    ``left_out``: the query of the address that leaves it out.
    """

    name: str
    why: str
    left_out: str


@dataclass(frozen=True, slots=True)
class Suspects:
    """The suspects of a proposal. ``all_left_out``: the query that leaves out each of them."""

    columns: list[Suspect]
    all_left_out: str


def suspects(version: Version, proposal: Proposal | None, wishes: Wishes) -> Suspects:
    """Return the suspects among the columns that a proposal would use."""
    if proposal is None:
        return Suspects([], "")
    found: list[Suspect] = []
    without_all = wishes
    position = {column.name: place for place, column in enumerate(version.columns)}
    for column in proposal.columns:
        why = column.leaks.get(proposal.target)
        if why is None or column.role != "input":
            continue
        place = position[column.name]
        without_this = wishes.without(place, version)
        without_all = without_all.without(place, version)
        found.append(Suspect(column.name, why, without_this.query()))
    return Suspects(found, without_all.query())
