"""An optimizer that is a folder of programs: it is asked by a task, and gives way where it is bad."""

from dataclasses import replace
from pathlib import Path

import pytest

from easeml.contract.model_rules import NewModelRules
from easeml.contract.states import ModuleState
from easeml.contract.tasks import TaskResult
from easeml.engine.chosen_settings import Choices
from easeml.errors import InvalidInput
from easeml.modules import Module, load_registry, packed, parse, skeletons
from easeml.search import policy_named, spaces
from easeml.search.optimizers import Tried, optimizer_named
from easeml.service.access.caller import Caller
from easeml.service.administration import kept_settings
from easeml.service.applications import model_rules
from easeml.service.knowledge import knowledge_base
from easeml.service.knowledge.trials import cost_belief, finished_trials
from easeml.service.modules import catalogue, faults
from easeml.service.search import job_states, proposals, suggesting, training_tasks, variants
from easeml.service.search.suggesting import Wanted
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Candidate, Job, ModuleMark, Task

from .test_scheduling import searched
from .world import bring, claim


@pytest.fixture
def optimizer(tmp_path: Path) -> Module:
    return made(tmp_path / "guesses", "optimizer")


def made(folder: Path, kind: str) -> Module:
    skeletons.make(folder, kind, "shell")
    source = packed.pack(folder)
    return replace(parse(source, "module.toml"), source=source)


def running(store: Store, caller: Caller) -> Job:
    """Return a job that runs and has two results of the model logistic."""
    searched(store, caller)
    with store.read() as tx:
        (job,) = tx.unscoped().jobs.list(state="running", limit=None)
    return job


def candidates(store: Store, job: Job) -> list[Candidate]:
    with store.read() as tx:
        found = tx.unscoped().candidates.list(job_id=job.id, limit=None)
    return sorted(found, key=lambda one: one.arm)


def asked(store: Store, job: Job, optimizer: Module) -> Task:
    """Have the optimizer asked for the model of the job."""
    space = load_registry().get("logistic").space
    tried = [Tried(one.pipeline.model.config, None) for one in candidates(store, job)]
    with store.write() as tx:
        return suggesting.request(tx, job, optimizer, [Wanted("logistic", dict(space), tried)])


def answered(store: Store, proposed: dict, fault: str = "") -> None:
    task, attempt = claim(store)
    while task.spec_kind != suggesting.KIND:
        task, attempt = claim(store)
    bring(store, attempt, TaskResult(ok=True, value={"proposed": proposed, "fault": fault}))


def new_config() -> dict:
    """Return a configuration that no search begins with."""
    space = load_registry().get("logistic").space
    return spaces.suggest(space, 40, seed=5)[-1]


def test_what_it_suggests_joins_the_search(store: Store, ann: Caller, optimizer: Module) -> None:
    job = running(store, ann)
    before = len(candidates(store, job))
    asked(store, job, optimizer)
    with store.write() as tx:
        assert suggesting.is_under_way(tx, job)
    answered(store, {"logistic": [new_config()]})
    added = candidates(store, job)[before:]
    assert [one.pipeline.model.config for one in added] == [new_config()]
    assert added[0].arm == before
    assert added[0].pipeline.transforms == candidates(store, job)[0].pipeline.transforms


@pytest.mark.parametrize(
    "proposed",
    [
        {},
        {"logistic": []},
        {"logistic": [{"no such": 1}, {"C": -5.0}, "text", None]},
        {"another": [{}]},
    ],
)
def test_whatever_it_does_wrong_the_search_gets_as_many_and_providers_are_told(
    store: Store, ann: Caller, admin: Caller, optimizer: Module, proposed: dict
) -> None:
    job = running(store, ann)
    before = candidates(store, job)
    asked(store, job, optimizer)
    answered(store, proposed)
    added = candidates(store, job)[len(before) :]
    tried = [Tried(one.pipeline.model.config, None) for one in before]
    space = load_registry().get("logistic").space
    wanted = optimizer_named().propose(space, tried, suggesting.EACH, seed=0)
    assert [one.pipeline.model.config for one in added] == wanted
    with store.read() as tx:
        assert "easeml's own optimizer" in faults.known(tx, admin)["guesses"]
        assert faults.known(tx, ann) == {}


def test_a_task_that_fails_is_a_fault_and_three_of_them_are_enough(
    store: Store, ann: Caller, optimizer: Module
) -> None:
    job = running(store, ann)
    for count in range(3):
        with store.read() as tx:
            assert not suggesting.is_given_up(tx, job, optimizer)
        before = len(candidates(store, job))
        asked(store, job, optimizer)
        if count == 1:
            answered(store, {}, "suggest hung.")
        else:
            task, attempt = claim(store)
            while task.spec_kind != suggesting.KIND:
                task, attempt = claim(store)
            bring(store, attempt, TaskResult(ok=False, error="It crashed.", retry=False))
        assert len(candidates(store, job)) == before + suggesting.EACH
    with store.read() as tx:
        assert suggesting.is_given_up(tx, job, optimizer)
        assert not suggesting.is_given_up(tx, job, replace(optimizer, name="another"))


def test_nothing_joins_a_search_that_has_ended(
    store: Store, ann: Caller, optimizer: Module
) -> None:
    job = running(store, ann)
    before = len(candidates(store, job))
    asked(store, job, optimizer)
    with store.write() as tx:
        tx.unscoped().jobs.update(job.id, state="stopped")
    answered(store, {"logistic": [new_config()]})
    assert len(candidates(store, job)) == before


