"""What an ensemble tells of the columns that its members treat."""

from types import SimpleNamespace
from typing import Any, cast

from easeml.modules.ensemble import TrainedEnsemble


def test_what_not_all_members_do_is_said_to_be_of_some() -> None:
    kept = "Column 'age': 3 missing values, kept as such."
    filled = "Column 'age': 3 missing values, filled with the median 28 and marked."
    shared = "Column 'id' is not used."
    notes = [(shared, kept), (shared, filled), (shared, kept)]
    members = cast("Any", [SimpleNamespace(notes=one) for one in notes])
    assert TrainedEnsemble(tuple(members), (0.5, 0.3, 0.2)).notes == (
        shared,
        f"In some of its models: {kept}",
        f"In some of its models: {filled}",
    )
