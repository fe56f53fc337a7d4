"""What pages are made of: places of chart marks, numbers and times in words, changes kept in an
address.
"""

import math
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.contract.progress import Progress, ProgressPoint
from easeml.contract.resources import Column, Improvement, Version
from easeml.errors import NotAllowed
from easeml.web import formatting, session
from easeml.web.charts import quality_chart, spark
from easeml.web.views.declaring import Wishes

quality = st.floats(-1, 1)
cost = st.floats(0, 1e6)


def progress(found: list[tuple[float, float]]) -> Progress:
    """Return the results with these qualities and costs; the last went live."""
    points, best, spent = [], -math.inf, 0.0
    for number, (value, more) in enumerate(found):
        spent += more
        named = {
            "task_id": f"task_{number}",
            "name": "",
            "quality": value,
            "cost": more,
            "spent": spent,
        }
        points.append(
            ProgressPoint(**named, better=value > best, promoted=number == len(found) - 1)
        )
        best = max(best, value)
    return Progress(points=points, tasks=len(found), cost=spent)


@given(st.lists(st.tuples(quality, cost), min_size=1, max_size=60))
def test_every_mark_of_a_chart_is_inside_it(found: list[tuple[float, float]]):
    chart = quality_chart(progress(found))
    assert chart is not None
    places = [(dot.x, dot.y) for dot in chart.dots]
    places += [(x, y) for x1, y1, x2, y2 in chart.steps for x, y in ((x1, y1), (x2, y2))]
    assert all(-1e-6 <= value <= 100 + 1e-6 for place in places for value in place)
    assert len(chart.dots) == len(found)
    assert len(chart.up) <= 12
    assert len(chart.across) <= 12


@given(st.lists(st.tuples(quality, cost), min_size=1, max_size=60))
def test_the_line_of_the_best_ends_at_the_best_dot(found: list[tuple[float, float]]):
    chart = quality_chart(progress(found))
    assert chart is not None
    assert chart.steps[-1][3] == min(dot.y for dot in chart.dots)
    ups = [y1 - y2 for _, y1, _, y2 in chart.steps]
    assert all(up >= 0 for up in ups)


def test_no_task_no_chart():
    assert quality_chart(progress([])) is None
    assert spark([], 0.0) == ""


@given(st.lists(st.tuples(quality, cost), min_size=1, max_size=20))
def test_a_sparkline_stays_in_its_box(found: list[tuple[float, float]]):
    spent, rising = 0.0, []
    for number, (value, more) in enumerate(found):
        spent += more
        rising.append(
            Improvement(task_id=str(number), name="", quality=value, cost=spent, finished=0.0)
        )
    points = [tuple(map(float, point.split(","))) for point in spark(rising, spent).split()]
    assert all(0 <= x <= 200 and 0 <= y <= 40 for x, y in points)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0 s"),
        (0.00423, "4.2 ms"),
        (0.421, "0.42 s"),
        (12.3, "12 s"),
        (65.0, "1 min 5 s"),
        (60.0, "1 min"),
        (7200.0, "2 h"),
        (None, "–"),
    ],
)
def test_seconds_in_words(value: float | None, text: str):
    assert formatting.seconds(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (0.004, "0.4 %"), (0.25, "25 %"), (0.998, "99.8 %"), (1, "100 %")],
)
def test_shares_in_words(share: float, text: str):
    assert formatting.percent(share) == text


def test_states_are_escaped_in_badges():
    assert "<b>" not in formatting.badge("<b>")


NAMES = [
    ("age", "number", "input"),
    ("id", "text", "drop"),
    ("é & <b>", "category", "input"),
    ("y", "category", "target"),
]
VERSION = Version(
    id="ver_1",
    dataset_id="data_1",
    number=1,
    state="ready",
    operation={"name": "upload"},
    columns=[Column(name=name, type=kind, role=role) for name, kind, role in NAMES],
    summary={"target": "y"},
    created=0.0,
)
fields = st.one_of(
    st.tuples(
        st.sampled_from(["target", "objective"]),
        st.sampled_from(["", "y", "age", "é & <b>", "accuracy"]),
    ),
    st.tuples(
        st.sampled_from([f"type{n}" for n in range(5)]),
        st.sampled_from(["number", "category", "text", ""]),
    ),
    st.tuples(
        st.sampled_from([f"role{n}" for n in range(5)]), st.sampled_from(["input", "drop", "x"])
    ),
    st.tuples(
        st.sampled_from(["offered", "model", "exclude", "other"]),
        st.sampled_from(["a", "b", "c&d"]),
    ),
    st.tuples(
        st.sampled_from(["low.m.p", "high.m.p", "low.m"]),
        st.sampled_from(["5", " 0.1 ", "many", ""]),
    ),
    st.tuples(st.sampled_from(["offer.m.k", "only.m.k"]), st.sampled_from(['"a"', "true", "[]"])),
)


@given(st.lists(fields, max_size=12))
def test_an_address_says_the_same_when_it_is_read_again(given_fields: list[tuple[str, str]]):
    once = Wishes.read(given_fields, VERSION)
    assert Wishes.read(parse_qsl(once.query()), VERSION) == once


@given(st.lists(fields, max_size=12))
def test_each_change_can_be_undone_and_undoing_all_is_the_proposal(
    given_fields: list[tuple[str, str]],
):
    wishes = Wishes.read(given_fields, VERSION)
    while changes := wishes.changes(VERSION):
        fewer = Wishes.read(parse_qsl(changes[0].without), VERSION)
        assert len(fewer.changes(VERSION)) == len(changes) - 1
        wishes = fewer
    assert wishes.query() == ""


def test_a_form_that_says_what_was_proposed_is_no_change():
    form = [(f"type{n}", kind) for n, (_, kind, _) in enumerate(NAMES)]
    form += [
        ("role0", "input"),
        ("role1", "drop"),
        ("role2", "input"),
        ("target", "y"),
        ("offered", "a"),
        ("model", "a"),
    ]
    assert Wishes.read(form, VERSION).query() == ""


def test_changes_become_a_declaration():
    form = [
        ("type0", "category"),
        ("role1", "input"),
        ("role2", "drop"),
        ("offered", "a"),
        ("offered", "b"),
        ("model", "a"),
    ]
    declaration = Wishes.read(form, VERSION).declaration(VERSION)
    assert declaration.set == {"age": "category"}
    assert declaration.keep == ["id"]
    assert declaration.drop == ["é & <b>"]
    assert declaration.exclude == ["b"]


@given(st.text("abc_", max_size=9), st.text("abc_", max_size=9))
def test_the_token_of_one_session_is_no_token_of_another(one: str, other: str):
    session.check_csrf(one, session.csrf_token(one))
    if one != other:
        with pytest.raises(NotAllowed):
            session.check_csrf(one, session.csrf_token(other))


def test_numbers_have_sensible_digits():
    assert formatting.number(1234567) == "1,234,567"
    assert formatting.number(math.pi) == "3.1416"
    assert formatting.number("<b>") == "<b>"
    assert formatting.number(None) == "–"
