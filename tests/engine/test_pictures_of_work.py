"""Who is asked about a picture sees it, whatever kind of file it is, and no count of bytes."""

import base64
import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from easeml.cli.answering import _print_item
from easeml.contract.work import WorkItem
from easeml.kinds.shared.work_items import cells_of


@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF"])
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_a_picture_is_shown_large_enough_to_be_named(
    form: str, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = io.BytesIO()
    shape = (600, 900) if mode == "L" else (600, 900, 3)
    Image.fromarray(np.full(shape, 200, np.uint8)).save(out, form)
    values = cells_of(pd.Series({"image": out.getvalue(), "place": "garden"}), [])
    head, _, content = values["image"].partition(",")
    assert head == "data:image/jpeg;base64"
    with Image.open(io.BytesIO(base64.b64decode(content))) as shown:
        assert shown.size == (320, 213)
        assert abs(np.asarray(shown).mean() - 200) < 3
    item = WorkItem(
        id="item_1",
        kind="label",
        row=1,
        column="kind",
        state="open",
        question="What is 'kind' of this row?",
        values=values,
        application_id="app_1",
        information=0.0,
        seconds=10.0,
    )
    _print_item(item)
    printed = capsys.readouterr().out
    assert "a picture: look at it on the page Work" in printed
    assert "base64" not in printed
    assert "garden" in printed
