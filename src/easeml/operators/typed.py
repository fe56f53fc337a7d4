"""The rows of a relation as models meet them: typed columns, by role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from easeml.data import Columns, declare_columns, infer_table, read_newer
from easeml.data.types.declared_columns import with_one_answer
from easeml.data.types.text_tables import text_table
from easeml.errors import InvalidInput
from easeml.relation import Relation
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_ROUNDING = 1e-9  # of probabilities


@dataclass(frozen=True)
class Rows:
    """n rows: ``inputs``, a frame, ``answers`` (n,), missing where nobody knows them, and ids."""

    inputs: pd.DataFrame
    answers: pd.Series
    row_ids: pd.Index

    @property
    def known(self) -> Rows:
        """The rows whose answer is known."""
        there = self.answers.notna().to_numpy()
        return Rows(self.inputs.loc[there], self.answers.loc[there], self.row_ids[there])

    def with_answers(self) -> pd.DataFrame:
        """Return inputs and answers as one frame."""
        return self.inputs.assign(**{str(self.answers.name): self.answers})

    def __len__(self) -> int:
        return len(self.inputs)


def target_of(relation: Relation) -> str:
    """Return the column of labels. Raises InvalidInput where there is none."""
    if relation.target is None:
        raise InvalidInput("The relation has no target.", remedy="Name one in from_frame.")
    return relation.target


def columns_of(relation: Relation) -> Columns:
    """Return what inputs and answers look like, by the rows that models are chosen with.

    Raises InvalidInput where there are no such rows, or nothing can be learned from them.
    """
    target = target_of(relation)
    table = relation.in_role("train", "validation").to_arrow()
    known = table.filter(table.column(target).is_valid())
    if not known.num_rows:
        raise InvalidInput(
            "No row of train or validation has a label.", remedy="Use split() or weak_labels()."
        )
    reports = infer_table(_text(known), target).columns
    return declare_columns(reports, target, with_one_answer(reports, target))


def rows_in(
    relation: Relation, schemas: tuple[Schema, Schema], *roles: str, sure: float = 1.0
) -> Rows:
    """Return the rows of some roles as they are likeliest, typed by schemas.

    ``sure``: answers that are less likely count as not known. Raises InvalidInput where there are
    no rows, or cells do not fit.
    """
    chosen = relation.in_role(*roles)
    if not len(chosen):
        raise InvalidInput(f"There are no {' or '.join(roles)} rows.", remedy="Give rows roles.")
    found = read_newer(_text(chosen.to_arrow()), *schemas)
    row_ids = chosen.to_frame().index
    assert found.answers is not None  # the table has its target
    answers = found.answers.mask(row_ids.isin(doubtful_labels(chosen, sure)))
    return Rows(found.inputs, answers, row_ids)


def doubtful_labels(relation: Relation, sure: float) -> list[Any]:
    """Return the ids of the rows none of whose labels has a probability of ``sure``."""
    blocks = relation.content.blocks
    cells = blocks.cells.get(target_of(relation))
    if cells is None:
        return []
    rows = blocks.row[blocks.block[cells.place]].tolist()
    weights = blocks.weight[cells.place].tolist()
    # Candidates of one row with the same label, which differ elsewhere, count together.
    by_label: dict[int, dict[Any, float]] = {}
    for row, label, weight in zip(rows, cells.values.to_pylist(), weights, strict=True):
        weight_of = by_label.setdefault(row, {})
        weight_of[label] = weight_of.get(label, 0.0) + weight
    found = []
    for row, weight_of in by_label.items():
        if max(weight_of.values()) < sure - _ROUNDING:
            found.append(relation.row_ids[row])
    return found


def _text(table: pa.Table) -> pa.Table:
    """Return a table as a file would hold it, which is what types are inferred from."""
    plain = table.replace_schema_metadata(None)
    return text_table(plain.to_batches(), plain.schema, "relation")
