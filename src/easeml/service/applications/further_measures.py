"""What the models of an application are measured by, beside the objectives that fit its target."""

from dataclasses import replace
from itertools import product
from typing import Annotated

from pydantic import Field

from easeml.contract.models import Measures
from easeml.errors import Conflict, InvalidInput
from easeml.modules import Registry, labels_of
from easeml.modules.calls import quoted
from easeml.modules.further_measures import GAP, NOISY, WORST, read_further
from easeml.objective_names import meant
from easeml.schema import Schema
from easeml.service.access.caller import Caller
from easeml.service.applications import objectives
from easeml.service.knowledge import knowledge_base
from easeml.service.models import measuring
from easeml.service.tasks import requests
from easeml.store import Store, Tables, Transaction, id_of
from easeml.store.records import Application, DatasetVersion

MeasureName = Annotated[
    str, Field(min_length=1, max_length=2000, description="such as gap(sex) or recall(bad)")
]
_CATEGORY = "category"
_MOST = 12  # of an application
_MOST_GROUPS = 12  # of a column that is offered
_OFFERED_CLASSES = 4


def get(store: Store, caller: Caller, application_id: str) -> Measures:
    """Return what models are measured by, and what else could be asked. Raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        return show(tx, tables, tables.applications.get(application_id))


def ask(store: Store, caller: Caller, application_id: str, measure: MeasureName) -> Measures:
    """Measure the models of an application by more: those there are, and those to come.

    The same again measures what was not yet. Raises ``NotFound``, and ``InvalidInput`` for a
    measure that there is not or that does not fit.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        name = checked(tx, application, measure)
        return add(tx, application, [name])


def drop(store: Store, caller: Caller, application_id: str, measure: MeasureName) -> Measures:
    """Measure no further models by something; what was measured is forgotten nowhere.

    Raises ``NotFound``.
    """
    with store.write() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        kept = [name for name in application.rules.measures if name != measure.strip()]
        rules = replace(application.rules, measures=kept)
        application = tables.applications.update(application.id, rules=rules)
        return show(tx, tables, application)


def add(tx: Transaction, application: Application, names: list[str]) -> Measures:
    """Measure by names that were ``checked``; see ``ask``."""
    tables = tx.scoped(application.tenant_id)
    asked = list(dict.fromkeys([*application.rules.measures, *names]))
    if len(asked) > _MOST:
        raise Conflict(
            f"An application has at most {_MOST} further measures.",
            remedy="Take one back that you do not look at.",
        )
    rules = replace(application.rules, measures=asked)
    application = tables.applications.update(application.id, rules=rules)
    if not requests.under_way(tables, measuring.KIND, application.id):  # which would catch up
        measuring.ask(tx, application, asked)
    return show(tx, tables, application)


def checked(tx: Transaction, application: Application, measure: str) -> str:
    """Return the one name of a measure that fits an application.

    Raises ``InvalidInput``, and ``Conflict`` before the data is ready.
    """
    tables = tx.scoped(application.tenant_id)
    version = tables.versions.get(application.version_id)
    registry = knowledge_base.of_tenant(tx, application.tenant_id)
    if not version.schema_out:
        raise Conflict("The data is being prepared.", remedy="Try again in a moment.")
    target = Schema.from_json(version.schema_out)
    weighted = bool(application.rules.weight)
    further = read_further(measure)
    if further is None:
        return _objective(measure.strip(), registry, target, weighted)
    if further.kind in (GAP, WORST):
        _check_column(further.column, version)
    if further.objective:
        name = _objective(further.objective, registry, target, weighted)
        further = replace(further, objective=name)
    return further.name


def show(tx: Transaction, tables: Tables, application: Application) -> Measures:
    """Return the resource."""
    version = tables.versions.get(application.version_id)
    under_way = requests.under_way(tables, measuring.KIND, application.id)
    return Measures(
        application_id=application.id,
        asked=application.rules.measures,
        offered=_offered(version, knowledge_base.of_tenant(tx, application.tenant_id)),
        task_id=id_of(next(iter(under_way), None)),
    )


def _objective(name: str, registry: Registry, target: Schema, weighted: bool) -> str:
    """Return the one name of an objective that fits. Raises ``InvalidInput``."""
    name = meant(name)
    member = objectives.of_family(name, registry, target)
    if member is not None:
        return member.name
    fitting = [one.name for one in registry.objectives_for(target, weighted=weighted)]
    message = f"There is no measure {name!r} for this target."
    knowledge_base.check_known(name, fitting, message, "measure")
    return name


def _check_column(column: str, version: DatasetVersion) -> None:
    known = {one["name"]: one for one in version.inputs}
    message = f"There is no input column {column!r}."
    knowledge_base.check_known(column, known, message, "measure")
    if known[column]["type"] != _CATEGORY:
        raise InvalidInput(
            f"The column {column!r} has no groups: it is a {known[column]['type']}.",
            where="measure",
            remedy="Name a category.",
        )


def _offered(version: DatasetVersion, registry: Registry) -> list[str]:
    """Return measures that fit, for people who do not know how they are written."""
    if not version.schema_out:
        return []
    labels = labels_of(version.schema_out) or []
    families = _families_of_a_class(version, registry)
    offered = []
    for label, family in product(labels[:_OFFERED_CLASSES], families):
        offered.append(f"{family}({quoted(label)})")
    for column in _columns_with_groups(version):
        offered.append(f"{GAP}({quoted(column)})")
    return [*offered, f"{NOISY}(0.1)"]


def _families_of_a_class(version: DatasetVersion, registry: Registry) -> list[str]:
    """Return the families whose members measure one class, and can be sought, by name."""
    families = registry.families_for(version.schema_out)
    of_a_class = [family for family in families if family.takes == ("class",)]
    return [family.name for family in of_a_class if family.sought]


def _columns_with_groups(version: DatasetVersion) -> list[str]:
    """Return the inputs that have few classes, by name."""
    categories = [column for column in version.inputs if column["type"] == _CATEGORY]
    return [one["name"] for one in categories if len(one.get("classes", [])) <= _MOST_GROUPS]
