"""An MLflow tracking server, spoken to by its REST API: no library of MLflow is needed.

https://mlflow.org/docs/latest/rest-api.html
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from easeml.errors import InvalidInput, Unreachable
from easeml.service.search.finished_runs import FinishedRun

_API = "/api/2.0/mlflow"
_SECONDS = 10.0
_LONGEST_PARAM = 500  # characters, in the oldest servers
_MISSING = "RESOURCE_DOES_NOT_EXIST"
SEQ = "easeml.seq"  # of the newest event that was told: a tag of each experiment
TASK = "easeml.task_id"


class MlflowServer:
    """Experiments and runs of one server."""

    def __init__(self, uri: str, transport: httpx.BaseTransport | None = None):
        """``uri``: as MLflow has it, http(s)://[USER:PASSWORD@]HOST[:PORT][/PATH].

        Raises ``InvalidInput`` for another.
        """
        parts = urlsplit(uri)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(
                "A tracking server has an address such as http://mlflow.lab.org:5000.",
                where="mlflow_tracking_uri",
            )
        headers = {}
        if parts.username:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        address = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        self.host = parts.hostname
        self._client = httpx.Client(
            base_url=urlunsplit(address).rstrip("/") + _API,
            headers=headers,
            timeout=_SECONDS,
            transport=transport,
        )

    def experiment(self, name: str, tags: Mapping[str, str]) -> str:
        """Return the id of the experiment of a name; it is made, with tags, where there is none.

        Raises ``Unreachable``, as all methods do where the server does not do what it is asked.
        """
        found = self._find("/experiments/get-by-name", experiment_name=name)
        if found:
            return str(found["experiment"]["experiment_id"])
        made = self._post("/experiments/create", {"name": name, "tags": _pairs(tags)})
        return str(made["experiment_id"])

    def tag_of(self, experiment: str, key: str) -> str:
        """Return a tag of an experiment; empty where it has none."""
        found = self._find("/experiments/get", experiment_id=experiment)
        tags = found.get("experiment", {}).get("tags", [])
        by_key = {tag["key"]: str(tag["value"]) for tag in tags}
        return by_key.get(key, "")

    def set_tag(self, experiment: str, key: str, value: str) -> None:
        """Set a tag of an experiment."""
        body = {"experiment_id": experiment, "key": key, "value": value}
        self._post("/experiments/set-experiment-tag", body)

    def add_run(self, experiment: str, run: FinishedRun) -> None:
        """Add a run that has ended, once: one of the same task that is there is completed."""
        wanted = {
            "experiment_ids": [experiment],
            "filter": f"tags.`{TASK}` = '{run.task_id}'",
            "max_results": 1,
        }
        there = self._post("/runs/search", wanted).get("runs", [])
        if there:
            id = there[0]["info"]["run_id"]
        else:
            made = {
                "experiment_id": experiment,
                "run_name": run.name,
                "start_time": _millis(run.started),
                "tags": _pairs({**run.tags, TASK: run.task_id}),
            }
            id = self._post("/runs/create", made)["run"]["info"]["run_id"]
        ended = _millis(run.finished)
        metrics = [
            {"key": key, "value": value, "timestamp": ended, "step": 0}
            for key, value in run.metrics.items()
        ]
        params = {key: str(value)[:_LONGEST_PARAM] for key, value in run.params.items()}
        batch = {"run_id": id, "metrics": metrics, "params": _pairs(params)}
        self._post("/runs/log-batch", batch)
        status = "FINISHED" if run.is_done else "FAILED"
        self._post("/runs/update", {"run_id": id, "status": status, "end_time": ended})

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _find(self, path: str, **query: str) -> dict[str, Any]:
        """Return what is asked for; empty where there is nothing."""
        return self._answer("GET", path, params=query, may_lack=True)

    def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._answer("POST", path, json=body)

    def _answer(
        self, method: str, path: str, *, may_lack: bool = False, **content: Any
    ) -> dict[str, Any]:
        try:
            answer = self._client.request(method, path, **content)
            told = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            why = str(error) or type(error).__name__
            raise Unreachable(f"MLflow does not answer: {why}", where=self.host) from error
        is_object = isinstance(told, dict)
        if is_object and answer.is_success:
            return told
        fault = told if is_object else {}
        code, said = fault.get("error_code", ""), fault.get("message", "")
        if may_lack and code == _MISSING:
            return {}
        raise Unreachable(
            f"MLflow answered {answer.status_code} {code}: {said[:300]}", where=self.host
        )


def _pairs(values: Mapping[str, str]) -> Sequence[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in values.items()]


def _millis(seconds: float) -> int:
    return round(seconds * 1000)
