"""The web interface: pages rendered on the server over ``easeml.client``.

The service's event stream keeps them live.

A page is a module in ``views`` (which says what it shows) and a template (which says how).
"""

from easeml.web.app import UPLOADS_PATH, create_pages

__all__ = ["UPLOADS_PATH", "create_pages"]
