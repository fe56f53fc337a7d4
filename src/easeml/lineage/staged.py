"""Relations that remember how they come to be: what is asked is noted, and done when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from easeml.errors import InvalidInput
from easeml.figures import Figure
from easeml.lineage.answers import Answer
from easeml.lineage.cache import Cache
from easeml.lineage.displays import doubts_figure, relation_html, relation_text
from easeml.lineage.evaluation import Told, evaluate
from easeml.lineage.flow_files import load_flow, save_flow
from easeml.lineage.nodes import Node, Operator, ordered, source
from easeml.lineage.operators import node_of, operator_named
from easeml.lineage.pictures import as_svg
from easeml.lineage.steps import flow_of, nodes_of
from easeml.lineage.suggestions import Suggestions, suggestions
from easeml.relation import Content, Relation, RowCandidates, Source


class StagedRelation(Relation):
    """A relation whose operations only append to a graph, and return at once.

    ``eval`` does the work, and so does whatever asks for cells or answers. What was computed is
    kept, and a change makes only what depends on it work again.
    """

    def __init__(self, content: Content):
        """Use ``from_frame``, ``load`` or an operation."""
        self.node = source(Relation(content))

    @classmethod
    def of(cls, node: Node) -> Self:
        """Return the relation that a node of a graph stands for."""
        made = cls.__new__(cls)
        made.node = node
        return made

    @property
    def content(self) -> Content:
        """Certain cells and blocks of candidates; works until they are there.

        Raises ``InvalidInput`` where the step gives an answer, not a relation.
        """
        value = evaluate(self.node)
        if not isinstance(value, Relation):
            raise InvalidInput(
                "gives an answer, not a relation.", where=self.node.title, remedy="Use eval()."
            )
        return value.content

    def eval(
        self,
        *,
        cache: Cache | None = None,
        told: Told | None = None,
        plan: bool = True,
        follow: bool = True,
    ) -> Any:
        """Do what was asked for.

        Args:
            cache: results of this and of other processes, such as a ``FolderCache``.
            told: called with each node that was computed, and the share of the work done.
            plan: whether the graph may be replaced by one that costs less and means the same.
            follow: whether an analysis may take in the few rows that changed since it was last
                asked, which costs little; its answer then says so (``updated``).

        Returns: this relation, now computed; of an analysis, such as ``feasibility``, its answer.

        Raises:
            NodeFailed: naming the node that failed. What comes before it is kept.
        """
        value = evaluate(self.node, cache=cache, told=told, plan=plan, follow=follow)
        if isinstance(value, Relation):
            return self
        return Answer(value, self.node.operator.name)

    def save_flow(self, path: str | Path) -> None:
        """Write the graph to a file, which ``easeml flow`` and ``load_flow`` read.

        Relations that it begins with become Parquet files beside it. Raises InvalidInput where a
        parameter is a Python object.
        """
        save_flow(self.node, path)

    @classmethod
    def from_flow(cls, path: str | Path) -> dict[str, Self]:
        """Read the steps of a file, by name, to go on from any. Raises InvalidInput."""
        nodes = nodes_of(load_flow(path))
        return {name: cls.of(node) for name, node in nodes.items()}

    def called(self, label: str) -> Self:
        """Give this step a name, which messages and pictures use."""
        node = self.node
        named = Node(node.operator, node.parameters, node.inputs, label, node.kept)
        return type(self).of(named)

    def with_candidates(
        self, row_id: Any, column: str, weights: Mapping[Any, float], source: Source | None = None
    ) -> Self:
        """As ``Relation.with_candidates``, staged."""
        pairs = list(map(list, weights.items()))
        return self._then("with_candidates", row_id, column, pairs, source)

    def with_optional(self, row_id: Any, probability: float, source: Source | None = None) -> Self:
        """As ``Relation.with_optional``, staged."""
        return self._then("with_optional", row_id, probability, source)

    def with_all(self, told: Sequence[RowCandidates]) -> Self:
        """As ``Relation.with_all``, staged."""
        return self._then("with_all", list(told))

    def filter(self, condition: str | Callable[[Any], Any]) -> Self:
        """As ``Relation.filter``, staged."""
        return self._then("filter", condition)

    def with_column(self, name: str, formula: str | None = None, sql: str | None = None) -> Self:
        """As ``Relation.with_column``, staged."""
        return self._then("with_column", name, formula, sql)

    def select(self, columns: Sequence[str]) -> Self:
        """As ``Relation.select``, staged."""
        return self._then("select", list(columns))

    def split(
        self, train: float = 0.6, validation: float = 0.2, test: float = 0.2, seed: int = 0
    ) -> Self:
        """As ``Relation.split``, staged."""
        return self._then("split", train, validation, test, seed)

    def in_role(self, *names: str) -> Self:
        """As ``Relation.in_role``, staged."""
        return self._then("in_role", list(names))

    def join(self, other: Relation, on: str | Sequence[str]) -> Self:
        """As ``Relation.join``, staged."""
        return self._then("join", node_behind(other), on)

    def update(self, changed: Relation | None = None, gone: Sequence[Any] = ()) -> Self:
        """As ``Relation.update``, staged."""
        if changed is None:
            return self._then("update", gone=list(gone))
        return self._then("update", node_behind(changed), list(gone))

    def feasibility(
        self, goal: float | None = None, confidence: float = 0.95, seed: int = 0
    ) -> Self:
        """Ask whether a goal can be reached by any model; ``eval`` gives the answer as JSON values.

        ``goal``: an accuracy or R2. The rows of train and validation are asked, or all where there
        are no roles, as they are in the likeliest world.
        """
        return self._then("feasibility", goal, confidence, seed)

    def clean(
        self,
        rules: str = "",
        methods: Sequence[str] | None = None,
        most: int = 10,
        seed: int = 0,
    ) -> Self:
        """Give missing and suspicious cells candidates, each with how likely it is.

        See ``lifecycle.doubts.clean``; ``rules``: dependencies that hold, ``most``: candidates that
        a cell has at most.
        """
        return self._then("clean", rules, methods, most, seed)

    def augment(
        self,
        copies: int | str = 1,
        ways: Sequence[str] | None = None,
        synonyms: Mapping[str, Sequence[str]] | None = None,
        seed: int = 0,
    ) -> Self:
        """Add train rows that are made of others: mixed, with other words, or moved a little.

        ``copies``: of each train row, or "balance" for classes of equal size. Made rows only train:
        models are judged, and advice is given, by the others (``Relation.observed``). ``ways`` and
        ``synonyms``: see ``lifecycle.augmentation.augment``.
        """
        return self._then("augment", copies, ways, dict(synonyms or {}), seed)

    def embed(
        self,
        columns: Sequence[str] | None = None,
        dimensions: int = 30,
        keep: bool = False,
        seed: int = 0,
    ) -> Self:
        """Put numbers in the place of texts, learned from train rows.

        ``dimensions``: numbers a text; ``keep``: the texts stay beside them. See
        ``lifecycle.embedding.embed``.
        """
        named = None if columns is None else list(columns)
        return self._then("embed", named, dimensions, keep, seed)

    def weak_labels(
        self,
        functions: Sequence[Any],
        classes: Sequence[Any] = (),
        method: str = "auto",
        seed: int = 0,
    ) -> Self:
        """Give rows without a label candidates, from the votes of labelling functions.

        ``functions``: of a frame, with a label or None a row, or descriptions such as
        ``{"label": "spam", "column": "text", "words": ["free"]}``. See ``lifecycle.doubts.votes``.
        """
        return self._then("weak_labels", list(functions), list(classes), method, seed)

    def predict(self, *roles: str, draws: int = 20, seed: int = 0) -> Self:
        """Label the rows of some roles, by default pool and production, as models answer.

        A model is trained in each of ``draws`` worlds; the target gets their answers as candidates.
        Where all agree it is certain. See ``lifecycle.doubts.predict_over_worlds``.
        """
        asked = roles or ("pool", "production")
        return self._then("predict", list(asked), draws, seed)

    def suggest(self, seed: int = 0) -> Suggestions:
        """Say what to do next, most useful first, each with the step that is ready to run.

        See ``lineage.suggestions``.
        """
        done = {node.operator.name for node in ordered(self.node)}
        steps = Suggestions()
        for each in suggestions(self.content, done, seed):
            steps.append(replace(each, step=each.ready(self)))
        return steps

    def plan_cleaning(self, n: int = 50, k: int = 3) -> Self:
        """Ask which rows to clean first; ``eval`` gives the plan as JSON values."""
        return self._then("plan_cleaning", n, k)

    def label_next(self, n: int = 50, k: int = 5, seed: int = 0) -> Self:
        """Ask which rows of the pool to label first; ``eval`` gives the queue as JSON values."""
        return self._then("label_next", n, k, seed)

    def check_labels(self, n: int = 50, confidence: float = 0.33, seed: int = 0) -> Self:
        """Ask which labels of train rows look wrong; ``eval`` gives the list as JSON values.

        ``confidence``: how likely a label that is listed is wrong, at least.
        """
        return self._then("check_labels", n, confidence, seed)

    def search(self, trials: int = 20, goal: float | None = None, **settings: Any) -> Self:
        """Train models and choose the best; ``eval`` gives the answer as JSON values.

        ``trials``: models to train; ``goal``: a quality at which the search ends. ``settings``:
        ``objective``, ``models``, ``exclude``, ``roles``, ``sure``, ``seed``
        (``easeml.operators.training``).
        """
        return self._then("search", trials, goal, **settings)

    def gate(self, condition: str | None = None, over: Self | None = None, **settings: Any) -> Self:
        """Ask whether the best model of this search passes a condition on the test rows.

        ``over``: another search, whose best model is the old one. ``settings``: ``reliability``,
        ``steps``, ``mode``, ``metric``, ``positive``, ``scale`` (``easeml.operators.judging``).
        """
        if condition is not None:
            settings["condition"] = condition
        if over is not None:
            settings["over"] = over.node
        return self._about_search("gate", settings)

    def pick(self, **settings: Any) -> Self:
        """Ask which of this search's models is best on newer rows, with few of their labels.

        ``settings``: ``role``, ``batch``, ``tolerance``, ``confidence``, ``seed``.
        """
        return self._about_search("pick", settings)

    def monitor(self, **settings: Any) -> Self:
        """Ask whether the best model of this search is still right on newer rows.

        ``settings``: ``role``, ``drop``, ``floor``, ``alpha``, ``seed``.
        """
        return self._about_search("monitor", settings)

    def _about_search(self, name: str, settings: dict[str, Any]) -> Self:
        """Append a question about a search. Raises InvalidInput where this is none."""
        if self.node.operator.name != "search":
            raise InvalidInput(
                f"{name}() asks about the models of a search.",
                where=self.node.title,
                remedy=f"Write relation.search().{name}().",
            )
        return self._then(name, self.node.inputs[0], **settings)

    def _then(self, name: str, *parameters: Any, **named: Any) -> Self:
        return type(self).of(node_of(operator_named(name), [self.node, *parameters], named))

    @property
    def answer(self) -> Answer | None:
        """What an analysis answered; None for a relation, and before ``eval``."""
        kept = self.node.kept
        if not kept or isinstance(kept[0], Relation):
            return None
        return Answer(kept[0], self.node.operator.name)

    def _repr_html_(self) -> str:
        """Show the graph, and what came out once it is there; notebooks call this."""
        picture = as_svg(flow_of(self.node))
        if not self.node.kept:
            return picture
        if self.answer is not None:
            return picture + self.answer._repr_html_()
        return picture + relation_html(self.content)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Show the same as HTML, as a picture for paper, and as text."""
        figure = self._figure()
        drawn = as_svg(flow_of(self.node)) if figure is None else figure.to_svg()
        return {"text/html": self._repr_html_(), "image/svg+xml": drawn, "text/plain": str(self)}

    def _figure(self) -> Figure | None:
        """Return a picture of what came out, where it is there and has one."""
        if not self.node.kept:
            return None
        if self.answer is not None:
            return self.answer.figure()
        return doubts_figure(self.content)

    def __repr__(self) -> str:
        if not self.node.kept:
            return f"<Relation to come: {self.node.title}>"
        if self.answer is None:
            return super().__repr__()
        verdict = self.answer.get("verdict", "there")
        return f"<Answer of {self.node.operator.name}: {verdict}>"

    def __str__(self) -> str:
        """Return the first rows, or the answer, for a terminal."""
        if not self.node.kept:
            return repr(self)
        if self.answer is not None:
            return str(self.answer)
        return f"{self!r}\n{relation_text(self.content)}"


def node_behind(relation: Relation) -> Node:
    """Return the node of a relation; one that was made elsewhere becomes a source."""
    if isinstance(relation, StagedRelation):
        return relation.node
    return source(relation)


def _node_or_value(argument: Any) -> Any:
    """Return an argument of an operator: the node of a relation, or a parameter as it is."""
    if isinstance(argument, Relation):
        return node_behind(argument)
    return argument


def apply(name: str, /, *relations: Relation, **parameters: Any) -> StagedRelation:
    """Append a use of an operator by its name, as a file of steps does. Raises InvalidInput."""
    return staged_call(operator_named(name))(*relations, **parameters)


def staged_call(operator: Operator) -> Callable[..., StagedRelation]:
    """Return what appends a use of an operator to the graph when it is called."""

    def call(*arguments: Any, **named: Any) -> StagedRelation:
        given = list(map(_node_or_value, arguments))
        by_name = {name: _node_or_value(value) for name, value in named.items()}
        return StagedRelation.of(node_of(operator, given, by_name))

    call.__name__ = operator.name
    call.__doc__ = operator.function.__doc__
    return call
