"""How schemas are written: JSON, and a short text for people."""