def added(store: Store, module: Module, tenant: str = "") -> None:
    with store.write() as tx:
        mark = ModuleMark(
            module.name, source=module.source, state=ModuleState.READY, tenant_id=tenant
        )
        tx.module_marks.add(mark)


def test_a_provider_chooses_it_and_a_newer_one_takes_its_place(
    store: Store, admin: Caller, optimizer: Module, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path)
    choices = Choices(settings, policy_named(), optimizer_named())

    def chosen() -> str:
        with store.read() as tx:
            return choices.optimizer(tx, knowledge_base.current(tx)).name

    with pytest.raises(InvalidInput, match="no optimizer 'guesses'"):
        kept_settings.change(store, settings, admin, "optimizer", value="guesses")
    added(store, optimizer)
    kept_settings.change(store, settings, admin, "optimizer", value="guesses")
    assert chosen() == "guesses"
    newer = optimizer.source.replace(
        'name = "guesses"', 'name = "guesses-v2"\nreplaces = ["guesses"]'
    )
    catalogue.archive(store, admin, "guesses")
    assert chosen() == "guided"
    added(store, replace(optimizer, name="guesses-v2", source=newer))
    assert chosen() == "guesses-v2"
    with pytest.raises(InvalidInput):
        kept_settings.change(store, settings, admin, "optimizer", value="logistic")
    kept_settings.change(store, settings, admin, "optimizer", value="tpe")
    assert chosen() == "tpe"


def test_an_application_has_an_optimizer_of_its_tenant_alone(
    store: Store, ann: Caller, bob: Caller, admin: Caller, optimizer: Module, tmp_path: Path
) -> None:
    job = running(store, ann)
    added(store, optimizer, ann.tenant_id)
    added(store, replace(made(tmp_path / "draws", "optimizer"), name="draws"), bob.tenant_id)
    for name in ("draws", "no such", "logistic"):
        with pytest.raises(InvalidInput, match="no optimizer"):
            model_rules.set_rules(
                store, ann, job.application_id, NewModelRules.model_validate({"optimizer": name})
            )
    settings = Settings(home=tmp_path)
    for provider_too in ("guesses", "draws"):
        with pytest.raises(InvalidInput, match="no optimizer"):
            kept_settings.change(store, settings, admin, "optimizer", value=provider_too)

    def asked_instead_of_the_usual() -> str:
        with store.read() as tx:
            registry = knowledge_base.current(tx)
            rules = tx.unscoped().applications.get(job.application_id).rules
            return proposals.of_application(registry, job, rules, optimizer_named("tpe")).name

    assert asked_instead_of_the_usual() == "tpe"
    wish = NewModelRules.model_validate({"optimizer": "guesses", "max_latency": 3.0})
    shown = model_rules.set_rules(store, ann, job.application_id, wish)
    assert (shown.optimizer, shown.max_latency) == ("guesses", 3.0)
    assert asked_instead_of_the_usual() == "guesses"
    catalogue.archive(store, ann, "guesses")  # by whose it is
    assert asked_instead_of_the_usual() == "tpe"
    answered_by = asked(store, job, optimizer)
    answered(store, {}, "suggest hung.")
    assert answered_by.tenant_id == ann.tenant_id
    with store.read() as tx:
        assert "suggest hung" in faults.known(tx, ann)["guesses"]  # whose it is hears of it
        assert faults.known(tx, bob) == {}
        assert faults.known(tx, admin) == {}


def test_an_added_transform_makes_variants_of_the_best_models(
    store: Store, ann: Caller, bob: Caller, tmp_path: Path
) -> None:
    job = running(store, ann)
    squares = made(tmp_path / "squares", "transform")
    own = made(tmp_path / "of-bob", "transform")
    added(store, squares)
    added(store, own, bob.tenant_id)
    before = candidates(store, job)
    with store.write() as tx:
        registry = knowledge_base.current(tx)
        assert variants.best_models(tx, job, 3) == ["logistic"]
        costs = cost_belief(load_registry(), finished_trials(tx))
        (made_one,) = variants.add_variants(tx, registry, job, ["logistic"], costs)
        assert variants.add_variants(tx, registry, job, ["logistic"], costs) == []
        assert variants.jobs_with(tx, "squares") == {job.id}
        assert variants.jobs_with(tx, "quares") == set()
    assert (made_one.name, made_one.variant) == ("logistic+squares-1", "logistic+squares")
    assert made_one.arm == len(before)
    chain = [one.module for one in made_one.pipeline.transforms]
    assert chain == [*(one.module for one in before[0].pipeline.transforms), "squares"]
    pipeline = knowledge_base.pipeline_of(registry, made_one)
    assert pipeline.transforms[-1].source == squares.source
    assert pipeline.transforms[0].source == ""


def test_a_search_does_not_rest_while_an_optimizer_is_asked(
    store: Store, ann: Caller, optimizer: Module
) -> None:
    job = running(store, ann)
    with store.write() as tx:
        tables = tx.unscoped()
        for one in candidates(store, job):
            if not tables.tasks.count(candidate_id=one.id):
                training_tasks.request_training(tx, load_registry(), job, one)
        for task in tables.tasks.list(kind="train", state="waiting", limit=None):
            tables.tasks.update(task.id, state="done", quality=0.5)
        assert job_states._is_done(tx, job)
    asked(store, job, optimizer)
    with store.write() as tx:
        assert not job_states._is_done(tx, job)
