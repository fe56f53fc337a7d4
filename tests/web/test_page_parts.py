"""What pages are made of: places of chart marks, numbers and times in words, changes kept in an
address.
"""

import html
import math
import re
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.contract.applications import Application
from easeml.contract.datasets import Column, Version
from easeml.contract.jobs import Improvement
from easeml.contract.models import Measure
from easeml.contract.progress import Progress, ProgressPoint
from easeml.contract.scheduling import LossCurve, SchedulerView, Share
from easeml.errors import InvalidInput, NotAllowed
from easeml.lifecycle.cleaning import METHODS
from easeml.web import formatting, rendering, session
from easeml.web.charts import histogram_figure, spark_figure, time_unit
from easeml.web.page_words import worded
from easeml.web.quality_chart import quality_figure
from easeml.web.scheduler_charts import spent_losses, tones
from easeml.web.views.declaring import Wishes

APPLICATION = Application(
    id="app_1", name="prices", state="serving", dataset_id="dat_1", version_id="ver_1",
    target="price", objective="rmse", objective_title="Root mean squared error", endpoint="/",
    created=0.0,
)  # fmt: skip

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
def test_every_task_is_a_point_of_the_chart_with_its_own_values(found: list[tuple[float, float]]):
    told = progress(found)
    figure = quality_figure(told, APPLICATION)
    assert figure is not None
    length, _ = time_unit(told.cost)
    dots = [one for one in figure.series if one.kind == "points"]
    shown = sorted(pair for one in dots for pair in zip(one.x, one.y, strict=True))
    assert shown == sorted((point.spent / length, point.quality) for point in told.points)
    links = {link for one in dots for link in one.links}
    assert links == {f"/tasks/{point.task_id}" for point in told.points}


@given(st.lists(st.tuples(quality, cost), min_size=1, max_size=60))
def test_the_line_of_the_best_rises_to_the_best_task(found: list[tuple[float, float]]):
    figure = quality_figure(progress(found), APPLICATION)
    assert figure is not None
    line = next(one for one in figure.series if one.kind == "steps")
    assert list(line.y) == sorted(line.y)
    assert line.y[-1] == max(value for value, _ in found)


def test_tasks_far_below_are_a_series_that_says_so():
    figure = quality_figure(
        progress([(0.9, 1.0), (0.91, 1.0), (0.92, 1.0), (-3.0, 1.0)]), APPLICATION
    )
    assert figure is not None
    far = next(one for one in figure.series if one.name == "below the axis")
    assert far.y == (-3.0,)
    assert figure.y.low is not None and figure.y.low > -3.0
    assert "1 task is worse than" in figure.note


def errors(values: list[float], baseline: float) -> Progress:
    """Return the progress of a search whose models have these errors, in units of the target."""
    told = progress([(1 - value / baseline, 1.0) for value in values])
    for point, value in zip(told.points, values, strict=True):
        point.measure = Measure(
            value=value, lower_is_better=True, in_unit_of_target=True, baseline=baseline,
            guess="the mean",
        )  # fmt: skip
    return told


@given(st.lists(st.floats(100, 20_000), min_size=1, max_size=30), st.floats(100, 20_000))
def test_errors_are_drawn_in_the_unit_of_the_target(values: list[float], baseline: float):
    figure = quality_figure(errors(values, baseline), APPLICATION)
    assert figure is not None
    assert figure.y.title == "Root mean squared error on validation rows"
    assert figure.y.unit == "price"
    dots = [one for one in figure.series if one.kind == "points"]
    assert sorted(y for one in dots for y in one.y) == sorted(values)
    line = next(one for one in figure.series if one.kind == "steps")
    assert list(line.y) == sorted(line.y, reverse=True)
    assert line.y[-1] == min(values)
    far = [one for one in dots if one.name == "above the axis"]
    assert figure.y.high is not None
    assert all(y > figure.y.high for one in far for y in one.y)


def test_the_baseline_is_a_line_of_the_chart():
    figure = quality_figure(errors([5_000.0, 4_000.0], baseline=8_500.0), APPLICATION)
    assert figure is not None
    (line,) = figure.references
    assert (line.value, line.name) == (8_500.0, "always guessing the mean: 8,500")


def test_a_far_baseline_is_at_the_edge_and_says_so():
    figure = quality_figure(errors([50.0, 51.0, 52.0], baseline=8_500.0), APPLICATION)
    assert figure is not None
    (line,) = figure.references
    assert line.value == figure.y.high
    assert line.name == "always guessing the mean: 8,500, above the axis"


def test_no_task_no_chart():
    assert quality_figure(progress([]), APPLICATION) is None
    assert spark_figure([], 0.0) is None


