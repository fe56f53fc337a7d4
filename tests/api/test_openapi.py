"""The document describes every route, how to authenticate, and problems."""

import re

from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from easeml.api.authentication import OPEN


def test_the_document_is_complete(client: TestClient) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    routed = {
        str(context.path)
        for context in iter_route_contexts(client.app.routes)  # type: ignore[union-attr]
        if str(context.path) != "/api/v1/openapi.json"
    }
    assert set(document["paths"]) == routed
    schemes = set(document["components"]["securitySchemes"])
    assert {name for entry in document["security"] for name in entry} == schemes
    for path, item in document["paths"].items():
        for operation in item.values():
            assert "422" not in operation["responses"]
            is_protocol = path.startswith("/v2") or path.endswith("/invocations")
            form = "application/json" if is_protocol else "application/problem+json"
            assert form in operation["responses"]["default"]["content"]
            assert (operation.get("security") == []) == (path in OPEN)


def test_all_references_resolve_and_operations_have_names_of_their_own(client: TestClient) -> None:
    document = client.get("/api/v1/openapi.json").json()
    schemas = document["components"]["schemas"]

    def references(node) -> set[str]:
        if isinstance(node, dict):
            own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
            return own.union(*map(references, node.values()))
        return set().union(*map(references, node)) if isinstance(node, list) else set()

    found = references(document)
    assert found <= {f"#/components/schemas/{name}" for name in schemas}
    assert {"Prediction", "Problem"} <= set(schemas)
    ids = [
        operation["operationId"]
        for item in document["paths"].values()
        for operation in item.values()
    ]
    assert len(ids) == len(set(ids))


def test_each_part_of_a_path_is_described(client: TestClient) -> None:
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for method, about in methods.items():
            described = {one["name"] for one in about.get("parameters", ()) if one["in"] == "path"}
            assert described == set(re.findall(r"{(\w+)}", path)), (method, path)
