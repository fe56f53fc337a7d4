"""Successive halving over representations, with the tangent rule; it stops, and says what it saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from easeml.lifecycle.feasibility.arms import Arm, Reading
from easeml.lifecycle.feasibility.bounds import lower_bound
from easeml.lifecycle.feasibility.curve import fit_curve

KEPT = 3  # arms that always go on
WAIT = 2  # sizes read before anything is dropped: slow starters show their slope


@dataclass
class Track:
    """How one arm fared. ``dropped``: why it stopped, empty while it runs."""

    arm: Arm
    readings: list[Reading] = field(default_factory=list)
    dropped: str = ""

    @property
    def last(self) -> Reading:
        return self.readings[-1]

    @property
    def best(self) -> float:
        """The least mean loss over the ways of the last reading."""
        return float(self.last.losses.mean(axis=1).min())

    def neighbour_error(self) -> float | None:
        """Return the mean loss of the nearest neighbour; None for ways that have none."""
        if 1 not in self.last.ways:
            return None
        return float(self.last.losses[self.last.ways.index(1)].mean())

    def curve(self, way: int) -> tuple[np.ndarray, np.ndarray]:
        """Return training rows (points,) and losses (points, evaluated rows) of a way."""
        seen = [reading for reading in self.readings if way in reading.ways]
        losses = [reading.losses[reading.ways.index(way)] for reading in seen]
        return np.array([float(reading.count) for reading in seen]), np.stack(losses)

    def forecast(self, end: int) -> float:
        """Return the least mean loss over the ways that their curves forecast for ``end`` rows."""
        rng = np.random.default_rng(0)  # of no effect: a single draw is of the rows as they are
        return min(
            float(fit_curve(*self.curve(way), rng, draws=1).at(end)[0]) for way in self.last.ways
        )

    def tangent(self, end: int) -> float:
        """Return a floor of the loss at ``end`` rows: the line through the last two readings, for
        each way.

        Curves of mean losses over training rows are convex and fall (Renggli et al., Snoopy, 2023).
        """
        if len(self.readings) < 2:
            return -np.inf
        before, last = self.readings[-2:]
        ways = [way for way in before.ways if way in last.ways]
        first = before.losses[[before.ways.index(way) for way in ways]].mean(axis=1)
        second = last.losses[[last.ways.index(way) for way in ways]].mean(axis=1)
        slope = np.minimum(0, second - first) / (last.count - before.count)
        return float((second + slope * (end - last.count)).min())


def race(
    arms: Sequence[Arm], sizes: Sequence[int], classes: int, halving: bool
) -> Iterator[list[Track]]:
    """Read all arms at the first ``WAIT`` sizes, the better half at the next, and so on; yield all
    after every size.

    With A arms, at most ``KEPT + 1`` read the last size. Arms are ranked by the loss that their
    curves forecast for the last size. An arm stops earlier if even its tangent ends above what the
    leader has already reached. The arm with the least bound from its nearest neighbours and those
    that last by themselves are never dropped.
    """
    tracks = [Track(arm) for arm in arms]
    for number, size in enumerate(sizes):
        running = [track for track in tracks if not track.dropped]
        for track in running:
            track.readings.append(track.arm.read(size))
        if halving and WAIT <= number + 1 < len(sizes):
            _drop(running, sizes[-1], classes)
        yield tracks


def _drop(running: list[Track], end: int, classes: int) -> None:
    leader = min(running, key=lambda track: track.best)
    slack = leader.last.losses.std(axis=1).min() / np.sqrt(leader.last.losses.shape[1])
    lowest = min(running, key=lambda track: least_possible(track, classes))
    going = max(KEPT, -(-len(running) // 2))
    for place, track in enumerate(sorted(running, key=lambda track: track.forecast(end))):
        if track is lowest or track is leader or track.arm.lasting:
            continue
        if track.tangent(end) > leader.best + slack:
            track.dropped = "its tangent ends above the leader"
        elif place >= going:
            track.dropped = "not in the better half"


def least_possible(track: Track, classes: int) -> float:
    """Return what the nearest neighbours of the last reading bound from below: by Cover and Hart;
    half for numbers.
    """
    error = track.neighbour_error()
    if error is None:
        return track.best
    return lower_bound(min(1.0, error), classes) if classes else error / 2
