"""Operators of a lineage that train models and judge them: search, gate, pick and monitor.

They are found by name (``easeml.lineage.operators``), as packages with an entry point of the group
``easeml.operators`` are; nothing imports them.
"""
