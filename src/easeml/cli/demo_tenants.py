"""The demo: three tenants who use a running service through its public REST API, as anybody would."""

import asyncio
import json
import os
import shlex
import signal
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urljoin

from rich.console import Console

from easeml.cli.demo_data import TABLES, DemoTable, first_row, write_table
from easeml.cli.demo_state import DemoState
from easeml.cli.output import console, print_error, text
from easeml.cli.watching import Progress, progress_on
from easeml.client import AsyncClient, made_request
from easeml.contract.applications import Application, Declaration, Prediction
from easeml.contract.knowledge import Titles
from easeml.contract.measures import in_unit, judged_on
from easeml.contract.models import Measure, TrainedModel
from easeml.contract.states import JobState
from easeml.errors import Conflict, EasemlError, NotFound, NotReady, NotSignedIn, Unreachable

_LOOK_SECONDS = 1.0
_ENDED = {JobState.RESTING, JobState.STOPPED, JobState.FAILED}
_LIVE_SECONDS = 180.0  # afterwards the table ends and promotions are still printed
_PREDICT_TRIES = 40
_PROMOTED = frozenset({"application.first-model", "promotion.live"})


def run_demo(url: str, home: Path, *, since: float) -> None:
    """Play the demo until Ctrl-C, SIGTERM, or the end of the process that started it.

    ``since``: when the service was up, in seconds of the epoch. What is done already is not done
    again.
    """
    with suppress(asyncio.CancelledError):
        asyncio.run(_Demo(url, home, since, console()).run())


