"""Rows that join a version, train rows that are switched off: ids and roles of the rows there never
change.
"""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from easeml.data import (
    ROLES,
    ROW,
    DatasetError,
    Declared,
    compare,
    declare,
    export_version,
    feed,
    infer_table,
    read_declared,
    read_easeml,
    read_table,
    read_version,
    refine,
    row_ids,
    rows_off,
    train_rows,
    write_version,
)
from easeml.data import Wanted as Rows
from easeml.data.versions import parts

from .tables import declared, people, write

HEADER = "id,age,job,story,born,country,kind"


def more(rows: range, **columns: str) -> str:
    """Rows like those of ``people``; ``columns``: a value that all of them have."""
    lines = [HEADER]
    for i in rows:
        row = {
            "id": f"v{i}",
            "age": f"{20 + i}.5",
            "job": "cook",
            "story": f"{i} sang",
            "born": "3/4/1991",
        }
        row |= {"country": "CH", "kind": "abc"[i % 3], **columns}
        lines.append(",".join(row.values()))
    return "\n".join(lines) + "\n"


def fed(version: Declared, folder: Path, text: str, role: str | None = None) -> Declared:
    table = read_table(write(folder, text, "more.csv"), "more.csv")
    return feed(version, table, "more.csv", role)


def roles(version: Declared) -> dict[int, str]:
    """The role of each row by its id; no id is there twice."""
    pairs = [(int(row), role) for role, frame in version.frames.items() for row in frame[ROW]]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def answers(version: Declared) -> dict[int, str]:
    return {
        int(row): str(kind)
        for frame in version.frames.values()
        for row, kind in zip(frame[ROW], frame["kind"], strict=True)
    }


def files(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Declared:
    return declared(tmp_path_factory.mktemp("start"), people(40))


def test_a_version_that_gained_rows_shares_the_parts_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "ROWS", 512)
    start = declared(tmp_path, people(2000))  # 1200 of them are train rows
    grown = fed(start, tmp_path, more(range(400)), "train")
    gaps = more(range(5), age="")
    grown = fed(grown, tmp_path, gaps, "train")
    contents = []
    for number, version in enumerate((start, grown)):
        folder = tmp_path / f"v{number}"
        write_version(folder, version)
        contents.append({path.name: path.read_bytes() for path in folder.glob("*.arrow")})
        read = read_declared(folder)
        for role, frame in version.frames.items():
            pd.testing.assert_frame_equal(read.frames[role], frame)
            assert row_ids(files(folder))[role].tolist() == frame[ROW].tolist()
    before, after = contents
    changed = [name for name, content in before.items() if after[name] != content]
    assert changed == ["train.2.arrow"]
    assert after.keys() - before.keys() == {"train.3.arrow"}


CHANGES = st.lists(
    st.one_of(
        st.tuples(
            st.just("feed"),
            st.integers(1, 7),
            st.sampled_from([None, *ROLES, "pool", "production"]),
        ),
        st.tuples(st.just("refine"), st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5))),
    ),
    max_size=5,
)


@settings(max_examples=10)
@given(changes=CHANGES)
def test_ids_and_roles_of_old_rows_never_change(
    start: Declared, tmp_path_factory: pytest.TempPathFactory, changes
):
    folder, version, done = tmp_path_factory.mktemp("changes"), start, 0
    for number, (kind, first, second) in enumerate(changes):
        before, said = roles(version), answers(version)
        if kind == "feed":
            version = fed(version, folder, more(range(done, done + first)), second)
            done += first
            new = sorted(set(roles(version)) - set(before))
            assert new == list(range(start.next_row + done - first, start.next_row + done))
        else:
            train = version.frames["train"][ROW].tolist()
            off, on = ({train[place] for place in places} for places in (first - second, second))
            now = set(version.off)
            version = refine(version, off, on)
            assert set(version.off) == (now | off) - on
        after = roles(version)
        assert {row: after[row] for row in before} == before
        assert {row: answers(version)[row] for row in said} == said
        assert version.schema_in == start.schema_in
        assert version.schema_out == start.schema_out
        write_version(folder / str(number), version)
        again = read_declared(folder / str(number))
        assert (roles(again), again.off, again.next_row) == (after, version.off, version.next_row)
        learnt = read_version(folder / str(number)).train[ROW]
        assert set(learnt) == set(version.frames["train"][ROW]) - set(version.off)


@pytest.mark.parametrize("cut", [1, 7, 19])
def test_pieces_do_not_matter(start: Declared, tmp_path: Path, cut: int):
    whole = fed(start, tmp_path, more(range(20)))
    pieces = fed(fed(start, tmp_path, more(range(cut))), tmp_path, more(range(cut, 20)))
    assert roles(whole) == roles(pieces)
    assert whole.summary["added"]["train"] == pytest.approx(12, abs=3)


