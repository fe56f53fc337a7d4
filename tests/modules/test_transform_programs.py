"""Transforms that are folders of programs: what they make, and what bad ones come to."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from easeml.confinement import why_unavailable
from easeml.errors import InvalidInput
from easeml.modules import Context, packed, parse, skeletons
from easeml.modules.programs import ProgramFailed
from easeml.modules.skeletons import LANGUAGES
from easeml.modules.transform_programs import ProcessTransform
from languages import needs_language

pytestmark = pytest.mark.skipif(
    bool(why_unavailable()), reason="programs need Landlock and seccomp"
)
X = np.array([[0.0, 1.0], [0.2, -9.0], [5.0, 1e300]])


def made(transform: str, **files: str) -> ProcessTransform:
    return ProcessTransform("tried", {"transform": "#!/bin/sh\n" + transform, **files}, "csv")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_skeleton_puts_squares_beside_features(tmp_path: Path, language: str) -> None:
    needs_language(language)
    skeletons.make(tmp_path / "mine", "transform", language)
    source = packed.pack(tmp_path / "mine")
    transform = replace(parse(source, "module.toml"), source=source).make()
    data = X[:, :1]
    fitted = transform.fit(data, {}, {}, Context())
    wanted = np.hstack([data, (data - data.mean()) ** 2])
    np.testing.assert_allclose(fitted.transform(data), wanted, rtol=1e-12)
    fitted.save(tmp_path)
    loaded = transform.load(tmp_path)
    np.testing.assert_array_equal(loaded.transform(data[:1]), fitted.transform(data)[:1])
    assert loaded.transform(data[:0]).shape == (0, 2)


def test_one_that_learns_nothing_needs_no_fit() -> None:
    copied = "exec cp $2/features.csv $6/features.csv\n"
    fitted = made(copied).fit(X, {}, {}, Context())
    assert fitted.memory == {}
    np.testing.assert_array_equal(fitted.transform(X), X)


@pytest.mark.parametrize(
    ("transform", "why"),
    [
        ("exit 0", "transform wrote no features"),
        ("printf 'x0\n1\n' > $6/features.csv", "1 rows of 1 columns; 3 rows of 1 were to be"),
        ("printf 'x0\n1\n2\nnan\n' > $6/features.csv", "not a finite number"),
        ("printf 'x0\na\nb\nc\n' > $6/features.csv", "not a number"),
        ("exec ln -s /etc/passwd $6/features.csv", "wrote no features"),
        ("echo tired >&2; exit 3", "exit code 3.\ntired"),
        ("exec yes", "it printed more than"),
    ],
)
def test_a_bad_transform_is_told(transform: str, why: str) -> None:
    with pytest.raises(ProgramFailed, match=why):
        made(transform + "\n").fit(X, {}, {}, Context())


def test_other_columns_than_at_the_first_time_are_refused() -> None:
    """The width depends on the rows: three of them make one column, one of them two."""
    program = """awk -F, '
      NR == FNR { rows++; next }
      { print (rows > 3 ? $1 : $1 "," $1) > output }
    ' output="$6/features.csv" $2/features.csv $2/features.csv
"""
    fitted = made("exec " + program).fit(X, {}, {}, Context())
    assert fitted.width == 1
    with pytest.raises(ProgramFailed, match="1 rows of 2 columns; 1 rows of 1 were to be"):
        fitted.transform(X[:1])


def test_programs_take_features_only(tmp_path: Path) -> None:
    skeletons.make(tmp_path / "mine", "transform", "shell")
    text = packed.pack(tmp_path / "mine").replace('accepts = "features"', "")
    with pytest.raises(InvalidInput, match="takes features"):
        parse(text, "module.toml")
