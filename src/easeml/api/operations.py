"""An operation is a use case with an address: its route, its client method and its page of the
reference are made from this one description.

A use case is a function of the service, ``use_case(store, caller, ...)``, with ``settings`` and
``identity_provider`` where it needs them; one that strangers may ask takes no ``caller``. Its
signature says what the operation takes, its return type what it answers, its docstring what it
does:

- parameters that the path names come from the path,
- a parameter of a ``Request`` type is the body,
- ``idempotency_key`` comes from the header,
- all others are of the query where the operation reads (GET), of the body where it changes; a body
  is a ``Request`` too, so that a key that it does not know is refused.
"""

import inspect
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import filterfalse
from typing import Annotated, Any, Literal, get_args, get_origin

from fastapi import APIRouter, Header, Query
from pydantic import BaseModel, create_model
from pydantic.fields import FieldInfo

from easeml.api.context import Asker, Here
from easeml.contract.resources import Page, Request
from easeml.service.access.caller import Caller

ONCE = "idempotency_key"
_BODY = "fields_of_body"
# What a use case gets from the controller.
_ASKING = ("store", "settings", "identity_provider", "caller")
_keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
_IN_PATH = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True)
class Operation:
    """A use case with an address. ``name``: of the method of the client.

    ``repeatable``: asking twice changes no more than asking once. ``whole``: the method takes the
    body as one value instead of its fields. ``by_page``: the method gives one page instead of the
    items of all. ``hashes``: the use case hashes a password, which takes memory, so that few run at
    once. ``changes_access``: what the controller remembers of keys and users is wrong afterwards.
    """

    name: str
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    use_case: Callable[..., Any]
    status: int = 200
    repeatable: bool = True
    whole: bool = False
    by_page: bool = False
    hashes: bool = False
    changes_access: bool = False

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """What the operation takes."""
        signature = inspect.signature(self.use_case)
        return [one for name, one in signature.parameters.items() if name not in _ASKING]

    @property
    def answer(self) -> Any:
        """The type of the answer; a whole list is sent as one page."""
        if self.listed is not None:
            return Page[self.listed]
        return inspect.signature(self.use_case).return_annotation

    @property
    def listed(self) -> Any:
        """The type of the items where the use case gives a whole list, else None."""
        answer = inspect.signature(self.use_case).return_annotation
        return get_args(answer)[0] if get_origin(answer) is list else None

    @property
    def about(self) -> str:
        """What it does."""
        return inspect.getdoc(self.use_case) or ""

    def in_path(self, name: str) -> bool:
        """Does the path name this parameter?"""
        return name in _IN_PATH.findall(self.path)


def add_routes(router: APIRouter, operations: Iterable[Operation]) -> None:
    """Add the route of each operation; what calls it stands on a thread of the pool, unless it is
    a coroutine.
    """
    for operation in operations:
        router.add_api_route(
            operation.path,
            _endpoint(operation),
            methods=[operation.method],
            status_code=operation.status,
            response_model=operation.answer,
        )


def is_body(annotation: Any) -> bool:
    """Is this the type of a whole body?"""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _endpoint(operation: Operation) -> Callable[..., Any]:
    """Return the function that FastAPI calls, with the signature that it reads."""
    wanted = inspect.signature(operation.use_case).parameters.keys() & {*_ASKING}
    given = [_keyword("here", annotation=Here)]
    if "caller" in wanted:
        given.append(_keyword("asker", annotation=Asker))
    apart, together = _divided(operation)
    own = [_routed(operation, parameter) for parameter in apart]
    if together:
        own.append(_as_body(operation.name, together))
    endpoint = _called(operation, wanted)
    endpoint.__name__ = operation.name
    endpoint.__doc__ = operation.about
    endpoint.__signature__ = inspect.Signature([*given, *own])  # pyright: ignore[reportFunctionMemberAccess]
    return endpoint


def _divided(
    operation: Operation,
) -> tuple[list[inspect.Parameter], list[inspect.Parameter]]:
    """Return the parameters that come one by one, and those that are fields of the body."""

    def is_apart(one: inspect.Parameter) -> bool:
        is_elsewhere = one.name == ONCE, operation.in_path(one.name), operation.method == "GET"
        return any((*is_elsewhere, is_body(one.annotation)))

    given = operation.parameters
    return [*filter(is_apart, given)], [*filterfalse(is_apart, given)]


def _as_body(name: str, fields: list[inspect.Parameter]) -> inspect.Parameter:
    """Return the parameter of a body with these fields; optional where all of them are."""
    said: dict[str, Any] = dict(map(_as_field, fields))
    form = create_model(f"Body_{name}", __base__=Request, **said)
    body = _keyword(_BODY, annotation=form)
    if any(map(_is_needed, fields)):
        return body
    return body.replace(default=form())


def _as_field(parameter: inspect.Parameter) -> tuple[str, tuple[Any, Any]]:
    """Return a parameter as pydantic makes a field of it: name, type and default."""
    if _is_needed(parameter):
        return parameter.name, (parameter.annotation, ...)
    return parameter.name, (parameter.annotation, parameter.default)


def _is_needed(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


def _called(operation: Operation, wanted: Collection[str]) -> Callable[..., Any]:
    """Return what asks the use case, with what it wants of the controller."""

    def ask(here: Here, asker: Caller | None = None, **given: Any) -> Any:
        known = {
            "store": here.store,
            "settings": here.settings,
            "identity_provider": here.identity_provider,
            "caller": asker,
        }
        if _BODY in given:
            given |= dict(given.pop(_BODY))
        return operation.use_case(**{name: known[name] for name in wanted}, **given)

    def answer(here: Here, asker: Caller | None = None, **given: Any) -> Any:
        found = ask(here, asker, **given)
        if operation.changes_access:
            here.authenticator.forget()
        return found if operation.listed is None else Page(items=found)

    async def awaited(here: Here, asker: Caller | None = None, **given: Any) -> Any:
        return await ask(here, asker, **given)

    async def hashed(here: Here, asker: Caller | None = None, **given: Any) -> Any:
        return await here.hash(answer, here, asker, **given)

    if inspect.iscoroutinefunction(operation.use_case):
        return awaited
    return hashed if operation.hashes else answer


def _routed(operation: Operation, parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter as FastAPI has to see it: where it comes from, and its limits.

    One whose description has an alias has this name in the query.
    """
    parameter = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    if operation.in_path(parameter.name) or is_body(parameter.annotation):
        return parameter
    plain, said = _plain(parameter.annotation)
    if parameter.name == ONCE:
        place = Header(alias="Idempotency-Key", description=said.description)
    else:
        place = Query(alias=said.alias, description=said.description)
    place.metadata = [*place.metadata, *said.metadata]
    return parameter.replace(annotation=Annotated[plain, place])


def name_in_query(parameter: inspect.Parameter) -> str:
    """Return what a parameter is called in the query."""
    return _plain(parameter.annotation)[1].alias or parameter.name


def _plain(annotation: Any) -> tuple[Any, FieldInfo]:
    """Return the type of a parameter without what is said of it, and this."""
    if get_origin(annotation) is not Annotated:
        return annotation, FieldInfo()
    plain, *said = get_args(annotation)
    return plain, next(one for one in said if isinstance(one, FieldInfo))
