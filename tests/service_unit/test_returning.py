"""Which rows of production speak of a released model, and what follows, as the service keeps it."""

import json
from collections.abc import Sequence

import pytest

from easeml.contract.applications import Application
from easeml.contract.production import Feedback, NewRequestLog
from easeml.contract.rollouts import NewRolloutRule, Rollout
from easeml.contract.states import RolloutState, RolloutWay, TruthWay
from easeml.contract.tasks import TaskResult
from easeml.lifecycle.balanced import run_of
from easeml.lifecycle.released import MOST_ALIKE
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.models import comparing, promotion, rollouts
from easeml.service.production import feedback, request_log
from easeml.service.production.request_log import Seen
from easeml.service.rollouts import after_release
from easeml.store import Store, records

from .conftest import Clock
from .test_rolling_out import _do_all_else as do_all_else
from .test_story import searching, train
from .world import bring, claim


@pytest.fixture
def app(store: Store, ann: Caller) -> Application:
    """An application whose second model has replaced the first, and whose requests are kept."""
    found = searching(store, ann)
    request_log.set_log(store, ann, found.id, NewRequestLog(share=1.0))
    for arm, quality in ((0, 0.8), (1, 0.9)):
        train(store, found, arm, quality)
        do_all_else(store)
    return applications.get(store, ann, found.id)


def served(store: Store, app: Application) -> list[str]:
    """Return the models that went live, in their order."""
    with store.read() as tx:
        changes = tx.unscoped().promotions.list(application_id=app.id, state="live", limit=None)
    return [change.model_id for change in changes]


def keep(
    store: Store,
    ann: Caller,
    app: Application,
    name: str,
    said: Sequence[str],
    keys: Sequence = (),
    *,
    same: bool = False,
) -> None:
    """Keep a request that the model that serves answered. ``same``: all of its rows are alike."""
    price = float(name.removeprefix("req_"))
    numbers = [0] * len(said) if same else range(len(said))
    rows: list[dict] = [{"size": number, "price": price} for number in numbers]
    for row, key in zip(rows, keys, strict=False):
        row["key"] = key
    answer = {"model_id": served(store, app)[-1], "predictions": list(said), "probabilities": None}
    texts = json.dumps({"rows": rows}).encode(), json.dumps(answer).encode()
    request_log.keep(store, [Seen(name, ann.tenant_id, app.id, "application/json", *texts)])


def tell(store: Store, ann: Caller, app: Application, name: str, truths: dict[int, str]) -> None:
    told = [{"request_id": name, "row": row, "value": one} for row, one in truths.items()]
    feedback.give(store, ann, app.id, Feedback.model_validate(told))


def look(store: Store, clock: Clock, say: object) -> int:
    """Let the model before say ``say`` of the rows that it is asked about; return how many.

    A list is what it says row by row.
    """
    clock.now += 10
    comparing.move_on(store, [RolloutWay.AFTER])
    with store.read() as tx:
        if not tx.unscoped().tasks.count(lane="short", state="waiting"):
            return 0
    task, attempt = claim(store)
    assert task.spec_kind == comparing.KIND
    rows = json.loads(store.artefacts.path(task.tenant_id, task.payload["source"]).read_bytes())
    asked = rows["old"]
    assert rows["new"] == []
    words = say if isinstance(say, list) else [say] * len(asked)
    predictions = {row["id"]: word for row, word in zip(asked, words, strict=True)}
    bring(store, attempt, TaskResult(ok=True, value={"predictions": predictions}))
    clock.now += 10
    comparing.move_on(store, [RolloutWay.AFTER])
    return len(asked)


def found(store: Store, ann: Caller, app: Application) -> Rollout:
    return rollouts.list_rollouts(store, ann, app.id).released[0]


