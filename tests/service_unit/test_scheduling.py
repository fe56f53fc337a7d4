"""What tenants and providers see of the scheduler, and what other policies would have done."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from easeml.contract.scheduling import LossCurve
from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound, NotReady
from easeml.modules import load_registry
from easeml.search import (
    Arm,
    Observation,
    SearchState,
    add_job,
    default_prior,
    installed_policies,
    policy_named,
    started,
)
from easeml.search.policies.default import LONGEST_WAIT
from easeml.service.access.caller import Caller
from easeml.service.administration import kept_settings, provider_view
from easeml.service.modules import catalogue
from easeml.service.scheduling import decisions, overview, replay
from easeml.service.scheduling.losses import Result, loss_curve
from easeml.service.scheduling.sentences import sentence
from easeml.service.search import job_states, training_tasks
from easeml.service.tasks import task_views
from easeml.service.views import storage
from easeml.settings import Settings
from easeml.store import Store

from .test_story import searching
from .world import bring, claim


def searched(store: Store, caller: Caller) -> str:
    """Let a tenant's search make three decisions, of which two are done; return the application's
    id.
    """
    application = searching(store, caller, models=["logistic"], tolerance=0.0)
    assert application.job is not None
    job = application.job.id
    with store.read() as tx:
        candidates = sorted(
            tx.unscoped().candidates.list(job_id=job, limit=None), key=lambda c: c.arm
        )
    arms = [Arm(c.name, c.model, c.predicted_cost) for c in candidates]
    state = add_job(SearchState(), job, caller.tenant_id, arms, default_prior(arms))
    policy = policy_named()
    for number in range(3):
        (choice,) = policy.decide(state, 1)
        with store.write() as tx:
            assert (
                training_tasks.write_decision(tx, load_registry(), choice, policy.name, 1)
                is not None
            )
        state = started(state, choice.job, choice.arm)
        if number < 2:
            quality = 0.6 + 0.2 * number
            _, attempt = claim(store, "search")
            outputs = ["model", "predictions"]
            bring(
                store,
                attempt,
                TaskResult(ok=True, value={"quality": quality}, outputs=outputs, cost=2.0),
            )
            state = policy.observe(state, Observation(choice.job, choice.arm, quality, 2.0))
        if number == 0:  # later it would rest
            with store.write() as tx:
                job_states.update_progress(tx, job, state)
    return application.id


def test_others_are_numbers(store: Store, ann: Caller, bob: Caller, admin: Caller) -> None:
    application = searched(store, ann)
    own = overview.show(store, Settings(), ann)
    (share,) = own.tenants
    assert (share.tenant, share.own, share.state, share.waiting, share.cost) == (
        "ann",
        True,
        "searching",
        1,
        2.0,
    )
    assert share.gain_rate > 0
    assert own.queue[0].name.startswith("logistic")
    seen = overview.show(store, Settings(), bob)
    told = (
        seen.model_dump_json()
        + decisions.page(store, bob).model_dump_json()
        + replay.replay(store, bob, "fifo").model_dump_json()
    )
    for secret in ("ann", "logistic", "job_1", "task_1", "cand_1", ann.tenant_id, application):
        assert secret not in told
    assert seen.tenants[0].tenant.startswith("tenant ")
    assert seen.tenants[0].gain_rate == share.gain_rate
    provider = overview.show(store, Settings(), admin)
    assert provider.tenants[0].tenant == "ann"
    assert provider.queue[0].name == own.queue[0].name
    assert provider.queue[0].task_id == ""  # their own pages do not have it


def test_decisions_are_numbered_and_show_their_scores(store: Store, ann: Caller) -> None:
    assert decisions.page(store, ann).items == []
    searched(store, ann)
    page = decisions.page(store, ann, after=1, limit=1)
    (step,) = page.items
    assert (step.number, page.next, step.tenant, step.own, step.state) == (
        2,
        "2",
        "ann",
        True,
        "done",
    )
    assert step.quality == 0.8
    assert step.waited == 0
    assert [rival.chosen for rival in step.rivals] == [True]
    assert step.candidates[0].chosen
    assert step.candidates[0].score == max(one.score for one in step.candidates)
    assert step.rivals[0].rate == pytest.approx(step.candidates[0].score)
    assert decisions.page(store, ann, after=2).next is None


def test_decisions_of_an_application(store: Store, ann: Caller, bob: Caller, admin: Caller) -> None:
    first, second = searched(store, ann), searched(store, ann)
    for caller in (ann, admin):
        page = decisions.page(store, caller, application=second)
        assert [step.number for step in page.items] == [4, 5, 6]
    assert {step.application_id for step in decisions.page(store, ann).items} == {first, second}
    newest = decisions.page(store, ann, application=first, latest=2)
    assert [step.number for step in newest.items] == [2, 3]
    assert decisions.page(store, ann, application=first, after=3).items == []
    assert [step.number for step in decisions.page(store, ann, latest=2).items] == [5, 6]
    assert decisions.page(store, ann, latest=2, after=6).items == []
    with pytest.raises(NotFound):
        decisions.page(store, bob, application=first)


def test_a_decision_is_said_in_a_sentence(store: Store, ann: Caller, bob: Caller) -> None:
    searched(store, ann)
    steps = decisions.page(store, ann).items
    assert re.fullmatch(
        r"\w+: logistic\S*, expected score \.\d+ for .* s, its first model", steps[0].sentence
    )
    assert re.fullmatch(
        r"\w+: logistic\S*, expected \+\.\d+ for .* s, .* the next", steps[1].sentence
    )
    assert steps[1].candidates[0].gain == pytest.approx(
        steps[1].candidates[0].score * steps[1].candidates[0].cost
    )
    for step in decisions.page(store, bob).items:
        assert step.sentence.startswith("tenant ")


def test_the_sentence_of_each_rule() -> None:
    best = {"gain": 0.012, "cost": 4.0, "mean": 0.8}
    told = {
        "top": [best, {"gain": 0.004, "cost": 4.0, "mean": 0.7}],
        "tenants": [{"tenant": "a", "rate": 0.003}, {"tenant": "b", "rate": 0.0008}],
        "turn": {"tenant": "a"},
        "best_so_far": 0.75,
        "rule": "expected improvement per device second",
    }

    def said(**other: Any) -> str:
        return sentence({**told, **other}, "oncology", "LightGBM")

    start = "oncology: LightGBM, expected +.012 for 4 s, "
    assert said() == start + "3.0 times the next"
    assert said(tenants=[{"tenant": "b", "rate": 0.0029}]) == start + "about as good as the next"
    assert said(top=[best], tenants=told["tenants"][:1]) == start + "nothing else waited"
    assert said(rule=LONGEST_WAIT) == start + "because its tenant has waited longest"
    assert said(rule="in order", tenants=[{"tenant": "b", "rate": 0.1}]) == start + (
        "by the rule: in order"
    )
    assert said(best_so_far=None) == (
        "oncology: LightGBM, expected score .800 for 4 s, its first model"
    )
    assert said(top=[]) == "oncology: LightGBM"


@pytest.mark.parametrize("policy", sorted(installed_policies().by_name))
def test_every_policy_replays_the_same_tasks(store: Store, ann: Caller, policy: str) -> None:
    searched(store, ann)
    found = replay.replay(store, ann, policy)
    assert found.tasks == len(found.steps) == 2
    assert sorted(step.quality or 0 for step in found.steps) == [0.6, 0.8]
    mine, before = found.curves
    assert (mine.name, before.name) == (policy, replay.HISTORY)
    assert mine.at[-1] == before.at[-1] == 4.0
    assert mine.average[0] == before.average[0] == 0.8
    assert mine.average[-1] == mine.worst[-1] == 0.0
    assert before.area == pytest.approx((2 * 0.8 + 2 * 0.2) / 4)


def test_nothing_to_replay_and_wrong_wishes(store: Store, ann: Caller) -> None:
    with pytest.raises(NotReady):
        replay.replay(store, ann, "default")
    with pytest.raises(InvalidInput, match="no policy"):
        replay.replay(store, ann, "luck")
    for wrong in ({"tenants": 0}, {"tenants": 21}, {"devices": 0}, {"seed": -1}):
        wish = {"tenants": 1, "devices": 1, "seed": 0, **wrong}
        with pytest.raises(InvalidInput):
            replay.simulation(store, ann, "default", against="random", **wish)


def test_the_simulator_is_repeatable_and_better_than_chance(store: Store, ann: Caller) -> None:
    wish = {"against": "random", "tenants": 4, "devices": 2, "seed": 3}
    first = replay.simulation(store, ann, "default", **wish)
    assert first == replay.simulation(store, ann, "default", **wish)
    assert first.tasks == 4 * 24
    mine, chance = first.curves
    assert mine.area is not None
    assert chance.area is not None
    assert mine.area < chance.area
    assert {rival.tenant for rival in first.steps[0].rivals} == {f"tenant {n}" for n in range(1, 5)}


def test_losses_are_against_the_best_that_is_known() -> None:
    results = [
        Result(1, "a", 0.5),
        Result(2, "b", None),
        Result(3, "b", 0.8),
        Result(4, "a", 0.9),
        Result(5, "a", 0.7),
    ]
    curve = loss_curve(results, 0, 6)
    assert curve.at == [0, 1, 3, 4, 6]
    assert curve.average == pytest.approx([0.85, 0.6, 0.2, 0, 0])
    assert curve.worst == pytest.approx([0.9, 0.8, 0.4, 0, 0])
    assert curve.area == pytest.approx((0.85 + 2 * 0.6 + 0.2) / 6)
    later = loss_curve(results, 3.5, 6)  # what was known before is known at the start
    assert later.at == [3.5, 4, 6]
    assert later.average == pytest.approx([0.2, 0, 0])
    assert loss_curve([Result(1, "a", None)], 0, 2) == LossCurve()


def test_a_task_tells_its_attempts(store: Store, ann: Caller) -> None:
    searched(store, ann)
    done = task_views.list_page(store, ann, kind="train", state="done").items[0]
    detail = task_views.detail(store, ann, done.id)
    assert detail.spec["pipeline"]["model"]["module"] == "logistic"
    assert [(attempt.number, attempt.state) for attempt in detail.attempts] == [(1, "done")]
    assert (
        task_views.list_page(store, ann, subject=done.subject, state="done", kind="train")
        .items[0]
        .id
        == done.id
    )


def test_the_knowledge_base_counts_over_all_tenants(store: Store, ann: Caller, bob: Caller) -> None:
    searched(store, ann)
    for caller, fits in ((ann, 1), (bob, 0)):
        base = catalogue.get(store, caller)
        assert {module.kind for module in base.modules} == {
            "model",
            "transform",
            "objective",
            "optimizer",
        }
        (logistic,) = [module for module in base.modules if module.name == "logistic"]
        assert logistic.record is not None
        assert (logistic.record.tasks, logistic.record.searches, logistic.record.best) == (2, 1, 1)
        assert logistic.record.seconds == 2.0
        assert len(logistic.fits) == fits
        assert "category" in logistic.schema_out


def test_only_providers_administer(
    store: Store, ann: Caller, admin: Caller, tmp_path: Path
) -> None:
    searched(store, ann)
    settings = Settings(home=tmp_path, database_url="postgresql://me:s3same@db/x")
    for wish in (
        lambda who: provider_view.tenants(store, who),
        lambda who: provider_view.settings_in_force(store, settings, who),
        lambda who: storage.get(store, Settings(home=tmp_path), who),
        lambda who: provider_view.audit(store, who),
    ):
        assert wish(admin)
        with pytest.raises(NotAllowed):
            wish(ann)
    (told,) = [one for one in provider_view.tenants(store, admin) if one.name == "ann"]
    assert (told.users, told.applications, told.cost) == (1, 1, pytest.approx(4.3))
    assert told.stored > 0
    shown = {one.name: one for one in provider_view.settings_in_force(store, settings, admin)}
    assert (shown["home"].origin, shown["port"].origin) == ("flag", "default")
    assert "s3same" not in json.dumps([one.model_dump() for one in shown.values()])


@pytest.mark.parametrize(
    ("name", "address", "shown"),
    [
        ("package_index", "https://ann:s3same@pypi.lab/simple", "https://ann:***@pypi.lab/simple"),
        ("package_index", "/srv/wheels", "/srv/wheels"),
        ("mlflow_tracking_uri", "http://ann:s3/s@me@ml.lab:5000", "http://ann:***@ml.lab:5000"),
        ("otlp_endpoint", "http://:s3same@otel.lab:4318", "http://:***@otel.lab:4318"),
        ("smtp_url", "mail.lab:25", "mail.lab:25"),
        (
            "database_url",
            "postgresql://db/e?user=e&password=s3",
            "postgresql://db/e?user=e&password=***",
        ),
        (
            "artefacts_url",
            "s3://lab/e?secret_key=s3&region=x",
            "s3://lab/e?secret_key=***&region=x",
        ),
        ("openid_client_secret", "s3same", "(hidden)"),
        ("public_url", "https://easeml.lab", "https://easeml.lab"),
    ],
)
def test_settings_are_shown_without_passwords(
    store: Store, admin: Caller, tmp_path: Path, name: str, address: str, shown: str
) -> None:
    """One that is no address is shown as it is: it is the one that somebody looks for."""
    settings = Settings(home=tmp_path, **{name: address})
    told = {one.name: one.value for one in provider_view.settings_in_force(store, settings, admin)}
    assert told[name] == shown


def test_the_policy_is_changed_while_easeml_runs(
    store: Store, ann: Caller, admin: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text('policy = "fifo"')
    settings = Settings(home=tmp_path)

    def policy() -> tuple[str, str]:
        shown = {one.name: one for one in provider_view.settings_in_force(store, settings, admin)}
        assert shown["policy"].value == kept_settings.policy_in_force(store, settings)
        return shown["policy"].value, shown["policy"].origin

    assert policy() == ("fifo", "config.toml")
    for name in ("random", "hybrid"):
        kept_settings.change(store, settings, admin, "policy", value=name)
        assert policy() == (name, "database")
    for wrong in ({"name": "policy", "value": "luck"}, {"name": "port", "value": "1"}):
        with pytest.raises(InvalidInput):
            kept_settings.change(store, settings, admin, **wrong)
    with pytest.raises(NotAllowed):
        kept_settings.change(store, settings, ann, "policy", value="random")
    monkeypatch.setenv("EASEML_POLICY", "fifo")
    settings = Settings(home=tmp_path)
    with pytest.raises(Conflict, match="environment variable EASEML_POLICY"):
        kept_settings.change(store, settings, admin, "policy", value="random")
    assert policy() == ("fifo", "environment")
    with pytest.raises(Conflict, match="flag"):
        by_flag = Settings(home=tmp_path, policy="fifo")
        kept_settings.change(store, by_flag, admin, "policy", value="random")


def test_the_audit_pages_back_to_the_first_event(store: Store, ann: Caller, admin: Caller) -> None:
    searched(store, ann)
    with store.read() as tx:
        every = [event.seq for event in tx.events.after(0)]
    found, before = [], None
    while True:
        page = provider_view.audit(store, admin, before=before, limit=4)
        found += [event.seq for event in page.items]
        if page.next is None:
            break
        before = page.next
    assert found == every[::-1]
    assert "user.created" in {
        event.kind for event in provider_view.audit(store, admin, limit=200).items
    }


def test_settings_know_where_they_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text('policy = "fifo"\nport = 9000\n')
    monkeypatch.setenv("EASEML_PORT", "9001")
    settings = Settings(home=tmp_path, workers=3)
    origins = settings.origins()
    assert {name: origins[name] for name in ("workers", "port", "policy", "host")} == {
        "workers": "flag",
        "port": "environment",
        "policy": "config.toml",
        "host": "default",
    }
    monkeypatch.setenv("EASEML_ORIGINS", json.dumps(origins))
    assert Settings(home=tmp_path).origins() == origins
