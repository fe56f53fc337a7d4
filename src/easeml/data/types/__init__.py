"""What cells and columns are, and the two schemas that the user's decisions make of them.

Cells are values, natures of numbers and times, pictures, tensors and graphs.
"""
