"""What nobody needs any more goes by itself, and nothing else (decision 0060)."""
