"""The kinds of tasks: one file each, found by name; nothing imports them.

``easeml.service.tasks.kinds`` says what a declaration has to say.
"""
