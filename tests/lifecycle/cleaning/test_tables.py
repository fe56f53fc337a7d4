"""From dirty tables to candidates, and the commands."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from easeml.cli import clean
from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning import candidates_of, plan_table
from easeml.lifecycle.cleaning.category_repairs import category_repairs
from easeml.lifecycle.cleaning.repairs import (
    cell_options,
    number_models,
    number_repairs,
    row_options,
)


def flowers(count: int, seed: int) -> pd.DataFrame:
    """Numbers and a category that tell the label."""
    generator = np.random.default_rng(seed)
    kind = generator.integers(0, 3, count)
    return pd.DataFrame(
        {
            "name": [
                f"plant {seed} {'abcdefghij'[i % 10]}{'klmnopqrst'[i // 10 % 10]}{'uvwxyz'[i // 100]}"
                for i in range(count)
            ],
            "length": (kind * 2.0 + generator.normal(0, 0.7, count)).round(3).astype(str),
            "width": (kind + generator.normal(0, 1.0, count)).round(3).astype(str),
            "colour": np.array(["red", "blue", "white"])[
                np.where(generator.random(count) < 0.8, kind, 0)
            ],
            "kind": np.array(["rose", "iris", "lily"])[kind],
        }
    )


@pytest.fixture
def dirty() -> pd.DataFrame:
    table = flowers(120, 0)
    generator = np.random.default_rng(9)
    for column in ("length", "colour"):
        table.loc[generator.choice(120, 30, replace=False), column] = ""
    return table


def test_candidates_of_a_dirty_table(dirty: pd.DataFrame) -> None:
    told: list[float] = []
    made = candidates_of(dirty, flowers(40, 1), "kind", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    in_doubt = (dirty[["length", "colour"]] == "").any(axis=1).to_numpy()
    assert set(np.flatnonzero(in_doubt)) <= set(made.rows.dirty.tolist())
    assert np.isfinite(made.rows.values).all()
    assert made.X_valid.shape[1] == made.rows.values.shape[1]
    assert made.y_valid is not None
    assert max(made.rows.sizes) <= 25
    row = int(np.flatnonzero((dirty["length"] == "") & (dirty["colour"] != ""))[0])
    assert all(isinstance(option["length"], float) for option in made.options[row])
    assert len(made.options[row]) == made.rows.sizes[row]
    assert any("'name' is not used" in note for note in made.notes)


def test_the_plan_names_cells_and_rows_of_the_file(dirty: pd.DataFrame) -> None:
    dirty.at[0, "kind"] = ""
    made = candidates_of(dirty, flowers(40, 1), "kind")
    plan = plan_table(made, n=4)
    assert len(plan.planned) == 4
    for item in plan.planned:
        assert item.row != 0
        assert {name for name in item.cells if dirty.at[item.row, name] == ""} or item.cells
        assert item.candidates > 1
    assert any("without a label" in note for note in plan.notes)


def test_values_with_units_are_repaired_for_sure() -> None:
    train = flowers(60, 0)
    train["length"] = [
        f"{value} cm" if i % 2 else f"{value} centim." for i, value in enumerate(train["length"])
    ]
    made = candidates_of(train, flowers(20, 1), "kind")
    assert made.fixed == 60
    plain = candidates_of(flowers(60, 0), flowers(20, 1), "kind")
    np.testing.assert_allclose(made.rows.values[:, 0], plain.rows.values[:, 0], atol=1e-9)


def test_a_misspelt_category_keeps_its_value_as_a_candidate() -> None:
    train = flowers(80, 0)
    train.at[5, "colour"] = "whjte"
    made = candidates_of(train, flowers(20, 1), "kind", methods=["misspelling"])
    assert {option["colour"] for option in made.options[5]} == {"whjte", "white"}


@pytest.mark.parametrize("column", ["kind", "width"])
def test_absent_columns_are_named(column: str) -> None:
    train, valid = flowers(30, 0), flowers(10, 1)
    with pytest.raises(InvalidInput, match=column):
        candidates_of(
            train.drop(columns=column), valid, "kind"
        ) if column == "kind" else candidates_of(train, valid.drop(columns=column), "kind")


def test_tables_without_labels_or_inputs_are_refused() -> None:
    table = flowers(30, 0)
    with pytest.raises(InvalidInput, match="label"):
        candidates_of(table.assign(kind=""), table, "kind")
    with pytest.raises(InvalidInput, match="no column"):
        candidates_of(table[["name", "kind"]], table, "kind")


def test_validation_rows_may_have_gaps_and_new_values() -> None:
    valid = flowers(10, 1)
    valid.loc[0, ["length", "colour"]] = ["", "green"]
    made = candidates_of(flowers(60, 0), valid, "kind")
    assert np.isfinite(made.X_valid).all()
    assert any("without a usable 'length'" in note for note in made.notes)


def test_repairers_that_are_right_weigh_more() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=300)
    trusted = np.arange(300) % 5 > 0
    made = number_repairs(2 * x, trusted, x[:, None], seed=0)
    weight = dict(zip(made.names, made.weights, strict=True))
    assert weight["models"] > 0.8
    assert sum(share for _, share in made.options(0)) == pytest.approx(1.0)
    words = np.where(x > 0, "up", "down").astype(object)
    votes = category_repairs(words, trusted, x[:, None], seed=0)
    assert max(votes.options(0), key=lambda option: option[1])[0] == words[0]


def test_what_models_say_together_is_the_likeliest_and_nearer_than_each() -> None:
    # Half of the column follows from sums that no tree finds, half from steps that no line does.
    generator = np.random.default_rng(3)
    others = generator.normal(size=(400, 4))
    values = others[:, :3].sum(axis=1) + 2 * (others[:, 3] > 0) + generator.normal(0, 0.3, 400)
    trusted = np.arange(400) % 4 > 0
    made = number_repairs(values, trusted, others, seed=0)
    told = dict(zip(made.names, made.values, strict=True))
    assert made.names[int(made.weights.argmax())] == "models"
    asked = ~trusted
    left = np.sqrt(((told["models"] - values)[asked] ** 2).mean())
    assert left < 0.5 * values[asked].std()
    for make in number_models(int(trusted.sum()), 0).values():
        alone = make().fit(others[trusted], values[trusted]).predict(others[asked])
        assert left < np.sqrt(((alone - values[asked]) ** 2).mean())


@pytest.mark.parametrize("strength", [0.0, 0.5])
def test_a_skewed_column_of_which_little_is_known_is_filled_from_its_middle(
    strength: float,
) -> None:
    # Such numbers are nearest to a quartile more often than to anything between the quartiles.
    generator = np.random.default_rng(0)
    others = generator.normal(size=(600, 1))
    values = generator.gamma(3.0, 1.0, 600) + strength * others[:, 0]
    trusted = np.arange(600) % 4 > 0
    made = number_repairs(values, trusted, others, seed=0)
    asked = np.flatnonzero(~trusted)
    filled = [max(made.options(row), key=lambda option: option[1])[0] for row in asked]
    left = np.sqrt(np.mean((np.array(filled) - values[asked]) ** 2))
    by_mean = np.sqrt(np.mean((values[trusted].mean() - values[asked]) ** 2))
    assert left < 1.02 * by_mean


def test_models_that_know_nothing_leave_the_mean() -> None:
    generator = np.random.default_rng(0)
    values, others = generator.normal(size=300), generator.normal(size=(300, 3))
    made = number_repairs(values, np.arange(300) % 5 > 0, others, seed=0)
    assert "mean" in made.names
    assert "models" not in made.names


def test_chances_of_categories_are_those_of_their_row() -> None:
    # In one half of the rows the value follows from a number, in the other it is drawn.
    generator = np.random.default_rng(1)
    told, follows = generator.normal(size=(2, 1500))
    values = np.where(told > 0, "high", "low").astype(object)
    drawn = generator.choice(np.array(["high", "low", "none"], dtype=object), 1500)
    values = np.where(follows > 0, values, drawn)
    # What is missing is decided by the column that decides how well it can be told.
    trusted = generator.random(1500) < np.where(follows > 0, 0.5, 0.9)
    made = category_repairs(values, trusted, np.stack([told, follows], axis=1), seed=0)
    asked = np.flatnonzero(~trusted)
    first = [max(made.options(row), key=lambda option: option[1]) for row in asked]
    right = np.array([value == values[row] for (value, _), row in zip(first, asked, strict=True)])
    weights = np.array([weight for _, weight in first])
    sure = follows[asked] > 0
    assert weights[sure].mean() > 0.9
    assert weights[~sure].mean() < 0.6
    for part in (sure, ~sure):
        assert weights[part].mean() == pytest.approx(right[part].mean(), abs=0.08)


def test_few_categories_are_as_likely_as_they_are_frequent() -> None:
    values = np.array(["a", "b", "a", ""], dtype=object)
    trusted = np.array([True, True, True, False])
    made = category_repairs(values, trusted, np.zeros((4, 1)), seed=0)
    assert made.options(3) == [("a", pytest.approx(2 / 3)), ("b", pytest.approx(1 / 3))]
    alone = category_repairs(np.full(30, "a", dtype=object), np.arange(30) > 3, np.eye(30), seed=0)
    assert alone.options(0) == [("a", 1.0)]


def test_few_trusted_cells_still_give_repairs() -> None:
    values = np.array([1.0, np.nan, np.nan])
    made = number_repairs(values, np.array([True, False, False]), np.zeros((3, 1)), seed=0)
    assert made.options(1) == [(1.0, pytest.approx(1.0))]


def test_options_of_cells() -> None:
    def repairs() -> list[tuple[object, float]]:
        return [("a", 0.5), ("b", 0.5)]

    assert cell_options(None, None, 1.0, repairs) == [("a", 0.5), ("b", 0.5)]
    assert cell_options(None, "s", 0.9, repairs) == [("s", 1.0)]
    assert cell_options("o", "s", 0.75, repairs) == [("o", 0.25), ("s", 0.75)]
    assert cell_options("a", None, 0.5, repairs) == [("a", 0.75), ("b", 0.25)]


def test_rows_combine_cells_up_to_a_bound() -> None:
    cells = {"x": [(1, 0.6), (2, 0.4)], "y": [("a", 0.5), ("b", 0.3), ("c", 0.2)]}
    full = row_options(cells, 6)
    assert len(full) == 6
    assert sum(weight for _, weight in full) == pytest.approx(1.0)
    few = row_options(cells, 5)
    assert [world for world, _ in few] == [
        {"x": 1, "y": "a"},
        {"x": 2, "y": "b"},
        {"x": 1, "y": "c"},
    ]


@pytest.fixture
def program() -> typer.Typer:
    app = typer.Typer()
    clean.register(app)
    return app


@pytest.fixture
def files(tmp_path: Path, dirty: pd.DataFrame) -> list[str]:
    dirty.to_csv(tmp_path / "train.csv", index=False)
    flowers(40, 1).to_csv(tmp_path / "valid.csv", index=False)
    return [str(tmp_path / "train.csv"), "--valid", str(tmp_path / "valid.csv"), "--target", "kind"]


def test_plan_command(program: typer.Typer, files: list[str], tmp_path: Path) -> None:
    ran = CliRunner().invoke(
        program, ["clean", "plan", *files, "-n", "3", "--json", "--out", str(tmp_path / "p.csv")]
    )
    assert ran.exit_code == 0
    document = json.loads(ran.stdout)
    assert len(document["planned"]) == 3
    assert document["advice"]
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 4
    shown = CliRunner().invoke(program, ["clean", "plan", *files, "-n", "3"])
    assert "cells in doubt" in shown.stdout


def test_detect_command(program: typer.Typer, files: list[str], tmp_path: Path) -> None:
    ran = CliRunner().invoke(program, ["clean", "detect", files[0], "--json", "--target", "kind"])
    assert ran.exit_code == 0
    assert json.loads(ran.stdout)["by_method"]["missing"] == 60
    rules = tmp_path / "rules.txt"
    rules.write_text("t1&t2&EQ(t1.colour,t2.colour)&IQ(t1.kind,t2.kind)")
    ran = CliRunner().invoke(
        program,
        ["clean", "detect", files[0], "--rules", str(rules), "--out", str(tmp_path / "r.html")],
    )
    assert ran.exit_code == 0
    assert "suspicious places" in ran.stdout
    assert (tmp_path / "r.html").stat().st_size > 1000


@pytest.mark.parametrize(
    "wrong", [["--rules", "absent.txt"], ["--out", "x.pdf"], ["--target", "nothing"]]
)
def test_wrong_use_is_an_error(program: typer.Typer, files: list[str], wrong: list[str]) -> None:
    ran = CliRunner().invoke(program, ["clean", "detect", files[0], *wrong])
    assert isinstance(ran.exception, InvalidInput)
