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
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"rows/{report.name}",
            "name": report.name,
            "description": report.evidence,
            "dataType": _CROISSANT[report.type],
            "source": {"fileObject": {"@id": file.name}, "extract": {"column": report.name}},
        }
        for report in inference.columns
    ]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        "description": f"{inference.rows} rows; to predict: {inference.target or 'nothing'}.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file.name,
                "name": file.name,
                "contentUrl": file.name,
                "contentSize": f"{len(content)} B",
                "encodingFormat": _MEDIA_TYPES.get(file.suffix, "application/octet-stream"),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
    }


def croissant_of(
    name: str, columns: Mapping[str, str], *, description: str, version: str
) -> dict[str, Any]:
    """Return Croissant 1.0 metadata (JSON-LD) of a dataset that is described and not handed out.

    ``columns``: name to type, as ``kinds_of`` tells them.
    """
    fields = []
    for column, kind in columns.items():
        told = {"@type": "cr:Field", "@id": f"rows/{column}", "name": column}
        fields.append({**told, "dataType": _CROISSANT[kind]})
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        "description": description,
        "version": version,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "distribution": [],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": fields}],
    }
