"""What was inferred from a table file, as Croissant metadata."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from easeml.data.inference.tables import Inference
from easeml.data.readers.source import Source

_CROISSANT = {
    "number": "sc:Float",
    "category": "sc:Text",
    "text": "sc:Text",
    "timestamp": "sc:DateTime",
    "image": "sc:ImageObject",
    "tensor": "sc:Float",
    "graph": "sc:Text",
}
_MEDIA_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".jsonl": "application/jsonlines",
    ".parquet": "application/x-parquet",
}
_ROWS = "rows.csv"
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "recordSet": "cr:recordSet",
    "field": "cr:field",
    "source": "cr:source",
    "extract": "cr:extract",
    "column": "cr:column",
    "fileObject": "cr:fileObject",
    "isLiveDataset": "cr:isLiveDataset",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
}


def croissant(file: str | Path, inference: Inference) -> dict[str, Any]:
    """Return Croissant 1.0 metadata (JSON-LD) of a table file and what was inferred from it.

    Raises:
        DatasetError: if the file cannot be read.
    """
    file = Path(file)
    name = re.sub(r"\W+", "-", file.stem)
    with Source(file.name, file).open() as opened:
        content = opened.read()
    fields = []
    for report in inference.columns:
        field = _field(report.name, report.type, file.name)
        fields.append({**field, "description": report.evidence})
    about = {"description": f"{inference.rows} rows; to predict: {inference.target or 'nothing'}."}
    told = {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{len(content)} B",
        "encodingFormat": _MEDIA_TYPES.get(file.suffix, "application/octet-stream"),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    return _described(name, about, told, fields)


def croissant_of(
    name: str, columns: Mapping[str, str], *, description: str, version: str
) -> dict[str, Any]:
    """Return Croissant 1.0 metadata (JSON-LD) of a dataset that is described and not handed out.

    ``columns``: name to type, as ``kinds_of`` tells them. The file that its owner can have written
    of it is named ``rows.csv``; whoever only has the description has no digest of it.
    """
    fields = [_field(column, kind, _ROWS) for column, kind in columns.items()]
    file = {
        "@type": "cr:FileObject",
        "@id": _ROWS,
        "name": _ROWS,
        "contentUrl": _ROWS,
        "encodingFormat": _MEDIA_TYPES[".csv"],
    }
    about = {"description": description, "version": version, "isLiveDataset": True}
    return _described(name, about, file, fields)


def _described(
    name: str, about: Mapping[str, Any], file: Mapping[str, Any], fields: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        **about,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": [file],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
    }


def _field(column: str, kind: str, file: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"rows/{column}",
        "name": column,
        "dataType": _CROISSANT[kind],
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }
