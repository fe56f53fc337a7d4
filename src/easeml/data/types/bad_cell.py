"""The error of a cell that is not what the schema says."""


class BadCell(ValueError):
    """A cell that is not what the schema says.

    The message is the end of a sentence that begins with its place.
    """
