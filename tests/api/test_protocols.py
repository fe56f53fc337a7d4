"""Other tools' protocols are translations: what arrives at the predictor, and what goes back."""

import gzip
import json
import struct
import zlib

import pytest
from fastapi.testclient import TestClient
from furnish import furnish
from hypothesis import given
from hypothesis import strategies as st

from easeml.api.asgi import create_asgi_app
from easeml.protocols.tensors import Tensor, packed, read_tensor
from easeml.service.access import sharing

CLASSES = {
    "model_id": "mod_1",
    "model_name": "forest",
    "predictions": ["no", "yes"],
    "probabilities": [{"no": 0.75, "yes": 0.25}, {"no": 0.5, "yes": 0.5}],
    "lower": None,
    "upper": None,
    "notes": ["a note"],
}
NUMBERS = {**CLASSES, "predictions": [1.5], "probabilities": None, "lower": [1], "upper": [2.0]}
INFER = "/v2/models/app_1/infer"
INVOKE = "/api/v1/applications/{}/invocations"


@pytest.fixture
def classes(predictor):
    predictor.content = json.dumps(CLASSES).encode()
    return predictor


def rows_seen(predictor) -> list[dict]:
    content_type, body = predictor.seen[-1][2:]
    assert content_type == "application/json"
    return json.loads(body)["rows"]


def tensor(name: str, datatype: str, shape: list[int], data: list) -> dict:
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def test_tensors_become_rows_and_predictions_tensors(client: TestClient, classes, ann) -> None:
    inputs = [
        tensor("age", "FP64", [2, 1], [[31.5], [58]]),
        tensor("city", "BYTES", [2], ["Ulm", "Bern"]),
    ]
    answer = client.post(INFER, json={"id": "7", "inputs": inputs}, headers=ann.headers)
    assert answer.status_code == 200, answer.text
    assert rows_seen(classes) == [{"age": 31.5, "city": "Ulm"}, {"age": 58, "city": "Bern"}]
    assert classes.seen[-1][:2] == (ann.caller.tenant_id, "app_1")
    told = answer.json()
    assert (told["id"], told["model_name"], told["model_version"]) == ("7", "app_1", "mod_1")
    prediction, shares = told["outputs"]
    assert prediction == tensor("prediction", "BYTES", [2], ["no", "yes"])
    assert (shares["shape"], shares["data"]) == ([2, 2], [0.75, 0.25, 0.5, 0.5])
    assert json.loads(shares["parameters"]["classes"]) == ["no", "yes"]


def test_binary_tensors_in_and_out(client: TestClient, classes, ann) -> None:
    numbers = struct.pack("<2d", 31.5, float("nan"))
    texts = b"".join(struct.pack("<I", len(text)) + text for text in (b"Ulm", b"\xff\xd8"))
    inputs = []
    for name, datatype, content in (("age", "FP64", numbers), ("city", "BYTES", texts)):
        parameters = {"binary_data_size": len(content)}
        inputs.append({"name": name, "datatype": datatype, "shape": [2], "parameters": parameters})
    outputs = [
        {"name": "probabilities", "parameters": {"binary_data": True}},
        {"name": "prediction"},
    ]
    head = json.dumps({"inputs": inputs, "outputs": outputs}).encode()
    length = {"Inference-Header-Content-Length": str(len(head))}
    answer = client.post(INFER, content=head + numbers + texts, headers={**length, **ann.headers})
    assert answer.status_code == 200, answer.text
    assert rows_seen(classes) == [{"age": 31.5, "city": "Ulm"}, {"age": None, "city": "/9g="}]
    end = int(answer.headers["inference-header-content-length"])
    told = json.loads(answer.content[:end])
    assert [one["name"] for one in told["outputs"]] == ["probabilities", "prediction"]
    assert told["outputs"][0]["parameters"]["binary_data_size"] == 32
    assert "data" not in told["outputs"][0]
    assert struct.unpack("<4d", answer.content[end:]) == (0.75, 0.25, 0.5, 0.5)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_a_body_may_come_compressed(client: TestClient, classes, ann, pack, settings) -> None:
    told = json.dumps({"inputs": [tensor("age", "FP64", [1], [31])]}).encode()
    coding = "gzip" if pack is gzip.compress else "deflate"
    headers = {**ann.headers, "content-encoding": coding}
    headers["inference-header-content-length"] = str(len(told))
    answer = client.post(INFER, content=pack(told), headers=headers)
    assert answer.status_code == 200, answer.text
    assert rows_seen(classes) == [{"age": 31}]
    large = pack(b" " * (settings.request_limit + 1))
    assert client.post(INFER, content=large, headers=headers).status_code == 413
    for damaged in (told, pack(told)[:-6]):
        assert client.post(INFER, content=damaged, headers=headers).status_code == 422
    headers["content-encoding"] = "br"
    assert "'br'" in client.post(INFER, content=told, headers=headers).json()["error"]


