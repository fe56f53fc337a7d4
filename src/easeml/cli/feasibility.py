"""``feasibility``: can a goal be reached with the data of a file?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from easeml.cli.local_tables import read_labelled
from easeml.cli.options import Json
from easeml.cli.output import notes, print_json, print_pairs, print_table, say
from easeml.cli.progress import progress
from easeml.errors import InvalidInput

if TYPE_CHECKING:
    from easeml.lifecycle.feasibility import BayesError


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    app.command()(feasibility)


def feasibility(
    file: Annotated[Path, typer.Argument(help="Table file, such as CSV or Parquet.")],
    target: Annotated[str, typer.Option(help="Column to predict.")],
    goal: Annotated[
        float,
        typer.Option(help="Wanted accuracy, or R2 where the target is a number; 0.9 is 90 %."),
    ],
    embedding: Annotated[
        list[Path] | None,
        typer.Option(
            help="Pre-trained model for a table with one column of text: a Hugging Face folder. Repeatable."
        ),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the bounds and of the verdict.")] = 0.95,
    quick: Annotated[
        bool, typer.Option("--quick", help="Stop as soon as the verdict is decided.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of all that is drawn by chance.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Also write a page (.html), a table (.csv) or all (.json).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say whether a goal can be reached with this data, by any model, before any is trained.

    Ends with 0 if the goal is realistic, with 1 if it is unrealistic or cannot be told yet.
    """
    if out is not None and out.suffix not in (".html", ".csv", ".json"):
        raise InvalidInput(
            "The ending says no format.", where=str(out), remedy="Use .html, .csv or .json."
        )
    table = read_labelled(file, target)
    from easeml.lifecycle.feasibility import bayes_error, pretrained

    with progress("Estimating") as move:
        result = bayes_error(
            table.inputs,
            table.target,
            goal=goal,
            task="regression" if table.target.dtype.kind == "f" else "classification",
            representations=[pretrained(path) for path in embedding or ()],
            confidence=confidence,
            until_decided=quick,
            seed=seed,
            progress=move,
        )
    if out is not None:
        _write(result, out)
    if as_json:
        print_json({**result.to_json(), "notes": [*table.notes, *result.notes]})
    else:
        _print(result)
        if result.verdict == "unrealistic":
            for assumption in result.assumes:
                notes().print(f"Assumed: {assumption}", markup=False)
        for note in (*table.notes, *result.notes):
            notes().print(f"Note: {note}", markup=False)
    raise typer.Exit(0 if result.verdict == "realistic" else 1)


def _print(result: "BayesError") -> None:
    say(result.advice)
    noise = result.noise
    risk = None if result.risk is None else f"{max(result.risk, 1e-4):.4f} or less"
    print_pairs(
        [
            ("verdict", result.verdict),
            ("chance that it is wrong", risk),
            ("least error, estimate", result.estimate),
            ("bounds", f"{result.lower:.4f} to {result.upper:.4f}"),
            ("reached so far", f"{result.reached:.4f} ({result.representation})"),
            ("always the same guess", result.baseline),
            ("noise variance", result.noise_variance),
            (
                "labels wrong, at most about",
                noise and f"{noise.share:.1%} ({noise.low:.1%} to {noise.high:.1%})",
            ),
            ("error with clean labels", noise and noise.cleaned[-1][1]),
            ("rows", f"{result.rows}, of which {result.evaluated} evaluated"),
        ]
    )
    print_table(
        ["representation", "rows", "best way", "error", "bound", "dropped"],
        [
            (tried.name, tried.rows, tried.way, tried.error, tried.lower, tried.dropped)
            for tried in sorted(result.tried, key=lambda tried: (bool(tried.dropped), tried.error))
        ],
    )


def _write(result: "BayesError", out: Path) -> None:
    if out.suffix == ".html":
        text = result.to_html()
    elif out.suffix == ".csv":
        text = result.to_csv()
    else:
        text = json.dumps(result.to_json(), indent=2)
    try:
        out.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidInput(f"cannot be written: {error.strerror}.", where=str(out)) from error
