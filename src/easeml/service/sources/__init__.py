"""Data from elsewhere, fetched for a version that waits for it."""
