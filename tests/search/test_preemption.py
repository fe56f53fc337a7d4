"""Preemption: the rules by hand and by brute force, and what a replay never breaks."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from easeml.cli.main import app
from easeml.cli.simulate_preemption import read_trace
from easeml.errors import InvalidInput
from easeml.search.preemption import (
    RULES,
    Cluster,
    FitGpp,
    Running,
    Tasks,
    paper_tasks,
    replay,
    rule_named,
)

ANY = np.random.default_rng(0)


def running(demand, free, grace, remaining=None, suspensions=None, node=None):
    count = len(grace)
    return Running(
        np.array(demand, dtype=float),
        np.array(free, dtype=float),
        np.array(grace, dtype=float),
        np.array(remaining if remaining is not None else [100.0] * count),
        np.array(suspensions if suspensions is not None else [0] * count),
        np.array(node if node is not None else range(count)),
    )


def random_running(generator, count=12):
    demand = generator.uniform(0.05, 0.6, (count, 2))
    node = np.sort(generator.integers(0, 4, count))
    free = generator.uniform(0, 0.3, (4, 2))[node]
    return running(demand, free, generator.uniform(0, 600, count), generator.uniform(1, 3000, count),
                   generator.integers(0, 2, count), node)  # fmt: skip


def test_fitgpp_takes_the_least_score_among_those_that_make_room():
    told = running([[0.5], [0.3], [0.25]], [[0.1], [0.1], [0.0]], [100, 50, 10])
    assert FitGpp().choose(np.array([0.4]), told, ANY) == [
        1
    ]  # .3/.5 + 4 .5 = 2.6 < 1 + 4; the third has no room
    assert FitGpp(weight=0.0).choose(np.array([0.25]), told, ANY) == [2]
    assert FitGpp().choose(np.array([0.9]), told, ANY) == []
    suspended = told._replace(suspensions=np.array([0, 1, 0]))
    assert FitGpp().choose(np.array([0.4]), suspended, ANY) == [0]
    assert FitGpp(most=2).choose(np.array([0.4]), suspended, ANY) == [1]


def test_fitgpp_does_not_divide_by_nothing():
    told = running([[0.0], [0.0]], [[1.0], [1.0]], [0, 0])
    assert FitGpp().choose(np.array([0.5]), told, ANY) == [0]


@pytest.mark.parametrize("seed", range(8))
def test_fitgpp_equals_brute_force(seed):
    generator = np.random.default_rng(seed)
    told, wanted = random_running(generator), generator.uniform(0.1, 0.5, 2)
    size = [float(np.hypot(*d)) for d in told.demand]
    scores = {
        j: size[j] / max(size) + 4 * told.grace[j] / max(told.grace)
        for j in range(len(size))
        if told.suspensions[j] < 1 and all(wanted <= told.demand[j] + told.free[j])
    }
    assert FitGpp().choose(wanted, told, ANY) == (
        [min(scores, key=scores.__getitem__)] if scores else []
    )


@pytest.mark.parametrize("name", sorted(set(RULES) - {"fifo"}))
@pytest.mark.parametrize("seed", range(6))
def test_what_is_chosen_makes_room_on_a_node(name, seed):
    generator = np.random.default_rng(seed)
    told, wanted = random_running(generator), generator.uniform(0.1, 0.8, 2)
    chosen = rule_named(name).choose(wanted, told, np.random.default_rng(1))
    assert len(set(chosen)) == len(chosen)
    if chosen:
        room = [told.free[told.node == n][0] + told.demand[[j for j in chosen if told.node[j] == n]].sum(axis=0)
                for n in {int(told.node[j]) for j in chosen}]  # fmt: skip
        assert any((one >= wanted - 1e-9).all() for one in room)


def test_a_suspension_by_hand():
    tasks = Tasks(
        np.array([0.0, 10.0, 20.0]), np.array([100.0, 100.0, 10.0]), np.array([[0.6], [0.6], [0.6]]),
        np.array([False, False, True]), np.array([5.0, 5.0, 5.0]),
    )  # fmt: skip
    waited = replay(tasks, Cluster(1), rule_named("fifo"))
    np.testing.assert_allclose(waited.slowdown, [1.0, 1.9, 19.0])
    told = replay(tasks, Cluster(1), rule_named("fitgpp"))
    # the first is told at 20, gone at 25; the interactive one runs from 25 to 35; then the first
    # goes on for 80 s
    np.testing.assert_allclose(told.slowdown, [1 + 15 / 100, 1 + 105 / 100, 1 + 5 / 10])
    assert told.suspensions.tolist() == [1, 0, 0]
    np.testing.assert_allclose(told.back, [10.0])


def test_a_task_that_ends_within_its_grace_period_is_not_suspended():
    tasks = Tasks(
        np.array([0.0, 98.0]), np.array([100.0, 10.0]), np.array([[1.0], [1.0]]), np.array([False, True]),
        np.array([50.0, 0.0]),
    )  # fmt: skip
    told = replay(tasks, Cluster(1), rule_named("least-delay"))
    np.testing.assert_allclose(told.slowdown, [1.0, 1.2])
    assert told.suspensions.sum() == 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**20), st.sampled_from(sorted(RULES)), st.integers(1, 4))
def test_every_task_ends_and_nothing_is_lost(seed, name, nodes):
    generator = np.random.default_rng(seed)
    count = 40
    tasks = Tasks(
        np.sort(generator.uniform(0, 300, count)), generator.uniform(1, 100, count),
        generator.choice([0.0, 0.25, 0.5, 1.0], (count, 2)), generator.random(count) < 0.4,
        generator.choice([0.0, 1.0, 30.0], count),
    )  # fmt: skip
    told = replay(tasks, Cluster(nodes), rule_named(name), seed=seed)
    assert np.isfinite(told.slowdown).all()
    assert (told.slowdown >= 1).all()
    assert told.suspensions[tasks.interactive].sum() == 0
    assert len(told.back) == told.suspensions.sum()
    most = {"fitgpp": 1, "least-delay": 2, "fifo": 0}.get(name)
    assert most is None or told.suspensions.max() <= most
    busy = (tasks.seconds[:, None] * tasks.demand).sum(axis=0).max()
    ends = tasks.submit + tasks.seconds * told.slowdown
    assert ends.max() >= busy / nodes - 1e-6


def test_fitgpp_serves_interactive_work_as_the_paper_says():
    drawn = paper_tasks(1500, np.random.default_rng(0))
    submit = replay(drawn, Cluster(84), rule_named("fifo"), load=2.0).submit
    tasks = Tasks(submit, drawn.seconds, drawn.demand, drawn.interactive, drawn.grace)
    fifo, fitgpp = (
        replay(tasks, Cluster(84), rule_named(name)).slowdown for name in ("fifo", "fitgpp")
    )
    urgent = tasks.interactive
    assert np.percentile(fitgpp[urgent], 95) < 0.2 * np.percentile(fifo[urgent], 95)
    assert np.median(fitgpp[~urgent]) < 1.3 * np.median(fifo[~urgent])


@pytest.mark.parametrize("change", [{"submit": [1.0, 0.0]}, {"seconds": [0.0, 1.0]}, {"demand": [[2.0], [0.1]]},
                                    {"grace": [np.nan, 1.0]}, {"seconds": [1.0]}])  # fmt: skip
def test_wrong_tasks_are_refused(change):
    good = {"submit": [0.0, 1.0], "seconds": [1.0, 1.0], "demand": [[0.1], [0.1]], "interactive": [True, False],
            "grace": [1.0, 1.0]}  # fmt: skip
    with pytest.raises(InvalidInput):
        Tasks(**{name: np.array(value) for name, value in {**good, **change}.items()})


TRACE = (
    "job_id,submit_time,duration,num_gpu,qos\na,0,100,8,BE\nb,5,10,8,LS\nc,6,10,64,LS\nd,7,0,1,LS\n"
)


def test_the_command_replays_a_trace(tmp_path: Path):
    (tmp_path / "jobs.csv").write_text(TRACE)
    options = [
        "simulate",
        "preemption",
        str(tmp_path),
        "--policies",
        "fitgpp,fifo",
        "--nodes",
        "1",
        "--json",
    ]
    result = CliRunner().invoke(app, options)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["jobs"], found["interactive"], found["left_out"]) == (2, 1, 2)
    assert found["policies"]["fifo"]["interactive"]["p50"] == pytest.approx(10.5)
    assert found["policies"]["fitgpp"]["interactive"]["p50"] == pytest.approx(
        1.5
    )  # a grace period of 5 s
    assert found["policies"]["fitgpp"]["suspended_share"] == 1.0
    shown = CliRunner().invoke(app, options[:-1])
    assert "fitgpp" in shown.output


@pytest.mark.parametrize(
    ("text", "where"),
    [("a,b\n1,2\n", "submit_time"), ("", "submit_time"), (TRACE.replace("100", "x"), "row 0"),
     (TRACE.replace("100", "-1"), "row 0"), ("submit_time,duration,num_gpu\n0,1,99\n", "fits a node")],
)  # fmt: skip
def test_a_wrong_trace_is_told_where(tmp_path: Path, text: str, where: str):
    (tmp_path / "jobs.csv").write_text(text)
    with pytest.raises(InvalidInput, match=where):
        read_trace(tmp_path, 0.3, ANY)