def test_rows_fed_one_by_one_come_to_test_too(start: Declared, tmp_path: Path):
    version = start
    for number in range(10):
        version = fed(version, tmp_path, more(range(number, number + 1), kind="a"))
    added = {role: len(version.frames[role]) - len(start.frames[role]) for role in ROLES}
    assert added == {"train": 6, "validation": 2, "test": 2}


@pytest.mark.parametrize(
    ("text", "differences"),
    [
        (
            more(range(3)).replace("age", "aeg", 1),
            ["column 'aeg' is not one of the data. Did you mean 'age'?"],
        ),
        (
            "mpg,weight\n18.0,3504\n",
            ["this looks like another table: it has 'mpg', 'weight', the data has 'age', "],
        ),
        (more(range(3)).replace(",kind", ",sort", 1), ["column 'kind', the target, is missing"]),
        (
            more(range(3), kind="d"),
            ["row 0, column 'kind': 'd' is not one of its classes (a, b, c)."],
        ),
        (
            more(range(3), job="king"),
            ["row 0, column 'job': 'king' is not one of its classes (clerk, cook, smith)."],
        ),
        (
            more(range(3), age="old"),
            ["column 'age' was number, and is not: 'old' in row 0, 3 of 3."],
        ),
        (more(range(9)).replace("25.5", "old"), ["row 5, column 'age': 'old' is not a number."]),
        (more(range(3), born="soon"), ["column 'born' was timestamp written as month/day/year"]),
        (
            more(range(3), job=""),
            ["row 0, column 'job': has no value, and no row lacked one before."],
        ),
        ("job,kind\ncook,a\n", ["column 'story' is missing.", "column 'born' is missing."]),
        (
            "Age,JOB,Story,Born,KIND\n30,cook,x,3/4/1990,d\n",
            [
                "names of columns match only if case",
                "'Age' is 'age'",
                "'d' is not one of its classes",
            ],
        ),
    ],
    ids=[
        "misspelt",
        "another-table",
        "no-target",
        "new-class",
        "new-category",
        "type",
        "cell",
        "time",
        "missing",
        "columns",
        "case",
    ],
)
def test_rows_that_do_not_fit_are_refused_with_every_difference(
    start: Declared, tmp_path: Path, text: str, differences: list[str]
):
    before = roles(start)
    with pytest.raises(DatasetError) as caught:
        fed(start, tmp_path, text)
    assert "more.csv" in str(caught.value)
    for one in differences:
        assert one in str(caught.value)
    assert roles(start) == before


def test_an_optional_column_may_be_absent_and_a_dropped_one_present(
    start: Declared, tmp_path: Path
):
    lines = [line.split(",") for line in more(range(4)).splitlines()]
    without = (
        "\n".join(",".join(line[:1] + line[2:]) for line in lines) + "\n"
    )  # age is optional, id is dropped
    version = fed(start, tmp_path, without)
    assert sum(frame["age"].isna().sum() for frame in version.frames.values()) == 4 + sum(
        frame["age"].isna().sum() for frame in start.frames.values()
    )


def test_rows_without_an_answer_join_the_pool_and_keep_none(start: Declared, tmp_path: Path):
    version = fed(start, tmp_path, more(range(3)) + "v9,30,cook,sat,3/4/1991,CH,\n")
    assert len(version.frames["pool"]) == 1
    assert any("joined the pool" in note for note in version.notes)
    production = fed(start, tmp_path, more(range(3)), "production").frames["production"]
    assert production["kind"].isna().all()
    unlabelled = "\n".join(line.rpartition(",")[0] for line in more(range(3)).splitlines()) + "\n"
    assert len(fed(start, tmp_path, unlabelled, "pool").frames["pool"]) == 3
    with pytest.raises(DatasetError, match="row 3, column 'kind': a test row needs a value"):
        fed(start, tmp_path, more(range(3)) + "v9,30,cook,sat,3/4/1991,CH,\n", "test")


def test_what_was_left_out_of_a_file_is_told(start: Declared, tmp_path: Path):
    version = fed(start, tmp_path, more(range(6)) + "Total,,7\n")
    assert sum(map(len, version.frames.values())) == 6 + sum(map(len, start.frames.values()))
    assert any("left out: Total." in note for note in version.notes)


