"""How an application looks in a terminal."""

import pytest

from easeml.cli.showing import print_application
from easeml.contract.resources import Application


def _shown(capsys: pytest.CaptureFixture[str], **changes: bool) -> dict[str, str]:
    """Return what is printed of a small application, by the names of its lines."""
    application = Application.model_validate(
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
    print_application(application)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    return {name: " ".join(rest) for name, *rest in map(str.split, lines)}


def test_a_pinned_application_says_so_and_how_to_end_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = _shown(capsys, pinned=True)
    assert shown["pinned"] == "yes, better models wait: easeml app unpin a1"


def test_an_application_that_is_not_pinned_has_no_such_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "pinned" not in _shown(capsys, pinned=False)
