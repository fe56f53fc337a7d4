"""The pages, a module each; ``routes`` are all their routes."""

from easeml.web.views import applications, new, signing_in

routes = [*signing_in.routes, *applications.routes, *new.routes]
