"""What ``data compare`` prints of two versions."""

import pytest

from easeml.cli.versions import print_comparison
from easeml.contract.versions import Comparison


def test_the_same_rows_are_not_called_the_same_data(capsys: pytest.CaptureFixture[str]) -> None:
    """People's answers change cells, which are not compared."""
    print_comparison(Comparison(version_id="ver_2", before="ver_1"))
    assert "the same rows; their cells and answers are not compared" in capsys.readouterr().out
    print_comparison(Comparison(version_id="ver_2", before="ver_1", added={"train": 2}))
    assert "the same rows" not in capsys.readouterr().out
