"""The body of the task that predicts a file: what it says of a row that does not fit."""

from pathlib import Path
from typing import Any

import pytest

from easeml.data import DatasetError
from easeml.kinds import predict_file


class _Model:
    """Refuses the second row of what it is given, if there is one."""

    def predict(self, frame: Any) -> Any:
        if len(frame) > 1 and frame["x"].iloc[1] == "many":
            raise DatasetError("'many' is not a number.", where="row 1, column 'x'")
        return frame[["x"]].rename(columns={"x": "prediction"})


def test_a_fault_in_a_later_part_says_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict_file, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr("easeml.export.load_exported", lambda folder: _Model())
    (tmp_path / "source").write_text("x,y\n1,a\n2,b\n3,c\nmany,d\n")
    spec = predict_file.PredictFileSpec.model_construct(filename="rows.csv", source="")
    with pytest.raises(DatasetError) as caught:
        predict_file.predict_file(spec, tmp_path, tmp_path)
    assert caught.value.where == "row 1, column 'x'"
    assert "Rows are counted from row 2 of the file." in caught.value.message
