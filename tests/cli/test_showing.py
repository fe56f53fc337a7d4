"""How an application looks in a terminal."""

from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from easeml.cli import watching
from easeml.cli.doubtful import print_doubts
from easeml.cli.output import print_error, print_pairs, print_table, say
from easeml.cli.output import text as text_of
from easeml.cli.showing import ask_for_target, print_application, print_proposal
from easeml.cli.watching import progress_line
from easeml.contract.applications import Application, Declaration, Proposal
from easeml.contract.datasets import Version, notes_beside
from easeml.contract.knowledge import Titles
from easeml.contract.measures import (
    against_baseline,
    best_found,
    called,
    in_unit,
    named,
    of_event,
    score,
)
from easeml.contract.models import Measure
from easeml.contract.work import Doubts
from easeml.errors import InvalidInput, NotSignedIn

TITLES = Titles(titles={"lightgbm-regressor": "Gradient boosting (LightGBM)"})


def _application(**changes: Any) -> Application:
    return Application.model_validate(
        {
            "id": "a1",
            "name": "prices",
            "state": "live",
            "dataset_id": "d1",
            "version_id": "v1",
            "target": "price",
            "objective": "rmse",
            "endpoint": "/predict/a1",
            "created": 0.0,
            **changes,
        }
    )


def _shown(capsys: pytest.CaptureFixture[str], **changes: Any) -> dict[str, str]:
    """Return what is printed of a small application, by the names of its lines."""
    print_application(_application(**changes), TITLES)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    return {name: " ".join(rest) for name, *rest in map(str.split, lines)}


def test_a_pinned_application_says_so_and_how_to_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, pinned=True)
    assert shown["pinned"] == "yes, better models wait: easeml app unpin a1"


def test_an_application_that_is_not_pinned_has_no_such_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "pinned" not in _shown(capsys, pinned=False)


def test_an_error_is_shown_in_the_unit_of_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    measure = {"value": 5012.3, "low": 4800.0, "high": 5230.9}
    measure |= {"lower_is_better": True, "in_unit_of_target": True}
    measure |= {"baseline": 8512.0, "guess": "the mean"}
    test = {"value": 0.5867, "low": 0.57, "high": 0.6, "rows": 400, "model_id": "m1"}
    test |= {"readings": 2, "measure": measure}
    application = _application(test_quality=test)
    print_application(application, TITLES)
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        "test rmse 5,012 price (4,800 to 5,231, lower is better) on 400 test rows, read twice, each time"
        in printed
    )
    assert "compared 41% below always guessing the mean (8,512)" in printed
    assert "test score 0.5867 (0.5700 to 0.6000), where 1 is best" in printed


def test_a_search_of_which_nothing_runs_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    job = {"id": "j1", "application_id": "a1", "version_id": "v1", "state": "running"}
    job |= {"created": 0.0, "waiting_reason": "The quota allows no device."}
    assert _shown(capsys, job=job)["waiting"] == "The quota allows no device."
    assert "waiting" not in _shown(capsys, job=job | {"waiting_reason": ""})


def test_a_reason_to_wait_is_printed_once_it_lasts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(watching.time, "monotonic", lambda: now)
    job = {"id": "j1", "application_id": "a1", "version_id": "v1", "state": "running"}
    waits = _application(job=job | {"created": 0.0, "waiting_reason": "The quota is used up."})
    shown = watching.LastingReason()
    shown.look(waits)
    assert capsys.readouterr().err == ""
    now = 60.0
    shown.look(waits)
    shown.look(waits)
    assert capsys.readouterr().err == "The quota is used up.\n"


LARGER = {"value": 5100.0, "lower_is_better": True, "in_unit_of_target": True}


def _job(**changes: Any) -> dict[str, Any]:
    improvement = {"task_id": "t1", "name": "tree", "quality": 0.41, "cost": 1.0, "finished": 1.0}
    improvement["measure"] = {"value": 5012.3, "lower_is_better": True, "in_unit_of_target": True}
    job = {"id": "j1", "application_id": "a1", "version_id": "v1", "state": "running"}
    return {**job, "best_quality": 0.41, "improvements": [improvement], "created": 0.0, **changes}


def test_the_best_of_a_search_is_in_the_unit_of_the_target() -> None:
    application = _application(job=_job())
    assert best_found(application) == "rmse 5,012 price"
    assert (
        progress_line("prices", application, TITLES).split("; ")[1]
        == "best so far rmse 5,012 price"
    )


@pytest.mark.parametrize(
    ("changes", "best"),
    [
        ({}, "rmse 4,800 price"),
        ({"quality": 0.40}, "rmse 5,012 price"),
        ({"members": []}, "rmse 5,012 price"),  # a single model of an earlier search, say
        ({"comparable": False}, "rmse 5,012 price"),
        # Its rows are others: a better score there may be a larger error, and the best never falls.
        ({"measure": LARGER}, "rmse 5,012 price"),
    ],
)
def test_an_ensemble_that_is_better_than_each_model_is_the_best_so_far(
    changes: dict[str, Any], best: str
) -> None:
    measure = {"value": 4800.0, "lower_is_better": True, "in_unit_of_target": True}
    serves = {"id": "m9", "name": "Ensemble 1", "quality": 0.45, "measure": measure}
    serves |= {
        "task_id": "t9",
        "created": 2.0,
        "members": [{"name": "tree", "weight": 1.0, "model_id": "m1"}],
    }
    application = _application(job=_job(), live_model=serves | changes)
    assert best_found(application) == best


