"""A model is compared with the one that serves, on requests as they were kept."""

import json
from collections.abc import Sequence

import pytest

from easeml.contract.applications import Application
from easeml.contract.gates import NewGate
from easeml.contract.production import Feedback, NewRequestLog
from easeml.contract.rollouts import EndRollout, NewRollout, NewRolloutRule, Rollout
from easeml.contract.states import (
    JobState,
    PromotionState,
    RolloutEnd,
    RolloutState,
    RolloutWay,
)
from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, InvalidInput
from easeml.modules import load_registry
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.models import (
    compared_rows,
    comparing,
    comparison_evidence,
    gates,
    promotion,
    refitting,
    rollouts,
)
from easeml.service.production import feedback, request_log
from easeml.service.production.request_log import Seen
from easeml.store import Store

from .conftest import Clock
from .test_story import searching, train
from .world import bring, claim

SHARE = NewRolloutRule(way=RolloutWay.SHARE, shares=[0.2, 0.5], tolerance=0.1, reliability=0.9)
SHADOW = NewRolloutRule(way=RolloutWay.SHADOW, tolerance=0.1, reliability=0.9)


@pytest.fixture
def app(store: Store, ann: Caller) -> Application:
    """An application that serves the first of two models, whose requests are kept."""
    found = searching(store, ann)
    train(store, found, 0, 0.8)
    request_log.set_log(store, ann, found.id, NewRequestLog(share=1.0))
    _do_all_else(store)
    return applications.get(store, ann, found.id)


def _do_all_else(store: Store) -> None:
    """End the short tasks that wait, but comparisons."""
    while True:
        with store.read() as tx:
            waiting = tx.unscoped().tasks.list(lane="short", state="waiting", limit=None)
        if not waiting or waiting[0].spec_kind == comparing.KIND:
            return
        _, attempt = claim(store)
        bring(store, attempt, TaskResult(ok=False, error="not now"))


def _better(store: Store, app: Application) -> str:
    """Train a better model while the search goes on; return its id."""
    train(store, app, 1, 0.9)
    _do_all_else(store)
    with store.read() as tx:
        models = tx.unscoped().models.list(application_id=app.id, limit=None)
    return max(models, key=lambda model: model.quality).id


def _rest(store: Store, app: Application) -> None:
    assert app.job is not None
    with store.write() as tx:
        tx.unscoped().jobs.update(app.job.id, state=JobState.RESTING)
        promotion.consider(tx, app.id)


def _live(store: Store, app: Application) -> str:
    with store.read() as tx:
        return tx.unscoped().applications.get(app.id).live_model_id


def _keep(
    store: Store,
    ann: Caller,
    app: Application,
    name: str,
    answers: Sequence[str],
    *,
    by: str,
    share: float = 0.0,
    failed: bool = False,
) -> None:
    """Keep a request that a model answered, whose id is ``name``."""
    rows = [{"size": number, "price": 1.0} for number in range(len(answers))]
    answer = {"model_id": by, "predictions": list(answers), "probabilities": None}
    body, said = json.dumps({"rows": rows}).encode(), json.dumps(answer).encode()
    seen = Seen(name, ann.tenant_id, app.id, "application/json", body, said, share, failed)
    request_log.keep(store, [seen])


def _tell(store: Store, ann: Caller, app: Application, name: str, values: Sequence[str]) -> None:
    told = [{"request_id": name, "row": row, "value": one} for row, one in enumerate(values)]
    feedback.give(store, ann, app.id, Feedback.model_validate(told))


def _compare(store: Store, clock: Clock, say: object) -> dict[str, int]:
    """Let the other model say the same of all rows that wait; return how many of each model."""
    clock.now += 10
    comparing.move_on(store)
    task, attempt = claim(store)
    assert task.spec_kind == comparing.KIND
    path = store.artefacts.path(task.tenant_id, task.payload["source"])
    rows = json.loads(path.read_bytes())
    predictions = {row["id"]: say for name in ("new", "old") for row in rows[name]}
    bring(store, attempt, TaskResult(ok=True, value={"predictions": predictions}))
    clock.now += 10
    comparing.move_on(store)
    return {name: len(rows[name]) for name in rows}


