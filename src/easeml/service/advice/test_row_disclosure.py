"""What test rows have told so far, in nats: ln of the number of histories that answers can have had."""

import math
from collections import defaultdict

from easeml.lifecycle.tool import all_tools
from easeml.service.advice import test_quality, tools
from easeml.service.tasks import requests
from easeml.store import Tables
from easeml.store.records import Application


def by_tools(tables: Tables, application_id: str, but: str = "") -> float:
    """Return what lifecycle tools have told, but for the one that is named."""
    names = {tool.name for tool in all_tools() if "test" in tool.needs}
    names.discard(but)
    told: defaultdict[str, float] = defaultdict(float)
    for report in tables.reports.list(kind=sorted(names), subject=application_id, limit=None):
        nats = tools.Answered.from_json(report.value).told
        told[report.kind] = max(told[report.kind], nats)
    return sum(told.values())


def by_readings(tables: Tables, application: Application) -> float:
    """Return what the readings of the test quality have told, with those that are under way.

    The accuracy on N rows has N + 1 values. Of other objectives people see a few digits, which are
    counted alike.
    """
    found = tables.reports.list(kind=test_quality.KIND, subject=application.id, limit=None)
    rows = [test_quality.Reading.from_json(report.value).rows for report in found]
    version = tables.versions.get(application.version_id)
    open_readings = requests.under_way(tables, test_quality.KIND, application.live_model_id)
    rows += [version.summary.rows_of("test")] * len(open_readings)
    return sum(math.log(count + 1) for count in rows)
