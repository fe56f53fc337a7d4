"""Kinds of tasks that tests add: nothing of easeml knows them."""
