"""Values of rows in reports: as files have them, and never mistaken for the name of a model."""

from easeml.contract.knowledge import Titles
from easeml.contract.reports import Report
from easeml.lifecycle.debugging.conditions import Condition
from easeml.web.formatting import FILTERS

TITLES = Titles(titles={"random-forest-classifier": "Random forest", "ridge-regressor": "Ridge"})


def test_values_of_rows_are_shown_without_marks_between_thousands() -> None:
    """A year was shown as 2,005."""
    values = [2005.0, 10115, 12.5, "2,005", None, True, [2005, 0.5], "2024-05-01T00:00:00"]
    told = ["2005", "10115", "12.5", "2,005", "–", "True", "[2005, 0.5]", "2024-05-01"]
    assert list(map(FILTERS["plain"], values)) == told


def test_models_are_called_by_their_titles_in_all_texts_but_values_of_rows() -> None:
    best = "random-forest-classifier-2 (mod_1)"
    told = {
        "id": "rep_1",
        "tool": "pick",
        "title": "Which?",
        "version_id": "ver_1",
        "parameters": {},
        "advice": f"Use {best}: it is better than ridge-regressor-11.",
        "numbers": [{"name": "accuracy", "title": f"Accuracy of {best}", "value": 1}],
        "tables": [
            {
                "title": "Models",
                "columns": ["Model", "name"],
                "rows": [[best, "ridge-regressor-11"]],
                "data": ["name"],
            }
        ],
        "figures": [{"series": [{"name": best}]}],
        "created": 0.0,
    }
    report = Report.model_validate(told).with_texts(TITLES.in_text)
    assert report.advice == "Use Random forest 2 (mod_1): it is better than Ridge 11."
    assert report.numbers[0].title == "Accuracy of Random forest 2 (mod_1)"
    assert report.numbers[0].model_dump_json().count(":1,") == 1
    assert report.tables[0].rows == [["Random forest 2 (mod_1)", "ridge-regressor-11"]]
    assert report.figures == [{"series": [{"name": "Random forest 2 (mod_1)"}]}]


def test_what_is_like_the_name_of_a_model_is_left() -> None:
    for text in (
        "a random-forest-classifier",
        "covid-19",
        "ridge-regressor-2b",
        "my-ridge-regressor-2",
    ):
        assert TITLES.in_text(text) == text


def test_a_day_is_told_without_a_time() -> None:
    day = Condition("sold on", "within", low=86400.0, is_time=True)
    moment = Condition("sold on", "within", low=86460.0, is_time=True)
    assert str(day) == "sold on at least 1970-01-02"
    assert str(moment) == "sold on at least 1970-01-02 00:01:00"
