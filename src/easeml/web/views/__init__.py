"""The pages, a module each; ``routes`` are all their routes."""

from easeml.web.views import (
    account,
    adding,
    administration,
    application,
    applications,
    data,
    knowledge,
    new,
    notifications,
    reports,
    scheduler,
    signing_in,
    task,
    tasks,
    trying,
)

_PAGES = (
    signing_in,
    applications,
    new,
    application,
    data,
    trying,
    task,
    tasks,
    scheduler,
    knowledge,
    adding,
    administration,
    account,
    notifications,
    reports,
)
routes = [route for page in _PAGES for route in page.routes]
