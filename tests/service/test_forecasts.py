"""Forecasts, from a file to the next values: by command, page and export."""

import csv
import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient

from easeml.client import Client, made_request
from easeml.contract.applications import Prediction
from easeml.contract.production import Feedback
from easeml.errors import InvalidInput
from easeml.export.server import application as exported_server
from easeml.export.server import load_server
from service_process import LOOK_EVERY, EasemlProcess

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
    assert "what a plain forecast says" in shown


def test_the_page_draws_what_comes_next_and_has_it_as_a_file(
    easeml: EasemlProcess, application: str
) -> None:
    with httpx.Client(base_url=easeml.url, trust_env=False, follow_redirects=True) as browser:
        person = {"name": "frida", "password": PASSWORD}
        browser.post("/sign-in", data=person).raise_for_status()
        page = browser.get(f"/applications/{application}/forecast?steps=3").text
        assert page.count('id="forecast-') == 2  # a figure each
        headings = re.findall("<h3>(.*?)</h3>", page)
        assert headings == ["sales: Basel", "sales: Chur"]
        assert "25.04.2024" in page
        assert "26.04.2024" not in page
        file = browser.get(f"/applications/{application}/forecast?steps=3&download=1")
        rows = list(csv.DictReader(io.StringIO(file.text)))
        assert [row["shop"] for row in rows] == ["Basel"] * 3 + ["Chur"] * 3
        assert set(rows[0]) == {"day", "shop", "prediction", "lower", "upper"}
        overview = browser.get(f"/applications/{application}").text
        assert (
            "7 steps ahead</a> by day, for each shop; the latest rows are the test rows."
            in overview
        )
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
        new = {"day": "24.04.2024", "shop": "Zug", "sales": 1.0}
        unused = client.forecast(application, 1, newer=[new])
        assert [row["shop"] for row in unused.rows] == ["Basel", "Chur"]
        assert "'Zug' is new in 'shop'" in unused.notes[0]
        assert "1 of 1 rows have values of series that are new to the model" in unused.notes[1]
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


