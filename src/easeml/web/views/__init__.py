"""The pages, a module each; ``routes`` are all their routes."""

from easeml.web.views import applications, signing_in

routes = [*signing_in.routes, *applications.routes]
