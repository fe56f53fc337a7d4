"""How doubtful cells look in a terminal."""

from easeml.cli.output import print_table, say
from easeml.contract.work import DoubtfulCell, Doubts, why_in_doubt

_SHOWN = 3  # candidates of a cell


def print_doubts(found: Doubts) -> None:
    """Print doubtful cells, a line each."""
    if not found.looked:
        say("Nobody has looked for doubtful cells yet. Add --look.")
        return
    say(f"{found.total} doubtful cells in version {found.number}.")
    print_table(["row", "column", "given", "could be", "because"], map(_row, found.items))


def _row(cell: DoubtfulCell) -> tuple[object, ...]:
    could_be = [f"{one.value} {one.weight:.0%}" for one in cell.candidates[:_SHOWN]]
    return cell.row, cell.column, cell.given, could_be, why_in_doubt(cell.source)
