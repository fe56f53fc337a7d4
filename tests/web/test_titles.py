"""Candidates are called by the titles of their models."""

from typing import Any

import pytest

from apart import run_apart
from easeml.contract.knowledge import Titles as Told
from easeml.web.titles import Titles


class Client:
    """Tells titles, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def module_titles(self) -> Told:
        self.asked += 1
        titles = {"random-forest-classifier": "Random forest", "model-2": "Second model"}
        return Told(titles=titles)


@pytest.fixture
def titles() -> tuple[Titles, Client]:
    found, client = Titles(), Client()
    told: Any = client
    run_apart(found.keep_fresh(told))
    run_apart(found.keep_fresh(told))
    return found, client


def test_a_configuration_is_called_by_its_model_and_its_number(titles: tuple[Titles, Client]):
    found, _ = titles
    assert found.of("random-forest-classifier") == "Random forest"
    assert found.of("random-forest-classifier-12") == "Random forest 12"


def test_a_name_that_ends_in_a_number_is_no_configuration(titles: tuple[Titles, Client]):
    found, _ = titles
    assert found.of("model-2") == "Second model"
    assert found.of("model-2-3") == "Second model 3"


@pytest.mark.parametrize("name", ["", "Read the file", "gone-classifier-4", "random-forest"])
def test_what_has_no_title_is_called_as_it_is(titles: tuple[Titles, Client], name: str):
    found, _ = titles
    assert found.of(name) == name


def test_every_candidate_of_a_sentence_is_called_by_its_title(titles: tuple[Titles, Client]):
    found, _ = titles
    names = ("random-forest-classifier", "random-forest-classifier-2", "model-2")
    said = "random-forest-classifier-2 serves now, random-forest-classifier (not model-2) did."
    told = "Random forest 2 serves now, Random forest (not Second model) did."
    assert found.in_sentence(said, *names) == told
    assert found.in_sentence("my-model-2 and model-22", *names) == "my-model-2 and model-22"
    assert found.in_sentence(said) == said


def test_titles_are_asked_for_once_a_minute(titles: tuple[Titles, Client]):
    _, client = titles
    assert client.asked == 1
