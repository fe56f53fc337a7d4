"""Dashboard and alerts ask for metrics and labels that ``/metrics`` gives."""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from test_isolation import things

from easeml.contract.states import ProcessKind
from easeml.engine.membership import register
from easeml.store import Store

MONITORING = Path(__file__).parents[2] / "deploy" / "chart" / "monitoring"
OF_PROMETHEUS = {"job", "instance", "__name__"}  # labels that it adds itself
METRIC = re.compile(r"\b(easeml_\w+|process_\w+|python_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
GROUPS = re.compile(r"\bby\s*\(([^)]*)\)")


def expressions() -> list[str]:
    """What the dashboard and the rules ask."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += [
        variable["query"]["query"]
        for variable in dashboard["templating"]["list"]
        if variable["type"] == "query"
    ]
    (group,) = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    return asked + [rule["expr"] for rule in group["rules"]]


@pytest.fixture
def given(client: TestClient, store: Store, provider, ann) -> dict[str, set[str]]:
    """The labels of each name that ``/metrics`` prints, of a service with all kinds of things."""
    things(client, store, ann)
    for kind in ProcessKind:
        register(store, kind)
    waiting = client.post("/api/v1/datasets?filename=t.csv", content=b"a\n1\n", headers=ann.headers)
    assert waiting.status_code < 300
    text = client.get("/metrics", headers=provider.headers).text
    found: defaultdict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name] |= sample.labels.keys()
    return found


def test_dashboard_and_alerts_ask_for_what_there_is(given: dict[str, set[str]]) -> None:
    asked = expressions()
    assert len(asked) > 25
    for expression in asked:
        labels: set[str] = set()
        for name, matchers in METRIC.findall(expression):
            assert name in given, expression
            labels |= given[name] | OF_PROMETHEUS
            assert set(MATCHER.findall(matchers)) <= given[name] | OF_PROMETHEUS, expression
        for grouped in GROUPS.findall(expression):
            named = {label.strip() for label in grouped.split(",")}
            assert named <= labels, expression


def test_values_of_labels_are_those_that_there_are(given: dict[str, set[str]]) -> None:
    """A state or a kind that is misspelt would never ring."""
    from easeml.contract.states import Lane, TaskState

    known = {
        "kind": {str(kind) for kind in ProcessKind},
        "lane": {str(lane) for lane in Lane},
        "state": {str(state) for state in TaskState},
    }
    for expression in expressions():
        for label, value in re.findall(r'\b(kind|lane|state)="([^"]*)"', expression):
            assert value in known[label], expression


def test_panels_lie_beside_each_other_with_a_title_and_a_unit() -> None:
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {
            (place["x"] + right, place["y"] + down)
            for right in range(place["w"])
            for down in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        assert all(right < 24 for right, _ in cells)
        taken |= cells
        assert panel["fieldConfig"]["defaults"]["unit"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def test_predictions_are_all_requests_for_some_and_no_others(client: TestClient) -> None:
    """By any of the protocols; tools that only speak theirs wait as well."""
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    routes = {path.removeprefix("/api/v1") for path in paths}
    patterns = set(re.findall(r'route=~"([^"]*)"', "\n".join(expressions())))
    assert patterns
    for pattern in patterns:
        meant = {route for route in routes if re.fullmatch(pattern, route)}
        assert meant == {
            "/applications/{application_id}/predict",
            "/applications/{application_id}/invocations",
            "/v2/models/{application_id}/infer",
            "/v2/models/{application_id}/versions/{model_id}/infer",
        }
