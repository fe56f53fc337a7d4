"""Steps of a story, done by the real use cases; a worker's part is played with small honest
results.
"""

from easeml.contract.datasets import Dataset, Version
from easeml.contract.tasks import TaskResult
from easeml.service.access.caller import Caller
from easeml.service.datasets import datasets
from easeml.service.tasks import results
from easeml.store import Store
from easeml.store.records import Attempt, Task

CSV = b"size,colour,price\n" + b"".join(
    b"%d.5,%s,%d\n" % (i, (b"red", b"blue")[i % 2], 10 * i + (i * 7) % 5) for i in range(60)
)

COLUMNS = [
    {"name": "size", "type": "number", "role": "input", "distinct": 60, "examples": ["0.5"]},
    {
        "name": "colour",
        "type": "category",
        "role": "target",
        "distinct": 2,
        "examples": ["red"],
        "classes": ["blue", "red"],
    },
    {"name": "price", "type": "number", "role": "input", "distinct": 60, "examples": ["0"]},
]
UPLOAD = {"columns": COLUMNS, "rows": 60, "target": "colour", "notes": []}


def upload(store: Store, caller: Caller, name: str = "toys", key: str | None = None) -> Dataset:
    """Upload the table."""
    return datasets.upload(store, caller, name, f"{name}.csv", [CSV[:50], CSV[50:]], key, 10_000)


def claim(store: Store, lane: str = "short") -> tuple[Task, Attempt]:
    """Take the next task as a worker does."""
    with store.write() as tx:
        claimed = tx.queue.claim("proc_1", lane, 10.0)
    assert claimed is not None
    return claimed


def bring(store: Store, attempt: Attempt, result: TaskResult, **contents: bytes) -> Task:
    """Keep bytes for each output, those of ``contents`` where it has some, and have the result
    accepted.
    """
    outputs = {}
    for name in result.outputs:
        content = contents.get(name, f"{name} of {attempt.id}".encode())
        outputs[name] = store.artefacts.put_stream(attempt.tenant_id, [content], 1000)
    digests = {name: digest for name, (digest, _) in outputs.items()}
    sizes = {name: size for name, (_, size) in outputs.items()}
    with store.write() as tx:
        return results.accept(tx, attempt, result, digests, sizes)


def ingested(store: Store, caller: Caller, name: str = "toys") -> Dataset:
    """Upload, and read the file."""
    dataset = upload(store, caller, name)
    _, attempt = claim(store)
    bring(store, attempt, TaskResult(ok=True, value=UPLOAD, outputs=["table"], cost=0.1))
    return datasets.get(store, caller, dataset.id)


def declared_value(version: Version) -> dict:
    """What the ingest of a declared version answers."""
    columns = [column.model_dump() for column in version.columns]
    summary = {"rows": 60, "notes": ["two rows had no target"]}
    schemas = {"schema_in": version.schema_in, "schema_out": version.schema_out}
    return {"columns": columns, **schemas, "summary": summary}


def prepare(store: Store, caller: Caller, version_id: str) -> None:
    """Do the ingest of a declared version."""
    task, attempt = claim(store)
    assert task.subject == version_id
    value = declared_value(datasets.get_version(store, caller, version_id))
    bring(store, attempt, TaskResult(ok=True, value=value, outputs=["version"], cost=0.2))


def events(store: Store, caller: Caller) -> list[tuple[str, str]]:
    """Kinds and subjects of all events of the caller's tenant, but those of its users."""
    with store.read() as tx:
        found = tx.events.after(0, tenant_id=caller.tenant_id)
    return [(event.kind, event.subject) for event in found if not event.kind.startswith("user.")]
