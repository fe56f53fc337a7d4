"""Asks a model as ``taken_home.py`` wants, in an environment without easeml; prints JSON.

    python taken_home_client.py ROWS.csv protocols HOST:PORT MODEL INVOCATIONS [KEY]
    python taken_home_client.py ROWS.csv mlflow FOLDER
    python taken_home_client.py ROWS.csv python FOLDER
    python taken_home_client.py ROWS.csv onnx FILE

Each way of asking gives the probability of the first class, a number a row.
"""

import importlib.util
import json
import sys

import numpy as np
import pandas as pd


def by_tensors(address: str, model: str, headers: dict[str, str], rows: pd.DataFrame) -> dict:
    """Ask by Triton's client: what the server tells of itself, tensors as JSON, and as bytes."""
    import tritonclient.http as triton

    client = triton.InferenceServerClient(address, connection_timeout=60, network_timeout=60)
    assert client.is_server_live(headers=headers)
    assert client.is_server_ready(headers=headers)
    assert client.is_model_ready(model, headers=headers)
    assert client.get_server_metadata(headers=headers)["name"] == "easeml"
    told = client.get_model_metadata(model, headers=headers)
    found = {}
    for name, is_binary in (("tritonclient, JSON", False), ("tritonclient, binary", True)):
        given = []
        for one in told["inputs"]:
            tensor = triton.InferInput(one["name"], [len(rows)], one["datatype"])
            tensor.set_data_from_numpy(tensor_of(rows[one["name"]], one["datatype"]), is_binary)
            given.append(tensor)
        wanted = [triton.InferRequestedOutput("probabilities", binary_data=is_binary)]
        answer = client.infer(model, given, outputs=wanted, headers=headers)
        found[name] = answer.as_numpy("probabilities")[:, 0].tolist()
    return found


def tensor_of(column: pd.Series, datatype: str) -> np.ndarray:
    """Return a column as a tensor: a missing text is empty, a missing number NaN."""
    if datatype == "BYTES":
        return column.fillna("").to_numpy(dtype=object)
    return column.to_numpy(dtype=np.float64)


def by_invocations(address: str, rows: pd.DataFrame) -> list[str]:
    """Ask by the client of MLflow's scoring server; return the labels: it gives no more."""
    from mlflow.pyfunc.scoring_server.client import ScoringServerClient

    client = ScoringServerClient("", 0)
    client.url_prefix = address
    return client.invoke(rows).get_predictions().iloc[:, 0].tolist()


def typed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows as pandas has them: moments in a column of moments."""
    if "when" not in rows:
        return rows
    return rows.assign(when=pd.to_datetime(rows["when"]))


def by_python(folder: str, rows: pd.DataFrame) -> list[float]:
    """Ask the folder by its loader of two lines."""
    sys.path.insert(0, folder)
    from load import model

    return model.predict(typed(rows)).filter(like="probability_").iloc[:, 0].tolist()


def by_mlflow(folder: str, rows: pd.DataFrame) -> list[float]:
    """Ask the folder as MLflow loads it."""
    import mlflow

    model = mlflow.pyfunc.load_model(folder)
    return model.predict(typed(rows)).filter(like="probability_").iloc[:, 0].tolist()


def by_graph(file: str, rows: pd.DataFrame) -> list[float]:
    """Ask ONNX Runtime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(file)
    given = {}
    for one in session.get_inputs():
        datatype = "BYTES" if "string" in one.type else "FP64"
        given[one.name] = tensor_of(rows[one.name], datatype)[:, None]
    return session.run(["probabilities"], given)[0][:, 0].tolist()


def main() -> None:
    """Ask, and print what was said."""
    assert importlib.util.find_spec("easeml") is None, "easeml is installed here"
    rows, way, place = pd.read_csv(sys.argv[1]), sys.argv[2], sys.argv[3]
    if way == "protocols":
        model, invocations, key = sys.argv[4:]
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answers = by_tensors(place, model, headers, rows)
        answers["labels"] = by_invocations(invocations, rows)
    elif way == "python":
        answers = {"python": by_python(place, rows)}
    elif way == "mlflow":
        answers = {"mlflow.pyfunc": by_mlflow(place, rows)}
    else:
        answers = {"onnxruntime": by_graph(place, rows)}
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
