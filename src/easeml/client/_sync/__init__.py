# Made from ../_async/__init__.py by scripts/unasync.py; change that file and run the script again.
"""The synchronous client, made from the asynchronous one."""