@given(st.lists(st.tuples(quality, cost), min_size=1, max_size=20))
def test_a_sparkline_tells_every_improvement_until_now(found: list[tuple[float, float]]):
    spent, rising = 0.0, []
    for number, (value, more) in enumerate(found):
        spent += more
        rising.append(
            Improvement(task_id=str(number), name="", quality=value, cost=spent, finished=0.0)
        )
    figure = spark_figure(rising, spent)
    assert figure is not None
    (line,) = figure.series
    assert line.y[1:-1] == tuple(value for value, _ in found)
    assert line.x[-1] == spent


def view(names: list[str], shown: list[str]) -> SchedulerView:
    """Return a scheduler's view of some of the tenants that came in the order of ``names``."""
    shares = []
    for name in shown:
        place = names.index(name)
        share = Share(
            tenant=name, place=place, own=False, state="searching", searches=1, gain_rate=0.0,
            expected_improvement=0.0, running=0, waiting=0, cost=0.0,
        )  # fmt: skip
        shares.append(share)
    return SchedulerView(
        policy="default", now=10.0, since=0.0, devices=[], timeline=[], queue=[], queued=0,
        tenants=shares, losses=LossCurve(), decisions=0,
    )  # fmt: skip


@given(st.permutations(["zoe", "bob", "ann", "mia"]), st.sampled_from(["aaron", "zz"]))
def test_a_tenants_colour_stays_when_somebody_joins_or_leaves(names: list[str], newcomer: str):
    before = tones(view(names, names))
    after = tones(view([*names, newcomer], [newcomer, *names[1:]]))
    assert all(after[name] == before[name] for name in names[1:])


def test_losses_of_a_replay_are_told_against_device_time():
    curve = LossCurve(
        name="fifo", at=[0.0, 60.0, 240.0, 900.0], average=[1.0, 0.5, 0.0, 0.0],
        worst=[1.0, 0.9, 0.0, 0.0], area=0.1,
    )  # fmt: skip
    figure = spent_losses([curve])
    assert figure is not None
    assert figure.x.unit == "min"
    assert figure.x.high == pytest.approx(4.4)
    assert "15 min" in figure.note
    assert [one.name for one in figure.series] == ["fifo, worst search", "fifo, average"]
    assert spent_losses([LossCurve()]) is None


def test_a_histogram_of_years_has_no_thousands_apart():
    assert histogram_figure(1990.0, 2020.0, [1] * 5).x.of_data


def test_a_histogram_has_a_bar_a_bin():
    (bars,) = histogram_figure(0.5, 11.5, [1] * 11).series
    assert bars.x == pytest.approx(range(1, 12))


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
    st.tuples(st.sampled_from(["way0", "way2"]), st.sampled_from(["rising", "falling", "", "up"])),
    st.tuples(st.just("objective"), st.sampled_from(["cost(a as b=1)", "recall(a)"])),
    st.tuples(
        st.sampled_from(['cost.["a", "b, c"]', 'cost.["b, c", "a"]']), st.sampled_from("05x")
    ),
    st.tuples(st.just("cost-unit"), st.sampled_from(["", "EUR"])),
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
    assert declaration.weight is None


def test_one_column_may_be_the_weight_of_rows():
    wishes = Wishes.read([("role0", "weight")], VERSION)
    assert wishes.declaration(VERSION).weight == "age"
    assert [change.text for change in wishes.changes(VERSION)] == ["age: weight of the row"]
    two = Wishes.read([("role0", "weight"), ("role2", "weight")], VERSION)
    with pytest.raises(InvalidInput, match="One column can be the weight"):
        two.declaration(VERSION)


def test_a_forecast_of_several_series_becomes_a_declaration():
    wishes = Wishes.read([("ahead", "12"), ("role0", "series")], VERSION)
    forecast = wishes.declaration(VERSION).forecast
    assert forecast is not None
    assert (forecast.ahead, forecast.series) == (12, ["age"])
    told = [change.text for change in wishes.changes(VERSION)]
    assert told == ["forecast: 12 steps ahead", "age: tells series apart"]
    with pytest.raises(InvalidInput, match="no number of steps"):
        Wishes.read([("ahead", "a year")], VERSION).declaration(VERSION)
    with pytest.raises(InvalidInput, match="Only a forecast has series"):
        Wishes.read([("role0", "series")], VERSION).declaration(VERSION)


