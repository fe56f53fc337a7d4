"""The lifecycle tools by one contract (``easeml.lifecycle.tool``): one file each, found by name."""
