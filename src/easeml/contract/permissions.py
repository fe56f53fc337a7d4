"""What each role allows: the table that REST refuses by, and that pages and commands show by."""

from easeml.contract.states import MemberRole, Permission, ShareRole

EVERYTHING = frozenset(Permission)
_LOOKING = frozenset({Permission.LOOK})
_LABELLING = frozenset({Permission.LABEL})

OF_SHARE = {
    ShareRole.OWNER: EVERYTHING,
    ShareRole.VIEWER: _LOOKING,
    ShareRole.LABELLER: _LABELLING,
}
"""What a person may do with an application that was shared with them."""

OF_MEMBER = {
    MemberRole.OWNER: EVERYTHING,
    MemberRole.VIEWER: _LOOKING,
    MemberRole.LABELLER: _LABELLING,
    MemberRole.GUEST: frozenset[Permission](),
}
"""What a person may do with all applications of a tenant that they belong to."""


def in_order(allowed: frozenset[Permission]) -> list[Permission]:
    """Return permissions in the order in which they are declared."""
    return list(filter(allowed.__contains__, Permission))
