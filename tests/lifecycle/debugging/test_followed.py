"""What came of a remedy that was followed stands beside what it promised."""

import re

import numpy as np
from faulty_rows import facts, rows

from easeml.lifecycle.debugging import Slice
from easeml.lifecycle.result import plain
from easeml.lifecycle.tool import tool_named

TOOL = tool_named("debug")
PROMISED = "Promised and actual corrections"


def test_a_remedy_that_was_followed_is_scored_by_the_next_model() -> None:
    random = np.random.default_rng(3)
    inputs, codes = rows(600, 1)
    later = rows(600, 2)
    is_west = (inputs["site"] == "west").to_numpy()
    wrong = is_west & (random.random(600) < 0.6)
    broken = facts((inputs, np.where(wrong, 1 - codes, codes)), later)
    before = TOOL.answer(broken, {})
    assert PROMISED not in [table.title for table in before.tables]
    remedy = next(one for one in before.remedies if one.kind == "check-labels")
    inside = Slice.from_json(remedy.conditions).holds(later[0])
    truth, said = broken["answers"].astype(str), broken["predictions"].values
    then = int((truth.to_numpy() != said)[inside].sum())
    assert (remedy.judged, remedy.rows, remedy.mistakes) == ("validation", inside.sum(), then)

    followed = plain(remedy)
    mended = facts((inputs, codes), later)
    told = [{**followed, "is_same_model": True}, {**followed, "is_same_model": False}]
    after = TOOL.answer({**mended, "followed": told}, {})
    (table,) = [table for table in after.tables if table.title == PROMISED]
    waits, came = table.rows
    assert waits[2] == "not yet: the same model serves"
    now = int((truth.to_numpy() != mended["predictions"].values)[inside].sum())
    corrected, low, high = map(int, re.findall(r"-?\d+", came[2]))
    assert corrected == then - now  # of the same rows
    assert 0 < low < corrected < high
    assert came[1].startswith(f"{remedy.corrected:.0f} ({remedy.low:.0f} to ")
    assert came[3:] == (f"{then} of {inside.sum()}", f"{now} of {inside.sum()}")
