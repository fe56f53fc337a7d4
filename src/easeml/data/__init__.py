"""From a user's table to typed rows: reading, inference, declaration, versions, requested rows.

Light to import: pandas and pyarrow are loaded by the functions that need them. Frames use the
user's column names: numbers are float64, categories are pandas Categoricals whose categories are
the schema's labels (text, also for numbers), text is ``str``, timestamps are datetime64[us] in UTC;
pictures, tensors and graphs are objects (``types.cells``).
"""

from easeml.data.errors import DatasetError
from easeml.data.inference.croissant import croissant, croissant_of
from easeml.data.inference.far_targets import far_distances
from easeml.data.inference.files import infer, infer_easeml
from easeml.data.inference.tables import Inference, infer_table
from easeml.data.readers.bare_text import bare_text
from easeml.data.readers.easeml_dataset import (
    EasemlDataset,
    is_easeml,
    read_easeml,
    write_easeml,
)
from easeml.data.readers.header import is_header
from easeml.data.readers.read import is_one_of_several, read_table
from easeml.data.rows.column_table import ColumnTable
from easeml.data.rows.files import pictures_sent
from easeml.data.rows.newer import NewerRows, read_newer
from easeml.data.rows.parsing import (
    EXPLAIN,
    FILL_ABSENT,
    FILL_EMPTY,
    FORECAST,
    MOST_STEPS,
    Rows,
    parse_rows,
    permitted,
)
from easeml.data.rows.parts import RowParts
from easeml.data.types.cells import CELLS, GRAPH, cell_text, from_json, object_array, to_json
from easeml.data.types.column_report import (
    FEW_OF_CLASS,
    ColumnReport,
    class_counts,
    commonest_share,
)
from easeml.data.types.declared_columns import Columns, declare_columns
from easeml.data.types.pictures import pixels
from easeml.data.types.table_schemas import kinds_of, with_gaps, without_columns
from easeml.data.types.text_tables import ROW
from easeml.data.types.values import LARGEST as LARGEST_NUMBER
from easeml.data.versions.answers import answered
from easeml.data.versions.browsing import (
    Comparison,
    TrainRow,
    Wanted,
    cells_of_rows,
    compare,
    row_ids,
    rows_off,
    train_rows,
)
from easeml.data.versions.changes import feed, refine, switched
from easeml.data.versions.declared import Declared, declare
from easeml.data.versions.doubts import DoubtfulCell, doubtful_cells, write_cells
from easeml.data.versions.erasing import (
    blanked,
    ids_of,
    ids_with,
    lost_classes,
    of_rows_left,
    places_with,
    roles_among,
    without_ids,
)
from easeml.data.versions.export import (
    CELLS_COLUMN,
    OFF,
    ROLE_COLUMN,
    ROW_COLUMN,
    VERSION_FORMATS,
    export_version,
)
from easeml.data.versions.folders import (
    VersionTables,
    read_declared,
    read_upload,
    read_version,
    write_upload,
    write_version,
)
from easeml.data.versions.learned import learn_from
from easeml.data.versions.parquet_streams import TableFormat, as_stream, rows_of, style_notes
from easeml.data.versions.parts import write_arrow
from easeml.data.versions.pushed import pushed
from easeml.data.versions.renewed import (
    check_renewed,
    check_whole,
    new_rows,
    number_of_new_rows,
    renewed,
)
from easeml.data.versions.replaced import replaced
from easeml.data.versions.retired import retire
from easeml.data.versions.row_weights import with_usual_weight
from easeml.data.versions.splits import (
    ALL_ROLES,
    FEWEST_ROWS,
    ROLES,
    UNLABELLED,
    Split,
    is_reserved,
    scattered,
)
from easeml.data.versions.table_files import typed_table, without_formulas, write_table

__all__ = [
    "ALL_ROLES",
    "CELLS",
    "CELLS_COLUMN",
    "EXPLAIN",
    "FEWEST_ROWS",
    "FEW_OF_CLASS",
    "FILL_ABSENT",
    "FILL_EMPTY",
    "FORECAST",
    "GRAPH",
    "LARGEST_NUMBER",
    "MOST_STEPS",
    "OFF",
    "ROLES",
    "ROLE_COLUMN",
    "ROW",
    "ROW_COLUMN",
    "UNLABELLED",
    "VERSION_FORMATS",
    "ColumnReport",
    "ColumnTable",
    "Columns",
    "Comparison",
    "DatasetError",
    "Declared",
    "DoubtfulCell",
    "EasemlDataset",
    "Inference",
    "NewerRows",
    "RowParts",
    "Rows",
    "Split",
    "TableFormat",
    "TrainRow",
    "VersionTables",
    "Wanted",
    "answered",
    "as_stream",
    "bare_text",
    "blanked",
    "cell_text",
    "cells_of_rows",
    "check_renewed",
    "check_whole",
    "class_counts",
    "commonest_share",
    "compare",
    "croissant",
    "croissant_of",
    "declare",
    "declare_columns",
    "doubtful_cells",
    "export_version",
    "far_distances",
    "feed",
    "from_json",
    "ids_of",
    "ids_with",
    "infer",
    "infer_easeml",
    "infer_table",
    "is_easeml",
    "is_header",
    "is_one_of_several",
    "is_reserved",
    "kinds_of",
    "learn_from",
    "lost_classes",
    "new_rows",
    "number_of_new_rows",
    "object_array",
    "of_rows_left",
    "parse_rows",
    "permitted",
    "pictures_sent",
    "pixels",
    "places_with",
    "pushed",
    "read_declared",
    "read_easeml",
    "read_newer",
    "read_table",
    "read_upload",
    "read_version",
    "refine",
    "renewed",
    "replaced",
    "retire",
    "roles_among",
    "row_ids",
    "rows_of",
    "rows_off",
    "scattered",
    "style_notes",
    "switched",
    "to_json",
    "train_rows",
    "typed_table",
    "with_gaps",
    "with_usual_weight",
    "without_columns",
    "without_formulas",
    "without_ids",
    "write_arrow",
    "write_cells",
    "write_easeml",
    "write_table",
    "write_upload",
    "write_version",
]
