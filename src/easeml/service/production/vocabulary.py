"""What can be true of a row of an application: a class, a number, or labels."""

from contextlib import suppress
from dataclasses import dataclass

from easeml.data import LARGEST_NUMBER
from easeml.data.types.bad_cell import BadCell
from easeml.data.types.label_lists import labels_of_value, told
from easeml.data.types.number_forms import plain_number_of
from easeml.decimals import with_point
from easeml.errors import InvalidInput
from easeml.schema import Schema
from easeml.store import Tables
from easeml.store.records import Application

Said = str | float | bool | list[str]
"""What somebody says was true of a row; a list of the labels of which it may have several."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What can be true of a row: one of ``classes``, some of ``labels``, or else a number.

    ``separator``: what stands between labels in a text; empty: it is a list in JSON. ``form``: how
    the data writes numbers, such as $1,234.5; empty: plainly.
    """

    classes: frozenset[str | None] = frozenset()
    labels: frozenset[str] = frozenset()
    separator: str = ""
    form: str = ""

    def has(self, truth: object) -> bool:
        """Tell whether what was said to be true is something that a model could answer."""
        from easeml.lifecycle.labels import class_name

        if self.labels:
            found = self.labels_of(truth)
            return found is not None and found <= self.labels
        if self.classes:
            return class_name(truth) in self.classes
        return is_number(truth)

    def labels_of(self, truth: object) -> frozenset[str] | None:
        """Return the labels that were said to be true, known or not; None of what is no list."""
        with suppress(BadCell):
            return frozenset(labels_of_value(truth, self.separator))
        return None

    def kept(self, truth: Said) -> str | float | bool:
        """Return what was said to be true as it is kept: labels as the table has them.

        A number gets a decimal point. Raises ``InvalidInput``, where rows have one answer, for an
        empty text and for a list; and for a comma that may be one of thousands.
        """
        if isinstance(truth, list):
            return self._list_kept(truth)
        if self.labels or not isinstance(truth, str):
            return truth
        return self._text_kept(truth)

    def _list_kept(self, truth: list[str]) -> str:
        if self.labels:
            return told(truth, self.separator)
        message = "Rows have one answer here, not a list of labels."
        raise InvalidInput(message, where="value", remedy="Say one.")

    def _text_kept(self, truth: str) -> str:
        if not truth.strip():
            remedy = "Leave rows out whose truth is not known."
            raise InvalidInput("It is empty.", where="value", remedy=remedy)
        if self.classes:
            return truth
        number = plain_number_of(truth.strip(), self.form)
        return with_point(number, "value")


def of_application(tables: Tables, application: Application) -> Vocabulary:
    """Return what can be true of the rows of an application."""
    from easeml.lifecycle.labels import class_name

    version = tables.versions.get(application.version_id)
    classes = frozenset(map(class_name, version.target_classes))
    if not version.schema_out:
        return Vocabulary(classes)
    schema = Schema.from_json(version.schema_out)
    node = next(iter(schema.nodes.values()))
    return Vocabulary(classes, frozenset(schema.labels_of_rows), node.separator, node.format)


def is_number(truth: object) -> bool:
    """Tell whether what was said to be true is a number that a model could answer."""
    try:
        return abs(float(str(truth))) <= LARGEST_NUMBER
    except ValueError:
        return False
