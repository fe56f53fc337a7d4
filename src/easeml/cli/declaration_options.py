"""The options that say what an application is: what to predict, how, from which data."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        help="A table, a zip file or folder of samples by class, arrays, series ...; an address as "
        "for easeml data add; or the id of a data set."
    ),
]
Query = Annotated[str, typer.Option(help="Which rows of a database: SELECT ...")]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        help="Column to predict; proposed by easeml if left out. Repeatable: each gets an "
        "application of its own, which is not told the others."
    ),
]
Together = Annotated[
    bool,
    typer.Option(
        help="The targets are one answer: one application with one quality predicts them all. They "
        "are yes or no each, or a number each."
    ),
]
Objective = Annotated[
    str | None,
    typer.Option(
        help="What to optimise; the default of the target's type. Of a class: recall(bad), "
        "f-beta(bad, 2)."
    ),
]
Costs = Annotated[
    Path | None,
    typer.Option(
        help="A CSV table of what each confusion costs, for the objective cost: a row for what "
        "is true, a column for what is said."
    ),
]
CostUnit = Annotated[str, typer.Option(help="The unit of these costs, such as EUR.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="COLUMN=TYPE, COLUMN.missing=CODES, COLUMN.format=FORM."),
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="Column to keep although proposed for dropping, or another target."),
]
SplitBy = Annotated[
    str,
    typer.Option(help="Rows to train and test: random, time:COLUMN, group:COLUMN or given:COLUMN."),
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Column that says how much each row counts; not an input."),
]
Ahead = Annotated[
    int | None,
    typer.Option(
        "--forecast",
        metavar="STEPS",
        min=1,
        help="The target follows its own past, and is forecast so many steps ahead: months, days, "
        "or whatever lies between rows.",
    ),
]
Series = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that tells series apart which are forecast, such as the shop; repeatable.",
    ),
]
PastOnly = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of numbers that is not known ahead, such as the temperature: a forecast looks at "
        "what it was; repeatable.",
    ),
]
Name = Annotated[str | None, typer.Option(help="Name of the application.")]
Models = Annotated[str | None, typer.Option(help="Only these models, separated by commas.")]
Exclude = Annotated[str | None, typer.Option(help="All but these models, separated by commas.")]
MaxLatency = Annotated[
    str | None, typer.Option(help="Longest time of a model to predict one row, such as 20ms.")
]
MaxSize = Annotated[
    str | None, typer.Option(help="Largest size of the files of a model, such as 5MB.")
]
Monotonic = Annotated[
    list[str] | None,
    typer.Option(
        help="COLUMN=rising or =falling: the prediction (of two classes, the probability of the "
        "second) never goes against it; repeatable."
    ),
]
Optimizer = Annotated[
    str,
    typer.Option(help="Optimizer that proposes configurations; the provider's choice if left out."),
]
Constrain = Annotated[
    list[str] | None,
    typer.Option(help="MODEL.PARAMETER=VALUE, =VALUE,VALUE or =LOW..HIGH; repeatable."),
]
MaxTasks = Annotated[int | None, typer.Option(min=1, help="Most candidates to train.")]
MaxSeconds = Annotated[float | None, typer.Option(min=0.001, help="Most device seconds to spend.")]
Deadline = Annotated[
    datetime | None, typer.Option(help="Local time by which training must be expected to end.")
]
GoalText = Annotated[
    str | None,
    typer.Option(
        metavar="GOAL",
        help='Such as 0.9, "accuracy >= 0.9" or "error below 5 %": say first whether it can '
        "be reached. A goal that names an objective chooses it.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