def test_a_table_of_costs_and_columns_to_follow_become_a_declaration():
    form = [
        ("objective", "cost(bad as good=1)"),
        ('cost.["bad", "good"]', "5"),
        ('cost.["good", "bad, or so"]', "0.50"),
        ('cost.["bad", "bad"]', "0"),
        ("cost-unit", "EUR"),
        ("way0", "rising"),
        ("way2", ""),
    ]
    declaration = Wishes.read(form, VERSION).declaration(VERSION)
    assert declaration.objective == (
        'cost("bad" as "good"=5, "good" as "bad, or so"=0.50, unit="EUR")'
    )
    assert declaration.monotonic == {"age": "rising"}
    others = [("objective", "accuracy"), *form[1:]]  # the table of before is no wish any more
    assert Wishes.read(others, VERSION).objective == "accuracy"
    typed = [*form, ("named", "recall(bad)")]
    assert Wishes.read(typed, VERSION).objective == "recall(bad)"
    with pytest.raises(InvalidInput, match="not a cell"):
        Wishes.read([("cost.bad", "1")], VERSION)


@given(st.text("abc_", max_size=9), st.text("abc_", max_size=9))
def test_the_token_of_one_session_is_no_token_of_another(one: str, other: str):
    session.check_csrf(one, session.csrf_token(one))
    if one != other:
        with pytest.raises(NotAllowed):
            session.check_csrf(one, session.csrf_token(other))


def test_numbers_have_sensible_digits():
    assert formatting.number(1234567) == "1,234,567"
    assert formatting.number(math.pi) == "3.1416"
    assert formatting.number(15_566_000.0) == "15,566,000"
    assert formatting.number(8400.0) == "8,400"
    assert formatting.number([1e5, -2.5e6]) == "[100,000, -2,500,000]"
    assert formatting.number(1e300) == "1e+300"
    assert formatting.number("<b>") == "<b>"
    assert formatting.number(None) == "–"


@given(st.lists(fields, max_size=12), st.integers(0, 2))
def test_leaving_a_column_out_is_a_change_that_an_address_keeps(
    given_fields: list[tuple[str, str]], position: int
):
    wishes = Wishes.read(given_fields, VERSION).without(position, VERSION)
    assert Wishes.read(parse_qsl(wishes.query()), VERSION) == wishes
    name = VERSION.columns[position].name
    declaration = wishes.declaration(VERSION)
    proposed = VERSION.columns[position].role == "drop"
    assert (name in declaration.drop) != proposed
    assert name not in declaration.keep


@pytest.mark.parametrize(
    ("advice", "place"),
    [
        ("Let it be another type (--set 'age'=text).", "choose text as the type of age"),
        ("Feed rows: easeml app feed ID FILE", "the tab Data, &#34;Add rows&#34;"),
        ("Allow them: fill_absent=true in the query.", "tick &#34;Allow absent columns&#34;"),
        ("Allow them: fill_empty=true in the query.", "tick &#34;Allow empty cells&#34;"),
    ],
)
def test_advice_names_the_place_on_a_page(advice: str, place: str):
    told = worded(advice)
    assert place in told
    assert "easeml " not in told
    assert "--" not in told


def test_several_faults_of_a_request_are_a_list():
    faults = ["row 1, column 'age': -3 is no age.", "row 2: the column 'job' is <not> there."]
    message = "\n".join(["the rows have 2 faults:", *map("- {}".format, faults), ""])
    problem = InvalidInput(message, where="rows", remedy="Correct them all.")
    macros = rendering.environment().get_template("forms.html").module
    shown = str(macros.problem_notice(problem))
    items = re.findall(r"<li>(.*?)</li>", shown)
    assert list(map(html.unescape, items)) == faults
    assert "<not>" not in shown
    assert "- row" not in shown
    alone = str(macros.problem_notice(InvalidInput("The file is empty.")))
    assert "<ul" not in alone


def test_values_that_may_stand_for_missing_ones_are_declared_by_a_choice():
    columns = [one.model_copy(update={"suspected_codes": ["-1", "999"]}) for one in VERSION.columns]
    version = VERSION.model_copy(update={"columns": columns})
    wishes = Wishes.read([("missing0", "-1,999"), ("missing1", "7")], version)
    assert wishes.declaration(version).set == {"age.missing": "-1,999"}
    [change] = wishes.changes(version)
    assert change.text == "age: -1,999 is missing"
    assert change.without == ""


def test_a_page_says_in_words_why_a_cell_is_in_doubt() -> None:
    for method in METHODS:
        assert "clean" not in formatting.why_in_doubt(f"clean: {method}, 4 of 9 values")
    assert formatting.why_in_doubt("a tool of mine") == "a tool of mine"


@given(st.floats(1, 1e7))
def test_a_limit_stands_in_its_field_in_few_digits_and_near(seconds: float) -> None:
    shown = formatting.minutes(seconds)
    assert float(shown) * 60 == pytest.approx(seconds, rel=0.005)
    assert len(shown.partition(".")[2]) <= 4


@pytest.mark.parametrize(("seconds", "shown"), [(40.0, "0.667"), (90.0, "1.5"), (86400.0, "1440")])
def test_minutes_are_told_as_people_write_them(seconds: float, shown: str) -> None:
    assert formatting.minutes(seconds) == shown
