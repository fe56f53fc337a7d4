"""The race stops early and keeps the right ones; curves go on to where power laws end."""

import numpy as np
import pytest

from easeml.lifecycle.feasibility.arms import Reading
from easeml.lifecycle.feasibility.curve import END_POWERS, fit_curve
from easeml.lifecycle.feasibility.race import KEPT, Track, race

SIZES = [100, 200, 400, 800, 1600]


class Curve:
    """An arm whose error follows a + b / sqrt(n), on 1000 evaluated rows."""

    lasting = False

    def __init__(self, name: str, a: float, b: float, neighbour: float = 0.5):
        self.name, self.a, self.b, self.neighbour = name, a, b, neighbour
        self.read_sizes: list[int] = []

    def read(self, count: int) -> Reading:
        self.read_sizes.append(count)
        losses = np.zeros((2, 1000))
        losses[0, : round(1000 * self.neighbour)] = 1
        losses[1, : round(1000 * (self.a + self.b * count**-0.5))] = 1
        return Reading(count, (1, 3), losses, np.zeros((2, 1000)), np.zeros((2, 1000)))


def run(arms: list[Curve], halving: bool = True) -> list[Track]:
    return list(race(arms, SIZES, 2, halving))[-1]


def test_halving_really_stops_and_keeps_the_best():
    arms = [Curve(f"arm {place}", 0.05 + 0.03 * place, 1.0) for place in range(12)]
    tracks = run(arms)
    at_the_end = [track.arm.name for track in tracks if not track.dropped]
    assert "arm 0" in at_the_end
    assert len(at_the_end) <= KEPT + 1
    work = sum(sum(arm.read_sizes) for arm in arms)
    assert work < 0.5 * len(arms) * sum(SIZES)
    assert all(track.dropped for track in tracks if len(track.readings) < len(SIZES))


def test_without_halving_all_read_all():
    arms = [Curve(f"arm {place}", 0.05 + 0.03 * place, 1.0) for place in range(6)]
    assert all(arm.read_sizes == SIZES for arm in arms if run([arm], halving=False))


def test_a_slow_starter_whose_curve_falls_below_the_others_stays():
    flat = [Curve(f"flat {place}", 0.25 + place / 100, 0.0) for place in range(6)]
    tracks = run([*flat, Curve("slow", 0.0, 3.2)])
    assert not tracks[-1].dropped


def test_an_arm_that_cannot_catch_up_is_dropped_by_its_tangent():
    arms = [Curve("good", 0.05, 0.1), Curve("level", 0.4, 0.0), Curve("other level", 0.41, 0.0)]
    tracks = run(arms)
    assert tracks[1].dropped == tracks[2].dropped == "its tangent ends above the leader"
    assert arms[1].read_sizes == SIZES[:2]


def test_the_arm_with_the_least_bound_from_below_is_kept():
    arms = [Curve(f"arm {place}", 0.1 + place / 100, 1.0) for place in range(8)]
    arms.append(Curve("lowest", 0.4, 0.0, neighbour=0.1))
    assert not run(arms)[-1].dropped


@pytest.mark.parametrize(
    ("a", "b", "c"), [(0.1, 2.0, 0.5), (0.0, 1.0, 0.7), (0.2, 0.0, 1.0), (0.05, 3.0, 1.0)]
)
def test_curves_go_on_to_the_end_of_a_power_law(a: float, b: float, c: float):
    counts = np.array([100.0, 200, 400, 800, 1600])
    losses = np.zeros((5, 10_000))
    for row, count in enumerate(counts):
        losses[row, : round(10_000 * (a + b * count**-c))] = 1
    fitted = fit_curve(counts, losses, 0)
    assert fitted.at(np.inf)[0] == pytest.approx(a, abs=0.02)
    assert fitted.at(6400)[0] == pytest.approx(a + b * 6400**-c, abs=0.01)
    low, high = np.quantile(fitted.at(np.inf), [0.01, 0.99])
    assert low <= a + 0.02
    assert high >= a - 0.01


def test_an_arm_that_lasts_is_never_dropped():
    arms = [Curve(f"arm {place}", 0.05 + 0.03 * place, 1.0) for place in range(12)]
    arms[-1].lasting = True
    assert not run(arms)[-1].dropped


def test_ends_vary_with_the_power():
    counts = np.array([100.0, 200, 400])
    losses = (np.random.default_rng(0).random((1, 400)) < np.array([[0.4], [0.35], [0.31]])).astype(
        float
    )
    fitted = fit_curve(counts, losses, 0, powers=END_POWERS)
    ends = fitted.ends(np.random.default_rng(0))
    assert ends[0] == fitted.at(np.inf)[0]
    assert ends.std() > fitted.at(np.inf).std()
    assert (ends >= 0).all()


def test_one_point_is_a_level():
    fitted = fit_curve(np.array([50.0]), np.array([[0.0, 1.0, 0.0, 1.0]]), 0, draws=1)
    assert 0 <= fitted.at(np.inf)[0] <= 0.5