def test_the_same_rows_again_are_noticed(start: Declared, tmp_path: Path):
    once = fed(start, tmp_path, more(range(6)))
    assert not [note for note in once.notes if "already" in note]
    twice = fed(once, tmp_path, more(range(6)))
    assert [
        note for note in twice.notes if note.startswith("6 rows of the new ones are there already")
    ]
    assert len(roles(twice)) == len(roles(once)) + 6
    again = fed(once, tmp_path, more(range(1)))
    assert any(note.startswith("1 row of the new ones is there already") for note in again.notes)


def test_rows_of_a_group_stay_together(tmp_path: Path):
    start = declared(tmp_path, people(60), split="group:job")
    of_group = {str(job): role for role in ROLES for job in start.frames[role]["job"].unique()}
    version = fed(start, tmp_path, more(range(12), job="smith"))
    new = {role for row, role in roles(version).items() if row >= start.next_row}
    assert new == {of_group["smith"]}


def test_given_roles_are_taken_and_their_column_is_needed(tmp_path: Path):
    lines = people(30).splitlines()
    text = (
        "\n".join(
            [lines[0] + ",use", *(f"{line},{ROLES[i % 3]}" for i, line in enumerate(lines[1:]))]
        )
        + "\n"
    )
    start = declared(tmp_path, text, target="kind", split="given:use")
    extra = "\n".join(
        f"{line},{'use' if not i else 'test'}" for i, line in enumerate(more(range(4)).splitlines())
    )
    assert fed(start, tmp_path, extra + "\n").summary["added"] == {"test": 4}
    with pytest.raises(DatasetError, match="'use', by which rows were divided, is missing"):
        fed(start, tmp_path, more(range(4)))
    assert fed(start, tmp_path, more(range(4)), "train").summary["added"] == {"train": 4}


@pytest.mark.parametrize(
    ("off", "on", "says"),
    [
        ([10_000], [], "there is no row with id 10000"),
        ([-1], [], "there is no row with id -1"),
        (["test"], [], "is a test row; only train rows are switched off"),
        (["train"], ["train"], "is to be off and on"),
        (["all"], [], "no two different answers"),
    ],
    ids=["unknown", "negative", "test-row", "both", "all"],
)
def test_only_train_rows_are_switched(start: Declared, off: list, on: list, says: str):
    def ids(names: list) -> list[int]:
        train = start.frames["train"][ROW].tolist()
        known = {
            "train": [train[0]],
            "test": [int(start.frames["test"][ROW].iloc[0])],
            "all": train,
        }
        return [row for name in names for row in (known[name] if isinstance(name, str) else [name])]

    with pytest.raises(DatasetError, match=says):
        refine(start, ids(off), ids(on))


def test_what_changed_is_told(start: Declared, tmp_path: Path):
    train = start.frames["train"][ROW].tolist()
    first = refine(start, train[:3])
    second = refine(fed(first, tmp_path, more(range(5))), train[5:6], train[:1])
    for name, version in (("first", first), ("second", second)):
        write_version(tmp_path / name, version)
    found = compare(files(tmp_path / "first"), files(tmp_path / "second"))
    assert sorted(row for ids in found.added.values() for row in ids) == list(range(40, 45))
    assert (found.removed, found.schema) == ({}, [])
    assert (found.switched_off, found.switched_on) == ([train[5]], [train[0]])
    assert rows_off(files(tmp_path / "second")) == [train[1], train[2], train[5]]
    assert {role: set(ids) for role, ids in row_ids(files(tmp_path / "first")).items()} == {
        role: set(frame[ROW]) for role, frame in first.frames.items()
    }


def test_train_rows_are_paged_and_filtered(start: Declared, tmp_path: Path):
    train = start.frames["train"]
    version = refine(start, train[ROW].tolist()[:2])
    write_version(tmp_path / "v", version)
    kept = files(tmp_path / "v")
    pages = [train_rows(kept, Rows(), skip, 10)[0] for skip in range(0, len(train), 10)]
    assert [row.row for page in pages for row in page] == train[ROW].tolist()
    off, count = train_rows(kept, Rows(on=False), 0, 10)
    assert (count, [row.on for row in off]) == (2, [False, False])
    found, count = train_rows(kept, Rows(label="b", on=True), 0, 100)
    assert count == len(found) > 0
    assert {row.target for row in found} == {"b"}
    assert set(found[0].values) == {"age", "job", "story", "born"}


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "arff"])
def test_an_exported_version_can_be_read_again(start: Declared, tmp_path: Path, ending: str):
    version = refine(fed(start, tmp_path, more(range(5))), start.frames["train"][ROW].tolist()[:2])
    write_version(tmp_path / "v", version)
    assert export_version(tmp_path / "v", tmp_path / f"out.{ending}") == 43
    table = read_table(tmp_path / f"out.{ending}", f"out.{ending}").to_pandas()
    assert dict(
        zip(table["easeml.row"].astype(float).astype(int), table["easeml.role"], strict=True)
    ) == {row: role for row, role in roles(version).items() if row not in version.off}
    with pytest.raises(DatasetError, match="something already"):
        export_version(tmp_path / "v", tmp_path / f"out.{ending}")


