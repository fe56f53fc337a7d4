"""What has to be proven of a model before it may serve: kept conditions with their ledgers."""
