"""Figures of continuous integration: a plan, a verdict, a ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from easeml.figures.description import Axis, Series, column, grouped, numbers
from easeml.figures.figure import Figure

_TONES = {"pass": "good", "fail": "bad", "unknown": "warn", "undecided": "5", "abandoned": "muted"}
_OF_TRUTH = {None: ("open", "muted"), True: ("true", "good"), False: ("false", "bad")}


def plan(document: Mapping[str, Any]) -> Figure:
    """Return labels at most, and expected, by method; ``document`` is a plan as JSON."""
    methods = document["methods"]
    names = tuple(method["name"] for method in methods)
    series = []
    for key, label, tone, shift in (
        ("labelled", "at most", "muted", -0.2),
        ("expected", "expected", "1", 0.2),
    ):
        sizes = column(methods, key)
        places = tuple(place + shift for place in range(len(methods)))
        series.append(
            Series(
                label,
                sizes,
                places,
                kind="bars",
                tone=tone,
                width=0.36,
            )
        )

    return Figure(
        f"Labels for {document['steps']:,} commits: {document['condition']}",
        Axis("examples to label", low=0.0),
        Axis("method", scale="category", categories=names),
        tuple(series),
    )


def verdict(document: Mapping[str, Any]) -> Figure:
    """Return the interval of each clause beside its threshold; the colour tells its truth."""
    findings = [one for one in document["findings"] or [] if one["estimate"] is not None]
    clauses = tuple(dict.fromkeys(finding["clause"] for finding in findings))
    series = []
    by_truth = grouped(findings, "truth")
    for truth, (name, tone) in _OF_TRUTH.items():
        if truth in by_truth:
            series.append(_estimates(by_truth[truth], clauses, name, tone))
    thresholds = Series(
        "threshold",
        tuple(map(_threshold, clauses)),
        numbers(range(len(clauses))),
        kind="points",
        mark="tick",
        tone="text",
    )

    return Figure(
        f"{document['answer']}: {document['condition']}",
        Axis("value of the expression"),
        Axis("clause", scale="category", categories=clauses),
        (*series, thresholds) if clauses else (),
    )


def _estimates(
    findings: list[Mapping[str, Any]], clauses: tuple[str, ...], name: str, tone: str
) -> Series:
    return Series(
        name,
        column(findings, "estimate"),
        tuple(float(clauses.index(one["clause"])) for one in findings),
        kind="points",
        tone=tone,
        low=column(findings, "low"),
        high=column(findings, "high"),
    )


def ledger(document: Mapping[str, Any]) -> Figure:
    """Return the labels of every step, coloured by its answer."""
    history = document["history"]
    steps = [{**step, "number": number} for number, step in enumerate(history, start=1)]
    by_answer = grouped(steps, "answer")
    series = []
    for answer, tone in _TONES.items():
        if answer in by_answer:
            reached = column(by_answer[answer], "number")
            labels = column(by_answer[answer], "labels")
            series.append(Series(answer, reached, labels, kind="bars", tone=tone))

    return Figure(
        f"{len(history):,} of {document['config']['steps']:,} steps spent",
        Axis("step"),
        Axis("labels needed", low=0.0),
        tuple(series),
    )


def _threshold(clause: str) -> float:
    """Return the number after the comparison of a clause's text."""
    right = clause.replace("<", ">").partition(">")[2]
    return float(right.partition("+/-")[0])
