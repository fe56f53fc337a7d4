"""``easeml demo year``: what it prints was measured by a service of its own."""

import json
from pathlib import Path

import pytest

import commands
from easeml.cli.year_data import NOISE, TARGET, month_of_rows, with_wrong_labels
from warm_service import FORKED

pytestmark = pytest.mark.service


def test_the_first_months_of_a_year(tmp_path: Path):
    # Another easeml's settings are left alone.
    elsewhere = {"EASEML_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none"}
    command = ["-c", FORKED, "demo", "year", "--quick", "--json", "--home", str(tmp_path)]
    ran = commands.run_python(command, elsewhere, seconds=240)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["left_out"]
    steps = {step["name"]: step["numbers"] for step in told["steps"]}
    assert list(steps) == ["first model", "gate", "better model", "production"]
    assert 0.5 < steps["first model"]["quality"] < 0.8  # no plane separates the shops
    assert steps["gate"]["steps_left"] == 6
    assert steps["better model"]["passed"] == 1
    assert steps["better model"]["steps_spent"] >= 1
    watched = steps["production"]
    assert watched["status"] == "ok"
    assert watched["moved"] == []
    assert watched["labelled_rows"] == 400
    low, high = watched["labelled_interval"]
    assert low < watched["labelled"] < high
    assert watched["right"] == watched["labelled"] > 0.88
    assert (tmp_path / "home").is_dir()


def test_what_makes_a_good_day_changes_with_the_season():
    winter, summer = month_of_rows(0, 4000, 1), month_of_rows(7, 4000, 1)
    for rows, is_winter in ((winter, True), (summer, False)):
        busy = (rows["visitors"] > 100) != (rows["shop"] == "harbour")
        cheap = rows["price"] < 10
        rule = busy if is_winter else cheap
        right = ((rows[TARGET] == "high") == rule).mean()
        assert abs(right - (1 - NOISE)) < 0.02
    assert summer["adverts"].mean() > 1.8 * winter["adverts"].mean()
    wrong = with_wrong_labels(winter)
    assert set(wrong["shop"]) == {"harbour"}
    assert (wrong[TARGET] != winter.loc[wrong.index, TARGET]).all()
