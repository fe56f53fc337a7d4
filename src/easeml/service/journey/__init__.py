"""The journey of an application: its goal, where it stands, and what to do next."""
