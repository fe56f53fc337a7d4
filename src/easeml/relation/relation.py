"""The data model of the lifecycle: a table whose doubts are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from easeml.data import ALL_ROLES
from easeml.errors import InvalidInput
from easeml.relation import aggregates, exchange, files, operations
from easeml.relation.candidates import RowCandidates, cell_candidates, optional_row, with_all
from easeml.relation.content import Content, Source
from easeml.relation.drawn_worlds import drawn_worlds
from easeml.relation.expressions import Condition, Formula, Tested, parse
from easeml.relation.groups import Groups
from easeml.relation.row_sql import row_sql
from easeml.relation.updates import updated

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from easeml.relation.distributions import Distribution


class Relation:
    """Rows of which some could be one of several; one world takes one candidate of each block.

    Rows are independent, and so are the uncertain cells of a row unless candidates were given for
    several cells at once. Missing cells are certain to be missing, until somebody gives candidates.
    A relation never changes: methods return another one. (Renggli et al., CIDR 2021, section 3.1.)
    """

    def __init__(self, content: Content):
        """Use ``from_frame``, ``from_file`` or ``load``.

        Raises:
            InvalidInput: for anything else, such as a frame.
        """
        if not isinstance(content, Content):
            raise InvalidInput(
                f"A relation is not made of a {type(content).__name__} as it is.",
                remedy="Write Relation.from_frame(frame, target=...), or Relation.from_file(path).",
            )
        self._content = content

    @property
    def content(self) -> Content:
        """Certain cells and blocks of candidates, for code that works on them."""
        return self._content

    @classmethod
    def from_frame(
        cls, frame: Any, target: str | None = None, roles: Sequence[str] | str | None = None
    ) -> Self:
        """Return a relation without doubts.

        Args:
            frame: a pandas frame, whose index names the rows and has to be unique, a Polars frame
                or an Arrow table, whose rows are called 0, 1, ...
            target: the column of labels.
            roles: one of train, validation, test, pool and production a row, or the name of the
                column that has them.

        Raises:
            InvalidInput: saying what does not fit, and what to do.
        """
        return cls(exchange.content_of_frame(frame, target, roles))

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        target: str | None = None,
        roles: str | None = None,
        table: int | None = None,
    ) -> Self:
        """Read a table file with inferred types, or a Parquet file as ``load`` does.

        ``target``: the column of labels; ``roles``: the column with the rows' roles;
        ``table``: which one of a workbook or document (``easeml.data.read_table``).

        Raises:
            InvalidInput: where the file is no table, or has no such column.
        """
        return cls(files.read(Path(path), target, roles, table))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a relation from the file that ``save`` wrote, or from any Parquet file."""
        return cls(files.load(Path(path)))

    def save(self, path: str | Path) -> None:
        """Write a Parquet file, and the candidates in another beside it (NAME.candidates.parquet)."""
        files.save(self.content, Path(path))

    def with_candidates(
        self, row_id: Any, column: str, weights: Mapping[Any, float], source: Source | None = None
    ) -> Self:
        """Say what a cell could be: a probability for each value. Also for labels.

        Raises:
            NotFound: where there is no such row.
            InvalidInput: where the column is not there, a value is not of its type, or the
                probabilities do not sum to one.
        """
        return self.with_all([cell_candidates(row_id, column, weights, source)])

    def with_optional(self, row_id: Any, probability: float, source: Source | None = None) -> Self:
        """Say that a row exists with a probability. Raises as ``with_candidates`` does."""
        return self.with_all([optional_row(row_id, probability, source)])

    def with_all(self, told: Sequence[RowCandidates]) -> Self:
        """Say what several rows could be, cells together where they vary together.

        Raises as ``with_candidates`` does.
        """
        return self.like(with_all(self.content, told))

    def filter(self, condition: str | Callable[[Any], Any]) -> Self:
        """Return the rows that meet a condition, each in the worlds where it does.

        ``condition``: text such as ``"x > 8 and colour == 'red'"``
        (``easeml.relation.expressions``), or a function of a pandas frame that gives a truth for
        each row. Raises InvalidInput.
        """
        return self.like(operations.filtered(self.content, self._condition(condition)))

    def with_column(self, name: str, formula: str | None = None, sql: str | None = None) -> Self:
        """Return the relation with one more column, or another one in its place.

        ``formula``: text such as ``"price * amount"`` (``easeml.relation.expressions``). ``sql``,
        instead of it: an expression of SQL over the cells of a row (``easeml.relation.row_sql``).
        Raises InvalidInput.
        """
        return self.like(operations.with_column(self.content, name, self._formula(formula, sql)))

    def select(self, columns: Sequence[str]) -> Self:
        """Return only some columns. Raises InvalidInput."""
        return self.like(operations.selected(self.content, columns))

    def split(
        self, train: float = 0.6, validation: float = 0.2, test: float = 0.2, seed: int = 0
    ) -> Self:
        """Give each row a role, by its id and a seed: it keeps it whatever rows come and go.

        Shares are expected, and sum to 1. Rows whose target is missing belong to the pool. Raises
        InvalidInput.
        """
        shares = {"train": train, "validation": validation, "test": test}
        return self.like(operations.with_roles(self.content, shares, seed))

    def in_role(self, *names: str) -> Self:
        """Return the rows of some roles. Raises InvalidInput."""
        return self.like(operations.in_roles(self.content, names))

    def join(self, other: Relation, on: str | Sequence[str]) -> Self:
        """Return every pair of rows that agree in some columns, whose cells have to be certain.

        A row that comes in several pairs is the same in all of them. Columns of the other relation
        that are here too get the ending ``_right``. Row ids are those of this relation, or
        ``HERE/OTHER`` where its rows come several times. Raises InvalidInput.
        """
        columns = [on] if isinstance(on, str) else list(on)
        return self.like(operations.joined(self.content, other.content, columns))

    def update(self, changed: Relation | None = None, gone: Sequence[Any] = ()) -> Self:
        """Return the rows without those that are gone, and with those that changed or are new.

        Rows are the same where their ids are, and come in the order of these. Raises NotFound for
        an id that is not there, InvalidInput where the columns differ.
        """
        content = None if changed is None else changed.content
        return self.like(updated(self.content, content, gone))

    def observed(self) -> Self:
        """Return the rows that were not made of others (``augment``)."""
        content = self.content
        if not content.is_made.any():
            return self
        return self.like(operations.take_rows(content, np.flatnonzero(~content.is_made)))

    def like(self, content: Content) -> Self:
        """Return a relation of the same kind with another content."""
        return type(self)(content)

    def __len__(self) -> int:
        """Return the number of rows, those that may not exist among them."""
        return self.content.table.num_rows

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.content.table.column_names)

    @property
    def target(self) -> str | None:
        """The column of labels, if one was named."""
        return self.content.target

    @property
    def row_ids(self) -> pd.Index:
        """What names each row for as long as it lives."""
        return self.content.row_ids

    @property
    def roles(self) -> list[str] | None:
        """The role of each row, if roles were given."""
        if self.content.roles is None:
            return None
        return [ALL_ROLES[number] for number in self.content.roles]

    def to_frame(self) -> pd.DataFrame:
        """Return the likeliest world as a pandas frame with row ids as its index.

        Without doubts this is the frame that the relation was made of.
        """
        return exchange.frame_of(self.content)

    def to_polars(self) -> Any:
        """Return the likeliest world as a Polars frame. Raises InvalidInput without Polars."""
        return exchange.polars_of(self.content)

    def to_arrow(self) -> pa.Table:
        """Return the likeliest world as an Arrow table."""
        return exchange.likeliest_table(self.content)[0]

    def worlds(self, count: int, seed: int = 0) -> Iterator[pd.DataFrame]:
        """Give ``count`` worlds as frames like that of ``to_frame``, drawn by their probabilities."""
        return drawn_worlds(self.content, count, seed)

    def candidates(self) -> pd.DataFrame:
        """Return a line for each cell of each candidate: row, block, candidate, column, value,
        weight, exists, tool.
        """
        return exchange.candidates_frame(self.content)

    def worlds_log10(self) -> float:
        """Return the number of worlds, as its logarithm to the base of ten; 0 without doubts."""
        blocks = self.content.blocks
        _, leader = np.unique(blocks.variable, return_index=True)
        return float(np.log10(blocks.sizes[leader]).sum())

    def entropy(self) -> float:
        """Return how much is not known, in bits: the sum over independent blocks."""
        blocks = self.content.blocks
        _, leader = np.unique(blocks.variable, return_index=True)
        bits = -blocks.weight * np.log2(blocks.weight)
        by_block = np.bincount(blocks.block, bits, minlength=len(blocks))
        return float(by_block[leader].sum())

    def sum(self, column: str) -> Distribution:
        """Return how the sum of a column of numbers is distributed; cells without value count 0."""
        return aggregates.sum_of(self.content, column)

    def count(self, condition: str | Callable[[Any], Any] | None = None) -> Distribution:
        """Return how the number of rows is distributed, or that of the rows that meet a condition.

        ``condition`` as for ``filter``.
        """
        content = self.content
        if condition is not None:
            content = operations.filtered(content, self._condition(condition))
        return aggregates.count_of(content)

    def group_by(self, column: str) -> Groups:
        """Return the rows by the value of a column, to ask for counts, sums and so on of each."""
        return Groups(self.content, column)

    def _condition(self, condition: str | Callable[[Any], Any]) -> Condition:
        if isinstance(condition, str):
            return parse(condition)
        return Tested(condition, self.columns)

    def _formula(self, formula: str | None, sql: str | None) -> Formula:
        if (formula is None) == (sql is None):
            raise InvalidInput(
                "A column is computed by a formula or by SQL.",
                where="with_column",
                remedy="Give one of 'formula' and 'sql'.",
            )
        if formula is not None:
            return parse(formula)
        return row_sql(str(sql), self.columns)

    def average(self, column: str) -> Distribution:
        """Return how the mean of a column is distributed, of the rows that have a value there."""
        return aggregates.average_of(self.content, column)

    def min(self, column: str) -> Distribution:
        """Return how the smallest value of a column is distributed."""
        return aggregates.minimum_of(self.content, column)

    def max(self, column: str) -> Distribution:
        """Return how the largest value of a column is distributed."""
        return aggregates.maximum_of(self.content, column)

    def __repr__(self) -> str:
        count = self.content.blocks.doubts
        doubts = f"{count} in doubt" if count else "no doubts"
        return f"<Relation of {len(self)} rows and {len(self.columns)} columns, {doubts}>"
