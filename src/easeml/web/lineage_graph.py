"""How the data of an application came about, as a graph: versions, what served, steps of a flow."""

import re
from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter

from easeml.contract.states import VersionState
from easeml.contract.version_changes import change_of
from easeml.contract.versions import FlowStep, VersionLine
from easeml.figures import Box
from easeml.figures.graph import Look

_LOOKS: dict[VersionState, Look] = {VersionState.FAILED: "failed", VersionState.INGESTING: "stale"}
_CURRENT = "current"
_VERSION = re.compile(r"version-(\d+)")  # what `easeml flow pull` calls a step


def version_boxes(versions: Sequence[VersionLine], chosen: str, here: str) -> dict[str, Box]:
    """Return a box a version, by its id.

    ``versions``: newest first; parents that are not among them are left out. ``chosen``: the id of
    the one that is looked at. ``here``: the address of the page.
    """
    ids = set(map(attrgetter("id"), versions))
    boxes = {}
    for one in reversed(versions):
        change = change_of(one.operation, one.added)
        in_use = ", in use" if one.current else ""
        boxes[one.id] = Box(
            f"Version {one.number}{in_use}",
            change,
            of=_known(one.parents, ids),
            about=f"Version {one.number}: {change}",
            link=f"{here}?version={one.id}",
            look="chosen" if one.id == chosen else _LOOKS.get(VersionState(one.state), ""),
        )
    return boxes


def live_box(title: str, learned_from: str) -> Box:
    """Return the box of the model that serves, below the version that it learned from."""
    return Box(title, "serves now", [learned_from], about=title, look="live")


def step_boxes(steps: Sequence[FlowStep], versions: Mapping[int, str], here: str) -> dict[str, Box]:
    """Return a box for each step of a flow that was pushed.

    Those that stand for a version lead to it; ``versions``: ids by number.
    """
    names = set(map(attrgetter("name"), steps))
    boxes = {}
    for step in steps:
        known = _version_of(step, versions)
        boxes[step.name] = Box(
            step.name,
            step.told,
            of=_known(step.of, names),
            about=f"{step.name}: {step.about or step.told}",
            link=f"{here}?version={known}" if known else "",
        )
    return boxes


def _version_of(step: FlowStep, versions: Mapping[int, str]) -> str:
    """Return the id of the version whose rows a step gives; empty where it gives others."""
    told = step.name
    if told == _CURRENT:
        told = step.about.replace(" ", "-", 1)  # version 3: rows fed
    found = _VERSION.match(told)
    return versions.get(int(found.group(1)), "") if found else ""


def _known(names: Sequence[str], there: Collection[str]) -> list[str]:
    return list(filter(there.__contains__, names))
