"""``simulate``: what policies would have done on recorded work."""

import json
from collections.abc import Callable
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any

import typer

from easeml.cli.options import Json, at_most_one, comma_separated, exactly_one
from easeml.cli.output import print_table, print_told, say
from easeml.cli.progress import progress
from easeml.cli.simulate_history import compare_history
from easeml.cli.simulate_preemption import simulate_preemption
from easeml.errors import InvalidInput

simulate = typer.Typer(no_args_is_help=True, help="What policies would have done on recorded work.")

_POLICIES = "default,hybrid,ei-rate,gp-ucb-round-robin,gittins,cheapest-first,random"


def register(app: typer.Typer) -> None:
    """Add ``simulate`` to the root."""
    app.add_typer(simulate, name="simulate")


@simulate.command("search")
def simulate_search(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Folder with accuracy.csv, and time.csv if known."),
    ] = None,
    policies: Annotated[str, typer.Option(help="Names with commas between.")] = _POLICIES,
    devices: Annotated[
        int | None,
        typer.Option(help="How many equal devices (1, or as many as worked in the history)."),
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="How many draws of tenants (and of uniform costs).")
    ] = 30,
    tenants: Annotated[
        int | None, typer.Option(help="Tenants under test (10); the others are the past.")
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(
            help="learned (policies know what past runs and their own took), measured (they know "
            "all) or uniform (drawn, and known). Learned where there are times."
        ),
    ] = None,
    no_history: Annotated[
        bool, typer.Option("--no-history", help="Nothing is known of the past.")
    ] = False,
    misleading: Annotated[
        bool, typer.Option("--misleading-history", help="The past has its models' names mixed up.")
    ] = False,
    from_history: Annotated[
        bool,
        typer.Option(
            "--from-history", help="Search again what the service of a home has searched."
        ),
    ] = False,
    home: Annotated[
        Path | None, typer.Option(help="The home, with --from-history (.easeml).")
    ] = None,
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the result here: .json, .csv, .html or .svg.")
    ] = None,
) -> None:
    """Search recorded tables of qualities under several policies, and compare what users would lose.

    Loss is the best quality any model reaches less the best found so far, averaged over tenants;
    the clairvoyant schedule, which knows all qualities, is the limit.
    """
    names = comma_separated(policies)
    if not names:
        raise InvalidInput("There is no policy to compare.", where="--policies")
    either = InvalidInput(
        "Give either a folder with tables or --from-history.",
        where="simulate search",
        remedy="easeml simulate search DIR, or easeml simulate search --from-history.",
    )
    exactly_one(folder, from_history, otherwise=either)
    if folder is None:
        with progress("Searching") as bar:
            found = compare_history(home, names, devices, bar)
    else:
        found = _compared(
            folder,
            names,
            costs,
            devices=1 if devices is None else devices,
            seeds=seeds,
            tenants=tenants,
            no_history=no_history,
            misleading=misleading,
        )
    if out is not None:
        _write(found, out)
    print_told(found, partial(_print, found, out), as_json=as_json)


def _compared(
    folder: Path, names: list[str], costs: str | None, *, tenants: int | None, **setting: Any
) -> dict[str, Any]:
    """Return how policies do on the tables of a folder. Raises ``InvalidInput``.

    ``costs`` and ``tenants`` are what suits the tables where they are None.
    """
    from easeml.cli.workload_files import read_workload
    from easeml.search.simulator import compare

    workload, measured = read_workload(folder)
    if costs in ("learned", "measured") and not measured:
        raise InvalidInput(
            "The folder has no times.", where=str(folder), remedy="Use --costs uniform."
        )
    if tenants is None:
        tenants = min(10, len(workload.tenants))
    usual = "learned" if measured else "uniform"
    under_test = _setting(costs=costs or usual, tenants=tenants, **setting)
    with progress("Searching") as bar:
        return compare(workload, names, under_test, progress=bar).to_json()


def _setting(*, no_history: bool, misleading: bool, **counts: Any) -> Any:
    """Return the setting with the history that was asked for; raises ``InvalidInput``."""
    from easeml.search.simulator import Setting

    not_both = InvalidInput(
        "No history cannot mislead.", where="--no-history", remedy="Leave one of the two out."
    )
    at_most_one(no_history, misleading, otherwise=not_both)
    if no_history:
        return Setting(history="none", **counts)
    return Setting(history="misleading" if misleading else "given", **counts)


simulate.command("preemption")(simulate_preemption)


def _print(found: dict[str, Any], out: Path | None) -> None:
    titles = map("cost to {:g}".format, found["levels"])
    rows = starmap(_policy_row, found["policies"].items())
    print_table(["policy", "area", *titles, "95 % of tenants"], rows)
    if "happened" in found:
        _print_history(found)
    else:
        say(
            f"{found['seeds']} draws of {found['tenants']} tenants on {found['devices']} devices, "
            f"{found['costs']} costs, history {found['history']}. "
            "Cost: mean share of the cost of running everything."
        )
    if out is not None:
        say(f"Written to {out}.")


def _policy_row(name: str, told: dict[str, Any]) -> tuple[str, ...]:
    shares = [f"{100 * share:.2f} %" for share in told["share_to_level"]]
    return name, f"{told['area']:.6f}", *shares, f"{100 * told['share_to_most']:.1f} %"


def _print_history(found: dict[str, Any]) -> None:
    say(
        f"{found['tenants']} searches that were done here, on {found['devices']} devices, at the "
        f"costs and qualities that were measured. As it happened: area "
        f"{found['happened']['area']:.6f}."
    )
    say(
        f"{found['decided_again']} of {found['decisions']} recorded decisions are made again by "
        "the policy that made them."
    )


def _write(found: dict[str, Any], out: Path) -> None:
    kind = out.suffix.lower()
    if kind not in _FORMS:
        raise InvalidInput(
            f"Nothing is written as {kind!r}.",
            where="--out",
            remedy="Use .json, .csv, .html or .svg.",
        )
    out.write_text(_FORMS[kind](found), encoding="utf-8")


def _as_page(found: dict[str, Any]) -> str:
    from easeml.figures.search import loss_figure

    return loss_figure(found).to_page()


def _as_svg(found: dict[str, Any]) -> str:
    from easeml.figures.search import loss_figure

    return loss_figure(found).to_svg()


def _as_csv(found: dict[str, Any]) -> str:
    """Return the curves of all policies, one line a point."""
    lines = ["policy,cost_share,mean_loss,low,high,worst_loss"]
    for name, told in found["policies"].items():
        columns = (told["cost_share"], told["mean_loss"], told["interval"], told["worst_loss"])
        for share, mean, (low, high), worst in zip(*columns, strict=True):
            lines.append(f"{name},{share:.6g},{mean:.6g},{low:.6g},{high:.6g},{worst:.6g}")
    return "\n".join(lines) + "\n"


_FORMS: dict[str, Callable[[dict[str, Any]], str]] = {
    ".json": json.dumps,
    ".csv": _as_csv,
    ".html": _as_page,
    ".svg": _as_svg,
}
