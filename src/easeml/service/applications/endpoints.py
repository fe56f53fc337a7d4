"""What other tools' protocols ask about an endpoint before each prediction."""

from dataclasses import dataclass

from easeml.schema import Schema
from easeml.service.access.caller import Caller
from easeml.service.applications import forecasts
from easeml.store import Store


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The schemas of an application's rows; ``model_id`` is empty where no model is live."""

    schema_in: Schema
    schema_out: Schema
    model_id: str


def get(store: Store, caller: Caller, application_id: str) -> Endpoint:
    """Return an application's endpoint: two records are read. Raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        version = tables.versions.get(application.version_id)
    schema_in = Schema.from_json(forecasts.asked_schema(version.schema_in, application.rules))
    schema_out = Schema.from_json(version.schema_out)
    return Endpoint(schema_in, schema_out, application.live_model_id)
