"""What a page shows of one thing, in one answer and a constant number of statements."""
