"""A better model on live requests: it answers more and more while it holds, or it is taken back."""

import random
import time
from pathlib import Path

import pytest

from easeml.client import Client
from easeml.contract.applications import Application, Declaration
from easeml.contract.production import Feedback, NewRequestLog
from easeml.contract.rollouts import EndRollout, NewRollout, NewRolloutRule, Rollouts
from easeml.contract.states import PromotionState, RolloutEnd, RolloutState, RolloutWay
from easeml.errors import Conflict
from service_process import LOOK_EVERY, EasemlProcess

MODELS = ["baseline-classifier", "decision-tree-classifier"]
ONE_TREE = {"decision-tree-classifier": {"depth": 8, "leaf_rows": 1, "class_weight": "none"}}
AT_ONCE = 6  # requests between two looks
PATIENCE = 120.0


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose target follows from two columns: a tree is nearly always right."""
    path = tmp_path_factory.mktemp("table") / "table.csv"
    draws = random.Random(0)
    lines = ["a,b,answer"]
    for _ in range(1200):
        row = new_row(draws)
        lines.append(f"{row['a']},{row['b']},{truth(row)}")
    path.write_text("\n".join(lines))
    return path


def new_row(draws: random.Random) -> dict[str, float]:
    return {"a": round(draws.random(), 4), "b": round(draws.random(), 4)}


def truth(row: dict[str, float]) -> str:
    return "yes" if row["a"] + 0.2 * row["b"] > 0.6 else "no"


def declared(client: Client, table: Path) -> Application:
    """Return an application with a baseline and a tree, whose search rests, and whose requests are
    kept."""
    dataset = client.upload(table)
    client.wait_version_ready(dataset.version.id)
    wish = Declaration(
        dataset_id=dataset.id, target="answer", models=MODELS, constrain=ONE_TREE, max_tasks=2
    )
    found = client.create_application(wish)
    client.wait(found.id, until="converged", timeout=PATIENCE)
    client.set_request_log(found.id, NewRequestLog(share=1.0))
    return client.application(found.id)


def model_id(client: Client, application: Application, kind: str) -> str:
    return next(one.id for one in client.models(application.id) if one.name.startswith(kind))


def ask_and_tell(client: Client, application: Application, draws: random.Random) -> None:
    """Ask about rows one by one, and say what was true of each."""
    told = []
    for _ in range(AT_ONCE):
        row = new_row(draws)
        answer = client.predict(application.id, [row])
        told.append({"request_id": answer.request_id, "row": 0, "value": truth(row)})
    client.give_feedback(application.id, Feedback.model_validate(told))


def watched(client: Client, application: Application) -> Rollouts:
    """Send requests, and wait for what they tell, until a roll-out has ended."""
    draws = random.Random(1)
    until = time.monotonic() + PATIENCE
    asked = 0
    while time.monotonic() < until:
        ask_and_tell(client, application, draws)
        asked += AT_ONCE
        found = client.rollouts(application.id)
        while found.running and told(found) < asked and time.monotonic() < until:
            time.sleep(LOOK_EVERY)
            found = client.rollouts(application.id)
        if not found.running:
            return found
    raise AssertionError(f"not over in time: {client.rollouts(application.id)}")


def told(found: Rollouts) -> int:
    newest = found.rollouts[0]
    return newest.better + newest.worse + newest.alike


def test_a_share_grows_while_the_new_model_holds_and_then_it_serves(
    easeml: EasemlProcess, table: Path
):
    with Client(easeml.url, easeml.key) as client:
        application = declared(client, table)
        tree = model_id(client, application, "decision-tree")
        client.roll_back(application.id, model_id(client, application, "baseline"))
        rule = NewRolloutRule(way=RolloutWay.SHARE, shares=[0.3, 0.6], reliability=0.99)
        client.set_rollout_rule(application.id, rule)
        client.start_rollout(application.id, NewRollout(model_id=tree))

        found = watched(client, application)

        newest = found.rollouts[0]
        assert newest.state == RolloutState.LIVE
        assert newest.better > newest.worse
        assert newest.p_worse <= 0.01
        live = client.application(application.id).live_model
        assert live is not None and live.id == tree
        states = [one.state for one in client.promotions(application.id)]
        assert states.count(PromotionState.SHARE) >= 2
        assert states[-1] == PromotionState.LIVE


def test_a_shadow_that_is_worse_is_taken_back_and_never_answers(easeml: EasemlProcess, table: Path):
    with Client(easeml.url, easeml.key) as client:
        application = declared(client, table)
        tree = model_id(client, application, "decision-tree")
        baseline = model_id(client, application, "baseline")
        assert application.live_model is not None and application.live_model.id == tree
        client.start_rollout(application.id, NewRollout(model_id=baseline, way=RolloutWay.SHADOW))
        with pytest.raises(Conflict, match="being rolled out"):
            client.start_rollout(application.id, NewRollout(model_id=baseline))

        found = watched(client, application)

        newest = found.rollouts[0]
        assert newest.state == RolloutState.TAKEN_BACK
        assert newest.share == 0
        assert newest.p_not_worse <= 0.05
        live = client.application(application.id).live_model
        assert live is not None and live.id == tree


def test_who_rolls_out_can_end_it_either_way(easeml: EasemlProcess, table: Path):
    with Client(easeml.url, easeml.key) as client:
        application = declared(client, table)
        baseline = model_id(client, application, "baseline")
        client.start_rollout(application.id, NewRollout(model_id=baseline))
        stopped = client.end_rollout(application.id, EndRollout(end=RolloutEnd.STOP))
        assert stopped.rollouts[0].state == RolloutState.STOPPED
        with pytest.raises(Conflict, match="No model is being rolled out"):
            client.end_rollout(application.id, EndRollout(end=RolloutEnd.PROMOTE))
        client.start_rollout(application.id, NewRollout(model_id=baseline))
        client.end_rollout(application.id, EndRollout(end=RolloutEnd.PROMOTE))
        live = client.application(application.id).live_model
        assert live is not None and live.id == baseline