def _newest(store: Store, ann: Caller, app: Application) -> Rollout:
    return rollouts.list_rollouts(store, ann, app.id).rollouts[0]


def test_a_better_model_is_rolled_out_when_its_search_has_ended(
    store: Store, ann: Caller, app: Application
):
    rollouts.set_rollout_rule(store, ann, app.id, SHARE)
    before = _live(store, app)
    better = _better(store, app)
    assert rollouts.list_rollouts(store, ann, app.id).rollouts == []  # a better one may follow
    _rest(store, app)
    found = _newest(store, ann, app)
    assert (found.model_id, found.against_id, found.share) == (better, before, 0.2)
    assert _live(store, app) == before
    with store.write() as tx:  # another look changes nothing
        promotion.consider(tx, app.id)
        assert app.job is not None
        job = tx.unscoped().jobs.get(app.job.id)
        assert (
            refitting.request(tx, load_registry(), job) is None
        )  # what is compared may not change
    assert len(rollouts.list_rollouts(store, ann, app.id).rollouts) == 1


def test_shadows_that_hold_serve_in_the_end(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    better = _better(store, app)
    _rest(store, app)
    _keep(store, ann, app, "req_1", ["blue"] * 32 + ["red"] * 8, by=before)
    _tell(store, ann, app, "req_1", ["blue"] * 40)  # before the other model was asked
    assert _compare(store, clock, "blue") == {"new": 40, "old": 0}
    found = _newest(store, ann, app)
    assert (found.state, found.better, found.changed) == (RolloutState.LIVE, 8, 8)
    assert _live(store, app) == better
    states = [one.state for one in applications.promotions(store, ann, app.id).items]
    assert states[-2:] == [PromotionState.SHADOW, PromotionState.LIVE]


def test_a_shadow_that_only_complaints_speak_for_does_not_serve(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    _better(store, app)
    _rest(store, app)
    _keep(store, ann, app, "req_1", ["red"] * 40, by=before)
    _compare(store, clock, "blue")
    _tell(store, ann, app, "req_1", ["blue"] * 40)  # of each row on which what serves is wrong
    comparing.move_on(store)
    found = _newest(store, ann, app)
    assert (found.state, found.better) == (RolloutState.RUNNING, 40)
    assert "mostly for wrong answers" in found.says
    assert _live(store, app) == before


def test_each_class_counts_alike_where_the_objective_says_so(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    before = _live(store, app)
    with store.write() as tx:
        tx.unscoped().applications.update(app.id, objective="balanced-accuracy")
    promised = rollouts.set_rollout_rule(store, ann, app.id, SHADOW).promise
    assert promised.endswith("Each class counts equally, so a rare one decides how long it takes.")
    _better(store, app)
    _rest(store, app)
    _keep(store, ann, app, "req_1", ["red"] * 90, by=before)
    _tell(store, ann, app, "req_1", ["blue"] * 80)  # what is new is right on each
    _compare(store, clock, "blue")
    found = _newest(store, ann, app)
    assert (found.state, found.better) == (RolloutState.RUNNING, 0)
    assert "80 more count as soon as each class has come" in found.says
    assert found.says.endswith("none of these yet: red.")
    _tell(store, ann, app, "req_1", ["blue"] * 80 + ["red"] * 10)  # and wrong on these
    _compare(store, clock, "blue")
    found = _newest(store, ann, app)
    assert (found.better, found.worse, found.state) == (80, 1, RolloutState.RUNNING)
    assert found.quality == pytest.approx(0.5)
    assert found.quality_before == pytest.approx(0.5)
    assert "9 more count" in found.says


def test_what_is_worse_is_taken_back_and_not_tried_again(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    _better(store, app)
    _rest(store, app)
    _keep(store, ann, app, "req_1", ["red"] * 30, by=before)
    _compare(store, clock, "blue")
    _tell(store, ann, app, "req_1", ["red"] * 30)  # after it
    comparing.move_on(store)
    found = _newest(store, ann, app)
    assert (found.state, found.worse) == (RolloutState.TAKEN_BACK, 30)
    assert "It is worse" in found.says
    assert _live(store, app) == before
    with store.write() as tx:
        assert promotion.consider(tx, app.id) is None
    assert not rollouts.list_rollouts(store, ann, app.id).running


def test_a_request_counts_once_where_both_models_answer(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHARE)
    better = _better(store, app)
    _rest(store, app)
    _keep(store, ann, app, "req_1", ["red"] * 4, by=better, share=0.2)
    _keep(store, ann, app, "req_2", ["red"] * 2, by=before, share=0.2)
    assert _compare(store, clock, "blue") == {"new": 2, "old": 4}
    _tell(store, ann, app, "req_1", ["red", "blue"])
    comparing.move_on(store)
    assert (_newest(store, ann, app).alike, _newest(store, ann, app).better) == (1, 0)
    _tell(store, ann, app, "req_1", ["red", "red", "red", "red"])  # more of the same request
    comparing.move_on(store)
    comparing.move_on(store)
    found = _newest(store, ann, app)
    assert (found.better, found.worse, found.alike) == (0, 0, 1)
    _tell(store, ann, app, "req_2", ["blue"])
    comparing.move_on(store)
    assert _newest(store, ann, app).better == 1


def test_words_that_are_no_class_are_no_evidence(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    """Both models are wrong on them alike; many such rows must not let a model serve."""
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    _better(store, app)
    _rest(store, app)
    _keep(store, ann, app, "req_1", ["red"] * 200, by=before)
    _tell(store, ann, app, "req_1", ["1"] * 200)
    _compare(store, clock, "blue")
    found = _newest(store, ann, app)
    assert (found.state, found.unknown, found.alike) == (RolloutState.RUNNING, 200, 0)


def test_rows_whose_truth_came_are_predicted_first_and_of_others_a_few(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    _better(store, app)
    _rest(store, app)
    _keep(store, ann, app, "req_1", ["red"] * 90, by=before)
    assert _compare(store, clock, "red") == {"new": 50, "old": 0}  # a sample, for what changes
    _keep(store, ann, app, "req_2", ["red"] * 90, by=before)
    _tell(store, ann, app, "req_2", ["red"] * 3)
    assert _compare(store, clock, "red") == {"new": 3, "old": 0}
    assert (_newest(store, ann, app).compared, _newest(store, ann, app).alike) == (53, 3)


def test_keys_name_rows_as_well_and_the_newest_word_counts(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    _better(store, app)
    _rest(store, app)
    rows = [{"size": 1.0, "price": 1.0, "key": "p7"}]
    answer = {"model_id": before, "predictions": ["red"], "probabilities": None}
    body, said = json.dumps({"rows": rows}).encode(), json.dumps(answer).encode()
    seen = Seen("req_9", ann.tenant_id, app.id, "application/json", body, said)
    request_log.keep(store, [seen])
    told = [{"key": "p7", "value": "red"}, {"key": "p7", "value": "blue"}]
    feedback.give(store, ann, app.id, Feedback.model_validate(told))
    _compare(store, clock, "blue")
    assert _newest(store, ann, app).better == 1


@pytest.mark.parametrize("rule", [SHADOW, SHARE], ids=["shadow", "share"])
def test_rows_of_one_key_count_once(
    store: Store, ann: Caller, app: Application, clock: Clock, rule: NewRolloutRule
):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, rule)
    _better(store, app)
    _rest(store, app)
    body = json.dumps({"rows": [{"size": 1.0, "price": 1.0, "key": "p7"}]}).encode()
    answer = {"model_id": before, "predictions": ["red"], "probabilities": None}
    said = json.dumps(answer).encode()
    told = Feedback.model_validate([{"key": "p7", "value": "blue"}])
    for name in ("req_1", "req_2"):  # of one look
        seen = Seen(name, ann.tenant_id, app.id, "application/json", body, said, 0.2)
        request_log.keep(store, [seen])
    feedback.give(store, ann, app.id, told)
    _compare(store, clock, "blue")
    later = Seen("req_3", ann.tenant_id, app.id, "application/json", body, said, 0.2)
    request_log.keep(store, [later])
    _compare(store, clock, "blue")
    found = _newest(store, ann, app)
    assert found.better + found.worse + found.alike == 1


def test_requests_that_the_new_model_fails_on_take_it_back(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHARE)
    _better(store, app)
    _rest(store, app)
    for number in range(3):
        _keep(store, ann, app, f"req_{number}", ["red"], by=before, share=0.2, failed=True)
    clock.now += 10
    comparing.move_on(store)
    found = _newest(store, ann, app)
    assert (found.state, found.failures) == (RolloutState.TAKEN_BACK, 3)


def test_another_model_that_serves_ends_it(store: Store, ann: Caller, app: Application):
    rollouts.set_rollout_rule(store, ann, app.id, SHARE)
    better = _better(store, app)
    rollouts.start_rollout(store, ann, app.id, NewRollout(model_id=better))
    applications.roll_back(store, ann, app.id, better)
    found = _newest(store, ann, app)
    assert found.state == RolloutState.REPLACED
    assert _live(store, app) == better
    stop = EndRollout(end=RolloutEnd.STOP)
    rollouts.end_rollout(store, ann, app.id, stop)  # of comparing it with the one before
    with pytest.raises(Conflict, match="No model is being rolled out"):
        rollouts.end_rollout(store, ann, app.id, EndRollout(end=RolloutEnd.STOP))


def test_a_pin_and_a_gate_do_not_let_an_unproven_model_in(
    store: Store, ann: Caller, app: Application
):
    rollouts.set_rollout_rule(store, ann, app.id, SHARE)
    better = _better(store, app)
    rollouts.start_rollout(store, ann, app.id, NewRollout(model_id=better))
    with pytest.raises(Conflict, match="has not tested"):
        gates.set_gate(store, ann, app.id, NewGate(condition="n > 0.5 +/- 0.1"))
    with store.write() as tx:
        promotion.set_pinned(tx, tx.unscoped().applications.get(app.id), True)
    assert _newest(store, ann, app).state == RolloutState.STOPPED


def test_a_comparison_that_fails_is_tried_again(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    _better(store, app)
    _rest(store, app)
    for number in range(3):
        assert rollouts.list_rollouts(store, ann, app.id).running
        _keep(store, ann, app, f"req_{number}", ["red"], by=before)
        clock.now += 20
        comparing.move_on(store)
        _, attempt = claim(store)
        bring(store, attempt, TaskResult(ok=False, error="no such file"))
    found = _newest(store, ann, app)
    assert found.state == RolloutState.TAKEN_BACK
    assert "no such file" in found.says


def test_numbers_are_compared_by_their_errors(store: Store, ann: Caller, clock: Clock):
    app = searching(store, ann, target="price", objective="r2")
    train(store, app, 0, 0.8)
    request_log.set_log(store, ann, app.id, NewRequestLog(share=1.0))
    _do_all_else(store)
    before, better = _live(store, app), _better(store, app)
    applications.roll_back(store, ann, app.id, before)
    _do_all_else(store)
    with pytest.raises(Conflict, match="not known how far off") as refused:
        rollouts.start_rollout(store, ann, app.id, NewRollout(model_id=better))
    assert "--scale" in (refused.value.remedy or "")
    wish = SHADOW.model_copy(update={"scale": 4.0})
    promise = rollouts.set_rollout_rule(store, ann, app.id, wish).promise
    assert "as a share of the largest that counts, 4." in promise
    rollouts.start_rollout(store, ann, app.id, NewRollout(model_id=better))
    rows = [{"size": 1.0, "colour": "red"}] * 3
    answer = {"model_id": before, "predictions": [5.0, 5.0, 5.0], "probabilities": None}
    body, said = json.dumps({"rows": rows}).encode(), json.dumps(answer).encode()
    request_log.keep(store, [Seen("r1", ann.tenant_id, app.id, "application/json", body, said)])
    told = [
        {"request_id": "r1", "row": row, "value": value} for row, value in enumerate(("1", 6, "?"))
    ]
    feedback.give(store, ann, app.id, Feedback.model_validate(told))
    _compare(store, clock, 2.0)
    found = _newest(store, ann, app)
    assert (found.better, found.worse, found.unknown) == (1, 1, 1)


def test_rows_that_are_not_kept_whole_are_not_compared(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    _better(store, app)
    _rest(store, app)
    request_log.set_log(store, ann, app.id, NewRequestLog(share=1.0, mask=["price"]))
    comparing.move_on(store)
    found = _newest(store, ann, app)
    assert found.state == RolloutState.STOPPED
    assert "'price' are not kept any more" in found.says


def test_a_row_counts_once_whoever_else_looks(
    store: Store, ann: Caller, app: Application, clock: Clock
):
    """Two schedulers may look at the same time, while one takes over from the other."""
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    _better(store, app)
    _rest(store, app)
    _keep(store, ann, app, "req_1", ["red"] * 2, by=before)
    _compare(store, clock, "red")
    _tell(store, ann, app, "req_1", ["red"] * 2)
    with store.read() as tx:
        rollout = tx.unscoped().rollouts.list(limit=1)[0]
        news = compared_rows.news(tx.unscoped(), rollout, tx.now())
    assert len(news.ready) == 2
    for _ in range(2):
        with store.write() as tx:
            comparison_evidence.count(tx, tx.unscoped().rollouts.get(rollout.id), news)
    assert _newest(store, ann, app).alike == 2


def test_the_file_of_rows_is_let_go_of(store: Store, ann: Caller, app: Application, clock: Clock):
    before = _live(store, app)
    rollouts.set_rollout_rule(store, ann, app.id, SHADOW)
    _better(store, app)
    _rest(store, app)
    _keep(store, ann, app, "req_1", ["red"], by=before)
    clock.now += 10
    comparing.move_on(store)
    task, attempt = claim(store)
    digest = task.payload["source"]
    bring(store, attempt, TaskResult(ok=True, value={"predictions": {"req_1.000000": "red"}}))
    assert digest not in store.mentioned_digests()


def test_what_cannot_be_compared_is_refused(store: Store, ann: Caller, app: Application):
    request_log.set_log(store, ann, app.id, NewRequestLog(share=0.0))
    with pytest.raises(Conflict, match="No requests are kept") as refused:
        rollouts.set_rollout_rule(store, ann, app.id, SHARE)
    assert "--share 1" in (refused.value.remedy or "")
    request_log.set_log(store, ann, app.id, NewRequestLog(share=1.0, mask=["price"]))
    with pytest.raises(Conflict, match="'price' are not kept"):
        rollouts.set_rollout_rule(store, ann, app.id, SHARE)
    wish = NewRolloutRule(way=RolloutWay.AT_ONCE, shares=[0.5, 0.1])
    with pytest.raises(InvalidInput, match="rise"):
        rollouts.set_rollout_rule(store, ann, app.id, wish)
    live = _live(store, app)
    with pytest.raises(Conflict, match="live already"):
        rollouts.start_rollout(store, ann, app.id, NewRollout(model_id=live))
