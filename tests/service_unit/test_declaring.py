"""What is refused, or proposed, before an application is declared."""

from typing import Any

import pytest

from easeml.contract.applications import Declaration
from easeml.contract.production import Feedback
from easeml.contract.tasks import TaskResult
from easeml.errors import InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.datasets import datasets
from easeml.service.journey import next_steps
from easeml.service.production import feedback, vocabulary
from easeml.store import Store

from .world import UPLOAD, bring, claim, prepare, upload


def ingested(store: Store, caller: Caller, **changes: Any) -> str:
    dataset = upload(store, caller)
    _, attempt = claim(store)
    value = {**UPLOAD, **changes}
    bring(store, attempt, TaskResult(ok=True, value=value, outputs=["table"], cost=0.1))
    return datasets.get(store, caller, dataset.id).id


def with_target(**changes: Any) -> list[dict[str, Any]]:
    columns = [dict(column) for column in UPLOAD["columns"]]
    columns[1].update(changes)
    return columns


def test_a_guessed_target_is_asked_for(store: Store, bob: Caller) -> None:
    columns = with_target(nature="target", nature_confidence=0.5)
    dataset = ingested(store, bob, columns=columns, target="")
    with pytest.raises(InvalidInput, match="not sure which column") as raised:
        applications.propose(store, bob, Declaration(dataset_id=dataset))
    assert "colour, size, price" in raised.value.remedy
    chosen = Declaration(dataset_id=dataset, target="colour")
    assert applications.propose(store, bob, chosen).target == "colour"


@pytest.mark.parametrize("others", [[["red", 1]], [["red", 1], ["green", 1]]])
def test_one_class_alone_with_more_than_one_row_is_refused(
    store: Store, bob: Caller, others: list[list]
) -> None:
    """It started, and every model failed: "the target is constant in the training rows"."""
    counts = {"values": [["blue", 50], *others], "others": 0}
    columns = with_target(distribution=counts, distinct=1 + len(others))
    dataset = ingested(store, bob, columns=columns)
    with pytest.raises(InvalidInput, match="One class alone has more than one row") as refused:
        applications.propose(store, bob, Declaration(dataset_id=dataset))
    assert "Add rows of the other classes" in refused.value.remedy


@pytest.mark.parametrize(
    ("rare", "default"), [(10, "balanced-accuracy"), (40, "accuracy"), (3, "accuracy")]
)
def test_where_one_class_has_nearly_all_rows_accuracy_tells_little(
    store: Store, bob: Caller, rare: int, default: str
) -> None:
    counts = {"values": [["blue", 100 - rare], ["red", rare]], "others": 0}
    dataset = ingested(store, bob, columns=with_target(distribution=counts))
    found = applications.propose(store, bob, Declaration(dataset_id=dataset))
    assert [one.name for one in found.objectives if one.default] == [default]
    assert found.objectives[0].name == default


def test_three_rows_are_refused_at_once(store: Store, bob: Caller) -> None:
    dataset = ingested(store, bob, rows=3)
    with pytest.raises(InvalidInput, match="has 3 rows: too few") as raised:
        applications.propose(store, bob, Declaration(dataset_id=dataset))
    assert "at least 5 rows" in raised.value.remedy


def test_rows_of_somebody_are_told_of_a_random_split_only(store: Store, bob: Caller) -> None:
    columns = with_target()
    columns[0]["alike"] = {"colour": "two of them are of one colour", "price": "they cost as much"}
    dataset = ingested(store, bob, columns=columns)
    found = applications.propose(store, bob, Declaration(dataset_id=dataset))
    (note,) = found.notes
    assert note.startswith("Rows of the same 'size' are alike: two of them are of one colour. A ")
    others = Declaration(dataset_id=dataset, split="group:size")
    assert applications.propose(store, bob, others).notes == []


def test_what_may_know_the_answer_is_said_of_the_application(store: Store, bob: Caller) -> None:
    columns = with_target()
    columns[0]["leaks"] = {"colour": "alone it tells the target", "price": "it is a copy"}
    dataset = ingested(store, bob, columns=columns)
    made = applications.declare(store, bob, Declaration(dataset_id=dataset))
    prepare(store, bob, made.version_id)
    assert applications.get(store, bob, made.id).leaks == {"size": "alone it tells the target"}
    [data] = [one for one in next_steps.get(store, bob, made.id).stations if one.name == "Data"]
    assert "1 column may know the answer: 'size'." in data.said

    without = Declaration(dataset_id=dataset, drop=["size"])
    assert applications.declare(store, bob, without).leaks == {}


def test_what_was_true_of_a_number_may_have_a_decimal_comma(store: Store, bob: Caller) -> None:
    dataset = ingested(store, bob)
    made = applications.declare(store, bob, Declaration(dataset_id=dataset, target="price"))
    said = [{"key": str(place), "value": value} for place, value in enumerate(("19,3", "7.5", 4))]
    assert feedback.give(store, bob, made.id, Feedback.model_validate(said)).foreign == 0
    with pytest.raises(InvalidInput, match="'1,000' may mean"):
        feedback.give(
            store, bob, made.id, Feedback.model_validate([{"key": "3", "value": "1,000"}])
        )
    with store.read() as tx:
        truths = feedback.truths(tx.scoped(bob.tenant_id), made.id)
    assert truths == {"0": "19.3", "1": "7.5", "2": 4}


def test_what_was_true_of_a_number_may_be_written_as_the_data_writes_it() -> None:
    """Truths such as $188,325 were kept as words that no model could answer."""
    prices = vocabulary.Vocabulary(form="$1,234.5")
    said = ["$188,325", "188325", "$1,200.50", "90,100"]
    assert list(map(prices.kept, said)) == ["188325", "188325", "1200.50", "90100"]
    assert all(map(prices.has, map(prices.kept, said)))
    plainly = vocabulary.Vocabulary()
    assert plainly.kept("$188,325") == "$188,325"
    assert not plainly.has("$188,325")


def test_words_on_a_row_that_contradict_each_other_are_counted(store: Store, bob: Caller) -> None:
    dataset = ingested(store, bob)
    made = applications.declare(store, bob, Declaration(dataset_id=dataset, target="price"))
    said = [{"key": "1", "value": 1}, {"key": "2", "value": 2}, {"key": "1", "value": 3}]
    told = feedback.give(store, bob, made.id, Feedback.model_validate([*said, said[1]]))
    assert told.contradicted == 1
    assert "1 of them are about rows of which a later line says something else" in told.says
    with store.read() as tx:
        truths = feedback.truths(tx.scoped(bob.tenant_id), made.id)
    assert truths == {"1": 3, "2": 2}
