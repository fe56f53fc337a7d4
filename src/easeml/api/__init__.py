"""REST under ``/api/v1``: one thin router a resource, over the use cases of ``easeml.service``.

The package imports nothing of its own: the process that keeps requests needs one module.
"""