@pytest.mark.parametrize(
    ("objective", "told"),
    [
        ("balanced-accuracy", "balanced accuracy"),
        ("roc-auc", "ROC AUC"),
        ("recall(well-done)", "recall(well-done)"),
        ("cost(a as b=1)", "cost"),
        ("rmse", "rmse"),
    ],
)
def test_an_objective_is_called_as_people_read_it(objective: str, told: str) -> None:
    assert called(objective) == told


def test_a_search_of_before_has_its_score_called_a_score() -> None:
    assert best_found(_application(job=_job(improvements=[]))) == "score 0.4100"


def test_an_event_tells_its_measure_in_its_own_unit() -> None:
    measure = {"value": 0.14, "lower_is_better": True, "in_unit_of_target": False}
    told = {"objective": "log-loss", "target": "kind", "quality": 0.87, "measure": measure}
    assert of_event(told) == "log loss 0.14"
    assert of_event({"quality": 0.87}) == "score 0.8700"


def test_a_leak_is_told_once_below_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    why = "it orders the rows as the target does: a copy in another scale"
    evidence = f"Numbers from 3 to 5. Suspected to leak 'wage': {why}. Drop it if unknown."
    leak = {"name": "logwage", "type": "number", "role": "input", "nature": "leak"}
    leak |= {"evidence": evidence, "leaks": {"wage": why}}
    target = {"name": "wage", "type": "number", "role": "target", "nature": "target"}
    proposal = {"columns": [leak, target], "target": "wage", "schema_in": {}, "schema_out": {}}
    found = Proposal.model_validate({**proposal, "objectives": [], "models": []})
    declaration = Declaration(dataset_id="d", version_id="v", target="wage")
    print_proposal(found, declaration)
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count(why) == 1
    assert f"Suspected leak: column 'logwage' may know 'wage': {why}." in printed
    assert "(--drop 'logwage')" in printed


def test_rows_of_somebody_are_told_below_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    note = "Rows of the same 'who' are alike: test on others (--split 'group:who')."
    target = {"name": "wage", "type": "number", "role": "target", "nature": "target"}
    proposal = {"columns": [target], "target": "wage", "schema_in": {}, "schema_out": {}}
    found = Proposal.model_validate(
        {**proposal, "objectives": [], "models": [], "notes": [note]},
    )
    print_proposal(found, Declaration(dataset_id="d", version_id="v", target="wage"))
    assert note in " ".join(capsys.readouterr().out.split())


def test_who_is_not_signed_in_is_told_of_commands_and_not_of_headers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_error(NotSignedIn(remedy="Send the header 'Authorization: Bearer KEY'."))
    said = " ".join(capsys.readouterr().err.split())
    assert "Authorization" not in said
    assert "Remedy: Sign in with: easeml login." in said


@pytest.mark.parametrize(
    ("value", "has_unit", "text"),
    [
        (-1.303e-05, False, "0"),
        (0.00042, False, "0.0004"),
        (-1.303e-05, True, "-1.303e-05 price"),
        (0.9797979797, False, "0.9798"),
        (15_566_000.0, True, "15,566,000 price"),
        (0.99999, False, "0.9999"),
        (1.0, False, "1"),
        (0.99999, True, "1 price"),
    ],
)
def test_a_measure_has_no_digits_that_say_nothing(value: float, has_unit: bool, text: str) -> None:
    found = Measure(value=value, lower_is_better=False, in_unit_of_target=has_unit)
    assert in_unit(found, "price") == text


def test_a_score_below_one_is_never_told_as_one() -> None:
    assert score(0.999999) == "0.9999"
    assert score(1.0) == "1.0000"
    assert (score(111.7298), score(144718.0086)) == ("112", "144,718")  # mistakes, labels
    assert score(0.97979) == "0.9798"


def test_large_numbers_of_tables_have_all_their_digits() -> None:
    assert text_of(15_566_000.0) == "15,566,000"
    assert text_of(0.123456) == "0.1235"


def test_candidates_are_called_by_the_titles_of_their_models(
    capsys: pytest.CaptureFixture[str],
) -> None:
    live = {"id": "m1", "name": "lightgbm-regressor-4", "task_id": "t1", "created": 0.0}
    shown = _shown(capsys, live_model={**live, "quality": 0.5}, running=["lightgbm-regressor"])
    assert shown["serves"] == "Gradient boosting (LightGBM) 4 (m1)"
    assert shown["running"] == "Gradient boosting (LightGBM)"
    sentence = "oncology: lightgbm-regressor-4, expected +.012 for 4 s"
    said = TITLES.in_sentence(sentence, "lightgbm-regressor-4")
    assert said == "oncology: Gradient boosting (LightGBM) 4, expected +.012 for 4 s"


