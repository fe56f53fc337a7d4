"""The pages, a module each, found by its being here.

``routes`` of a module are its pages. ``MENU_ENTRY`` is its title and path, where the menu names it
beside the entries of ``rendering.MENU``.
"""

import pkgutil
from importlib import import_module

_pages = [
    import_module(f"{__name__}.{module.name}")
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name)
]
routes = [route for page in _pages for route in getattr(page, "routes", ())]
menu = [page.MENU_ENTRY for page in _pages if hasattr(page, "MENU_ENTRY")]
