"""The web interface: server-rendered pages over ``easeml.client``, kept live by the service's event
stream.

A page is a module in ``views`` (which says what it shows) and a template (which says how).
"""

from easeml.web.app import UPLOADS_PATH, create_pages

__all__ = ["UPLOADS_PATH", "create_pages"]
