"""What short tasks find out about versions and models, kept as reports."""