def test_examples_of_the_description_run(client: TestClient, store, classes, ann) -> None:
    """Each way of asking for predictions shows a body, which asks for the same two rows."""
    application = furnish(store, ann.caller.tenant_id).application_id
    live = client.get(f"/v2/models/{application}", headers=ann.headers).json()["versions"][0]
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    asking = [path for path in paths if path.endswith(("/predict", "/infer", "/invocations"))]
    assert len(asking) == 4
    for path in asking:
        example = paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        address = path.format(application_id=application, model_id=live)
        answer = client.post(address, json=example["example"], headers=ann.headers)
        assert answer.status_code == 200, answer.text
        content = json.loads(classes.seen[-1][3])
        assert content["rows"] == [{"age": 31}, {"age": 58}], path


def test_a_version_may_be_named_that_serves(client: TestClient, store, classes, ann, bob) -> None:
    application = furnish(store, ann.caller.tenant_id).application_id
    live = client.get(f"/v2/models/{application}", headers=ann.headers).json()["versions"][0]
    address = f"/v2/models/{application}/versions"
    told = {"inputs": [tensor("age", "FP64", [1], [31])]}
    for version, expected in ((live, 200), ("mod_other", 404)):
        asked = f"{address}/{version}"
        assert client.get(asked, headers=ann.headers).status_code == expected
        assert client.get(f"{asked}/ready", headers=ann.headers).status_code == expected
        answer = client.post(f"{asked}/infer", json=told, headers=ann.headers)
        assert answer.status_code == expected, answer.text
    assert client.post(f"{address}/{live}/infer", json=told, headers=bob.headers).status_code == 404
    asked = sharing.asked_for("POST", f"{address}/{live}/infer")
    assert asked is not None and asked.is_prediction


def test_numbers_come_with_their_interval(client: TestClient, predictor, ann) -> None:
    predictor.content = json.dumps(NUMBERS).encode()
    body = {"inputs": [tensor("x", "INT64", [1], [4])], "parameters": {"binary_data_output": True}}
    answer = client.post(INFER, json=body, headers=ann.headers)
    end = int(answer.headers["inference-header-content-length"])
    names = [one["name"] for one in json.loads(answer.content[:end])["outputs"]]
    assert names == ["prediction", "lower", "upper"]
    assert struct.unpack("<3d", answer.content[end:]) == (1.5, 1.0, 2.0)


def test_one_tensor_with_all_columns(client: TestClient, store, classes, ann, bob) -> None:
    made = furnish(store, ann.caller.tenant_id)
    path = f"/v2/models/{made.application_id}"
    metadata = client.get(path, headers=ann.headers).json()
    assert metadata["name"] == made.application_id
    assert metadata["versions"] == [made.model_ids[1]]
    assert metadata["outputs"][0]["name"] == "prediction"
    columns = [one["name"] for one in metadata["inputs"]]
    wide = [list(range(len(columns) + 1))]
    body = {"inputs": [tensor("X", "FP64", [1, len(columns) + 1], wide)]}
    refused = client.post(f"{path}/infer", json=body, headers=ann.headers)
    assert refused.status_code == 422
    assert "not the shape of all" in refused.json()["error"]
    stranger = client.post(f"{path}/infer", json=body, headers=bob.headers)
    assert stranger.status_code == 404
    assert classes.seen == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "not a JSON object"),
        ({}, "list of inputs"),
        ({"inputs": [{"name": "x"}]}, "is not a datatype"),
        ({"inputs": [tensor("x", "FP64", [2], [1])]}, "needs 2 values; 1 came"),
        ({"inputs": [tensor("x", "FP64", [], [1])]}, "not a list of sizes"),
        (
            {"inputs": [tensor("x", "FP64", [1], [1]), tensor("y", "FP64", [2], [1, 2])]},
            "different numbers",
        ),
        ({"inputs": [tensor("x", "FP64", [1], [1])], "outputs": [{"name": "z"}]}, "no output 'z'"),
    ],
)
def test_errors_of_the_inference_protocol(
    client: TestClient, classes, ann, body, said: str
) -> None:
    answer = client.post(INFER, json=body, headers=ann.headers)
    assert answer.status_code == 422
    assert set(answer.json()) == {"error"}
    assert said in answer.json()["error"]


