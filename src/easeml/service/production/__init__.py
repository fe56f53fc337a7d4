"""What endpoints were asked and answered, and what was true of it."""
