"""Modules that are private to a tenant: who may add, see, use, archive and share them."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from furnish import furnish
from inline_worker import work_off

from described_model import DISCRIMINANT
from easeml.api.context import Context
from easeml.confinement import why_unavailable
from easeml.modules import load_registry, packed, skeletons
from easeml.service.knowledge import knowledge_base
from easeml.service.modules import admission
from easeml.service.search import candidates
from easeml.store import Store

MODULES = "/api/v1/modules"
NAME = "nearest"
needs_confinement = pytest.mark.skipif(
    bool(why_unavailable()), reason="programs need Landlock and seccomp"
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of a folder of programs."""
    folder = tmp_path_factory.mktemp("modules") / NAME
    skeletons.make(folder, "model", "shell")
    return packed.pack(folder)


@pytest.fixture
def confining(client: TestClient, store: Store, settings, predictor) -> TestClient:
    """The service, as if it was started with --isolation process."""
    confined = settings.model_copy(update={"isolation": "process"})
    client.app.state.context = Context.over(store, confined, predictor)
    return client


def add(client: TestClient, person, toml: str, **more) -> dict:
    """Add a private module that is taken for checking."""
    body = {"toml": toml, "private": True, **more}
    answer = client.post(MODULES, json=body, headers=person.headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


def seen(client: TestClient, person) -> dict[str, dict]:
    """Return the modules that somebody sees, by name."""
    base = client.get(MODULES, headers=person.headers).json()
    return {one["name"]: one for one in base["modules"]}


def models_of(store: Store, job_id: str) -> set[str]:
    """Return the models that a search tries."""
    with store.read() as tx:
        return {one.model for one in tx.unscoped().candidates.list(job_id=job_id, limit=None)}


@needs_confinement
def test_a_private_module_is_seen_and_searched_by_its_tenant_alone(
    confining: TestClient, store: Store, provider, ann, bob, upload, programs: str, tmp_path: Path
) -> None:
    client = confining
    ann_has = furnish(store, ann.caller.tenant_id)
    bob_has = furnish(store, bob.caller.tenant_id)
    made = add(client, ann, programs)
    assert (made["state"], made["private"]) == ("checking", True)
    for person, names in ((ann, [NAME]), (provider, [NAME]), (bob, [])):
        arriving = client.get(MODULES, headers=person.headers).json()["arriving"]
        assert [one["name"] for one in arriving] == names

    work_off(store, tmp_path)
    found = client.get(f"{MODULES}/{NAME}/checks", headers=ann.headers).json()
    assert found["state"] == "ready", found
    assert found["joined"] == 1
    assert client.get(f"{MODULES}/{NAME}/checks", headers=bob.headers).status_code == 403
    assert NAME in models_of(store, ann_has.job_id)
    assert NAME not in models_of(store, bob_has.job_id)

    # Whatever asks for what there is says nothing of it to another tenant.
    assert seen(client, ann)[NAME]["private"]
    assert [one["id"] for one in seen(client, ann)[NAME]["fits"]] == [ann_has.application_id]
    assert seen(client, provider)[NAME]["private"]
    assert seen(client, provider)[NAME]["fits"] == []
    assert NAME not in seen(client, bob)
    titles = {
        person.name: client.get(f"{MODULES}/titles", headers=person.headers).json()["titles"]
        for person in (ann, bob, provider)
    }
    assert NAME in titles["ann"]
    assert NAME not in titles["bob"]
    assert NAME in titles[provider.name]
    rows = "".join(f"{row}.5,{'ab'[row % 2]}\n" for row in range(20))
    for person, is_offered in ((ann, True), (bob, False)):
        data = upload(person, "table", f"size,kind\n{rows}".encode())
        work_off(store, tmp_path)
        wish = {"dataset_id": data["id"], "target": "kind", "name": "again"}
        answer = client.post("/api/v1/applications/propose", json=wish, headers=person.headers)
        assert answer.status_code == 200, answer.text
        offered = {one["name"] for one in answer.json()["models"]}
        assert (NAME in offered) == is_offered

    # Naming it does not help: it is as if it were not there.
    for way in ("include", "tryouts"):
        body = {"model": NAME}
        place = f"/api/v1/applications/{bob_has.application_id}/{way}"
        refused = client.post(place, json=body, headers=bob.headers)
        unknown = client.post(place, json={"model": "no-such"}, headers=bob.headers)
        assert refused.status_code == unknown.status_code
        assert refused.status_code >= 400
    assert NAME not in models_of(store, bob_has.job_id)

    # A search of another tenant that starts later never gets it, whoever hands over what is known.
    with store.read() as tx:
        whole = knowledge_base.current(tx, knowledge_base.current(tx))
        assert whole.private == {NAME: ann.caller.tenant_id}
        assert whole.problems == load_registry().problems
        for tenant, made, is_tried in ((ann, ann_has, True), (bob, bob_has, False)):
            tables = tx.scoped(tenant.caller.tenant_id)
            job = tables.jobs.get(made.job_id)
            arms = candidates.make_candidates(
                whole,
                tables.applications.get(made.application_id),
                job,
                tables.versions.get(made.version_id),
                candidates.cost_belief(whole, []),
            )
            assert (NAME in {one.model for one in arms}) == is_tried

    # Archiving is for its tenant and for providers.
    archive = f"{MODULES}/{NAME}/archive"
    assert client.post(archive, headers=bob.headers).status_code == 403
    assert not seen(client, ann)[NAME]["archived"]
    assert client.post(archive, headers=ann.headers).status_code == 200
    assert seen(client, ann)[NAME]["archived"]
    assert client.post(f"{MODULES}/{NAME}/restore", headers=provider.headers).status_code == 200

    # A provider makes it everybody's; then the other tenant's search goes on with it.
    share = f"{MODULES}/{NAME}/share"
    assert client.post(share, headers=ann.headers).status_code == 403
    assert client.post(share, headers=provider.headers).status_code == 200
    assert not seen(client, bob)[NAME]["private"]
    assert NAME in models_of(store, bob_has.job_id)
    assert client.post(archive, headers=ann.headers).status_code == 403


def test_what_cannot_be_private_is_refused_with_a_remedy(
    confining: TestClient, ann, bob, provider, programs: str
) -> None:
    def refused(person, toml: str, private: bool = True) -> tuple[int, str]:
        body = {"toml": toml, "private": private}
        answer = confining.post(MODULES, json=body, headers=person.headers)
        assert answer.json()["remedy"]
        return answer.status_code, answer.json()["detail"]

    assert refused(ann, programs, private=False)[0] == 403
    assert refused(ann, DISCRIMINANT)[0] == 422
    assert refused(provider, DISCRIMINANT)[0] == 422
    same_as_shared = refused(ann, programs.replace(f'"{NAME}"', '"logistic"', 1))
    assert same_as_shared[0] == 409
    assert "logistic" in same_as_shared[1]

    add(confining, ann, programs)
    other = programs + "\n# of somebody else\n"
    assert refused(bob, other) == (409, f"There is a module {NAME} already.")
    assert refused(provider, other, private=False)[0] == 409
    assert "being checked" in refused(ann, other)[1]


def test_programs_are_not_taken_where_tasks_are_not_confined(
    client: TestClient, ann, programs: str
) -> None:
    body = {"toml": programs, "private": True}
    answer = client.post(MODULES, json=body, headers=ann.headers)
    assert answer.status_code == 409
    assert "--isolation process" in answer.json()["remedy"]


def test_a_tenant_has_so_many_private_modules(
    confining: TestClient, ann, bob, programs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "MOST_PRIVATE", 1)
    add(confining, ann, programs)
    another = programs.replace(f'"{NAME}"', '"nearest-2"', 1)
    body = {"toml": another, "private": True}
    answer = confining.post(MODULES, json=body, headers=ann.headers)
    assert answer.status_code == 403
    assert "1 private modules" in answer.json()["detail"]
    assert answer.json()["remedy"]
    add(confining, bob, another)


@needs_confinement
def test_a_private_objective_measures_the_applications_of_its_tenant_alone(
    confining: TestClient, store: Store, ann, bob, upload, tmp_path: Path
) -> None:
    client = confining
    skeletons.make(tmp_path / "counted", "objective", "shell")
    made = add(client, ann, packed.pack(tmp_path / "counted"))
    assert made["module_kind"] == "objective"
    work_off(store, tmp_path)
    assert seen(client, ann)["counted"]["kind"] == "objective"
    assert "counted" not in seen(client, bob)

    rows = "".join(f"{row}.5,{'ab'[row % 2]}\n" for row in range(20))
    said = {}
    for person in (ann, bob):
        data = upload(person, "table", f"size,kind\n{rows}".encode())
        work_off(store, tmp_path)
        wish = {"dataset_id": data["id"], "target": "kind", "objective": "counted"}
        answer = client.post("/api/v1/applications/propose", json=wish, headers=person.headers)
        said[person.name] = (answer.status_code, answer.text)
    assert said["ann"][0] == 200
    assert said["bob"][0] == 422
    assert "There is no objective 'counted'" in said["bob"][1]

    assert client.post(f"{MODULES}/counted/archive", headers=ann.headers).status_code == 200
    data = upload(ann, "table", f"size,kind\n{rows}".encode())
    work_off(store, tmp_path)
    wish = {"dataset_id": data["id"], "target": "kind", "objective": "counted"}
    refused = client.post("/api/v1/applications/propose", json=wish, headers=ann.headers)
    assert refused.status_code == 422
    assert "counted is archived" in refused.text


@needs_confinement
def test_a_newer_version_takes_the_place_of_the_older(
    confining: TestClient, store: Store, ann, bob, programs: str, tmp_path: Path
) -> None:
    client = confining
    add(client, ann, programs)
    work_off(store, tmp_path)
    job_id = furnish(store, ann.caller.tenant_id).job_id
    again = client.post(MODULES, json={"toml": programs, "private": True}, headers=ann.headers)
    assert "replaces = " in again.json()["remedy"]

    newer = programs.replace('"nearest"', '"nearest-v2"').replace('"1.0"', '"2.0"', 1)
    newer = newer.replace("[runtime]", 'replaces = ["nearest"]\n[runtime]', 1)
    for person, other in ((bob, newer), (ann, newer.replace('["nearest"]', '["logistic"]'))):
        body = {"toml": other, "private": True}
        refused = client.post(MODULES, json=body, headers=person.headers)
        assert refused.status_code == 422, refused.text
        assert "that this one can replace" in refused.json()["detail"]

    broken = newer.replace("#!/bin/sh", "#!/bin/sh\\nexit 1")
    add(client, ann, broken)
    work_off(store, tmp_path)
    assert not seen(client, ann)[NAME]["archived"]  # what fails replaces nothing

    add(client, ann, newer)
    work_off(store, tmp_path)
    found = seen(client, ann)
    assert (found[NAME]["archived"], found[NAME]["superseded_by"]) == (True, "nearest-v2")
    assert found["nearest-v2"]["version"] == "2.0"
    assert "nearest-v2" in models_of(store, job_id)
    with store.read() as tx:
        made = knowledge_base.of_tenant(tx, ann.caller.tenant_id)
        assert made.get(NAME).version == "1.0"  # what it has trained goes on with its own programs
