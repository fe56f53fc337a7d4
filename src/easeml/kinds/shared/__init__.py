"""What kinds of tasks share."""
