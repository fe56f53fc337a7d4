"""Taking an invitation: as a new user, or as one who is there already."""

from easeml.contract.accounts import Joined, Joining
from easeml.contract.states import InvitationKind, InvitationState, MemberRole, Role, ShareRole
from easeml.errors import Conflict, NotAllowed, NotSignedIn
from easeml.ids import new_id
from easeml.service.accounts import invitations, keys, passwords
from easeml.service.limits import quotas
from easeml.store import Store, Transaction
from easeml.store.records import Invitation, Membership, Share, Tenant, User

_FIRST_PAGE = {
    MemberRole.OWNER: "/applications",
    MemberRole.VIEWER: "/applications",
    MemberRole.LABELLER: "/work",
    MemberRole.GUEST: "/work",
}


def accept(store: Store, wish: Joining, origin: str = "") -> Joined:
    """Take an invitation: return a key, as signing in does, and the page that it leads to.

    ``origin``: see ``ApiKey``. A name that is new makes a user with this password. One that is
    taken is taken for the one who has it, and has to come with their password. Raises what
    ``invitations.usable`` does, ``InvalidInput`` for a password that is easy to guess,
    ``NotSignedIn`` for a wrong one, ``NotAllowed`` for a disabled user, and ``Conflict`` for who
    has already what it leads to.
    """
    with store.read() as tx:
        invitations.usable(tx, wish.secret)
        known = tx.users.find(name=wish.name)
    if known:
        _check_known(known, wish)
        password_hash = known.password_hash
    else:
        password_hash = _new_hash(wish)
    with store.write() as tx:
        invitation = invitations.usable(tx, wish.secret)
        user = known or new_user(tx, wish.name, password_hash, invitation)
        return take(tx, invitation, user, origin)


def take(tx: Transaction, invitation: Invitation, user: User, origin: str) -> Joined:
    """Use an invitation up: give a user what it leads to, and a key as after signing in.

    Raises ``Conflict`` for a person who has that already.
    """
    tenant_id, page = _let_in(tx, user, invitation)
    used = {"state": InvitationState.USED, "used_by": user.id}
    tx.unscoped().invitations.update(invitation.id, where={"state": InvitationState.OPEN}, **used)
    data = {"name": user.name, "role": invitation.role, "by": invitation.made_by}
    tx.events.append("invitation.accepted", invitation.id, data, invitation.tenant_id)
    key = keys.signed_in(tx, user.id, tenant_id, origin)
    return Joined(key=key, user_id=user.id, path=page)


def _new_hash(wish: Joining) -> str:
    passwords.check_strength(wish.password, wish.name)
    return passwords.hash_of(wish.password)


def _check_known(user: User, wish: Joining) -> None:
    """Raise ``NotSignedIn`` or ``NotAllowed`` where this is not the user, or may not sign in."""
    if not passwords.is_right(user.password_hash, wish.password):
        raise NotSignedIn(
            f"There is a user named {user.name!r}, and this is not their password.",
            remedy="Choose another name; or, if it is you, type the password that you have.",
        )
    if user.archived:
        raise NotAllowed(f"{user.name} is disabled.", remedy="Ask the provider of this easeml.")


def new_user(tx: Transaction, name: str, password_hash: str, invitation: Invitation) -> User:
    """Make a user; their own tenant is that of the invitation, or none yet.

    Raises ``Conflict`` for a name that is taken.
    """
    if tx.users.find(name=name):
        raise Conflict(f"There is a user named {name!r} now.", remedy="Choose another name.")
    is_alone = invitation.kind == InvitationKind.OWN_TENANT
    tenant_id = "" if is_alone else invitation.tenant_id
    return tx.users.add(User(new_id("usr"), name, password_hash, Role.USER, tenant_id))


def _let_in(tx: Transaction, user: User, invitation: Invitation) -> tuple[str, str]:
    """Give a user what the invitation leads to; return the tenant to act in, and the first page."""
    if invitation.kind == InvitationKind.OWN_TENANT:
        return _own_tenant(tx, user), _FIRST_PAGE[MemberRole.OWNER]
    if invitation.kind == InvitationKind.TENANT:
        _become_member(tx, user, invitation)
        return invitation.tenant_id, _FIRST_PAGE[invitation.role]
    return _get_application(tx, user, invitation)


def _own_tenant(tx: Transaction, user: User) -> str:
    own = {"user_id": user.id, "tenant_id": user.tenant_id, "role": MemberRole.OWNER}
    if tx.unscoped().memberships.find(**own) is not None:
        raise Conflict(f"{user.name} has a tenant already.", remedy="Sign in.")
    tenant = tx.tenants.add(Tenant(new_id("ten"), user.name, limits=quotas.of_new_tenants(tx)))
    tx.scoped(tenant.id).memberships.add(Membership(new_id("mem"), user.id, tenant.id))
    tx.users.update(user.id, tenant_id=tenant.id)
    return tenant.id


def _become_member(tx: Transaction, user: User, invitation: Invitation) -> None:
    """Make a user a member; a guest becomes more."""
    rows = tx.scoped(invitation.tenant_id).memberships
    earlier = rows.find(user_id=user.id)
    if earlier is None:
        role = invitation.role
        rows.add(Membership(new_id("mem"), user.id, invitation.tenant_id, role=role))
    elif earlier.role == MemberRole.GUEST:
        rows.update(earlier.id, role=invitation.role)
    else:
        raise Conflict(
            f"{user.name} is {_a(earlier.role)} of this tenant already.",
            remedy="Sign in; an owner can change what you may do.",
        )


def _get_application(tx: Transaction, user: User, invitation: Invitation) -> tuple[str, str]:
    """Share the application; a person without a tenant becomes a guest of its tenant."""
    tables = tx.scoped(invitation.tenant_id)
    tenant_id = invitation.tenant_id
    application_id = invitation.application_id
    if tables.memberships.find(user_id=user.id, role=MemberRole.OWNER):
        raise Conflict("You are an owner of this application already.", remedy="Sign in.")
    tables.shares.forget(tx.now() + 1.0, application_id=application_id, user_id=user.id)
    role = ShareRole(invitation.role)
    tables.shares.add(Share(new_id("share"), tenant_id, application_id, user.id, role))
    page = f"/applications/{application_id}"
    if role == ShareRole.LABELLER:
        page += "/work"
    belongs = tx.unscoped().memberships.column("tenant_id", user_id=user.id)
    if not belongs:
        guest = Membership(new_id("mem"), user.id, invitation.tenant_id, role=MemberRole.GUEST)
        tables.memberships.add(guest)
        belongs = [invitation.tenant_id]
    return user.tenant_id if user.tenant_id in belongs else min(belongs), page


def _a(role: MemberRole) -> str:
    return f"an {role}" if role == MemberRole.OWNER else f"a {role}"
