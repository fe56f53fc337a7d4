"""Applications: declared, watched and steered by users."""
