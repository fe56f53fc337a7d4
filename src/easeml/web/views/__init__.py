"""The pages, a module each; ``routes`` are all their routes."""

from easeml.web.views import (
    account,
    admin,
    application,
    applications,
    knowledge,
    new,
    scheduler,
    signing_in,
    task,
    trying,
)

_PAGES = (signing_in, applications, new, application, trying, task, scheduler, knowledge, account, admin)
routes = [route for page in _PAGES for route in page.routes]
