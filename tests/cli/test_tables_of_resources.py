"""Tables of commands: what stands in a cell follows from the type of the field."""

import pytest
from pydantic import BaseModel

from easeml.cli.output import moment, print_list
from easeml.contract.times import Moment, is_moment


class Run(BaseModel):
    name: str
    seconds: float
    started: Moment
    ended: Moment | None = None


COLUMNS = {
    "what": "name",
    "took": "seconds",
    "began": "started",
    "ended": "ended",
    "long": lambda run: "yes" if run.seconds > 60 else "no",
}


def test_a_cell_is_written_as_its_field_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [Run(name="letters", seconds=90.0, started=1_700_000_000.0)]
    print_list(runs, COLUMNS, as_json=False)
    headings, line = capsys.readouterr().out.splitlines()
    assert headings.split() == list(COLUMNS)
    day, time_of_day = moment(1_700_000_000.0).split()
    assert line.split() == ["letters", "90", day, time_of_day, "-", "yes"]


def test_programs_get_the_resources_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_list([Run(name="letters", seconds=1.5, started=2.0)], COLUMNS, as_json=True)
    assert '"started": 2.0' in capsys.readouterr().out


def test_only_moments_are_taken_for_moments() -> None:
    found = {name: is_moment(Run, name) for name in Run.model_fields}
    assert found == {"name": False, "seconds": False, "started": True, "ended": True}


def test_the_reference_says_what_a_moment_is() -> None:
    described = Run.model_json_schema()["properties"]["started"]
    assert described["description"] == "seconds since 1970-01-01 00:00 UTC"