def test_a_gain_that_is_not_all_is_not_rounded_to_all() -> None:
    error = Measure(
        value=0.016, lower_is_better=True, in_unit_of_target=True, baseline=11.92, guess="the mean"
    )
    assert against_baseline(error) == "99.9% below always guessing the mean (11.92)"
    tiny = error.model_copy(update={"value": 1e-9})
    assert against_baseline(tiny).startswith("more than 99.9% below")


def test_a_quality_whose_interval_holds_that_of_guessing_says_so() -> None:
    r2 = {"value": -0.0057, "low": -0.048, "high": 0.0, "objective": "r2", "guess": "the mean"}
    r2 |= {"lower_is_better": False, "in_unit_of_target": False, "baseline": -0.0075}
    told = "0.0018 above always guessing the mean (-0.0075, within the interval)"
    assert against_baseline(Measure(**r2)) == told
    assert against_baseline(Measure(**r2 | {"low": -0.007})).endswith("the mean (-0.0075)")
    assert named(Measure(**r2)) == "R² -0.0057"


def test_lists_of_all_applications_name_the_measure_and_its_unit() -> None:
    error = {"value": 5012.3, "lower_is_better": True, "in_unit_of_target": True}
    assert named(Measure(**error, objective="rmse", unit="price")) == "rmse 5,012 price"
    assert named(Measure(**error)) == "5,012"  # of an older easeml


def _upload(*names: str) -> Version:
    columns = [{"name": name, "type": "text", "role": "input"} for name in names]
    return Version.model_validate(
        {
            "id": "v1",
            "dataset_id": "d1",
            "number": 1,
            "state": "ready",
            "operation": {},
            "columns": columns,
            "summary": {"notes": ["What to predict is not sure."]},
            "created": 0.0,
        }
    )


def test_who_names_the_target_is_not_told_that_it_is_not_sure() -> None:
    assert notes_beside(_upload("age"), "age") == []
    assert notes_beside(_upload("age"), None) == ["What to predict is not sure."]


def _answering(lines: list[str]) -> Result:
    """Return what comes of it where somebody who is asked for the target types lines."""
    asking = typer.Typer()
    asking.command()(lambda: say(f"chose {ask_for_target(_upload('age', 'churn'))}"))
    return CliRunner().invoke(asking, input="".join(f"{line}\n" for line in lines))


def test_who_is_asked_for_the_target_names_a_column() -> None:
    asked = _answering(["churn"])
    assert asked.exit_code == 0, asked.output + repr(asked.exception)
    assert "Columns: age, churn" in asked.output
    assert "chose churn" in asked.output


def test_who_names_no_column_is_asked_again_with_what_is_like_it() -> None:
    asked = _answering(["chrun", "churn"])
    assert "There is no column 'chrun'. Did you mean 'churn'?" in asked.output
    assert "chose churn" in asked.output


@pytest.mark.parametrize(
    ("may", "told"),
    [
        (["look"], "you may    look and predict"),
        (["look", "label"], "look and predict, answer questions"),
        (["look", "label", "change"], ""),
    ],
)
def test_what_one_may_do_is_told_where_that_is_not_all(
    capsys: pytest.CaptureFixture[str], may: list[str], told: str
):
    print_application(_application(may=may), TITLES)
    shown = capsys.readouterr().out
    assert told in shown
    assert ("you may" in shown) == bool(told)


def test_a_return_and_a_comparison_with_the_model_before_have_a_line_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    both = {"model_id": "m2", "model": "lightgbm-regressor-2", "before_id": "m1"}
    both |= {"before": "ensemble-1", "created": 0.0, "ended": None, "says": "No row counts yet."}
    over = {**both, "state": "taken-back", "says": "It was worse.", "ended": 9e8}
    application = _application(released=[{**both, "state": "running"}, over])
    print_application(application, TITLES)
    printed = " ".join(capsys.readouterr().out.split())
    assert "after release Gradient boosting (LightGBM) 2 beside Ensemble 1, since 1970" in printed
    assert "returned from Gradient boosting (LightGBM) 2 to Ensemble 1, 1998" in printed
    assert "It was worse." in printed


def test_a_doubt_says_why_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    cell = {"row": 3, "column": "age", "given": "", "candidates": [], "source": "clean: missing"}
    found = {"version_id": "v", "number": 2, "looked": True, "looking": False, "total": 1}
    print_doubts(Doubts.model_validate({**found, "items": [cell]}))
    shown = capsys.readouterr().out
    assert "no value" in shown
    assert "clean:" not in shown


def test_a_target_that_is_not_sure_is_named_by_its_flag(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(InvalidInput("It is not sure which column it is.", where="target"))
    assert "Where: --target" in capsys.readouterr().err


def test_names_in_brackets_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Such a unit was taken for a style: Mass [mg] was printed as Mass."""
    print_pairs([("Mass [mg]", 88.5)])
    print_table(["Length [mm]"], [["[bold]"]])
    assert capsys.readouterr().out.split() == ["Mass", "[mg]", "88.5", "Length", "[mm]", "[bold]"]
