"""Parameters that many operations share: what they may be, and what they mean."""

from typing import Annotated

from pydantic import Field

ApplicationName = Annotated[str, Field(max_length=200, description="name of an application")]
After = Annotated[str | None, Field(max_length=100, description="`next` of the page before")]
Limit = Annotated[int, Field(ge=1, le=200, description="items on a page")]
Offset = Annotated[
    str | None, Field(pattern="^[0-9]{1,18}$", description="`next` of the page before: a number")
]
EventNumber = Annotated[int, Field(ge=0, le=2**63 - 1, description="number of an event")]
NewestFirst = Annotated[bool, Field(description="the newest first instead of the oldest")]
OfApplication = Annotated[str | None, Field(max_length=100, description="of this application only")]
OfJob = Annotated[str | None, Field(max_length=100, description="of this job only")]
PolicyName = Annotated[str, Field(max_length=100, description="name of a policy")]
TenantId = Annotated[str, Field(max_length=100, description="id of a tenant")]
OnceKey = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=200,
        description="the same key with the same request makes one thing only and gives the first answer again",
    ),
]
