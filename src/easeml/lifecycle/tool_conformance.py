"""What every lifecycle tool has to hold, for those who bring one."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, get_args

import pandas as pd

from easeml.lifecycle.result import plain
from easeml.lifecycle.tool import Fact, Tool, ToolAnswer


def check(
    tool: Tool, facts: Mapping[Fact, Any], parameters: Mapping[str, Any] | None = None
) -> ToolAnswer:
    """Ask a tool and look at what it answers; return the finished answer.

    Raises ``AssertionError`` saying what is wrong.
    """
    _check_declaration(tool)
    parameters = parameters or {}
    before = {fact: _copy(value) for fact, value in facts.items()}
    state = tool.open(tool.configured(parameters))
    first, after = tool.ask(state, facts)
    again, _ = tool.ask(state, facts)
    assert plain(again) == plain(first), "the same state and facts gave another answer"
    if first.unfinished:
        _, later = tool.ask(after, facts)
        assert later != after, "an unfinished answer does not go on"
    for fact, value in facts.items():
        assert _same(value, before[fact]), f"it changed {fact}"

    answer = tool.answer(facts, parameters)
    assert not answer.unfinished, "it is never finished"
    _check_answer(answer)
    return answer


def _check_declaration(tool: Tool) -> None:
    assert tool.title and tool.about.endswith("."), "people need a title and a sentence"
    unknown = {*tool.needs, *tool.may} - set(get_args(Fact))
    assert not unknown, f"there are no facts {unknown}"
    for field in fields(tool.config):
        assert field.default is not MISSING, f"the parameter {field.name} has no default"


def _check_answer(answer: ToolAnswer) -> None:
    assert answer.advice, "it advises nothing"
    json.dumps(plain(answer), allow_nan=False)
    for number in answer.numbers:
        low = number.value if number.low is None else number.low
        high = number.value if number.high is None else number.high
        assert low <= number.value <= high, f"{number.name} is not in its interval"
    for table in answer.tables:
        widths = set(map(len, table.rows))
        assert widths <= {len(table.columns)}, f"{table.title}: rows of other widths"
    for figure in answer.figures:
        figure.to_svg()


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, pd.DataFrame | pd.Series) else value


def _same(value: Any, before: Any) -> bool:
    if isinstance(value, pd.DataFrame | pd.Series):
        return value.equals(before)
    return value is before
