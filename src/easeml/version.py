"""The version of this program, in a file that any room may read without the whole package."""

__version__ = "0.1.0"
