"""Declared versions: roles of rows, changes, browsing and export."""
