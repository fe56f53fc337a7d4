"""Rows that look broken can be added anyway by the page, where they were refused."""

import re

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from furnish import Furniture, furnish

from easeml.data import ColumnReport, DatasetError
from easeml.data.versions import plausible
from easeml.ids import new_id
from easeml.store import Store
from easeml.store.records import DatasetVersion
from easeml.store.shapes import Operation, OperationName
from easeml.web import create_pages


def refusal_of_broken_rows() -> str:
    """What a task says of rows whose sizes are of another unit."""
    column = ColumnReport("size", "number", role="input")
    sizes = pd.DataFrame({"size": [float(size) for size in range(30)]})
    with pytest.raises(DatasetError) as caught:
        plausible.check([column], sizes, sizes * 1000 + 500, "more.csv")
    return f"{caught.value.message} {caught.value.remedy}"


def refused(store: Store, made: Furniture, tenant_id: str, error: str) -> None:
    """Keep that a version with more rows could not be made."""
    operation = {"filename": "more.csv", "application_id": made.application_id}
    with store.write() as tx:
        tx.scoped(tenant_id).versions.add(
            DatasetVersion(
                new_id("ver"),
                tenant_id=tenant_id,
                dataset_id=made.dataset_id,
                number=3,
                operation=Operation(OperationName.FEED, operation),
                parents=[made.version_id],
                state="failed",
                error=error,
            )
        )


@pytest.mark.parametrize("is_broken", [True, False])
def test_a_tick_comes_with_the_refusal(
    client: TestClient, store: Store, ann, *, is_broken: bool
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    pages = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    error = refusal_of_broken_rows() if is_broken else "the file does not fit: - column 'x'"
    refused(store, made, ann.caller.tenant_id, error)
    shown = pages.get(f"/applications/{made.application_id}/data").text
    assert bool(re.search(r'<input type="checkbox" id="anyway"', shown)) == is_broken
    assert ("and choose it again" in shown) == is_broken
    assert "--anyway" not in shown