def test_health_of_the_inference_protocol(client: TestClient, store, ann) -> None:
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json() == {"ready": True}
    assert client.get("/v2", headers=ann.headers).json()["extensions"] == ["binary_tensor_data"]
    made = furnish(store, ann.caller.tenant_id)
    ready = client.get(f"/v2/models/{made.application_id}/ready", headers=ann.headers)
    assert ready.json() == {"name": made.application_id, "ready": True}


def test_the_address_goes_to_the_api(app, client: TestClient, settings) -> None:
    whole = TestClient(create_asgi_app(app, settings))
    assert whole.get("/v2/health/live").json() == {"live": True}
    assert "error" in whole.get("/v2/models/app_1").json()


@pytest.mark.parametrize("status", [404, 422, 503])
def test_problems_of_the_predictor_in_the_own_form(
    client: TestClient, store, predictor, ann, status: int
) -> None:
    problem = {"detail": "It failed.", "where": "row 1", "remedy": "Try others."}
    predictor.status, predictor.content = status, json.dumps(problem).encode()
    body = {"inputs": [tensor("x", "FP64", [1], [1])]}
    answer = client.post(INFER, json=body, headers=ann.headers)
    assert answer.status_code == status
    assert answer.json() == {"error": "row 1: It failed. Try others."}
    assert ("retry-after" in answer.headers) == (status == 503)
    path = INVOKE.format(furnish(store, ann.caller.tenant_id).application_id)
    csv = {**ann.headers, "content-type": "text/csv"}
    answer = client.post(path, content=b"x\n1\n", headers=csv)
    codes = {404: "RESOURCE_DOES_NOT_EXIST", 422: "BAD_REQUEST", 503: "TEMPORARILY_UNAVAILABLE"}
    assert answer.json() == {
        "error_code": codes[status],
        "message": "row 1: It failed. Try others.",
    }


@pytest.mark.parametrize(
    "body",
    [
        {"dataframe_split": {"columns": ["a", "b"], "data": [[1, "u"], [2, None]]}},
        {"dataframe_records": [{"a": 1, "b": "u"}, {"a": 2, "b": None}]},
        {"instances": [{"a": 1, "b": "u"}, {"a": 2, "b": None}]},
        {"instances": [{"a": [1], "b": ["u"]}, {"a": [2], "b": [None]}]},
        {"inputs": {"a": [1, 2], "b": ["u", None]}},
        {"inputs": {"a": [[1], [2]], "b": ["u", None]}},
    ],
)
def test_frames_of_mlflow(client: TestClient, store, classes, ann, body) -> None:
    path = INVOKE.format(furnish(store, ann.caller.tenant_id).application_id)
    answer = client.post(path, json=body, headers=ann.headers)
    assert answer.json() == {"predictions": ["no", "yes"]}
    assert rows_seen(classes) == [{"a": 1, "b": "u"}, {"a": 2, "b": None}]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "no rows"),
        ({"instances": [], "inputs": []}, "exactly one of"),
        ({"dataframe_split": {"data": []}}, "columns and data"),
        ({"dataframe_split": {"columns": ["a"], "data": [[1, 2]]}}, "row 0: It has 2 values"),
        ({"inputs": {"a": [1], "b": [1, 2]}}, "different lengths"),
        ({"instances": 3}, "no rows"),
    ],
)
def test_errors_of_mlflow(client: TestClient, store, classes, ann, bob, body, said: str) -> None:
    path = INVOKE.format(furnish(store, ann.caller.tenant_id).application_id)
    answer = client.post(path, json=body, headers=ann.headers)
    assert answer.status_code == 422
    assert answer.json()["error_code"] == "BAD_REQUEST"
    assert said in answer.json()["message"]
    stranger = client.post(path, json=body, headers=bob.headers)
    assert stranger.json()["error_code"] == "RESOURCE_DOES_NOT_EXIST"
    assert classes.seen == []


@given(st.lists(st.floats(allow_nan=False)), st.lists(st.text()))
def test_bytes_of_tensors_come_back(numbers: list[float], texts: list[str]) -> None:
    for datatype, values in (("FP64", numbers), ("BYTES", texts)):
        content = packed(Tensor("x", datatype, (len(values),), values, {}))
        told = {"name": "x", "datatype": datatype, "shape": [len(values)]}
        told["parameters"] = {"binary_data_size": len(content)}
        found, rest = read_tensor(told, memoryview(content), "input 0")
        assert found.values == values
        assert len(rest) == 0
