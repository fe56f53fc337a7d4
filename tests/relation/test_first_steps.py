"""What people try first in a notebook."""

import subprocess
import sys

import pandas as pd
import pytest

from easeml import Relation
from easeml.errors import InvalidInput


def test_a_relation_of_a_frame_says_how_it_is_made():
    with pytest.raises(InvalidInput, match="of a DataFrame") as refused:
        Relation(pd.DataFrame({"a": [1]}))  # pyright: ignore
    assert "Relation.from_frame(frame" in refused.value.remedy


def test_the_package_lists_its_names_and_loads_none():
    program = "import easeml, sys; print(dir(easeml), 'pandas' in sys.modules)"
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "'AutoMLClassifier'" in found.stdout
    assert "'Relation'" in found.stdout
    assert found.stdout.endswith("False\n")
