"""Forecasts, from a file to the next values: by command, page and export."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest

from easeml.client import Client
from easeml.errors import InvalidInput
from service_process import EasemlProcess

pytestmark = pytest.mark.service

PASSWORD = "correct horse battery"


def sales(days: int = 120) -> pd.DataFrame:
    """Two shops with a week's rhythm, newest last."""
    random = np.random.default_rng(1)
    number = np.arange(days)
    time = pd.date_range("2024-01-01", periods=days).strftime("%d.%m.%Y")
    frames = []
    for shop, level in (("Basel", 20.0), ("Chur", 300.0)):
        rhythm = 1 + 0.4 * np.sin(2 * np.pi * number / 7) + 0.002 * number
        values = level * rhythm * random.normal(1, 0.02, days)
        frames.append(pd.DataFrame({"day": time, "shop": shop, "sales": values.round(2)}))
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def application(running: EasemlProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An application of a person of her own, that learned from all but the last 7 days."""
    key = running.key
    person = {"name": "frida", "password": PASSWORD}
    running.call("POST", "/api/v1/users", person)
    running.key = running.call("POST", "/api/v1/login", person)["secret"]
    path = tmp_path_factory.mktemp("sales") / "sales.csv"
    rows = sales()
    rows[rows.groupby("shop").cumcount() < 113].to_csv(path, index=False)
    told = ["--target", "sales", "--forecast", "7", "--models", "ridge", "--max-tasks", "2"]
    refused = running.command("app", "create", str(path), *told, "--yes", expect=2)
    assert "226 rows have 113 times, so they are of several series" in refused
    assert "It may be 'shop'" in refused
    made = running.command("app", "create", str(path), *told, "--series", "shop", "--yes", "--json")
    application = json.loads(made)["id"]
    running.wait(application, "converged", 120)
    yield application
    running.key = key


def test_the_next_values_of_each_series_are_near_what_comes(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    said = easeml.command("forecast", application)
    rows = list(csv.DictReader(io.StringIO(said)))
    assert [row["day"] for row in rows[:7]] == sales()["day"].tolist()[113:120]
    assert [row["shop"] for row in rows] == ["Basel"] * 7 + ["Chur"] * 7
    truth = sales()
    truth = truth[truth.groupby("shop").cumcount() >= 113]["sales"].to_numpy()
    predicted = np.array([float(row["prediction"]) for row in rows])
    assert np.abs(predicted / truth - 1).mean() < 0.05
    inside = [
        float(row["lower"]) <= true <= float(row["upper"])
        for row, true in zip(rows, truth, strict=True)
    ]
    assert np.mean(inside) >= 0.5

    shown = easeml.command("app", "show", application)
    assert "7 steps ahead by day, of each shop; the latest rows test" in shown


def test_the_page_draws_what_comes_next_and_has_it_as_a_file(
    easeml: EasemlProcess, application: str
) -> None:
    with httpx.Client(base_url=easeml.url, trust_env=False, follow_redirects=True) as browser:
        person = {"name": "frida", "password": PASSWORD}
        browser.post("/sign-in", data=person).raise_for_status()
        page = browser.get(f"/applications/{application}/forecast?steps=3").text
        assert page.count('id="forecast-') == 2  # a figure each
        assert "25.04.2024" in page
        assert "26.04.2024" not in page
        file = browser.get(f"/applications/{application}/forecast?steps=3&download=1")
        rows = list(csv.DictReader(io.StringIO(file.text)))
        assert [row["shop"] for row in rows] == ["Basel"] * 3 + ["Chur"] * 3
        assert set(rows[0]) == {"day", "shop", "prediction", "lower", "upper"}
        overview = browser.get(f"/applications/{application}").text
        assert "7 steps ahead</a> by day, of each shop; the latest rows test." in overview
        wrong = browser.get(f"/applications/{application}/forecast?steps=many")
        assert "is no number of steps" in wrong.text


def test_newer_values_move_the_beginning_and_far_rows_are_named(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    newer = sales()
    newer = newer[newer["shop"].eq("Basel") & newer.groupby("shop").cumcount().between(113, 115)]
    newer.to_csv(tmp_path / "newer.csv", index=False)
    said = easeml.command("forecast", application, "--newer", str(tmp_path / "newer.csv"))
    rows = list(csv.DictReader(io.StringIO(said)))
    assert next(row["day"] for row in rows if row["shop"] == "Basel") == "26.04.2024"
    assert next(row["day"] for row in rows if row["shop"] == "Chur") == "23.04.2024"
    with Client(easeml.url, easeml.key) as client:
        far = client.forecast(application, 9)
        assert far.notes[0].startswith("4 of 18 rows lie more than 7 steps after what is known")
        assert len(far.known) == 2 * 27
        part = newer.assign(sales=[*newer["sales"][:2], None])
        found = client.predict(application, json.loads(part.to_json(orient="records")))
        assert found.quality is None
        with pytest.raises(InvalidInput, match="no number of steps"):
            client.forecast(application, 0)
        with pytest.raises(InvalidInput, match="tell nothing new"):
            client.forecast(application, 3, newer=[{"day": "24.04.2024", "shop": "Chur"}])


def test_rows_that_are_fed_are_known_to_what_serves(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    rows = sales()
    fed = rows[rows.groupby("shop").cumcount() >= 113]
    fed.to_csv(tmp_path / "fed.csv", index=False)
    easeml.command("app", "feed", application, str(tmp_path / "fed.csv"))
    easeml.wait(application, "converged", 120)
    said = easeml.command("forecast", application, "--steps", "1")
    assert [row["day"] for row in csv.DictReader(io.StringIO(said))] == ["30.04.2024"] * 2


def test_an_export_forecasts_as_the_service_does(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    out = tmp_path / "taken"
    easeml.command("model", "export", application, "--format", "python", "--out", str(out))
    told = "Each row was forecast 7 steps ahead at most, by 'day'"
    assert told in (out / "card.md").read_text()
    rows = sales(130)
    asked = rows[rows.groupby("shop").cumcount() >= 120].drop(columns="sales")
    asked.to_csv(tmp_path / "asked.csv", index=False)
    with Client(easeml.url, easeml.key) as client:
        served = client.predict(application, asked)
    code = (
        "import pandas, load\n"
        f"rows = pandas.read_csv({str(tmp_path / 'asked.csv')!r})\n"
        "print(load.model.predict(rows)['prediction'].tolist())"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=out, capture_output=True, text=True, check=True
    )
    assert json.loads(printed.stdout) == pytest.approx(served["prediction"].tolist())
    refused = easeml.command(
        "model",
        "export",
        application,
        "--format",
        "onnx",
        "--out",
        str(tmp_path / "onnx"),
        expect=2,
    )
    assert "no ONNX graph" in refused


def test_what_does_not_forecast_says_so(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    path = tmp_path / "sales.csv"
    sales().to_csv(path, index=False)
    told = ["--target", "shop", "--forecast", "7", "--yes"]
    refused = easeml.command("app", "create", str(path), *told, expect=2)
    assert "'shop' is a category, and the target of a forecast is a number" in refused
    series = ["--target", "sales", "--series", "shop", "--yes"]
    assert "Only a forecast has series" in easeml.command(
        "app", "create", str(path), *series, expect=2
    )
    other = [*series, "--forecast", "7", "--split", "group:shop"]
    assert "The latest rows test a forecast" in easeml.command(
        "app", "create", str(path), *other, expect=2
    )


def test_a_goal_is_not_judged_by_rows_that_stand_alone(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    easeml.command("app", "goal", application, "r2 >= 0.9")
    with Client(easeml.url, easeml.key) as client:
        actions = client.next_actions(application).actions
        assert "ask-feasibility" not in {one.kind for one in actions}
        tools = {one.name: one.why_not for one in client.application_tools(application)}
        assert "a forecast knows the rows before it" in tools["feasibility"]
    path = tmp_path / "sales.csv"
    sales().to_csv(path, index=False)
    told = ["--target", "sales", "--forecast", "7", "--series", "shop", "--goal", "r2 >= 0.9"]
    made = easeml.command("app", "create", str(path), *told, "--max-tasks", "1", "--yes", "--json")
    created = json.loads(made)["id"]
    goal = json.loads(easeml.command("app", "next", created, "--json"))["goal"]
    assert goal["text"] == "r2 >= 0.9"
