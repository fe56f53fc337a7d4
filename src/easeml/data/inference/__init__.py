"""What a table looks like: types and natures of columns, the target, leaks."""