def test_a_value_that_the_past_contradicts_looks_wrong_and_one_that_rises_does_not(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    """The early rows of each series have no past that could say what is right."""
    (tmp_path / "typo.csv").write_text("day,shop,sales\n05.04.2024,Basel,204\n")
    with Client(easeml.url, easeml.key) as client:
        before = client.application(application).version_id
        easeml.command("app", "feed", application, str(tmp_path / "typo.csv"))
        said = easeml.command("app", "report", application, "label-errors", "--json")
        (table,) = json.loads(said)["tables"]
        labels = [row[1] for row in table["rows"]]
        assert labels[:1] == [204]
        assert len(labels) <= 3
        client.use_version(application, before)
        easeml.wait(application, "converged", 120)


def wait_for_work(client: Client, application: str) -> None:
    deadline = time.monotonic() + 60
    while client.work(application).looking:
        assert time.monotonic() < deadline
        time.sleep(LOOK_EVERY)


def wait_until_told(client: Client, application: str, before: Prediction) -> Prediction:
    """Return the forecast of a step as soon as it is another one."""
    deadline = time.monotonic() + 60
    while (found := client.forecast(application, 1)).predictions == before.predictions:
        assert time.monotonic() < deadline, found
        time.sleep(LOOK_EVERY)
    return found


def test_a_single_day_is_known_to_what_serves_also_where_it_is_a_correction_or_it_is_pinned(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    """A row brings no validation row, and the search has used up its tasks: it is told."""

    def feed(day: str, basel: float) -> None:
        text = f"day,shop,sales\n{day},Basel,{basel}\n{day},Chur,300\n"
        (tmp_path / "day.csv").write_text(text)
        easeml.command("app", "feed", application, str(tmp_path / "day.csv"))

    with Client(easeml.url, easeml.key) as client:
        before = client.forecast(application, 1)
        assert {row["day"] for row in before.rows} == {"30.04.2024"}
        feed("30.04.2024", 22)
        first = wait_until_told(client, application, before)
        assert {row["day"] for row in first.rows} == {"01.05.2024"}

        feed("30.04.2024", 5)
        corrected = wait_until_told(client, application, first)
        assert {row["day"] for row in corrected.rows} == {"01.05.2024"}
        assert corrected.known[-1 - len(corrected.known) // 2]["sales"] == 5

        client.pin(application)
        feed("01.05.2024", 22)
        pinned = wait_until_told(client, application, corrected)
        assert {row["day"] for row in pinned.rows} == {"02.05.2024"}
        client.unpin(application)


def test_values_that_came_by_feedback_are_known_once_they_are_added(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    with Client(easeml.url, easeml.key) as client:
        easeml.command("app", "log", application, "--share", "1")
        before = client.forecast(application, 1)
        asked = client.predict(application, [{"day": "02.05.2024", "shop": "Chur"}])
        deadline = time.monotonic() + 60
        while not client.request_log(application).rows:
            assert time.monotonic() < deadline
            time.sleep(LOOK_EVERY)
        told = {"request_id": asked.request_id, "row": 0, "value": 333.25}
        not_kept = {"request_id": "req_before", "row": 0, "value": 1.0}
        again = {**told, "value": 1.0}
        client.give_feedback(application, made_request(Feedback, root=[not_kept, again, told]))
        next_steps = easeml.command("app", "next", application)
        assert "1 value has come that the forecast does not know." in next_steps
        neither = easeml.command("app", "feed", application, expect=2)
        assert "Give a file or --told, one of them." in neither
        easeml.command("app", "feed", application, "--told")
        after = wait_until_told(client, application, before)
        assert {row["shop"]: row["day"] for row in after.rows} == {
            "Basel": "02.05.2024",
            "Chur": "03.05.2024",
        }
        assert after.known[-1]["sales"] == 333.25
        assert "1 value has come" not in easeml.command("app", "next", application)


def test_a_forecast_forgets_a_value_that_is_erased(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    """What serves was told it, and had learned from none of its rows."""
    (tmp_path / "day.csv").write_text("day,shop,sales\n02.05.2024,Basel,4321.5\n")
    with Client(easeml.url, easeml.key) as client:
        client.pin(application)
        before = client.forecast(application, 1)
        easeml.command("app", "feed", application, str(tmp_path / "day.csv"))
        told = wait_until_told(client, application, before)
        assert 4321.5 in [row["sales"] for row in told.known]
        where = ["--where", "day=02.05.2024", "--where", "shop=Basel"]
        said = easeml.command("data", "erase", application, *where, "--yes", "--json")
        assert told.model_id in [one["model_id"] for one in json.loads(said)["models"]]
        after = wait_until_told(client, application, told)
        assert 4321.5 not in [row["sales"] for row in after.known]
        next_days = {row["shop"]: row["day"] for row in after.rows}
        assert next_days == {"Basel": "02.05.2024", "Chur": "03.05.2024"}


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

    newer = "day,shop,sales\n30.05.2024,Basel,22\n"
    with Client(easeml.url, easeml.key) as client:
        expected = client.forecast(application, 3)
    with TestClient(exported_server(load_server(out))) as elsewhere:
        answered = elsewhere.post("/predict?forecast=3").json()
        assert answered["predictions"] == pytest.approx(expected.predictions)
        assert answered["lower"] == pytest.approx(expected.lower)
        assert answered["rows"] == expected.rows
        assert answered["known"] == expected.known
        told = elsewhere.post(
            "/predict?forecast=3", content=newer, headers={"content-type": "text/csv"}
        )
        assert told.json()["rows"][0] == {"day": "31.05.2024", "shop": "Basel"}
        far = elsewhere.post("/predict", json={"rows": [{"day": "01.06.2024", "shop": "Chur"}]})
        assert "The row lies more than 7 steps" in far.json()["notes"][0]
        refused = elsewhere.post("/predict?forecast=3&explain=true")
        assert refused.status_code == 422
        assert "without what its values are made of" in refused.json()["detail"]
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


def test_years_and_numbers_of_series_are_told_as_files_have_them(
    easeml: EasemlProcess, application: str, tmp_path: Path
) -> None:
    """A year is no count, and a shop of a number is that number: by command and page."""
    random = np.random.default_rng(2)
    years = np.repeat(np.arange(1950, 2020), 2)
    shops = np.tile([1001, 1002], 70)
    values = shops + np.cumsum(random.normal(size=140)).round(2)
    rows = pd.DataFrame({"year": years, "shop": shops, "sales": values})
    path = tmp_path / "years.csv"
    rows.to_csv(path, index=False)
    told = ["--target", "sales", "--forecast", "2", "--series", "shop", "--split", "time:year"]
    limits = ["--models", "ridge", "--max-tasks", "1", "--yes", "--json"]
    made = easeml.command("app", "create", str(path), *told, *limits)
    created = json.loads(made)["id"]
    easeml.wait(created, "converged", 120)
    said = easeml.command("forecast", created)
    rows_said = [line.split(",")[:2] for line in said.splitlines()]
    assert rows_said == [
        ["year", "shop"],
        ["2020", "1001"],
        ["2021", "1001"],
        ["2020", "1002"],
        ["2021", "1002"],
    ]
    with httpx.Client(base_url=easeml.url, trust_env=False, follow_redirects=True) as browser:
        person = {"name": "frida", "password": PASSWORD}
        browser.post("/sign-in", data=person).raise_for_status()
        page = browser.get(f"/applications/{created}/forecast").text
    assert re.findall("<h3>(.*?)</h3>", page) == ["sales: 1001", "sales: 1002"]
    assert "<td>2020</td>" in page


@pytest.mark.usefixtures("application")  # its person asks
def test_what_is_not_known_ahead_is_looked_at_and_not_asked_for(
    easeml: EasemlProcess, tmp_path: Path
) -> None:
    random = np.random.default_rng(2)
    warmth = random.normal(size=150)
    days = pd.date_range("2024-01-01", periods=150).strftime("%Y-%m-%d")
    load = (100 + 10 * np.roll(warmth, 2) + random.normal(scale=0.2, size=150)).round(2)
    rows = pd.DataFrame({"day": days, "warmth": warmth, "sky": "grey", "load": load})
    rows.loc[::3, "sky"] = "blue"
    path, newer = tmp_path / "load.csv", tmp_path / "newer.csv"
    rows[:140].to_csv(path, index=False)
    rows[140:146].to_csv(newer, index=False)
    told = ["--target", "load", "--forecast", "2", "--models", "ridge", "--max-tasks", "1", "--yes"]
    refused = easeml.command("app", "create", str(path), *told, "--past-only", "sky", expect=2)
    assert "The column 'sky' is a category: of the past only numbers are looked at." in refused
    refused = easeml.command("app", "create", str(path), "--past-only", "warmth", "--yes", expect=2)
    assert "Only a forecast has series and a past, and 'warmth' is to be of one." in refused
    told += ["--drop", "sky", "--past-only", "warmth", "--json"]
    application = json.loads(easeml.command("app", "create", str(path), *told))["id"]
    easeml.wait(application, "converged", 120)

    easeml.command("app", "feed", application, str(newer))
    easeml.wait(application, "converged", 120)
    with Client(easeml.url, easeml.key) as client:
        fed = client.forecast(application, 2)
        asked = client.predict(application, [{"day": day} for day in days[146:148]])
        assert [row["day"] for row in fed.rows] == list(days[146:148])
        assert fed.predictions == asked.predictions
        warm = client.predict(application, [{"day": days[146], "warmth": 1.0}])
        assert warm.predictions == asked.predictions[:1]
        assert "'warmth' is not used: a forecast looks at what it was before" in warm.notes[0]
        columns = ["day", "warmth", "load"]
        told = client.forecast(application, 2, newer=rows[columns][146:148].to_dict("records"))
        assert [row["day"] for row in told.rows] == list(days[148:])
        said = np.array([*fed.predictions, *told.predictions], dtype=float)
        assert np.abs(said - load[146:]).max() < 3.0  # up to ten times as far without the warmth
        with pytest.raises(InvalidInput, match="warmth"):
            client.forecast(application, 2, newer=rows[["day", "load"]][146:148].to_dict("records"))
        without = tmp_path / "without.csv"
        rows[["day", "load"]][146:148].to_csv(without, index=False)
        refused = easeml.command("forecast", application, "--newer", str(without), expect=2)
        assert "--fill-absent" in refused
        filled = ["--newer", str(without), "--fill-absent", "--json"]
        begun = json.loads(easeml.command("forecast", application, *filled))
        assert [row["day"] for row in begun["rows"]] == list(days[148:])
        shown = client.application(application)
        assert [node.get("column") for node in shown.schema_in["nodes"].values()] == ["day"]
        assert "warmth" not in " ".join(shown.notes)

        # Most of its right answers would look wrong to who sees nothing of the past.
        client.next_work(application)
        wait_for_work(client, application)
        sources = {item.source for item in client.work(application).items}
        assert not sources & {"doubted-judge", "far-answer", "far-test-answer"}

        # What is true of a request comes without the column: nobody sent it.
        easeml.command("app", "log", application, "--share", "1")
        deadline = time.monotonic() + 60
        true = []
        while not client.request_log(application).rows:  # it is not kept from the first one on
            assert time.monotonic() < deadline
            asked = client.predict(application, [{"day": days[146]}])
            named = {"request_id": asked.request_id, "row": 0}
            true.append({**named, "value": float(load[146])})
            time.sleep(LOOK_EVERY)
        client.give_feedback(application, made_request(Feedback, root=true))
        before = client.forecast(application, 1)
        easeml.command("app", "feed", application, "--told")
        after = wait_until_told(client, application, before)
        assert [row["day"] for row in after.rows] == [days[147]]
    with httpx.Client(base_url=easeml.url, trust_env=False, follow_redirects=True) as browser:
        person = {"name": "frida", "password": PASSWORD}
        browser.post("/sign-in", data=person).raise_for_status()
        page = browser.get(f"/applications/{application}/try").text
    assert "day" in page
    assert "warmth" not in page


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
