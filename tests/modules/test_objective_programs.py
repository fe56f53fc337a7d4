"""Objectives that are folders of programs: what they measure, and what bad ones come to."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from easeml.confinement import why_unavailable
from easeml.errors import InvalidInput
from easeml.modules import (
    Module,
    Predictions,
    added,
    checking,
    interval,
    measured,
    packed,
    parse,
    score,
    skeletons,
)
from easeml.modules.programs import ProgramFailed
from easeml.modules.skeletons import LANGUAGES
from languages import needs_language

pytestmark = pytest.mark.skipif(
    bool(why_unavailable()), reason="programs need Landlock and seccomp"
)
LABELS = np.array(["a", "b", "c"], dtype=object)


def module_of(folder: Path) -> Module:
    source = packed.pack(folder)
    return replace(parse(source, "module.toml"), source=source)


def with_eval(folder: Path, program: str) -> Module:
    """Return the skeleton's module with another program."""
    skeletons.make(folder, "objective", "shell")
    (folder / "eval").write_text("#!/bin/sh\n" + program)
    return module_of(folder)


def answers(rows: int = 60) -> tuple[np.ndarray, Predictions]:
    random = np.random.default_rng(5)
    codes = random.integers(3, size=rows)
    shares = random.dirichlet(np.ones(3), size=rows) + 0.3 * np.eye(3)[codes]
    shares /= shares.sum(axis=1, keepdims=True)
    return codes, Predictions.of_probabilities(shares, LABELS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_skeleton_passes_its_checks_and_measures(tmp_path: Path, language: str) -> None:
    needs_language(language)
    folder = tmp_path / f"twice-{language}"
    skeletons.make(folder, "objective", language)
    if language != "r":  # it starts slowly, and its program is called below
        ended = list(checking.check(folder))
        assert len(ended) == 5
        assert [one.error for one in ended] == [""] * 5

    added.tell(module_of(folder).source)
    codes, predicted = answers()
    right = predicted.probabilities.argmax(axis=1) == codes
    wanted = np.average(right, weights=np.where(codes == 2, 2.0, 1.0))
    assert score(folder.name, LABELS[codes], predicted) == pytest.approx(wanted)
    quality, low, high = interval(folder.name, LABELS[codes], predicted)
    assert low < quality < high
    found = measured(folder.name, LABELS[codes], predicted, learnt=LABELS[codes])
    assert (found.value, found.low, found.high) == (quality, low, high)
    always = np.bincount(codes).argmax()
    assert found.baseline == pytest.approx(
        np.average(codes == always, weights=np.where(codes == 2, 2.0, 1.0))
    )


def test_an_error_of_numbers_is_scaled_by_its_range(tmp_path: Path) -> None:
    folder = tmp_path / "off"
    skeletons.make(folder, "objective", "shell")
    toml = (folder / "module.toml").read_text()
    toml = toml.replace("classification", "regression").replace("worst = 0.0", "worst = 50.0")
    (folder / "module.toml").write_text(toml.replace("best = 1.0", "best = 0.0"))
    (folder / "eval").write_text(
        """#!/bin/sh
exec awk -F, '
  FNR == 1 { table++; next }
  { off = $1 - $2; sum[table] += off < 0 ? -off : off; rows[table]++ }
  END {
    print "value" > output
    for (i = 1; i <= table; i++) {
      mean = sum[i] / rows[i]
      if (mean > 50) mean = 50
      printf "%.17g\\n", mean > output
    }
  }
' output="$4/values.csv" "$2"/*.csv
"""
    )
    assert [one.error for one in checking.check(folder)] == [""] * 5
    added.tell(module_of(folder).source)
    actual = np.array([1.0, 2.0, 3.0])
    found = measured("off", actual, Predictions(actual + 5, None, None), resamples=0)
    assert (found.value, found.lower_is_better) == (5.0, True)
    assert score("off", actual, Predictions(actual + 5, None, None)) == pytest.approx(0.9)


def test_what_two_rows_are_drawn_as_is_measured_once(tmp_path: Path) -> None:
    program = """
output="$4/values.csv"
set -- "$2"/*.csv
echo value > "$output"
for table; do echo "0.0$#" >> "$output"; done
"""
    added.tell(with_eval(tmp_path / "tables", program).source)
    codes, predicted = answers(2)
    found = measured("tables", LABELS[codes], predicted)
    assert found.value == 0.05  # both rows, and the four that two draws can be


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("echo tired >&2; exit 3\n", "exit code 3.\ntired"),
        ("exit 0\n", "eval wrote no values"),
        ("printf 'value\\n1\\n1\\n1\\n' > $4/values.csv\n", "eval answered 3 rows"),
        ("printf 'value\\nnan\\n' > $4/values.csv\n", "not a finite number"),
        ("printf 'value\\n7\\n' > $4/values.csv\n", "eval answered 7; its range is 0 to 1"),
        ("printf 'value\\ngood\\n' > $4/values.csv\n", "not a number"),
        ("while :; do :; done\n", "longer than 1 s"),
        ("exec yes\n", "it printed more than"),
    ],
)
def test_a_bad_measure_is_told_and_named(tmp_path: Path, program: str, why: str) -> None:
    objective = replace(with_eval(tmp_path / "bad", program).make(), seconds=1.0)
    with pytest.raises(ProgramFailed, match=why) as failed:
        objective.value(np.array([0, 1]), np.eye(2))
    assert failed.value.where == "bad"


def test_a_measure_the_wrong_way_round_does_not_pass(tmp_path: Path) -> None:
    skeletons.make(tmp_path / "mine", "objective", "shell")
    toml = (tmp_path / "mine" / "module.toml").read_text()
    toml = toml.replace("worst = 0.0", "worst = 1.0").replace("best = 1.0", "best = 0.0")
    (tmp_path / "mine" / "module.toml").write_text(toml)
    failed = [one for one in checking.check(tmp_path / "mine") if one.error]
    assert [one.name for one in failed] == ["check_direction"]
    assert "the wrong way round" in failed[0].error


@pytest.mark.parametrize(
    ("measure", "why"),
    [
        ("", "measure.worst is not a number"),
        ("[measure]\nworst = 0\nbest = inf\n", "measure.best is not a number"),
        ("[measure]\nworst = 1\nbest = 1\n", "are the same"),
        ("[measure]\nworst = 0\nbest = 1\nunit = 'cm'\n", "Unknown key 'measure.unit'"),
        ("[measure]\nworst = 0\nbest = 1\nneeds_probabilities = 1\n", "not true or false"),
    ],
)
def test_a_description_without_a_range_is_refused(tmp_path: Path, measure: str, why: str) -> None:
    skeletons.make(tmp_path / "mine", "objective", "shell")
    toml = (tmp_path / "mine" / "module.toml").read_text().partition("[measure]")[0]
    (tmp_path / "mine" / "module.toml").write_text(toml + measure)
    with pytest.raises(InvalidInput, match=why):
        module_of(tmp_path / "mine")
