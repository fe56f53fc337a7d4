"""The renderer: where values go, what is told of them, and files that need nothing else."""

import json
import re
from html import unescape
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.figures import Axis, Figure, Reference, Series, element, tone_of
from easeml.figures.frame import frame_of
from easeml.figures.scales import Span, exact, log_values, round_values, span_of, ticks_of

finite = st.floats(-1e9, 1e9)
SVG = "{http://www.w3.org/2000/svg}"


def simple(*series: Series, **named: object) -> Figure:
    return Figure("Loss & cost", Axis("time", "s"), Axis("loss"), series, **named)  # type: ignore[arg-type]


def read(figure: Figure) -> dict:
    """Return what the page's script reads of a figure."""
    found = re.search('data-figure="([^"]*)"', element(figure))
    assert found
    return json.loads(unescape(found[1]))


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=30))
def test_every_value_has_its_place_in_the_plot_in_order(points: list[tuple[float, float]]) -> None:
    x, y = zip(*points, strict=True)
    frame = frame_of(simple(Series("a", x, y, kind="points")), 720, 260)
    across = [frame.across(value) for value in sorted(x)]
    down = [frame.down(value) for value in sorted(y)]
    assert across == sorted(across)
    assert down == sorted(down, reverse=True)
    assert all(0 <= place <= 720 for place in across)
    assert all(0 <= place <= 260 for place in down)


@given(finite, st.floats(1e-6, 1e9))
def test_round_values_are_inside_and_few(low: float, width: float) -> None:
    high = low + width
    if high - low < 1e-9 * max(abs(low), abs(high)):
        return
    found = round_values(low, high)
    assert 2 <= len(found) <= 9
    assert all(low - 1e-6 * width <= value <= high + 1e-6 * width for value in found)


def test_ticks_of_a_logarithmic_axis_are_powers_of_ten() -> None:
    assert log_values(1e-4, 1.0) == pytest.approx([1e-4, 1e-3, 1e-2, 1e-1, 1.0])
    assert log_values(1.0, 10.0) == pytest.approx([1, 2, 5, 10])
    axis = Axis("loss", scale="log", low=1e-4, high=1.0)
    shares = [tick.share for tick in ticks_of(axis, span_of(axis, []))]
    assert shares == pytest.approx([0, 0.25, 0.5, 0.75, 1])


def test_what_lies_outside_of_an_axis_is_at_its_edge_and_told_as_it_is() -> None:
    assert Span(0.0, 1.0).share(-5.0) == 0.0
    assert Span(1e-4, 1.0, log=True).share(0.0) == 0.0
    figure = Figure(
        "t", Axis("x"), Axis("y", low=0.5, high=1.0), (Series("a", (1.0,), (-3.25,), "points"),)
    )
    (point,) = read(figure)["series"][0]["points"]
    assert point[1] == 260
    assert point[3] == "-3.25"


@pytest.mark.parametrize(
    ("value", "text"), [(12345.0, "12,345"), (0.97979797, "0.979798"), (0.0, "0"), (-2.5, "-2.5")]
)
def test_exact_values(value: float, text: str) -> None:
    assert exact(value) == text


def test_values_of_rows_have_no_thousands_apart() -> None:
    """A year was shown as 2,005; counts beside it stay apart."""
    years = Axis("actual", low=1990.0, high=2020.0, of_data=True)
    counts = Axis("rows", low=0.0, high=8000.0)
    series = Series("a", (2005.0,), (4321.0,), "points")
    figure = Figure("Years", years, counts, (series,))
    found = read(figure)
    assert found["series"][0]["points"][0][2:] == ["2005", "4,321"]
    assert found["x"]["data"] is True
    assert "data" not in found["y"]
    texts = [tick.text for tick in ticks_of(years, span_of(years, []))]
    assert texts == ["1990", "1995", "2000", "2005", "2010", "2015", "2020"]
    assert "2,000" in [tick.text for tick in ticks_of(counts, span_of(counts, []))]


@pytest.mark.parametrize(("value", "end"), [(1.0, 1.0), (0.9, 1.0), (0.4, 0.6), (30.0, 45.0)])
def test_a_single_share_has_no_place_above_1(value: float, end: float) -> None:
    """Where all accuracies were 1, the axis went up to 1.5."""
    assert span_of(Axis("accuracy"), [value, value]).high == pytest.approx(end)


def test_the_page_is_told_units_intervals_notes_and_links() -> None:
    series = Series(
        "a", (1.0,), (0.5,), "points", low=(0.4,), high=(0.6,), notes=("<b>",), links=("/tasks/1",)
    )
    found = read(simple(series))
    assert found["x"]["unit"] == "s"
    assert found["series"][0]["points"][0][2:] == ["1", "0.5", "0.4 to 0.6", "<b>", "/tasks/1"]
    assert "<b>" not in element(simple(series))


def test_a_chart_is_one_tab_stop_and_has_no_inline_style() -> None:
    points = tuple(float(number) for number in range(300))
    html = element(simple(Series("a", points, points, "points", links=("/x",) * 300)), id="chart")
    assert html.count("tabindex") == 1
    assert "<a " not in html
    assert "style=" not in html


def test_a_file_is_an_svg_that_needs_nothing_else() -> None:
    figure = simple(
        Series("first <one>", (1.0, 2.0), (3.0, 4.0)),
        Series("second", (1.0, 2.0), (3.0, 4.0), "steps", low=(2.0, 3.0), high=(4.0, 5.0)),
        references=(Reference(3.5, "goal"), Reference(1.0, "region", axis="x", end=1.5)),
    )
    root = ElementTree.fromstring(figure.to_svg())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    for expected in ("Loss & cost", "time (s)", "loss", "first <one>", "second", "goal", "region"):
        assert expected in texts
    for attribute in (value for one in root.iter() for value in one.attrib.values()):
        assert "url(" not in attribute


def test_categories_are_listed_from_the_top_and_told_in_full() -> None:
    names = ("a name that is far too long for the side of a chart", "b")
    figure = Figure(
        "t", Axis("x"), Axis("m", scale="category", categories=names),
        (Series("", (3.0, 5.0), (0.0, 1.0), "bars"),),
    )  # fmt: skip
    first, second = read(figure)["series"][0]["points"]
    assert first[1] < second[1]
    assert first[3] == names[0]
    assert "a name that is … a chart" in element(figure)  # long names may differ at their ends


def test_bars_begin_at_nothing() -> None:
    frame = frame_of(simple(Series("a", (1.0,), (7.0,), "bars")), 720, 260)
    assert frame.y.low == 0.0


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Series("a", (1.0, 2.0), (1.0,)),
        lambda: Series("a", (1.0,), (float("nan"),)),
        lambda: Series("a", (1.0,), (1.0,), tone="pink"),
        lambda: Axis("a", low=1.0, high=1.0),
        lambda: Axis("a", scale="log", low=0.0),
    ],
)
def test_what_cannot_be_drawn_is_refused(bad: object) -> None:
    with pytest.raises(
        ValueError, match=r"no tone|different lengths|not finite|cannot begin|before it begins"
    ):
        bad()  # type: ignore[operator]


@given(st.integers(0, 100))
def test_tones_follow_the_order_in_which_things_came(place: int) -> None:
    assert tone_of(place) == tone_of(place + 7)
    assert len({tone_of(place + more) for more in range(7)}) == 7
