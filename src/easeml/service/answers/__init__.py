"""What people answered, and which of it counts."""
