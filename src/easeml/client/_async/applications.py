"""Applications: declare, look at, predict, and decide what is live."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from easeml.client._async.calls import API, AsyncCalls
from easeml.client.answers import read_answer
from easeml.contract.reports import Report
from easeml.contract.resources import (
    Application,
    Declaration,
    Page,
    Prediction,
    Promotion,
    Proposal,
    Task,
    TrainedModel,
)


class AsyncApplications(AsyncCalls):
    """What users declare."""

    async def propose(self, declaration: Declaration) -> Proposal:
        """Return what a declaration would mean; nothing is made. Raises InvalidInput, NotReady."""
        return await self._send(
            Proposal, "/applications/propose", declaration.model_dump(mode="json")
        )

    async def create_application(
        self, declaration: Declaration, *, idempotency_key: str | None = None
    ) -> Application:
        """Declare an application; its search starts by itself.

        Raises InvalidInput, NotFound, NotReady.
        """
        return await self._create(
            Application, "/applications", key=idempotency_key, request=declaration
        )

    async def application(self, application_id: str) -> Application:
        """Return an application and how it does. Raises NotFound."""
        return await self._get(Application, f"/applications/{application_id}")

    def applications(self) -> AsyncIterator[Application]:
        """Give all applications of the tenant, oldest first."""
        return self._list(Application, "/applications")

    def models(
        self, application_id: str, *, best: int | None = None
    ) -> AsyncIterator[TrainedModel]:
        """Give the trained models of an application, best on validation rows first; ``best``: this
        many only.
        """
        return self._list(TrainedModel, f"/applications/{application_id}/models", best=best)

    def promotions(self, application_id: str) -> AsyncIterator[Promotion]:
        """Give the changes of what an application serves."""
        return self._list(Promotion, f"/applications/{application_id}/promotions")

    async def roll_back(self, application_id: str, model_id: str | None = None) -> Application:
        """Serve an earlier model again and pin it: the one before, or the named one.

        Raises Conflict, NotFound.
        """
        body = {} if model_id is None else {"model_id": model_id}
        path = f"/applications/{application_id}/rollback"
        return await self._send(Application, path, body, repeatable=False)

    async def include_model(self, application_id: str, model: str) -> Application:
        """Let the search try a model, too, that was left out; a search that rests may go on.

        Raises InvalidInput where the model does not fit, Conflict where the search has ended.
        """
        return await self._send(
            Application, f"/applications/{application_id}/include", {"model": model}
        )

    async def ask_tool(self, application_id: str, tool: str, **parameters: object) -> Task:
        """Ask a lifecycle tool, such as feasibility, about the data; a task answers with a report.

        Raises InvalidInput for a tool or parameter that there is not, Conflict while the data is
        not ready.
        """
        wish = {"tool": tool, "parameters": parameters}
        return await self._send(Task, f"/applications/{application_id}/reports", wish)

    def reports(self, application_id: str) -> AsyncIterator[Report]:
        """Give what lifecycle tools answered about an application, newest first."""
        return self._list(Report, f"/applications/{application_id}/reports")

    async def reports_page(self, application_id: str) -> Page[Report]:
        """Return the newest of what lifecycle tools answered about an application."""
        return await self._get(Page[Report], f"/applications/{application_id}/reports")

    def task_reports(self, task_id: str) -> AsyncIterator[Report]:
        """Give what tools answered about the model that a task trained, or in the task itself."""
        return self._list(Report, f"/tasks/{task_id}/reports")

    async def ask_tool_before_start(
        self, declaration: Declaration, tool: str, **parameters: object
    ) -> Task:
        """Ask a lifecycle tool about an upload, prepared as ``declaration`` says; a task answers.

        ``declaration`` has to name the version of the upload. Its report moves to the application
        that is declared in the same way. Raises InvalidInput, NotFound, NotReady.
        """
        told = declaration.model_dump(mode="json")
        wish = {"tool": tool, "parameters": parameters, "declaration": told}
        return await self._send(Task, f"/versions/{declaration.version_id}/reports", wish)

    def version_reports(self, version_id: str) -> AsyncIterator[Report]:
        """Give what tools answered about an upload, newest first, as long as none is made of it."""
        return self._list(Report, f"/versions/{version_id}/reports")

    async def pin(self, application_id: str) -> Application:
        """Keep what is served now, whatever the search finds."""
        return await self._send(Application, f"/applications/{application_id}/pin")

    async def unpin(self, application_id: str) -> Application:
        """Let better models be promoted again."""
        return await self._send(Application, f"/applications/{application_id}/unpin")

    async def predict(
        self,
        application_id: str,
        rows: Sequence[Mapping[str, Any]] | None = None,
        *,
        csv: str | bytes | None = None,
        file: bytes | None = None,
        timeout: float | None = None,
        fill_absent: bool = False,
    ) -> Prediction:
        """Predict rows, the body of a CSV file with a header, or a ``file``: a picture, a zip file
        of pictures or texts or an ease.ml data set, NumPy arrays, ``.ts`` series.

        Rows that have the target, too, get the quality of their predictions with them.
        ``fill_absent``: columns that may be empty may be absent as well.
        ``timeout``: seconds to wait instead of the client's. Raises InvalidInput (naming row and
        column), NotReady while there is no model yet, TimedOut.
        """
        if csv is not None:
            content = csv.encode() if isinstance(csv, str) else csv
            content_type = "text/csv"
        elif file is not None:
            content, content_type = file, "application/octet-stream"
        else:
            content = json.dumps({"rows": [dict(row) for row in rows or ()]}).encode()
            content_type = "application/json"
        response = await self._transport.request(
            "POST",
            f"{API}/applications/{application_id}/predict",
            repeatable=True,
            params={"fill_absent": "true"} if fill_absent else {},
            content=content,
            headers={"content-type": content_type},
            timeout=timeout,
        )
        return read_answer(Prediction, response)