class _Demo:
    """One run of the demo; what it shows about each tenant."""

    def __init__(self, url: str, home: Path, since: float, out: Console) -> None:
        self._url = url
        self._folder = home / "demo"
        self._since = since
        self._out = out
        self._titles = Titles(titles={})
        self._state = DemoState.load(home)
        self._applications: dict[str, Application] = {}
        self._failed: set[str] = set()

    async def run(self) -> None:
        """Play all tenants at once and show how they do. Ends by cancellation."""
        loop = asyncio.get_running_loop()
        players = asyncio.gather(self._watch(), *map(self._play_safely, TABLES))
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, players.cancel)
        await players

    async def _play_safely(self, table: DemoTable) -> None:
        """Play a tenant; its failure is told and leaves the others alone."""
        try:
            await self._play(table)
        except EasemlError as error:
            self._failed.add(table.tenant)
            self._say(f"{table.tenant}: the demo of this tenant ends.")
            print_error(error)

    async def _play(self, table: DemoTable) -> None:
        """Sign in, upload, declare, and predict whenever something better is served."""
        path = await asyncio.to_thread(write_table, table, self._folder)
        row, actual = first_row(path, table.target)
        async with AsyncClient(self._url, await self._signed_in(table.tenant), retries=8) as client:
            application = await self._declared(client, table, path)
            self._titles.titles.update((await client.module_titles()).titles)
            self._applications[table.tenant] = application
            shown = ""
            async for live in _promoted(client, application.id):
                if live.id == shown:
                    continue
                prediction = await self._predict(client, application.id, row, shown)
                if prediction is not None:
                    shown = prediction.model_id
                    good = live.measure if live.id == shown else None
                    self._tell(table, prediction, actual, good)

    async def _signed_in(self, name: str) -> str:
        """Return an API key of a tenant of the demo, made by the provider if they are new."""
        tenant = self._state.tenant(name)
        if tenant.key:
            async with AsyncClient(self._url, tenant.key, retries=8) as client:
                with suppress(NotSignedIn):
                    await client.me()
                    return tenant.key
        async with AsyncClient(self._url, retries=8) as client:
            try:
                await client.login(name, tenant.password)
            except NotSignedIn:
                await self._make_user(name, tenant.password)
                await client.login(name, tenant.password)
            tenant.key = (await client.create_key("demo")).secret or ""
        self._state.save()
        return tenant.key

    async def _make_user(self, name: str, password: str) -> None:
        """Make a user as the provider, by the first login or the key that ``easeml login`` saved."""
        async with AsyncClient(self._url, retries=8) as client:
            try:
                if self._state.provider:
                    await client.login(
                        self._state.provider["name"], self._state.provider["password"]
                    )
                await client.create_user(name, password)
            except NotSignedIn as error:
                raise NotSignedIn(
                    "The demo needs the provider's login to make its users.",
                    remedy="Run `easeml login admin` once, then `easeml up --demo` again.",
                ) from error

    async def _declared(self, client: AsyncClient, table: DemoTable, path: Path) -> Application:
        """Return the tenant's application, uploaded and declared if it is not there yet."""
        tenant = self._state.tenant(table.tenant)
        if tenant.application_id:
            with suppress(NotFound):
                return await client.application(tenant.application_id)
        self._say(f"{table.tenant}: uploads {path.name}")
        dataset = await client.upload(path, idempotency_key=tenant.upload_key)
        version = await client.wait_version_ready(dataset.version.id)
        self._say(f"{table.tenant}: {path.name} is read, {len(version.columns)} columns")
        declaration = made_request(
            Declaration, dataset_id=dataset.id, name=table.name, target=table.target
        )
        application = await client.create_application(
            declaration, idempotency_key=tenant.declare_key
        )
        tenant.application_id = application.id
        self._state.save()
        self._say(
            f"{table.tenant}: declared {application.name} ({application.id}), objective {application.objective}"
        )
        return application

    async def _predict(
        self, client: AsyncClient, application_id: str, row: dict[str, float], shown: str
    ) -> Prediction | None:
        """Return a prediction of a model other than the one shown; None after ten seconds without."""
        for _ in range(_PREDICT_TRIES):
            with suppress(NotReady, Conflict, Unreachable):
                prediction = await client.predict(application_id, [row])
                if prediction.model_id != shown:
                    return prediction
            await asyncio.sleep(0.25)
        return None

    def _tell(
        self, table: DemoTable, prediction: Prediction, actual: str, measure: Measure | None
    ) -> None:
        tenant = self._state.tenant(table.tenant)
        what = "promoted, now"
        if tenant.first_prediction is None:
            tenant.first_prediction = time.time() - self._since
            self._state.save()
            what = f"first prediction {tenant.first_prediction:.1f} s after the service was up:"
        value = text(prediction.predictions[0])
        model = self._titles.of(prediction.model_name)
        good = ""
        if measure is not None:
            good = f", {in_unit(measure, table.target)} on {judged_on(measure)}"
        self._say(
            f"{table.tenant}: {what} {table.target} = {value} (actual {actual}) by {model}{good}"
        )

    async def _watch(self) -> None:
        """Show progress until all is said, then how to go on; end when the starter has gone."""
        parent, told = os.getppid(), False
        with progress_on(self._out, self._titles) as progress:
            while not told:
                await self._look(progress)
                told = self._is_settled()
                await self._pause(parent)
        self._farewell()
        while True:
            await self._pause(parent)

    async def _look(self, progress: Progress) -> None:
        for name, application in list(self._applications.items()):
            async with AsyncClient(self._url, self._state.tenant(name).key) as client:
                with suppress(Unreachable):
                    self._applications[name] = await client.application(application.id)
        progress.show(self._applications)

    async def _pause(self, parent: int) -> None:
        if os.getppid() != parent:
            raise asyncio.CancelledError  # ends the gathering, and with it the demo
        await asyncio.sleep(_LOOK_SECONDS)

    def _is_settled(self) -> bool:
        """Tell whether every tenant had a prediction and its search rests, or the time is up."""
        playing = [table.tenant for table in TABLES if table.tenant not in self._failed]
        first = [self._state.tenant(tenant).first_prediction for tenant in playing]
        if None in first:
            return False
        is_late = time.time() - self._since > _LIVE_SECONDS
        return is_late or not any(map(self._searches, playing))

    def _searches(self, tenant: str) -> bool:
        """Tell whether the search of a tenant's application has not ended yet."""
        application = self._applications.get(tenant)
        if application is None:
            return False
        return application.job is None or application.job.state not in _ENDED

    def _farewell(self) -> None:
        """Print the address, the logins, and a curl line that works."""
        self._say(f"easeml stays up at {self._url}; Ctrl-C stops it, and it goes on where it was.")
        if self._state.provider:
            provider = self._state.provider
            self._say("Sign in as the provider to see all devices and who uses them:")
            self._say(f"  name: {provider['name']}  password: {provider['password']}")
        self._say("Sign in as one of the tenants to see its application:")
        for name, tenant in self._state.tenants.items():
            first = "-" if tenant.first_prediction is None else f"{tenant.first_prediction:.1f} s"
            login = f"name: {name}  password: {tenant.password}"
            self._say(f"  {login}  (first prediction after {first})")
        playing = [table for table in TABLES if table.tenant in self._applications]
        if playing:
            self._say("Try: " + self._curl(playing[-1]))

    def _curl(self, table: DemoTable) -> str:
        row, _ = first_row(self._folder / f"{table.name}.csv", table.target)
        address = urljoin(self._url, self._applications[table.tenant].endpoint)
        key = self._state.tenant(table.tenant).key
        body = json.dumps({"rows": [row]})
        words = ["curl", "-s", "-H", f"Authorization: Bearer {key}"]
        words += ["-H", "Content-Type: application/json", "-d", body, address]
        return shlex.join(words)

    def _say(self, line: str) -> None:
        self._out.print(line, markup=False, soft_wrap=True)
        self._out.file.flush()


async def _promoted(client: AsyncClient, application_id: str) -> AsyncIterator[TrainedModel]:
    """Give what an application serves, each time that its model changed."""
    async for event in client.events(after=0):
        if event.subject != application_id or event.kind not in _PROMOTED:
            continue
        live = (await client.application(application_id)).live_model
        if live is not None:
            yield live
