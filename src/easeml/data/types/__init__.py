"""What cells and columns are: values, natures of numbers and times, pictures, tensors, graphs, and
the two schemas that the user's decisions make of them.
"""
