"""Plain values to Plotly figures, shared by pages, notebooks and reports.

A function a picture: it takes the JSON form of a result (or plain lists) and returns a figure; it
computes nothing that the result does not hold.
"""

from easeml.figures.theme import COLOURS, blank, with_alpha

__all__ = ["COLOURS", "blank", "with_alpha"]
