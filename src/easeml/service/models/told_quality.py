"""How right what serves was of late, by the rows of production whose truth came."""

from collections.abc import Iterator, Mapping
from itertools import islice

from easeml.contract.watching import Labelled
from easeml.service.production import feedback, labelled_rows, vocabulary
from easeml.service.production.feedback import Named
from easeml.service.production.vocabulary import Vocabulary
from easeml.store import Tables
from easeml.store.records import Application

_MOST = 500  # the newest rows whose truth came


def newest(tables: Tables, application: Application, tolerance: float | None) -> Labelled | None:
    """Return how right the model that serves was of late, where the truth came; None without any.

    A month that goes badly is not hidden behind the years before it. A number is right up to
    ``tolerance``, as watching has it; None of numbers that were not looked at. Of labels it is F1
    of those of a row: one that no model knows counts as one that was missed.
    """
    from easeml.sampling_error import wilson

    truths = feedback.truths(tables, application.id)
    if not truths:
        return None
    words = vocabulary.of_application(tables, application)
    scores = list(islice(_scores(tables, application, truths, words, tolerance), _MOST))
    if not scores:
        return None
    mean = sum(scores) / len(scores)
    # Scores in [0, 1] vary by no more than shares of the same mean.
    low, high = wilson(mean, len(scores))
    return Labelled(
        rows=len(scores), quality=mean, low=low, high=high, of_labels=bool(words.labels)
    )


def _scores(
    tables: Tables,
    application: Application,
    truths: Mapping[Named, object],
    words: Vocabulary,
    tolerance: float | None,
) -> Iterator[float]:
    """Give how right the model that serves was of each row whose truth came, newest first."""
    rows = tables.production_rows.list(
        application_id=application.id,
        model_id=application.live_model_id,
        newest_first=True,
        limit=None,
    )
    for row in rows:
        truth, said = labelled_rows.truth_of(row, truths), row.answer["prediction"]
        if truth is None:
            continue
        score = _score(words, truth, said, tolerance)
        if score is not None:
            yield score


def _score(words: Vocabulary, truth: object, said: object, tolerance: float | None) -> float | None:
    """Return how right a prediction is, in [0, 1]; None where that cannot be told."""
    from easeml.lifecycle.labels import class_name

    if isinstance(said, list):
        return _score_of_labels(words, truth, said)
    if not isinstance(said, float):
        return float(class_name(truth) == class_name(said))
    if tolerance is None or not vocabulary.is_number(truth):
        return None
    return float(abs(float(str(truth)) - said) <= tolerance)


def _score_of_labels(words: Vocabulary, truth: object, said: list[str]) -> float:
    """Return F1 of the labels of a row; 1 where it has none and none is said."""
    true = words.labels_of(truth)
    if true is None:
        return 0.0
    both = len(true) + len(said)
    if not both:
        return 1.0
    return 2 * len(true.intersection(said)) / both
