"""Labels are called wrong only where errors are surely as frequent in the surest rows as beside."""

import numpy as np
import pytest

from easeml.lifecycle.feasibility.arms import Reading
from easeml.lifecycle.feasibility.noise import label_noise
from easeml.lifecycle.feasibility.race import Track
from easeml.lifecycle.feasibility.result import LabelNoise

Band = tuple[int, int]  # rows, errors


def noise_of(*classes: tuple[Band, Band, Band]) -> LabelNoise:
    """Return what is said where each guessed class has these bands: the surest, the next, others.

    Sizes of the training set change nothing.
    """
    guesses, doubts, losses = [], [], []
    for guess, bands in enumerate(classes):
        for doubt, (rows, errors) in enumerate(bands):
            guesses += [guess] * rows
            doubts += [0.1 * doubt + 0.05] * rows
            losses += [1.0] * errors + [0.0] * (rows - errors)
    readings = []
    for count in (200, 400, 800):
        arrays = [np.array([values], dtype=float) for values in (losses, doubts, guesses)]
        readings.append(Reading(count, (9,), *arrays))
    track = Track(arm=None, readings=readings)  # pyright: ignore[reportArgumentType]
    found = label_noise(track, float(np.mean(losses)), 0.85, len(classes), len(losses))
    assert found is not None
    return found


def test_where_classes_overlap_everywhere_no_label_is_called_wrong():
    """The bands of credit-g: credits guessed good are better the surer; few are guessed bad."""
    bad = ((81, 30), (36, 8), (114, 50))
    good = ((251, 24), (158, 22), (360, 120))
    found = noise_of(bad, good)
    assert found.low == 0
    assert found.labels_to_fix is None
    assert found.share > 0.1


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_errors_as_frequent_everywhere_are_called_wrong_labels(share: float):
    one = tuple((400, int(400 * share)) for _ in range(3))
    found = noise_of(one, one)  # pyright: ignore[reportArgumentType]
    assert 0 < found.low < share < found.high
    assert found.labels_to_fix is not None