def test_an_easeml_dataset_holds_numbers_and_categories_only(start: Declared, tmp_path: Path):
    write_version(tmp_path / "v", start)
    with pytest.raises(DatasetError, match="cannot hold"):
        export_version(tmp_path / "v", tmp_path / "out.zip")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=30), "b": ["x", "y"] * 15, "kind": ["p", "q", "r"] * 10}
    )
    plain = declared(tmp_path, frame.to_csv(index=False), target="kind")
    write_version(tmp_path / "w", plain)
    count = export_version(tmp_path / "w", tmp_path / "out.zip")
    assert count == len(plain.frames["train"]) + len(plain.frames["validation"])
    found = read_easeml(tmp_path / "out.zip")
    assert found.output is not None
    assert dict(found.output.classes) == {"kind": ("p", "q", "r")}
    assert len(found.input.samples) == len(plain.frames["train"])


def test_an_easeml_dataset_holds_the_pixels_of_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    for kind, grey in (("dark", 51), ("light", 204)):
        (folder / kind).mkdir(parents=True)
        for number in range(15):
            Image.new("L", (3, 2), grey + number).save(folder / kind / f"{number}.png")
    table = read_table(Path(shutil.make_archive(str(folder), "zip", folder)))
    version = declare(table, infer_table(table).columns)
    write_version(tmp_path / "v", version)
    export_version(tmp_path / "v", tmp_path / "out.zip")
    found = read_easeml(tmp_path / "out.zip")
    samples = list(found.input.samples.values())
    assert len(samples) == len(version.frames["train"])
    (picture,) = samples[0].values.values()
    assert np.asarray(picture).shape == (2, 3, 1)
    assert 0.2 <= float(np.asarray(picture).min()) <= 0.86


def test_rows_of_which_a_column_is_broken_do_not_join_unless_that_is_said(tmp_path: Path) -> None:
    """Another unit, a sign that was never there, a sensor that fell out: on most of the rows."""
    version = declared(tmp_path, people(120).replace(",cook,", ",,", 2))
    ages = version.frames["train"]["age"]
    whole = more(range(30))
    assert float(ages.min()) > 0
    far = more(range(30), age=str(float(ages.max()) * 1000))
    negative = more(range(30), age="-1")
    for text, column in ((far, "age"), (negative, "age"), (more(range(30), job=""), "job")):
        with pytest.raises(DatasetError, match=f"column '{column}'") as caught:
            fed(version, tmp_path, text)
        assert "--anyway" in caught.value.remedy
        table = read_table(tmp_path / "more.csv", "more.csv")
        assert feed(version, table, "more.csv", anyway=True).summary["rows"] == 150
        assert fed(version, tmp_path, text, "production").summary["production"] == 30
    assert fed(version, tmp_path, whole).summary["rows"] == 150
    # A third of the rows is not most of them, and ten rows are too few to tell.
    third = whole + "".join(negative.splitlines(keepends=True)[1:16])
    assert fed(version, tmp_path, third).summary["rows"] == 165
    assert fed(version, tmp_path, more(range(10), age="-1")).summary["rows"] == 130


def test_few_classes_that_are_new_join_as_empty_cells_and_many_do_not(
    start: Declared, tmp_path: Path
) -> None:
    usual = more(range(30))
    one = usual + more(range(1), job="king").splitlines()[1] + "\n"
    grown = fed(start, tmp_path, one)
    write_version(tmp_path / "v", grown)
    joined = pd.concat(read_declared(tmp_path / "v").frames.values()).set_index(ROW)
    assert joined.loc[70:70, "job"].isna().all()
    assert joined.loc[40:69, "job"].eq("cook").all()
    (note,) = [one for one in grown.notes if "'king'" in one or "king" in one]
    assert note.startswith("column 'job': 1 cell with a class that was not there before (king)")
    # A tenth of the cells is no slip; neither is one of two, nor an answer that nobody knows.
    many = usual + "".join(more(range(4), job="king").splitlines(keepends=True)[1:])
    for text in (
        many,
        more(range(1), job="king"),
        usual + more(range(1), kind="d")[len(HEADER) + 1 :],
    ):
        with pytest.raises(DatasetError, match="is not one of its classes"):
            fed(start, tmp_path, text)
