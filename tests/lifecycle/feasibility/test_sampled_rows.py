"""Of very many rows some are looked at, and the answer says so."""

import numpy as np
import pytest

from easeml.lifecycle.feasibility import Representation, bayes_error

ROWS, MOST = 3000, 400


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Two classes, of which one label in ten is wrong: no model is right on more than .9."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(ROWS, 3))
    answers = (inputs[:, 0] > 0) ^ (rng.random(ROWS) < 0.1)
    return inputs, answers.astype(int)


def test_more_rows_than_are_looked_at_are_drawn_at_random(rows: tuple[np.ndarray, np.ndarray]):
    found = bayes_error(*rows, goal=0.88, task="classification", most_rows=MOST)
    assert (found.rows, found.there) == (MOST, ROWS)
    assert found.notes[0] == "400 of 3,000 rows were looked at, drawn at random."
    assert found.lower <= 0.1 <= found.upper
    again = bayes_error(*rows, goal=0.88, task="classification", most_rows=MOST)
    assert again.estimate == found.estimate


def test_who_cannot_tell_asks_for_more_of_the_rows_that_are_there(
    rows: tuple[np.ndarray, np.ndarray],
):
    found = bayes_error(*rows, goal=0.9, task="classification", most_rows=MOST)
    assert found.verdict == "cannot tell"
    assert "400 of 3,000 rows were looked at: look at more" in found.advice


def test_rows_that_are_fewer_are_all_looked_at(rows: tuple[np.ndarray, np.ndarray]):
    inputs, answers = rows
    few = bayes_error(inputs[:MOST], answers[:MOST], task="classification", most_rows=MOST)
    assert (few.rows, few.there, few.notes) == (MOST, MOST, ())


def test_a_representation_of_places_is_asked_for_the_rows_that_were_drawn():
    rng = np.random.default_rng(1)
    answers = rng.integers(0, 2, ROWS)
    noise = rng.normal(size=(ROWS, 2))

    def embed(places: np.ndarray) -> np.ndarray:
        return answers[places, None].astype(float)

    own = Representation("the answer", embed, of_places=True)
    found = bayes_error(
        noise, answers, task="classification", representations=[own], most_rows=MOST
    )
    assert found.reached < 0.05  # or it saw other rows than it was asked about