def test_rows_count_by_runs_and_only_those_are_predicted(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    keep(store, ann, app, "req_1", ["red"] * 120)
    assert look(store, clock, "blue") == 0  # no truth came: nothing is predicted
    tell(store, ann, app, "req_1", dict.fromkeys(range(47), "red"))
    assert look(store, clock, "blue") == 0
    tell(store, ann, app, "req_1", {47: "red", 60: "red"})
    assert look(store, clock, "blue") == 50  # a run, and two rows of it without truth
    shown = found(store, ann, app)
    assert (shown.better, shown.worse, shown.alike, shown.unknown) == (50, 0, 0, 2)
    tell(store, ann, app, "req_1", {48: "blue", 49: "blue"})  # they have counted
    assert look(store, clock, "blue") == 0
    assert found(store, ann, app).worse == 0


def test_a_thing_that_is_asked_about_again_and_again_counts_once(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    keys = ["p1"] * 40 + [f"q{number}" for number in range(10)]
    for name in ("req_1", "req_2"):
        keep(store, ann, app, name, ["red"] * 50, keys)
    told = [{"key": key, "value": "blue"} for key in dict.fromkeys(keys)]
    feedback.give(store, ann, app.id, Feedback.model_validate(told))
    look(store, clock, "blue")
    shown = found(store, ann, app)
    assert (shown.better, shown.worse, shown.alike) == (0, 11, 0)


def test_rows_that_were_chosen_because_models_differ_do_not_count(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    keep(store, ann, app, "req_1", ["red"] * 50)
    tell(store, ann, app, "req_1", dict.fromkeys(range(50), "blue"))
    with store.write() as tx:  # as a picking keeps what it bought
        tables = tx.unscoped()
        words = tables.feedback.list(application_id=app.id, limit=None)
        tables.feedback.set_each("chosen", {word.id: True for word in words})
    assert look(store, clock, "blue") == 0
    tell(store, ann, app, "req_1", dict.fromkeys(range(50), "blue"))  # now of all of them
    assert look(store, clock, "blue") == 50


def test_an_owner_may_say_that_truth_comes_by_chance(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    wish = NewRolloutRule(way=RolloutWay.AT_ONCE, truth=TruthWay.BY_CHANCE)
    shown = rollouts.set_rollout_rule(store, ann, app.id, wish)
    assert "chosen at random" in shown.watches
    keep(store, ann, app, "req_1", ["red"] * 300)
    tell(store, ann, app, "req_1", dict.fromkeys(range(0, 300, 10), "blue"))
    assert look(store, clock, "blue") == 30
    before, released = served(store, app)[:2]
    assert served(store, app)[-1] == before
    assert found(store, ann, app).state == RolloutState.TAKEN_BACK
    with store.write() as tx:  # it is better on validation rows still
        assert promotion.consider(tx, app.id) is None
    assert released in {model.id for model in applications.models(store, ann, app.id).items}


def test_words_that_are_no_class_are_no_truth(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    keep(store, ann, app, "req_1", ["red"] * 50)
    tell(store, ann, app, "req_1", dict.fromkeys(range(50), "1"))
    assert look(store, clock, "blue") == 0


def test_releases_within_moments_are_compared_with_what_production_saw(
    store: Store, ann: Caller, app: Application
):
    second = served(store, app)[-1]
    keep(store, ann, app, "req_1", ["red"])
    train(store, app, 2, 0.92)
    train(store, app, 3, 0.95)
    do_all_else(store)
    shown = found(store, ann, app)
    assert (shown.model_id, shown.against_id) == (served(store, app)[-1], second)


def test_it_ends_after_its_days_and_by_a_pin(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    clock.now += 29 * 86_400
    after_release.end_due(store)
    assert found(store, ann, app).state == RolloutState.RUNNING
    clock.now += 2 * 86_400
    after_release.end_due(store)
    after_release.end_due(store)
    shown = found(store, ann, app)
    assert (shown.state, shown.says) == (
        RolloutState.LIVE,
        "In 30 days it was not shown to be worse.",
    )
    applications.roll_back(store, ann, app.id, None)
    assert found(store, ann, app).state == RolloutState.RUNNING
    with store.write() as tx:
        live = tx.unscoped().applications.get(app.id)
        promotion.set_pinned(tx, live, False)
        promotion.set_pinned(tx, tx.unscoped().applications.get(app.id), True)
    assert found(store, ann, app).state != RolloutState.RUNNING


def test_each_release_of_which_rows_were_told_gets_a_part_of_the_error(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    keep(store, ann, app, "req_1", ["red"] * 50)
    tell(store, ann, app, "req_1", dict.fromkeys(range(50), "red"))
    look(store, clock, "red")
    train(store, app, 2, 0.95)
    do_all_else(store)
    with store.read() as tx:
        kept = tx.unscoped().rollouts.list(application_id=app.id, limit=None)
    parts = [1 - one.plan.reliability for one in kept]
    assert parts == pytest.approx([0.05 / 2, 0.05 / 6])


def test_a_model_before_that_cannot_predict_ends_it_without_a_return(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    live = served(store, app)[-1]
    for number in range(3):
        assert found(store, ann, app).state == RolloutState.RUNNING
        keep(store, ann, app, f"req_{number}", ["red"] * 50)
        tell(store, ann, app, f"req_{number}", dict.fromkeys(range(50), "red"))
        clock.now += 20
        comparing.move_on(store, [RolloutWay.AFTER])
        _, attempt = claim(store)
        bring(store, attempt, TaskResult(ok=False, error="no such column"))
    shown = found(store, ann, app)
    assert shown.state == RolloutState.STOPPED
    assert "no such column" in shown.says
    assert served(store, app)[-1] == live


def test_another_objective_than_right_answers_is_not_compared_unless_asked(
    store: Store, ann: Caller
):
    app = searching(store, ann, objective="f1-macro")
    for arm, quality in ((0, 0.8), (1, 0.9)):
        train(store, app, arm, quality)
        do_all_else(store)
    shown = rollouts.list_rollouts(store, ann, app.id)
    assert (shown.days, shown.released) == (0, [])
    assert f"easeml app rollout {app.id} --days 30" in shown.watches
    assert "by f1-macro: it is not a mean over rows" in shown.watches
    wish = NewRolloutRule(way=RolloutWay.AT_ONCE, days=7)
    rollouts.set_rollout_rule(store, ann, app.id, wish)
    train(store, app, 2, 0.95)
    do_all_else(store)
    assert found(store, ann, app).state == RolloutState.RUNNING


def test_numbers_are_compared_by_the_errors_of_their_objective(
    store: Store, ann: Caller, clock: Clock
):
    app = searching(store, ann, target="price", objective="r2")
    request_log.set_log(store, ann, app.id, NewRequestLog(share=1.0))
    wish = NewRolloutRule(way=RolloutWay.AT_ONCE, scale=4.0, days=7, truth=TruthWay.BY_CHANCE)
    rollouts.set_rollout_rule(store, ann, app.id, wish)
    for arm, quality in ((0, 0.8), (1, 0.9)):
        train(store, app, arm, quality)
        do_all_else(store)
    with store.write() as tx:
        live = tx.unscoped().applications.get(app.id).live_model_id
        tx.unscoped().production_rows.add_all(
            [
                records.ProductionRow(
                    f"req_1.{row:06}",
                    ann.tenant_id,
                    app.id,
                    "req_1",
                    row,
                    "",
                    live,
                    {"size": float(row)},
                    {"prediction": 4.0, "probabilities": None},
                )
                for row in range(20)
            ]
        )
    tell(store, ann, app, "req_1", dict.fromkeys(range(20), "2"))
    look(store, clock, 3.0)
    shown = found(store, ann, app)
    assert shown.quality == pytest.approx(1 - 0.5**2)
    assert shown.quality_before == pytest.approx(1 - 0.25**2)
    assert shown.interval is None
    assert "squared error as a share of 4" in shown.says


def balanced(store: Store, ann: Caller, objective: str = "balanced-accuracy") -> Application:
    """An application whose second model has replaced the first, and whose requests are kept."""
    app = searching(store, ann, objective=objective)
    request_log.set_log(store, ann, app.id, NewRequestLog(share=1.0))
    for arm, quality in ((0, 0.8), (1, 0.9)):
        train(store, app, arm, quality)
        do_all_else(store)
    return app


def classes_of(store: Store, app: Application) -> list[str]:
    with store.read() as tx:
        version = tx.unscoped().versions.get(app.version_id)
        return version.target_classes


def test_a_model_that_forgot_the_rare_class_is_returned_from_by_balanced_accuracy(
    store: Store, ann: Caller, clock: Clock
):
    """Of 50 rows it is right on 39, and on no row of the other class, on which the one before is
    always right; that is right on two thirds of the common class."""
    app = balanced(store, ann)
    before = served(store, app)[0]
    rule = run_of(1 / 2)
    shown = rollouts.list_rollouts(store, ann, app.id).watches
    assert f"runs of {rule[0]} recorded requests" in shown
    assert (
        f"A run of {rule[0]} rows counts if it has at least {rule[1]} rows of each class" in shown
    )
    truths = ["red"] * 36 + ["blue"] * 14
    for number in range(40):
        keep(store, ann, app, f"req_{number}", ["red"] * 50)
        tell(store, ann, app, f"req_{number}", dict(enumerate(truths)))
        look(store, clock, ["red"] * 24 + ["blue"] * 26)
        if found(store, ann, app).state != RolloutState.RUNNING:
            break
    last = found(store, ann, app)
    assert last.state == RolloutState.TAKEN_BACK
    assert served(store, app)[-1] == before
    assert last.quality == pytest.approx(1 / 2)
    assert last.quality_before == pytest.approx((24 / 36 + 1) / 2)
    assert last.says.startswith(f"Balanced accuracy on {50 * (number + 1)} rows: 0.500 of ")


def test_a_run_without_the_rare_class_says_nothing_of_balanced_accuracy(
    store: Store, ann: Caller, clock: Clock
):
    app = balanced(store, ann)
    for number in range(8):
        keep(store, ann, app, f"req_{number}", ["red"] * 50)
        tell(store, ann, app, f"req_{number}", dict.fromkeys(range(50), "red"))
        look(store, clock, "blue")
    shown = found(store, ann, app)
    assert (shown.state, shown.better) == (RolloutState.RUNNING, 0)
    assert shown.says.startswith("No row counts yet.")


def test_by_balanced_accuracy_a_run_waits_for_its_last_truths_until_the_next_could_count(
    store: Store, ann: Caller, clock: Clock
):
    app = balanced(store, ann)
    truths = dict(enumerate(["red", "blue"] * 24))  # of 48 rows
    keep(store, ann, app, "req_1", ["red"] * 50)
    tell(store, ann, app, "req_1", truths)
    assert look(store, clock, "blue") == 0
    keep(store, ann, app, "req_2", ["red"] * 50)
    tell(store, ann, app, "req_2", truths)
    assert look(store, clock, "blue") == 50  # the first, with two rows that may have been gains
    assert found(store, ann, app).unknown == 2
    tell(store, ann, app, "req_2", {48: "red", 49: "blue"})
    assert look(store, clock, "blue") == 50
    assert found(store, ann, app).unknown == 2


def test_of_truth_by_chance_runs_of_told_rows_say_something_of_balanced_accuracy(
    store: Store, ann: Caller, clock: Clock
):
    app = balanced(store, ann)
    wish = NewRolloutRule(way=RolloutWay.AT_ONCE, truth=TruthWay.BY_CHANCE)
    rollouts.set_rollout_rule(store, ann, app.id, wish)
    keep(store, ann, app, "req_1", ["red"] * 490)
    truths = {row: ("red", "blue")[row // 10 % 2] for row in range(0, 490, 10)}
    tell(store, ann, app, "req_1", truths)
    assert look(store, clock, "red") == 0
    keep(store, ann, app, "req_2", ["red"] * 10)
    tell(store, ann, app, "req_2", {3: "blue"})
    assert look(store, clock, "red") == 50
    shown = found(store, ann, app)
    assert (shown.alike, shown.quality, shown.quality_before) == (50, 0.5, 0.5)


@pytest.mark.parametrize("objective", ["accuracy", "balanced-accuracy"])
def test_one_row_that_a_program_sends_again_and_again_cannot_decide(
    store: Store, ann: Caller, clock: Clock, objective: str
):
    app = balanced(store, ann, objective)
    keep(store, ann, app, "req_1", ["red"] * 400, same=True)
    tell(store, ann, app, "req_1", dict.fromkeys(range(400), "blue"))
    tell(store, ann, app, "req_1", dict.fromkeys(range(400), "blue"))  # once more
    look(store, clock, "blue")
    shown = found(store, ann, app)
    assert shown.state == RolloutState.RUNNING
    assert shown.worse <= MOST_ALIKE
    assert len(served(store, app)) == 2
