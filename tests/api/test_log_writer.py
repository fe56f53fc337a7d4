"""The process that writes the log of requests: it writes, tells of faults, and is replaced."""

import json
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from easeml.api.log_writer import LogWriter
from easeml.errors import EasemlError
from easeml.service.production import request_log
from easeml.service.production.request_log import Seen
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import RequestLog

ANSWER = json.dumps({"model_id": "m", "predictions": ["a"], "probabilities": None}).encode()


def seen(name: str, application_id: str = "app_1") -> Seen:
    body = json.dumps([{"size": 1.0}]).encode()
    return Seen(name, "t1", application_id, "application/json", body, ANSWER)


def test_requests_are_written_by_a_process_of_their_own(tmp_path: Path):
    settings = Settings(home=tmp_path)
    store = Store.of(settings)
    with store.write() as tx:
        tx.unscoped().request_logs.add(RequestLog("app_1", "t1", 1.0, 30.0))
    writer = LogWriter(settings)
    try:
        writer.keep([seen("req_1"), seen("req_2", "app_2")], Counter({"app_1": 2}))
        with pytest.raises(EasemlError, match="already there"):
            writer.keep([seen("req_1")], Counter())
        os.kill(writer._process.pid or 0, signal.SIGKILL)
        with pytest.raises(EasemlError, match="has ended"):
            writer.keep([seen("req_3")], Counter())
        writer.keep([seen("req_4")], Counter())  # by another one
    finally:
        writer.close()
    assert not writer._process.is_alive()
    with store.read() as tx:
        tables = tx.unscoped()
        kept = [request_id for (request_id,) in tables.production_rows.pick("request_id")]
        assert tables.request_logs.get("app_1").missed == 2
    store.close()
    assert kept == ["req_1", "req_4"]


def test_rows_of_a_table_are_kept_however_it_is_written(tmp_path: Path):
    """Semicolons, decimal commas, an old encoding, and a title above."""
    store = Store.of(Settings(home=tmp_path))
    with store.write() as tx:
        tx.unscoped().request_logs.add(RequestLog("app_1", "t1", 1.0, 30.0))
    body = "Bericht 2024;;\nGröße;Preis;Ort\n1,5;2,25;Köln\n2,5;;Bonn\n".encode("cp1252")
    said = {"model_id": "m", "predictions": ["a", "b"], "probabilities": None}
    request_log.keep(
        store, [Seen("req_1", "t1", "app_1", "text/csv", body, json.dumps(said).encode())]
    )
    with store.read() as tx:
        kept = tx.unscoped().production_rows.list(limit=None)
    store.close()
    assert [row.inputs for row in kept] == [
        {"Größe": "1,5", "Preis": "2,25", "Ort": "Köln"},
        {"Größe": "2,5", "Preis": None, "Ort": "Bonn"},
    ]
