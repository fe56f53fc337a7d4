# Made from ../_async/__init__.py by scripts/unasync.py: change that file, then run the script.
"""The synchronous client, made from the asynchronous one."""
