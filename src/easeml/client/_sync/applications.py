# Made from ../_async/applications.py by scripts/unasync.py: change that file, then run the script.
"""Applications: declare, look at, predict, and decide what is live."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from easeml.client._sync.calls import API, Calls
from easeml.client._sync.uploads import Progress
from easeml.client.answers import read_answer
from easeml.client.frames import ARROW, is_frame, like, parts_of, to_arrow
from easeml.client.parts import error_in_table
from easeml.contract.applications import Declaration, Prediction
from easeml.contract.task_views import Task
from easeml.errors import InvalidInput


class Applications(Calls):
    """What users declare."""

    def ask_tool(
        self,
        application_id: str,
        tool: str,
        *,
        newer_id: str = "",
        model_id: str = "",
        against_id: str = "",
        **parameters: object,
    ) -> Task:
        """Ask a lifecycle tool, such as feasibility, about the data; a task answers with a report.

        ``newer_id``: the version of an upload, for tools that look at rows that came later.
        ``model_id``: the trained model in question; by default the one that serves, or its best
        rival for a tool that compares the two. ``against_id``: what it is compared with, where
        that is not the one that serves. Raises InvalidInput for a tool or parameter that there
        is not, Conflict while the data is not ready or nothing serves.
        """
        wish = {
            "tool": tool,
            "parameters": parameters,
            "newer_id": newer_id,
            "model_id": model_id,
            "against_id": against_id,
        }
        return self._send(Task, f"/applications/{application_id}/reports", wish)

    def ask_tool_before_start(
        self, declaration: Declaration, tool: str, **parameters: object
    ) -> Task:
        """Ask a lifecycle tool about an upload, prepared as ``declaration`` says; a task answers.

        ``declaration`` has to name the version of the upload. Its report moves to the application
        that is declared in the same way. Raises InvalidInput, NotFound, NotReady.
        """
        told = declaration.model_dump(mode="json")
        wish = {"tool": tool, "parameters": parameters, "declaration": told}
        return self._send(Task, f"/versions/{declaration.version_id}/reports", wish)

    def download_model(
        self, model_id: str, path: str | Path, *, test_rows: bool = False, evidence: bool = False
    ) -> None:
        """Write the files of a trained model, with what is known of it, into the tar file ``path``.

        ``test_rows``: with the inputs of the test rows, to compare a translation of the model on.
        ``evidence``: with its fit on the train rows alone, the validation rows, and the inputs of
        the test rows, to choose by how it is made smaller.

        Raises NotFound, Conflict where its files are gone or damaged, and InvalidInput where there
        is no folder to write into.
        """
        wanted = {"test_rows": test_rows or None, "evidence": evidence or None}
        address = f"{API}/models/{model_id}/files"
        self._transport.save(address, Path(path), params=wanted)

    @overload
    def predict(
        self,
        application_id: str,
        rows: Sequence[Mapping[str, Any]] | None = None,
        *,
        csv: str | bytes | None = None,
        file: bytes | None = None,
        timeout: float | None = None,
        fill_absent: bool = False,
        fill_empty: bool = False,
        explain: bool = False,
    ) -> Prediction: ...

    @overload
    def predict(
        self,
        application_id: str,
        rows: Any,
        *,
        timeout: float | None = None,
        fill_absent: bool = False,
        fill_empty: bool = False,
        progress: Progress | None = None,
    ) -> Any: ...

    def predict(
        self,
        application_id: str,
        rows: Any = None,
        *,
        csv: str | bytes | None = None,
        file: bytes | None = None,
        timeout: float | None = None,
        fill_absent: bool = False,
        fill_empty: bool = False,
        explain: bool = False,
        progress: Progress | None = None,
    ) -> Any:
        """Predict rows, a table in memory, the body of a CSV file with a header, or a ``file``: a picture, a zip file
        of pictures or texts or an ease.ml data set, NumPy arrays, ``.ts`` series.

        A table in memory (a frame of pandas or Polars, an Arrow table, an array) is answered with
        one of its kind: ``prediction``, a ``probability_CLASS`` each, ``lower`` and ``upper``; for
        pandas with the same index, and ``attrs["notes"]``; an array gets a frame of pandas.
        ``progress`` is called with rows that are predicted and rows in all. All
        else is answered with a ``Prediction``. Rows that have the target, too, get the quality of their predictions.
        ``fill_absent``: columns that may be empty may be absent as well. ``fill_empty``: cells may be
        empty in columns that had no empty one in training. ``explain``: the ``Prediction`` says by
        ``attributions`` which columns moved it, for 20 rows at most.
        ``timeout``: seconds to wait instead of the client's. Raises InvalidInput (naming row and
        column), NotReady while there is no model yet, TimedOut.
        """
        permitted = _permitted(fill_absent=fill_absent, fill_empty=fill_empty, explain=explain)
        if is_frame(rows):
            return self._predict_frame(application_id, rows, timeout, permitted, progress)
        if csv is not None:
            content = csv.encode() if isinstance(csv, str) else csv
            content_type = "text/csv"
        elif file is not None:
            content, content_type = file, "application/octet-stream"
        else:
            content = json.dumps({"rows": list(map(dict, rows or ()))}).encode()
            content_type = "application/json"
        return self._predict_body(application_id, content, content_type, timeout, permitted)

    def forecast(
        self,
        application_id: str,
        steps: int,
        *,
        newer: Sequence[Mapping[str, Any]] | None = None,
        csv: str | bytes | None = None,
        fill_absent: bool = False,
        timeout: float | None = None,
    ) -> Prediction:
        """Forecast the next steps of each series: ``rows`` of the answer say which.

        ``newer``: rows with values of the target that the model does not know yet; or ``csv``, the
        body of a file of them; ``fill_absent``: columns of them that may be empty may be absent as
        well. ``known`` of the answer: the last values. ``timeout``: seconds to wait instead of the
        client's. Raises InvalidInput where the application does not forecast, or its rows need more
        than their time and series; NotReady while there is no model yet, TimedOut.
        """
        content, content_type = b"", "application/json"
        if newer:
            content = json.dumps({"rows": list(map(dict, newer))}).encode()
        elif csv is not None:
            content = csv.encode() if isinstance(csv, str) else csv
            content_type = "text/csv"
        asked = {**_permitted(fill_absent=fill_absent), "forecast": str(steps)}
        return self._predict_body(application_id, content, content_type, timeout, asked)

    def _predict_frame(
        self,
        application_id: str,
        data: Any,
        timeout: float | None,
        permitted: dict[str, str],
        progress: Progress | None,
    ) -> Any:
        """Predict a table in memory, in parts where it is long."""
        table = to_arrow(data)
        answers = []
        for start, part in parts_of(table):
            try:
                answer = self._predict_body(application_id, part, ARROW, timeout, permitted)
            except InvalidInput as error:
                raise error_in_table(error, start) from error
            answers.append(answer)
            if progress is not None:
                progress(start + len(answer.predictions), table.num_rows)
        return like(data, answers)

    def _predict_body(
        self,
        application_id: str,
        content: bytes,
        content_type: str,
        timeout: float | None,
        permitted: dict[str, str],
    ) -> Prediction:
        response = self._transport.request(
            "POST",
            f"{API}/applications/{application_id}/predict",
            repeatable=True,
            params=permitted,
            content=content,
            headers={"content-type": content_type},
            timeout=timeout,
        )
        return read_answer(Prediction, response)


def _permitted(**permissions: bool) -> dict[str, str]:
    """Return the query of a request for what the rows may lack, and what is asked besides."""
    return {name: "true" for name, is_given in permissions.items() if is_given}
