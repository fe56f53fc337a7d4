"""Successive halving over representations, with the tangent rule; it stops, and says what it saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from easeml.lifecycle.feasibility.arms import KERNEL, Arm, Reading
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

    @property
    def best_of_chances(self) -> float:
        """The same without the adaptive kernel, which is surest where it was led astray."""
        errors = self.last.losses.mean(axis=1)
        tell_chances = np.array(self.last.ways) > KERNEL
        return float(errors[tell_chances].min())

    @property
    def rows_read(self) -> int:
        """The training rows of all readings together."""
        return sum(reading.count for reading in self.readings)

    def neighbour_error(self) -> float | None:
        """Return the mean loss of the nearest neighbour; None for ways that have none."""
        if 1 not in self.last.ways:
            return None
        return float(self.last.losses_of(1).mean())

    def curve(self, way: int) -> tuple[np.ndarray, np.ndarray]:
        """Return training rows (points,) and losses (points, evaluated rows) of a way."""
        counts, losses = [], []
        for reading in self.readings:
            if way in reading.ways:
                counts.append(float(reading.count))
                losses.append(reading.losses_of(way))
        return np.array(counts), np.stack(losses)

    def forecast(self, end: int) -> float:
        """Return the least mean loss over the ways that their curves forecast for ``end`` rows."""
        expected = []
        for way in self.last.ways:
            counts, losses = self.curve(way)
            fitted = fit_curve(counts, losses, 0, draws=1)
            expected.append(float(fitted.at(end)[0]))
        return min(expected)

    def tangent(self, end: int) -> float:
        """Return a floor of the loss at ``end`` rows: the line through the last two readings.

        Curves of mean losses over training rows are convex and fall (Renggli et al., Snoopy, 2023).
        """
        if len(self.readings) < 2:
            return -np.inf
        before, last = self.readings[-2:]
        ends = []
        for way in set(before.ways).intersection(last.ways):
            first = before.losses_of(way).mean()
            second = last.losses_of(way).mean()
            slope = min(0.0, second - first) / (last.count - before.count)
            ends.append(float(second + slope * (end - last.count)))
        return min(ends)


def race(
    arms: Sequence[Arm], sizes: Sequence[int], classes: int, halving: bool
) -> Iterator[list[Track]]:
    """Read all arms at the first ``WAIT`` sizes, the better half at the next, and so on.

    All tracks are yielded after every size.

    With A arms, at most ``KEPT + 1`` read the last size. Arms are ranked by the loss that their
    curves forecast for the last size. An arm stops earlier if even its tangent ends above what the
    leader has already reached. The arm with the least bound from its nearest neighbours and those
    that last by themselves are never dropped.
    """
    tracks = list(map(Track, arms))
    for number, size in enumerate(sizes, 1):
        running = [track for track in tracks if not track.dropped]
        for track in running:
            track.readings.append(track.arm.read(size))
        may_drop = WAIT <= number < len(sizes)
        if halving and may_drop:
            _drop(running, sizes[-1], classes)
        yield tracks


def _drop(running: list[Track], end: int, classes: int) -> None:
    """Say of every track that goes on no longer why; ``end`` is the last size."""
    leader = min(running, key=lambda track: track.best)
    lowest = min(running, key=lambda track: least_possible(track, classes))
    slack = leader.last.losses.std(axis=1).min() / np.sqrt(leader.last.losses.shape[1])
    half = (len(running) + 1) // 2
    going = max(KEPT, half)
    ranked = sorted(running, key=lambda track: track.forecast(end))
    for place, track in enumerate(ranked):
        if track is lowest or track is leader or track.arm.lasting:
            continue
        if track.tangent(end) > leader.best + slack:
            track.dropped = "its tangent ends above the leader"
        elif place >= going:
            track.dropped = "not in the better half"


def least_possible(track: Track, classes: int) -> float:
    """Return the error that the nearest neighbours of the last reading bound from below.

    For classes the bound is that of Cover and Hart; for numbers it is half the error.
    """
    error = track.neighbour_error()
    if error is None:
        return track.best
    if not classes:
        return error / 2
    return lower_bound(min(1.0, error), classes)
