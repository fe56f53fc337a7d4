# Made from ../_async/operations.py by scripts/unasync.py: change that file, then run the script.
"""What the client asks, an operation a method.

Made from the operations of the API by scripts/client.py: change these, then run the script.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from easeml.client._sync.calls import Calls
from easeml.client.answers import made_request
from easeml.contract.accounts import (
    Access,
    EndedSignIns,
    IdentityAsked,
    Invitation,
    Key,
    Member,
    NewKey,
    NewUser,
    PasswordChange,
    Removal,
    RoleChange,
    SignInWays,
    User,
)
from easeml.contract.adaptation import Adaptation, NewAdaptation
from easeml.contract.administration import AuditEvent, Setting, Storage, Tenant, TenantLimits, Usage
from easeml.contract.application_views import (
    ApplicationView,
    JourneyView,
    Leaderboard,
    ServingHistory,
)
from easeml.contract.applications import Application, Declaration, Promotion, Proposal
from easeml.contract.datasets import Dataset, UnusedDatasets, Version
from easeml.contract.devices import Joined, WorkerDevice
from easeml.contract.ending import Ending
from easeml.contract.erasures import Erasure, NewErasure
from easeml.contract.evaluation import TaskReport
from easeml.contract.gates import Gates, NewGate, Retirement
from easeml.contract.jobs import Job, JobLimits
from easeml.contract.journey import Goal, Journey, Suggestion
from easeml.contract.keeping import Deletion, Dependents, Shares
from easeml.contract.knowledge import KnowledgeBase, ModuleChecks, NewModule, Titles
from easeml.contract.label_budgets import LabelBudget, NewLabelBudget
from easeml.contract.model_rules import ModelRules, NewModelRules
from easeml.contract.models import Measures, Signature, SigningKey, TrainedModel
from easeml.contract.notifications import Notifications
from easeml.contract.objectives import NewObjective, ObjectiveChoice
from easeml.contract.pareto import Pareto
from easeml.contract.picking import NewPicking, PickingRule
from easeml.contract.production import Feedback, FeedbackKept, NewRequestLog, RequestLog
from easeml.contract.progress import Progress
from easeml.contract.reports import ApplicationTool, FollowedRemedy, Report
from easeml.contract.resources import Page
from easeml.contract.retention import Collected, NewRetention, Retention, RetentionPlan
from easeml.contract.rollouts import EndRollout, NewRollout, NewRolloutRule, Rollouts
from easeml.contract.scheduling import DecisionView, Replay, SchedulerView, Step
from easeml.contract.sources import (
    NewOrigin,
    NewSchedule,
    Retrieval,
    Schedule,
    SchedulesView,
    Source,
)
from easeml.contract.status import Status
from easeml.contract.subscriptions import Confirmation, NewSubscription, SecretRenewal, Subscription
from easeml.contract.task_views import Decision, Task, TaskDetail, TaskOverview, TaskView
from easeml.contract.tryouts import Tryout
from easeml.contract.versions import Comparison, PushedFlow, Refinement, TrainRows, VersionLine
from easeml.contract.watching import NewWatchLabels, WatchLabels, WatchReport
from easeml.contract.work import Doubts, WorkDone, WorkFile, WorkImported, WorkQueue, WorkTurn


class Operations(Calls):
    """The use cases of the service that need no more than to be asked."""

    def logout(self) -> None:
        """End the key that the caller sent, for good."""
        self._do("/logout")

    def me(self) -> User:
        """Return the caller themselves, and how many notifications wait for them."""
        return self._get(User, "/me")

    def notifications(self, limit: int = 50) -> Notifications:
        """Return the caller's newest notifications and how many are unread.

        They are of the tenant, where the caller may look at it, and of what is shared with them
        to look at or own. At most 100 are counted. Of the models that served an application the
        newest one is told: a search that finds a better one every few seconds is one piece of
        news.
        """
        return self._get(Notifications, "/notifications", limit=limit)

    def mark_read(self, seq: int) -> Notifications:
        """Take all notifications up to a number as read by the caller."""
        return self._send(Notifications, "/notifications/read", {"seq": seq})

    def end_sign_ins(self) -> EndedSignIns:
        """End all sign-ins of the caller for good, but for the one that asks. API keys stay."""
        return self._send(EndedSignIns, "/sign-ins", method="DELETE")

    def create_key(
        self,
        name: str,
        *,
        expires_in: float | None = None,
        scope: str = "all",
        application_id: str = "",
        idempotency_key: str | None = None,
    ) -> Key:
        """Make an API key of the caller; ``secret`` is shown this once.

        A key that expires makes none that outlives it. Repeated with the same idempotency key
        (the first answer was lost), the same key gets a new secret. Raises ``InvalidInput`` for
        a name that cannot be shown, a time that no calendar has and a scope that names an
        application in vain, ``NotFound`` for an application that the caller may not ask.
        """
        request = made_request(
            NewKey, name=name, expires_in=expires_in, scope=scope, application_id=application_id
        )
        return self._create(Key, "/keys", key=idempotency_key, request=request)

    def api_keys(self, user_id: str | None = None) -> Iterator[Key]:
        """Give the caller's keys, or for a provider of those of any user.

        They come without their secrets.

        Raises ``NotFound`` where others ask for somebody else's.
        """
        return self._list(Key, "/keys", user=user_id)

    def revoke_key(self, key_id: str) -> None:
        """End a key for good: one's own, or as a provider anybody's.

        Raises ``NotFound`` for a key of somebody else.
        """
        self._do(f"/keys/{key_id}", method="DELETE")

    def users(self) -> Iterator[User]:
        """Return users: all for a provider, themselves for anybody else."""
        return self._list(User, "/users")

    def create_user(self, name: str, password: str, *, idempotency_key: str | None = None) -> User:
        """Make a user with a tenant of their own (providers only).

        Raises ``NotAllowed``, and ``Conflict`` for a name that is taken.
        """
        request = made_request(NewUser, name=name, password=password)
        return self._create(User, "/users", key=idempotency_key, request=request)

    def change_password(self, user_id: str, new: str, *, old: str = "") -> None:
        """Set a password. One's own ends one's sign-ins; one that a provider sets ends all keys.

        That also ends the sign-in by an identity provider, until it is connected again. A user
        proves who they are with the old password; a provider needs none for others. Raises
        ``NotFound`` for other users, ``NotAllowed`` for a wrong old password, ``InvalidInput``
        for a password that is easy to guess.
        """
        request = made_request(PasswordChange, old=old, new=new)
        self._do(f"/users/{user_id}/password", request.model_dump(mode="json"), repeatable=False)

    def change_role(self, user_id: str, role: str) -> User:
        """Make a user a provider, or a provider a user (providers only); their keys act so from now
        on.

        Raises ``NotAllowed``, ``NotFound``, and ``Conflict`` where no provider would be left.
        """
        request = made_request(RoleChange, role=role)
        return self._send(User, f"/users/{user_id}/role", request.model_dump(mode="json"))

    def set_access(self, user_id: str, disabled: bool) -> User:
        """Shut a user out, all keys ended for good, or let them in again (providers only).

        Data, searches and endpoints of the tenant stay. Raises ``NotFound`` where others ask for
        somebody else, ``NotAllowed``, and ``Conflict`` for the caller, who would be shut out of
        this.
        """
        request = made_request(Access, disabled=disabled)
        return self._send(User, f"/users/{user_id}/access", request.model_dump(mode="json"))

    def act_in(self, tenant_id: str) -> Key:
        """Act in another tenant that the caller belongs to: a fresh sign-in there, as long as one.

        Its ``secret`` is shown this once. A sign-in that asks ends; an API key stays, and makes
        a key that ends no later than itself. Raises ``NotFound`` for a tenant that they do not
        belong to.
        """
        return self._send(Key, "/me/tenant", {"tenant_id": tenant_id}, repeatable=False)

    def members(self) -> Iterator[Member]:
        """Return who belongs to the caller's tenant, oldest first."""
        return self._list(Member, "/members")

    def change_member(self, user_id: str, role: str) -> Member:
        """Change what somebody may do in the caller's tenant, from their next request on.

        Raises ``NotFound`` for a person outside of it, ``Conflict`` for its last owner.
        """
        return self._send(Member, f"/members/{user_id}", {"role": role})

    def end_member(self, user_id: str) -> Member:
        """Let somebody do nothing more in the caller's tenant; return what they were.

        Their keys and sign-ins there end for good, and what was shared with them of it. What
        they did stays, and so do other tenants that they belong to. Raises ``NotFound`` for who
        does not belong to it, ``Conflict`` for its last owner.
        """
        return self._send(Member, f"/members/{user_id}", method="DELETE", repeatable=False)

    def invite(self, role: str | None = None, *, expires_in: float = 604800.0) -> Invitation:
        """Make a link that lets one person in to the caller's tenant, or to a new tenant of their
        own.

        ``secret``, ``path`` and ``link`` are shown this once. Raises ``NotAllowed`` where others
        than a provider ask for a new tenant, ``Conflict`` where too many are open.
        """
        return self._send(
            Invitation, "/invitations", {"role": role, "expires_in": expires_in}, repeatable=False
        )

    def invitations(self) -> Iterator[Invitation]:
        """Return the invitations of the caller's tenant, oldest first, without their secrets."""
        return self._list(Invitation, "/invitations")

    def revoke_invitation(self, invitation_id: str) -> Invitation:
        """Make a link of the caller's tenant useless; people who came by it before stay.

        Raises ``NotFound``; repeated, or after it was used, it changes nothing.
        """
        return self._send(Invitation, f"/invitations/{invitation_id}", method="DELETE")

    def invite_to_application(
        self, application_id: str, role: str, *, expires_in: float = 604800.0
    ) -> Invitation:
        """Make a link that lets one person in to an application alone.

        A new person becomes a guest of the tenant. ``secret``, ``path`` and ``link`` are shown
        this once. Raises ``NotFound``, ``Conflict`` where too many are open.
        """
        return self._send(
            Invitation,
            f"/applications/{application_id}/invitations",
            {"role": role, "expires_in": expires_in},
            repeatable=False,
        )

    def application_invitations(self, application_id: str) -> Iterator[Invitation]:
        """Return the invitations to an application, oldest first, without their secrets.

        Raises ``NotFound``.
        """
        return self._list(Invitation, f"/applications/{application_id}/invitations")

    def revoke_application_invitation(self, application_id: str, invitation_id: str) -> Invitation:
        """Make a link to an application useless; people who came by it before stay.

        Raises ``NotFound``; repeated, or after it was used, it changes nothing.
        """
        return self._send(
            Invitation,
            f"/applications/{application_id}/invitations/{invitation_id}",
            method="DELETE",
        )

    def tenants(self) -> list[Tenant]:
        """Return all tenants, oldest first (providers only); raises ``NotAllowed``."""
        return (self._get(Page[Tenant], "/tenants")).items

    def settings(self) -> list[Setting]:
        """Return every setting with its origin (providers only); passwords are hidden.

        Raises ``NotAllowed``.
        """
        return (self._get(Page[Setting], "/settings")).items

    def audit(
        self, *, before: str | None = None, limit: int = 50, kind: str = "", person: str = ""
    ) -> Page[AuditEvent]:
        """Return a page of what happened to all tenants, newest first (providers only).

        ``before``: ``next`` of the page before. ``kind``: of this kind, such as
        ``user.signed-in``, or of all that begin with it, such as ``user``. ``person``: the name
        of a user: what they did, and what they or the tenant of their own are the subject of. Of
        people who were removed also the name that they had, if nobody has it now, or the id.
        Raises ``NotAllowed``, and ``NotFound`` for a name that nobody has, or had.
        """
        return self._get(
            Page[AuditEvent], "/audit", before=before, limit=limit, kind=kind, person=person
        )

    def remove_user(self, user_id: str, data: str, *, to: str = "") -> Removal:
        """Remove a user for good, and do what ``data`` says with their tenant (providers only).

        Their keys, memberships and shares end, their name is free again; what they did in other
        tenants stays. What is deleted, applications and data sets, can be restored for a day
        with the applications; then it is erased. Raises ``NotAllowed``; ``NotFound`` for the
        user, where others than a provider ask, and for the person who is to get the tenant;
        ``InvalidInput`` where that is not said; ``Conflict`` for the caller, and where others
        belong to a tenant whose applications were to be deleted.
        """
        return self._send(
            Removal, f"/users/{user_id}/remove", {"data": data, "to": to}, repeatable=False
        )

    def add_member(self, tenant_id: str, user: str, role: str) -> Member:
        """Make a user a member of a tenant, such as one whose owner left (providers only).

        Raises ``NotAllowed``; ``NotFound`` for the tenant and the user; ``Conflict`` where they
        belong to it already.
        """
        return self._send(
            Member, f"/tenants/{tenant_id}/members", {"user": user, "role": role}, repeatable=False
        )

    def tenant_limits(self, tenant_id: str) -> TenantLimits:
        """Return what a tenant may use (providers only); raises ``NotAllowed``, ``NotFound``."""
        return self._get(TenantLimits, f"/tenants/{tenant_id}/limits")

    def limit_tenant(
        self,
        tenant_id: str,
        *,
        priority: float | None = None,
        devices: int | None = None,
        seconds: float | None = None,
        storage: int | None = None,
        applications: int | None = None,
        month_seconds: float | None = None,
        uploads: int | None = None,
        requests: float | None = None,
    ) -> TenantLimits:
        """Set all that a tenant may use (providers only); the scheduler follows at once.

        What is left out, or None, has no limit. A limit may be below what is used: nothing is
        taken away, and nothing more is given. Raises ``NotAllowed``, ``NotFound``.
        """
        request = made_request(
            TenantLimits,
            priority=priority,
            devices=devices,
            seconds=seconds,
            storage=storage,
            applications=applications,
            month_seconds=month_seconds,
            uploads=uploads,
            requests=requests,
        )
        return self._send(
            TenantLimits,
            f"/tenants/{tenant_id}/limits",
            request.model_dump(mode="json"),
            method="PUT",
        )

    def default_limits(self) -> TenantLimits:
        """Return what new tenants may use (providers only); raises ``NotAllowed``."""
        return self._get(TenantLimits, "/limits")

    def set_default_limits(
        self,
        *,
        priority: float | None = None,
        devices: int | None = None,
        seconds: float | None = None,
        storage: int | None = None,
        applications: int | None = None,
        month_seconds: float | None = None,
        uploads: int | None = None,
        requests: float | None = None,
    ) -> TenantLimits:
        """Set what tenants that are made from now on may use (providers only); others keep theirs.

        What is left out, or None, has no limit. Raises ``NotAllowed``.
        """
        request = made_request(
            TenantLimits,
            priority=priority,
            devices=devices,
            seconds=seconds,
            storage=storage,
            applications=applications,
            month_seconds=month_seconds,
            uploads=uploads,
            requests=requests,
        )
        return self._send(TenantLimits, "/limits", request.model_dump(mode="json"), method="PUT")

    def usage(self, *, days: int = 30) -> Usage:
        """Return what tenants use of what they may, and their device seconds by day.

        A provider sees all tenants, the oldest first; others see their own.
        """
        return self._get(Usage, "/usage", days=days)

    def set_setting(self, name: str, value: str) -> Setting:
        """Change a setting while easeml runs (providers only); the scheduler follows at once.

        Only ``policy`` and ``optimizer`` can be changed so. Raises ``NotAllowed``,
        ``InvalidInput`` for another setting or a value that it cannot have, ``Conflict`` where a
        flag or an environment variable sets it.
        """
        return self._send(Setting, f"/settings/{name}", {"value": value})

    def storage(self) -> Storage:
        """Return what is used and free, in bytes (providers only); raises ``NotAllowed``."""
        return self._get(Storage, "/storage")

    def propose(self, declaration: Declaration) -> Proposal:
        """Return what a declaration would mean; writes nothing and raises like ``declare``."""
        return self._send(Proposal, "/applications/propose", declaration.model_dump(mode="json"))

    def create_application(
        self, declaration: Declaration, *, idempotency_key: str | None = None
    ) -> Application:
        """Make an application and its model search.

        Raises ``NotFound`` for the data, ``NotReady`` while the upload is being read,
        ``Conflict`` if it could not be read, and ``InvalidInput`` for a column, type, objective
        or model that is unknown or does not fit.
        """
        return self._create(Application, "/applications", key=idempotency_key, request=declaration)

    def applications(self) -> Iterator[Application]:
        """Give the tenant's applications, oldest first."""
        return self._list(Application, "/applications")

    def application(self, application_id: str) -> Application:
        """Return an application and how it does; raises ``NotFound``."""
        return self._get(Application, f"/applications/{application_id}")

    def application_view(self, application_id: str) -> ApplicationView:
        """Return what the first page of an application shows; raises ``NotFound``.

        It is the application, the progress of its newest search and when that is expected to
        end, its best models, the newest answer of each lifecycle tool about it, and its journey.
        """
        return self._get(ApplicationView, f"/applications/{application_id}/view")

    def leaderboard(self, application_id: str, axis: list[str] | None = None) -> Leaderboard:
        """Return an application and all its trained models, the best first.

        ``axis``: by what they are compared at once; by default the objective and the latency.
        Raises ``NotFound``.
        """
        return self._get(Leaderboard, f"/applications/{application_id}/leaderboard", axis=axis)

    def serving_history(self, application_id: str) -> ServingHistory:
        """Return an application and the changes of what it serves, newest first.

        The models that they name come with them. Raises ``NotFound``.
        """
        return self._get(ServingHistory, f"/applications/{application_id}/history")

    def models(self, application_id: str, *, best: int | None = None) -> Iterator[TrainedModel]:
        """Return the application's trained models (``best``: so many), best on validation rows
        first.

        Those that were measured on other validation rows, before these grew, come after them,
        and those that cannot be loaded any more last. Raises ``NotFound``.
        """
        return self._list(TrainedModel, f"/applications/{application_id}/models", best=best)

    def promotions(self, application_id: str) -> Iterator[Promotion]:
        """Give the application's promotions, oldest first; raises ``NotFound``."""
        return self._list(Promotion, f"/applications/{application_id}/promotions")

    def roll_back(self, application_id: str, model_id: str | None = None) -> Application:
        """Let ``model_id`` serve, and pin it so that the search does not undo it.

        ``model_id`` None: the model that was live before. One that was retired less than a day
        ago has its files back.

        Raises ``NotFound``, or ``Conflict`` if there is nothing to go back to, or its files are
        gone or damaged.
        """
        return self._send(
            Application,
            f"/applications/{application_id}/rollback",
            {"model_id": model_id},
            repeatable=False,
        )

    def pin(self, application_id: str) -> Application:
        """Keep what is served now, whatever the search finds.

        Raises ``NotFound``, and ``Conflict`` where nothing is live.
        """
        return self._send(Application, f"/applications/{application_id}/pin")

    def unpin(self, application_id: str) -> Application:
        """Let better models be promoted again; raises ``NotFound``."""
        return self._send(Application, f"/applications/{application_id}/unpin")

    def include_model(self, application_id: str, model: str) -> Application:
        """Let the search try a model that was left out when the application was declared.

        A search that rests may go on.

        Raises ``NotFound``, ``InvalidInput`` for a model that is unknown or does not fit,
        ``Conflict`` where the search has ended. Repeated, it changes nothing.
        """
        return self._send(Application, f"/applications/{application_id}/include", {"model": model})

    def try_model(self, application_id: str, model: str) -> Tryout:
        """Train a model for an application now: it gets the next device, before other tenants'
        work.

        The first configuration of it is trained that was not yet. A model that was left out at
        the declaration is let in. Repeated, it tells of the same task. Raises ``NotFound``,
        ``InvalidInput`` for a model that is unknown or does not fit, ``Conflict`` where all of
        it was tried or the search has ended, ``NotReady`` while the data is prepared, and
        ``OverQuota``.
        """
        return self._send(Tryout, f"/applications/{application_id}/tryouts", {"model": model})

    def datasets(self) -> Iterator[Dataset]:
        """Give the tenant's datasets, oldest first."""
        return self._list(Dataset, "/datasets")

    def unused_datasets(self, *, limit: int = 5) -> UnusedDatasets:
        """Return the newest datasets that no application was made of, the newest first."""
        return self._get(UnusedDatasets, "/datasets/unused", limit=limit)

    def dataset(self, dataset_id: str) -> Dataset:
        """Return a dataset with its newest upload; raises ``NotFound``."""
        return self._get(Dataset, f"/datasets/{dataset_id}")

    def version(self, version_id: str) -> Version:
        """Return a version of a dataset; raises ``NotFound``."""
        return self._get(Version, f"/versions/{version_id}")

    def read_table(self, dataset_id: str, table: int) -> Dataset:
        """Read another table of a data set's file; its newest version is ``ingesting`` then.

        Raises ``NotFound``, and ``Conflict`` where an application was made of the data set, or
        its file was not kept as it was.
        """
        return self._send(Dataset, f"/datasets/{dataset_id}/table", {"table": table})

    def add_origin(self, wish: NewOrigin, *, idempotency_key: str | None = None) -> Dataset:
        """Make a dataset of what an address has.

        Its version is ``ingesting`` until that was fetched and read.

        Raises ``InvalidInput`` for an address that is none, or holds a secret; ``NotAllowed``
        where no connection of the provider's leads there; ``TooMany`` where others have to end
        first.
        """
        return self._create(Dataset, "/datasets/origins", key=idempotency_key, request=wish)

    def devices(self) -> Iterator[WorkerDevice]:
        """Give the devices that are there, oldest first (providers only)."""
        return self._list(WorkerDevice, "/devices")

    def drain_device(self, device_id: str, *, draining: bool = True) -> WorkerDevice:
        """Let a device take no new tasks, or let it take them again (providers only).

        What it runs goes on to its end. Raises ``NotFound`` where no such device is there.
        """
        return self._send(WorkerDevice, f"/devices/{device_id}/drain", {"draining": draining})

    def join_machine(self, version: str, host: str) -> Joined:
        """Tell a machine what its workers need to work for this easeml (providers only).

        Raises ``Conflict`` where its easeml is of another version, or cannot reach the database
        or the artefacts.
        """
        return self._send(Joined, "/devices/join", {"version": version, "host": host})

    def measures(self, application_id: str) -> Measures:
        """Return what models are measured by, and what else could be asked. Raises ``NotFound``."""
        return self._get(Measures, f"/applications/{application_id}/measures")

    def ask_measure(self, application_id: str, measure: str) -> Measures:
        """Measure the models of an application by more: those there are, and those to come.

        The same again measures what was not yet. Raises ``NotFound``, and ``InvalidInput`` for a
        measure that there is not or that does not fit.
        """
        return self._send(
            Measures, f"/applications/{application_id}/measures", {"measure": measure}
        )

    def drop_measure(self, application_id: str, measure: str) -> Measures:
        """Measure no further models by something; what was measured is forgotten nowhere.

        Raises ``NotFound``.
        """
        return self._send(
            Measures, f"/applications/{application_id}/measures/remove", {"measure": measure}
        )

    def pareto(self, application_id: str, axis: list[str] | None = None) -> Pareto:
        """Return the models that can be compared now, by two to four measures.

        By default these are the objective and the latency.

        Raises ``NotFound``, and ``InvalidInput`` for a measure that no model has.
        """
        return self._get(Pareto, f"/applications/{application_id}/pareto", axis=axis)

    def gates(self, application_id: str) -> Gates:
        """Return what has to be proven before a model serves an application; raises ``NotFound``."""
        return self._get(Gates, f"/applications/{application_id}/gates")

    def set_gate(self, application_id: str, wish: NewGate) -> Gates:
        """Let no model serve an application any more of which a condition is not proven.

        It takes the place of the gate before, whose answers count on. Repeated, it changes
        nothing. The best model is tested at once, if it is better on validation rows than what
        serves. With another budget of labels, a test that waits for some goes on. Where rows
        that it may buy labels of are gone, the same gate is set anew, on those that are left.

        Raises ``NotFound``; ``InvalidInput`` for a condition that is none, or that the data
        cannot tell; ``Conflict`` while a model is being tested or rolled out, or where no rows
        are left.
        """
        return self._send(
            Gates, f"/applications/{application_id}/gates", wish.model_dump(mode="json")
        )

    def remove_gate(self, application_id: str) -> Gates:
        """Let models serve again without proof; what the gate told of the test rows counts on.

        A better model that it refused serves at once. Raises ``NotFound``. Repeated, it changes
        nothing.
        """
        return self._send(Gates, f"/applications/{application_id}/gates/remove")

    def retire_test_rows(self, application_id: str, wish: Retirement) -> Gates:
        """Make a version in which the test rows that gates wore out are train rows.

        So are the rows whose labels a gate bought. The search starts anew there. Where the gate
        can test no model any more, it is set again on what is left: further test rows, and
        labels that are bought. What was told of the retired rows is never forgotten: they are
        test rows of no gate any more, not even in the version before.

        Raises ``NotFound``; ``Conflict`` where none are worn out, while a model is tested, or
        where rows of the same group would still be test rows; ``NotReady`` while the data is
        changed.
        """
        return self._send(
            Gates, f"/applications/{application_id}/gates/retire", wish.model_dump(mode="json")
        )

    def sign_in_ways(self) -> SignInWays:
        """Return how one can sign in beside a password; needs no key."""
        return self._get(SignInWays, "/sign-in/ways")

    def ask_identity(self, site: str) -> IdentityAsked:
        """Begin a sign-in by the identity provider in a browser; needs no key.

        Raises ``NotFound`` where this easeml has none, ``NotReady`` where it does not answer.
        """
        return self._send(IdentityAsked, "/sign-in/identity/ask", {"site": site})

    def disconnect_identity(self) -> User:
        """End the caller's sign-in by an identity provider; their password stays.

        Raises ``Conflict`` for a user without a password: nothing would let them in.
        """
        return self._send(User, "/me/identity", method="DELETE")

    def jobs(self, *, application_id: str | None = None) -> Iterator[Job]:
        """Give the tenant's jobs, oldest first."""
        return self._list(Job, "/jobs", application_id=application_id)

    def job(self, job_id: str) -> Job:
        """Return a job with its counts; raises ``NotFound``."""
        return self._get(Job, f"/jobs/{job_id}")

    def job_ending(self, job_id: str) -> Ending:
        """Return when a search is expected to end; raises ``NotFound``."""
        return self._get(Ending, f"/jobs/{job_id}/ending")

    def job_tasks(
        self,
        job_id: str,
        *,
        newest_first: bool = False,
        state: str | None = None,
        kind: str | None = None,
        subject: str | None = None,
    ) -> Iterator[Task]:
        """Give the tasks of a search; raises ``NotFound``.

        Whoever may look at the search may look at them: those with whom its application is
        shared, too.
        """
        return self._list(
            Task,
            f"/jobs/{job_id}/tasks",
            newest_first=newest_first,
            state=state,
            kind=kind,
            subject=subject,
        )

    def progress(self, job_id: str, points: int = 1000) -> Progress:
        """Return the results of a job that matter, and about ``points`` of the others.

        All that were better than those before or went live matter.

        Raises ``NotFound``.
        """
        return self._get(Progress, f"/jobs/{job_id}/progress", points=points)

    def pause_job(self, job_id: str) -> Job:
        """Start nothing new for a job; doing so again changes nothing.

        What runs may finish; what waits is cancelled. Raises ``NotFound``, ``Conflict`` where
        its state does not allow it.
        """
        return self._send(Job, f"/jobs/{job_id}/pause")

    def resume_job(self, job_id: str) -> Job:
        """Go on with a paused job; doing so again changes nothing.

        Raises ``NotFound``, ``Conflict`` where its state does not allow it.
        """
        return self._send(Job, f"/jobs/{job_id}/resume")

    def stop_job(self, job_id: str) -> Job:
        """End a job for good; what it found stays, and doing so again changes nothing.

        What runs may finish; what waits is cancelled. Raises ``NotFound``, ``Conflict`` where
        its state does not allow it.
        """
        return self._send(Job, f"/jobs/{job_id}/stop")

    def limit_job(
        self,
        job_id: str,
        *,
        max_tasks: int | None = None,
        max_seconds: float | None = None,
        deadline: datetime | None = None,
    ) -> Job:
        """Change what a job may use in all.

        A job that rests because of its limits goes on if they were raised.

        Raises ``NotFound``, ``Conflict`` for a job that has ended.
        """
        request = made_request(
            JobLimits, max_tasks=max_tasks, max_seconds=max_seconds, deadline=deadline
        )
        return self._send(Job, f"/jobs/{job_id}/limits", request.model_dump(mode="json"))

    def goal(self, application_id: str) -> Goal:
        """Return the goal of an application; its text is empty where none is set. Raises
        ``NotFound``.
        """
        return self._get(Goal, f"/applications/{application_id}/goal")

    def set_goal(self, application_id: str, goal: str) -> Goal:
        """Set what an application is to reach, and ask whether it can be reached.

        Raises ``NotFound``, and ``InvalidInput`` for a text that is no goal or an objective that
        does not fit the target. The same goal again changes nothing.
        """
        return self._send(Goal, f"/applications/{application_id}/goal", {"goal": goal})

    def next_actions(self, application_id: str) -> Journey:
        """Return where an application stands and at most three actions, the first one first.

        It is told from what was kept: reports, the search, the data's counts. What lacks is an
        action that asks for it. Raises ``NotFound``.
        """
        return self._get(Journey, f"/applications/{application_id}/next")

    def suggestions(self, application_id: str) -> Iterator[Suggestion]:
        """Give what was suggested, newest first, with what came; raises ``NotFound``."""
        return self._list(Suggestion, f"/applications/{application_id}/suggestions")

    def journey_view(self, application_id: str) -> JourneyView:
        """Return an application and its journey: where it stands, and what to do next.

        Raises ``NotFound``.
        """
        return self._get(JourneyView, f"/applications/{application_id}/journey")

    def rename_application(self, application_id: str, name: str) -> Application:
        """Give an application another name; its id, and so every address, stays.

        Raises ``NotFound``, and ``InvalidInput`` for a name that cannot be shown.
        """
        return self._send(Application, f"/applications/{application_id}/rename", {"name": name})

    def dependents(self, application_id: str) -> Dependents:
        """Return what hangs on an application, to be looked at before it is deleted.

        Raises ``NotFound``.
        """
        return self._get(Dependents, f"/applications/{application_id}/dependents")

    def delete_application(self, application_id: str) -> Deletion:
        """Delete an application: its endpoint stops answering, its search pauses.

        It can be restored for a day; then its models and what people answered are erased. Its
        data set stays. Raises ``NotFound``; repeated, it changes nothing.
        """
        return self._send(Deletion, f"/applications/{application_id}", method="DELETE")

    def restore_application(self, application_id: str) -> Application:
        """Take back that an application was deleted: its endpoint answers as before.

        Its search stays paused. Raises ``NotFound``, ``Conflict`` where it is erased or was not
        deleted, ``OverQuota`` where others have taken its place.
        """
        return self._send(Application, f"/applications/{application_id}/restore")

    def deleted_applications(self) -> Iterator[Deletion]:
        """Give the tenant's applications that can be restored, oldest first."""
        return self._list(Deletion, "/deleted")

    def share_application(self, application_id: str, user: str, role: str | None = None) -> Shares:
        """Let a person do something with an application, or (``role`` None) nothing any more.

        A viewer looks and predicts, a labeller answers items of work, an owner may do all. It
        counts from their next request on. Raises ``NotFound`` for the application and the
        person, ``InvalidInput`` for an owner of the application's own tenant, who may do all.
        """
        return self._send(
            Shares, f"/applications/{application_id}/share", {"user": user, "role": role}
        )

    def shares(self, application_id: str) -> Shares:
        """Return whom an application is shared with; raises ``NotFound``."""
        return self._get(Shares, f"/applications/{application_id}/shares")

    def shared(self) -> Shares:
        """Return the applications that are shared with the caller.

        A labeller of a tenant has all of its applications.
        """
        return self._get(Shares, "/shared")

    def model_rules(self, application_id: str) -> ModelRules:
        """Return the rules of an application, and what they leave out and why. Raises ``NotFound``."""
        return self._get(ModelRules, f"/applications/{application_id}/model-rules")

    def set_model_rules(self, application_id: str, wish: NewModelRules) -> ModelRules:
        """Ask other things of every model that serves, or have the search asked of another
        optimizer. The same rules again change nothing.

        The search goes on under them. What serves and breaks them gives way to the best model
        that keeps them, as soon as there is one. Where columns are to be followed that were not,
        no model of before knows that: a new search begins on the same data.

        Raises ``NotFound``, ``InvalidInput`` for a column that cannot be followed, an optimizer
        that is not there or where no model is left, and ``Conflict`` where a new search would
        have to begin before the data is ready.
        """
        return self._send(
            ModelRules,
            f"/applications/{application_id}/model-rules",
            wish.model_dump(mode="json"),
            method="PUT",
        )

    def sign_export(
        self, model_id: str, manifest: str, *, filename: str = "export.json"
    ) -> Signature:
        """Sign an exported model: its manifest, and the files whose digests that names.

        Raises ``NotFound``, ``InvalidInput`` for what is no manifest, and ``Conflict`` where it
        tells of the model what is not known of it here.
        """
        return self._send(
            Signature,
            f"/models/{model_id}/signatures",
            {"manifest": manifest, "filename": filename},
        )

    def signing_key(self) -> SigningKey:
        """Return the public key by which exports of this easeml are signed."""
        return self._get(SigningKey, "/signing-key")

    def knowledge_base(self) -> KnowledgeBase:
        """Return all modules; what other tenants did with them shows in numbers only.

        Of private ones, only a provider sees those of other tenants.
        """
        return self._get(KnowledgeBase, "/modules")

    def module_titles(self) -> Titles:
        """Return the titles of the modules that the caller sees, archived ones as well."""
        return self._get(Titles, "/modules/titles")

    def add_module(
        self,
        toml: str,
        *,
        private: bool = False,
        files: dict[str, str] | None = None,
        image_upload: str = "",
        idempotency_key: str | None = None,
    ) -> ModuleChecks:
        """Have a model or an objective checked that will join the knowledge base if it passes
        (providers only).

        One that is private to the caller's tenant may be added by everybody, if it is a folder
        of programs. Raises ``NotAllowed``, ``TooLarge``, ``InvalidInput`` for a text that
        describes no model of a trusted, installed package, and no folder of programs that are
        run, ``Conflict`` for a name that is taken and for programs where tasks are not confined,
        ``OverQuota`` for more private modules than a tenant may have. What has failed may be
        added anew under the same name.
        """
        request = made_request(
            NewModule, toml=toml, private=private, files=files, image_upload=image_upload
        )
        return self._create(ModuleChecks, "/modules", key=idempotency_key, request=request)

    def share_module(self, name: str) -> KnowledgeBase:
        """Make a private module everybody's (providers only); all searches that it fits go on with
        it.

        One that is everybody's stays so. Raises ``NotAllowed``, ``NotFound``, ``Conflict`` for
        one that has not passed its checks.
        """
        return self._send(KnowledgeBase, f"/modules/{name}/share")

    def module_checks(self, name: str) -> ModuleChecks:
        """Return how far the checks of an added model are (providers, and whose it is alone).

        Raises ``NotAllowed``, ``NotFound``.
        """
        return self._get(ModuleChecks, f"/modules/{name}/checks")

    def archive_module(self, name: str) -> KnowledgeBase:
        """Let no new search use a module; what uses it goes on, and its trained models stay.

        Providers may, and whose private module it is. One that was added and failed its checks
        is no longer shown. Raises ``NotAllowed``, ``NotFound``, ``InvalidInput`` for a module of
        another kind.
        """
        return self._send(KnowledgeBase, f"/modules/{name}/archive")

    def restore_module(self, name: str) -> KnowledgeBase:
        """Let new searches use an archived module again.

        Providers may, and whose private module it is. Raises ``NotAllowed``, ``NotFound``,
        ``InvalidInput`` for a module of another kind.
        """
        return self._send(KnowledgeBase, f"/modules/{name}/restore")

    def objective(self, application_id: str) -> ObjectiveChoice:
        """Return what the models of an application are judged by, and what a change would mean.

        Raises ``NotFound``, and ``Conflict`` before the data is ready.
        """
        return self._get(ObjectiveChoice, f"/applications/{application_id}/objective")

    def change_objective(self, application_id: str, wish: NewObjective) -> ObjectiveChoice:
        """Judge the models of an application by another objective, and search on by it.

        What was trained is judged at once by what it predicted; nothing is trained again, and
        what runs is cancelled. The endpoint goes on answering. The same objective again changes
        nothing.

        Raises ``NotFound``; ``InvalidInput`` for an objective that there is not or that does not
        fit the target; ``Conflict`` before the data is ready, and where the application has
        failed.
        """
        return self._send(
            ObjectiveChoice,
            f"/applications/{application_id}/objective",
            wish.model_dump(mode="json"),
            method="PUT",
        )

    def request_log(self, application_id: str) -> RequestLog:
        """Return what is kept of the requests to an endpoint; raises ``NotFound``."""
        return self._get(RequestLog, f"/applications/{application_id}/requests")

    def set_request_log(self, application_id: str, wish: NewRequestLog) -> RequestLog:
        """Keep a share of the requests to an endpoint from now on, or none.

        Requests in JSON, CSV and pictures are kept, up to 4 MiB each. Raises ``NotFound``, and
        ``InvalidInput`` for a column to be masked that the data has not. Repeated, it changes
        nothing.
        """
        return self._send(
            RequestLog,
            f"/applications/{application_id}/requests",
            wish.model_dump(mode="json"),
            method="PUT",
        )

    def picking(self, application_id: str) -> PickingRule:
        """Return when models are compared on production, and what came of it; raises ``NotFound``."""
        return self._get(PickingRule, f"/applications/{application_id}/picking")

    def set_picking(self, application_id: str, wish: NewPicking) -> PickingRule:
        """Say when the models of an application are compared on its production, or end what runs.

        Repeated, it changes nothing. Raises ``NotFound``, and ``Conflict`` where no requests, or
        not all columns of them, are kept.
        """
        return self._send(
            PickingRule,
            f"/applications/{application_id}/picking",
            wish.model_dump(mode="json"),
            method="PUT",
        )

    def pick_now(self, application_id: str) -> PickingRule:
        """Compare the models on the newest rows of production now.

        Where that is under way, nothing is begun. Raises ``NotFound``; ``Conflict`` where there
        are no such rows, or no two models that may serve.
        """
        return self._send(PickingRule, f"/applications/{application_id}/picking/now")

    def label_budget(self, application_id: str) -> LabelBudget:
        """Return how many labels were bought, and are left; raises ``NotFound``."""
        return self._get(LabelBudget, f"/applications/{application_id}/label-budget")

    def set_label_budget(self, application_id: str, wish: NewLabelBudget) -> LabelBudget:
        """Say how many labels the gate and the comparisons of an application may buy together.

        With more than before, the test of a model that the budget ended goes on. Raises
        ``NotFound``. Repeated, it changes nothing.
        """
        return self._send(
            LabelBudget,
            f"/applications/{application_id}/label-budget",
            wish.model_dump(mode="json"),
            method="PUT",
        )

    def adaptation(self, application_id: str) -> Adaptation:
        """Return the newest adaptation of an application, and what came of it; raises ``NotFound``."""
        return self._get(Adaptation, f"/applications/{application_id}/adaptation")

    def adapt(self, application_id: str, wish: NewAdaptation) -> Adaptation:
        """Have what serves adapted to the newest rows of production, and tested on others of them.

        Raises ``NotFound``; ``Conflict`` where no requests, not all columns of them, or too few
        are kept, models are compared already, what serves is pinned or cannot be fitted again,
        or several ways are asked for and the application has a gate, which tests one model at a
        time; and what ``quotas.check_computing`` raises.
        """
        return self._send(
            Adaptation,
            f"/applications/{application_id}/adaptation",
            wish.model_dump(mode="json"),
            repeatable=False,
        )

    def give_feedback(self, application_id: str, feedback: Feedback) -> FeedbackKept:
        """Keep what was true of rows that an endpoint was asked about.

        It is kept also where the row is not (yet), and the newest word on a row counts. A number
        may have a decimal comma. Raises ``NotFound``, and ``InvalidInput`` for what is empty,
        for a list where rows have one answer, and for a comma that may be one of thousands: then
        nothing is kept.
        """
        return self._send(
            FeedbackKept,
            f"/applications/{application_id}/feedback",
            feedback.model_dump(mode="json"),
            repeatable=False,
        )

    def feed_told(self, application_id: str) -> Version:
        """Make a version that has as train rows what an endpoint was asked about, with its truth.

        These are the rows whose truth came and that the data has not: at most 5,000, the oldest
        first. They judge no model, as whose truth comes may depend on the row. A forecast knows
        their values from then on; rows whose truth was corrected since come again, and the later
        value counts. Raises ``NotFound``; ``NotReady`` while the data is changed by somebody
        else; ``Conflict`` where there are none, or not all columns of requests are kept.
        """
        return self._send(Version, f"/applications/{application_id}/feed-told", repeatable=False)

    def application_tools(self, application_id: str) -> Iterator[ApplicationTool]:
        """Return every lifecycle tool, what it takes, and why it cannot be asked now.

        Raises ``NotFound``.
        """
        return self._list(ApplicationTool, f"/applications/{application_id}/tools")

    def reports(self, application_id: str) -> Iterator[Report]:
        """Give what tools answered about an application, newest first.

        Raises ``NotFound``.
        """
        return self._list(Report, f"/applications/{application_id}/reports")

    def version_reports(self, version_id: str) -> Iterator[Report]:
        """Give what tools answered about an upload, newest first.

        What was asked as an application was declared later has moved to it. Raises ``NotFound``.
        """
        return self._list(Report, f"/versions/{version_id}/reports")

    def follow_remedy(self, application_id: str, report_id: str, number: int) -> FollowedRemedy:
        """Follow remedy ``number``, from 1, of a report about an application.

        Questions go to the work queue, in place of those that are open; rows of production whose
        truth came become training rows, and the search goes on with them; a search whose limits
        are used up gets more. What only people can do is told. The next answer of the tool tells
        what came. Raises ``NotFound``, and ``InvalidInput`` for a remedy that there is not.
        """
        return self._send(
            FollowedRemedy,
            f"/applications/{application_id}/reports/{report_id}/remedies/{number}",
            repeatable=False,
        )

    def task_reports(self, task_id: str) -> Iterator[Report]:
        """Return what tools answered about the model that a task trained, or in the task itself.

        Raises ``NotFound``.
        """
        return self._list(Report, f"/tasks/{task_id}/reports")

    def retention_plan(self) -> RetentionPlan:
        """Return what would go with the next look, why, and how many bytes (providers only).

        Nothing is changed. Raises ``NotAllowed``.
        """
        return self._get(RetentionPlan, "/retention")

    def collect(self) -> Collected:
        """Let go now what nobody needs, and return what that was (providers only).

        It happens every ten minutes by itself. Raises ``NotAllowed``, and ``Conflict`` while
        that is.
        """
        return self._send(Collected, "/retention/collect")

    def retention(self, application_id: str) -> Retention:
        """Return what of an application is kept. Raises ``NotFound``."""
        return self._get(Retention, f"/applications/{application_id}/retention")

    def set_retention(
        self,
        application_id: str,
        *,
        models: int | None = None,
        model_days: float | None = None,
        result_days: float | None = None,
    ) -> Retention:
        """Say what of an application is to be kept from now on. Repeated, it changes nothing.

        Raises ``NotFound``.
        """
        request = made_request(
            NewRetention, models=models, model_days=model_days, result_days=result_days
        )
        return self._send(
            Retention,
            f"/applications/{application_id}/retention",
            request.model_dump(mode="json"),
            method="PUT",
        )

    def erase_rows(
        self,
        dataset_id: str,
        where: dict[str, str],
        *,
        models: str = "retrain",
        plan_only: bool = True,
    ) -> Task:
        """Ask for rows of a data set to be erased everywhere, or in a dry run what that would be.

        The task that does so has the report as its result. Raises ``NotFound``; ``NotAllowed``
        for a key that may not do all; ``NotReady`` while a version of the data is being made.
        """
        request = made_request(NewErasure, where=where, models=models, plan_only=plan_only)
        return self._send(
            Task,
            f"/datasets/{dataset_id}/erasures",
            request.model_dump(mode="json"),
            repeatable=False,
        )

    def erasures(self, dataset_id: str) -> Iterator[Erasure]:
        """Give the reports on what was erased from a data set; raises ``NotFound``.

        ``by``: the name of who did it.
        """
        return self._list(Erasure, f"/datasets/{dataset_id}/erasures")

    def keep_model(self, model_id: str, *, keep: bool = True) -> TrainedModel:
        """Keep a model whatever the rules say, or leave it to them again.

        One that was retired less than a day ago has its files back. Repeated, it changes
        nothing. Raises ``NotFound``, and ``Conflict`` where its files are removed.
        """
        return self._send(TrainedModel, f"/models/{model_id}/keep", {"keep": keep})

    def rollouts(self, application_id: str) -> Rollouts:
        """Return how better models come to serve, and the newest roll-outs; raises ``NotFound``."""
        return self._get(Rollouts, f"/applications/{application_id}/rollouts")

    def set_rollout_rule(self, application_id: str, wish: NewRolloutRule) -> Rollouts:
        """Say how better models come to serve an application from now on.

        A roll-out that runs goes on as it began. Repeated, it changes nothing. Raises
        ``NotFound``; ``InvalidInput`` for shares that do not rise; ``Conflict`` where models
        cannot be compared: the target is neither category nor number, or no requests, or not all
        columns of them, are kept.
        """
        return self._send(
            Rollouts,
            f"/applications/{application_id}/rollouts/rule",
            wish.model_dump(mode="json"),
            method="PUT",
        )

    def start_rollout(self, application_id: str, wish: NewRollout) -> Rollouts:
        """Compare a model with the one that serves; it serves if it is not worse.

        Raises ``NotFound``; ``Conflict`` where it serves already, another is rolled out, the
        models cannot be compared, or a gate asks for a proof that there is not.
        """
        return self._send(
            Rollouts,
            f"/applications/{application_id}/rollouts",
            wish.model_dump(mode="json"),
            repeatable=False,
        )

    def end_rollout(self, application_id: str, wish: EndRollout) -> Rollouts:
        """End the roll-out that runs: the new model serves from now on, or it does not.

        Where none runs, what serves is not compared with the model before it any more. Raises
        ``NotFound``; ``Conflict`` where nothing is compared.
        """
        return self._send(
            Rollouts,
            f"/applications/{application_id}/rollouts/end",
            wish.model_dump(mode="json"),
            repeatable=False,
        )

    def scheduler(self, *, span: float = 600.0) -> SchedulerView:
        """Return devices, queue, tenants and losses, now and during the last ``span`` seconds.

        Users who are not providers see other tenants by number.
        """
        return self._get(SchedulerView, "/scheduler", span=span)

    def scheduler_decisions(
        self,
        *,
        application: str | None = None,
        after: int = 0,
        latest: int | None = None,
        limit: int = 50,
    ) -> Page[Step]:
        """Return a page of the scheduler's decisions, oldest first, with the scores behind each.

        ``after``: the number that the first of them follows. ``application``: only those for
        this one, by its id or its name. ``latest``: only the newest so many. Raises ``NotFound``
        for an application that there is not, or that the caller does not see.
        """
        return self._get(
            Page[Step],
            "/scheduler/decisions",
            application=application,
            after=after,
            latest=latest,
            limit=limit,
        )

    def replay(self, policy: str = "default") -> Replay:
        """Run past tasks again in the order that another policy chooses.

        They have the costs and qualities that were measured.

        The newest 40 searches that are not over take part, on as many devices as there are now.
        Raises ``InvalidInput`` for an unknown policy, ``NotReady`` before any task has ended.
        """
        return self._get(Replay, "/scheduler/replay", policy=policy)

    def scheduler_decision(self, number: int) -> DecisionView:
        """Return decision ``number`` of all tenants, with what was believed then.

        The beliefs are those before and after its result.

        What every policy would have chosen is told, too. Raises ``NotFound``.
        """
        return self._get(DecisionView, f"/scheduler/decisions/{number}")

    def simulate(
        self,
        policy: str = "default",
        *,
        against: str = "random",
        tenants: int = 10,
        devices: int = 1,
        seed: int = 0,
    ) -> Replay:
        """Search invented work of many tenants.

        Each of ``tenants`` has 24 models, and the qualities of 40 tenants of the past are known.

        ``against``: a policy to compare with. Raises ``InvalidInput`` for an unknown policy or a
        number out of range.
        """
        return self._get(
            Replay,
            "/scheduler/simulation",
            policy=policy,
            against=against,
            tenants=tenants,
            devices=devices,
            seed=seed,
        )

    def refresh_dataset(self, dataset_id: str, *, fewer: bool = False) -> Retrieval:
        """Fetch a data set again from where it came.

        Where that has other rows, they are a new version, which the applications follow that do
        so. While one refresh is running, asking again gives that one. Raises ``NotFound``,
        ``Conflict`` for a data set that came as a file, and as ``add_origin`` does.
        """
        return self._send(Retrieval, f"/datasets/{dataset_id}/refresh", {"fewer": fewer})

    def source(self, application_id: str) -> Source:
        """Return where an application's data set came from, and how it was fetched again.

        Raises ``NotFound``.
        """
        return self._get(Source, f"/applications/{application_id}/source")

    def retrievals(self, dataset_id: str) -> Iterator[Retrieval]:
        """Give the retrievals of a data set, newest first; raises ``NotFound``."""
        return self._list(Retrieval, f"/datasets/{dataset_id}/retrievals")

    def retrieval(self, retrieval_id: str) -> Retrieval:
        """Return one retrieval; raises ``NotFound``."""
        return self._get(Retrieval, f"/retrievals/{retrieval_id}")

    def add_schedule(self, wish: NewSchedule) -> Schedule:
        """Have a data set fetched again at certain times.

        Raises ``NotFound``; ``InvalidInput`` for a time or a zone that there is not;
        ``Conflict`` for a data set that came as a file, and where there are too many;
        ``NotAllowed`` where no connection leads to it.
        """
        return self._send(Schedule, "/schedules", wish.model_dump(mode="json"), repeatable=False)

    def schedules(self) -> Iterator[Schedule]:
        """Give the tenant's schedules, oldest first."""
        return self._list(Schedule, "/schedules")

    def schedules_view(self) -> SchedulesView:
        """Return what a page of schedules shows: all of them, and what others can be about."""
        return self._get(SchedulesView, "/schedules/view")

    def schedule(self, schedule_id: str) -> Schedule:
        """Return one schedule; raises ``NotFound``."""
        return self._get(Schedule, f"/schedules/{schedule_id}")

    def schedule_retrievals(self, schedule_id: str) -> Iterator[Retrieval]:
        """Give the retrievals of a schedule, newest first; raises ``NotFound``."""
        return self._list(Retrieval, f"/schedules/{schedule_id}/retrievals")

    def pause_schedule(self, schedule_id: str) -> Schedule:
        """Let a schedule start nothing more; what runs may finish. Raises ``NotFound``."""
        return self._send(Schedule, f"/schedules/{schedule_id}/pause")

    def resume_schedule(self, schedule_id: str) -> Schedule:
        """Let a schedule go on at its next time, in the name of the caller; missed times are not
        made up for.

        Raises ``NotFound``, and ``InvalidInput`` where its time zone is not known any more.
        """
        return self._send(Schedule, f"/schedules/{schedule_id}/resume")

    def start_schedule(self, schedule_id: str) -> Retrieval:
        """Do now what a schedule does, besides its times; while it is running, return that
        retrieval.

        Raises ``NotFound``, and as ``add_origin`` does.
        """
        return self._send(Retrieval, f"/schedules/{schedule_id}/start")

    def delete_schedule(self, schedule_id: str) -> Schedule:
        """Delete a schedule and the list of its retrievals; what it predicted stays with the tasks.

        Raises ``NotFound``.
        """
        return self._send(Schedule, f"/schedules/{schedule_id}", method="DELETE", repeatable=False)

    def set_follows(self, application_id: str, follows: bool) -> Application:
        """Say whether an application takes the new rows of its data set when that is fetched again.

        One that begins to, takes what came meanwhile. Raises ``NotFound``.
        """
        return self._send(
            Application,
            f"/applications/{application_id}/follows",
            {"follows": follows},
            method="PUT",
        )

    def status(self) -> Status:
        """Return the running processes and the counts of the caller's tenant.

        Only a provider sees hosts, process ids, and what the service is made of.
        """
        return self._get(Status, "/status")

    def subscribe(
        self,
        way: str,
        address: str,
        *,
        kinds: list[str] | None = None,
        application_id: str = "",
        quiet: list[int] | None = None,
    ) -> Subscription:
        """Have the caller's notifications sent to an address from now on: those of
        ``notifications``.

        The answer to this alone has the ``secret`` that signs what is posted. An address of mail
        gets a code first, that confirms it. Raises ``InvalidInput`` for an address or kinds that
        cannot be, ``NotAllowed`` for one that lies in an own network as it is written,
        ``NotFound`` for an application, ``Conflict`` where too many are there or no mail is
        sent.
        """
        request = made_request(
            NewSubscription,
            way=way,
            address=address,
            kinds=kinds,
            application_id=application_id,
            quiet=quiet,
        )
        return self._send(
            Subscription, "/subscriptions", request.model_dump(mode="json"), repeatable=False
        )

    def subscriptions(self) -> Iterator[Subscription]:
        """Return where the tenant's notifications are sent, oldest first, without secrets."""
        return self._list(Subscription, "/subscriptions")

    def confirm_subscription(self, subscription_id: str, code: str) -> Subscription:
        """Confirm an address of mail by the code that it got; from then on it is told.

        Raises ``NotFound``, and ``Conflict`` for a wrong code; after five of them the
        subscription ends.
        """
        request = made_request(Confirmation, code=code)
        return self._send(
            Subscription,
            f"/subscriptions/{subscription_id}/confirm",
            request.model_dump(mode="json"),
            repeatable=False,
        )

    def try_subscription(self, subscription_id: str) -> Subscription:
        """Send a test; one that is paused goes on with it. Raises ``NotFound``, ``Conflict``."""
        return self._send(Subscription, f"/subscriptions/{subscription_id}/test", repeatable=False)

    def renew_subscription_secret(
        self, subscription_id: str, *, overlap_hours: float = 24.0
    ) -> Subscription:
        """Sign what is posted with a new secret, which the answer to this alone has.

        For ``overlap_hours`` the old one signs as well, so that the listener can change over.
        Raises ``NotFound``, and ``Conflict`` for mail, which is not signed.
        """
        request = made_request(SecretRenewal, overlap_hours=overlap_hours)
        return self._send(
            Subscription,
            f"/subscriptions/{subscription_id}/secret",
            request.model_dump(mode="json"),
            repeatable=False,
        )

    def unsubscribe(self, subscription_id: str) -> Subscription:
        """Send nothing there any more, for good. Raises ``NotFound``."""
        return self._send(
            Subscription, f"/subscriptions/{subscription_id}", method="DELETE", repeatable=False
        )

    def tasks(
        self,
        *,
        newest_first: bool = False,
        job_id: str | None = None,
        state: str | None = None,
        kind: str | None = None,
        subject: str | None = None,
    ) -> Iterator[Task]:
        """Give the tenant's tasks; a filter that is None does not filter."""
        return self._list(
            Task,
            "/tasks",
            newest_first=newest_first,
            job_id=job_id,
            state=state,
            kind=kind,
            subject=subject,
        )

    def task_overview(
        self,
        *,
        after: str | None = None,
        limit: int = 50,
        state: str | None = None,
        kind: str | None = None,
        subject: str | None = None,
    ) -> TaskOverview:
        """Return a page of the tenant's tasks, newest first, with counts and names.

        The counts are of all tasks by state, the names those of the applications.
        """
        return self._get(
            TaskOverview,
            "/tasks/overview",
            after=after,
            limit=limit,
            state=state,
            kind=kind,
            subject=subject,
        )

    def task(self, task_id: str) -> Task:
        """Return a task; raises ``NotFound``."""
        return self._get(Task, f"/tasks/{task_id}")

    def version_tasks(
        self, version_id: str, *, newest_first: bool = False, kind: str | None = None
    ) -> Iterator[Task]:
        """Give the tasks about a version of data, such as questions of it.

        Raises ``NotFound``.
        """
        return self._list(
            Task, f"/versions/{version_id}/tasks", newest_first=newest_first, kind=kind
        )

    def task_view(self, task_id: str) -> TaskView:
        """Return a task and all that its page shows; raises ``NotFound``.

        It is its attempts, what the newest of them printed, how its model does, and what
        lifecycle tools answered about that.
        """
        return self._get(TaskView, f"/tasks/{task_id}/view")

    def task_detail(self, task_id: str) -> TaskDetail:
        """Return what a task was told to do and its attempts; raises ``NotFound``."""
        return self._get(TaskDetail, f"/tasks/{task_id}/detail")

    def task_report(self, task_id: str) -> TaskReport:
        """Return how the model of a task does on validation rows, as far as known.

        Raises ``NotFound``.
        """
        return self._get(TaskReport, f"/tasks/{task_id}/report")

    def cancel_task(self, task_id: str) -> Task:
        """End a task that waits or runs; one that is finished stays as it is.

        Raises ``NotFound``, ``Conflict`` for a task that reads data, which others wait for.
        """
        return self._send(Task, f"/tasks/{task_id}/cancel")

    def retry_task(self, task_id: str) -> Task:
        """Ask once more for what a task that failed or was cancelled was asked for: a new task.

        Raises ``NotFound``, ``Conflict`` for a task that is under way or done, whose file is not
        kept any more, or that depends on the moment, such as what a search trains; and what
        ``quotas.check_computing`` raises.
        """
        return self._send(Task, f"/tasks/{task_id}/retry", repeatable=False)

    def trace_task(self, task_id: str, on: bool) -> Task:
        """Trace what a task does from now on, or no more; it need not be changed for that.

        A task that waits is traced from its beginning on. What was noted stays. Raises
        ``NotFound``, ``Conflict`` for a task that has ended.
        """
        return self._send(Task, f"/tasks/{task_id}/tracing", {"on": on})

    def decisions(
        self, *, newest_first: bool = False, job_id: str | None = None
    ) -> Iterator[Decision]:
        """Give the scheduler's decisions for the tenant's jobs."""
        return self._list(Decision, "/decisions", newest_first=newest_first, job_id=job_id)

    def versions(self, application_id: str) -> Iterator[VersionLine]:
        """Give the versions of an application's data, newest first; raises ``NotFound``.

        Those that could not be made are among them, with the reason.
        """
        return self._list(VersionLine, f"/applications/{application_id}/versions")

    def use_version(self, application_id: str, version_id: str) -> Version:
        """Let an application go on with another version of its data: an earlier one, or a later
        again.

        Its search starts anew there. What serves goes on, and is scored on the validation rows
        of that version first. Raises ``NotFound``, ``Conflict`` for a version that is none of
        the application's or has no prepared rows, ``NotReady`` while the data is changed by
        somebody else.
        """
        return self._send(Version, f"/applications/{application_id}/versions/{version_id}/use")

    def refine(
        self,
        application_id: str,
        *,
        off: Sequence[int] = (),
        on: Sequence[int] = (),
        version_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Version:
        """Make a version with train rows switched off or on.

        Where that changes nothing, the version stays.

        Raises ``NotFound``, ``InvalidInput`` for an id that is no train row's, ``Conflict`` if
        the data is no longer the version that the wish is about, ``NotReady`` while the data is
        changed by somebody else.
        """
        request = made_request(Refinement, off=off, on=on, version_id=version_id)
        return self._create(
            Version, f"/applications/{application_id}/refine", key=idempotency_key, request=request
        )

    def train_rows_page(
        self,
        application_id: str,
        *,
        label: str | None = None,
        on: bool | None = None,
        suspicious: bool = False,
        after: str | None = None,
        limit: int = 50,
    ) -> TrainRows:
        """Return a page of the train rows of an application.

        They may be of one class, on or off, and the most suspicious first.

        Raises ``NotFound``, ``Conflict`` if there are no prepared rows.
        """
        return self._get(
            TrainRows,
            f"/applications/{application_id}/rows",
            label=label,
            on=on,
            suspicious=suspicious,
            after=after,
            limit=limit,
        )

    def compare(self, version_id: str, before_id: str | None = None) -> Comparison:
        """Return what a version has that ``before_id`` (None: its parent) had not.

        Raises ``NotFound``, ``InvalidInput`` for versions of different datasets, ``Conflict``
        without prepared rows.
        """
        return self._get(Comparison, f"/versions/{version_id}/comparison", before=before_id)

    def push_flow(
        self, application_id: str, wish: PushedFlow, *, idempotency_key: str | None = None
    ) -> Version:
        """Make a version of the rows that a graph of steps gave; the search goes on with it.

        Raises ``NotFound``, ``Conflict`` if the steps began with another version, one whose rows
        are not kept any more, or the upload is not whole, ``NotReady`` while the data is changed
        by somebody else.
        """
        return self._create(
            Version, f"/applications/{application_id}/flow", key=idempotency_key, request=wish
        )

    def watch_report(self, application_id: str) -> WatchReport:
        """Return what is known of how right an application's model is in production.

        Raises ``NotFound``.
        """
        return self._get(WatchReport, f"/applications/{application_id}/watch")

    def look_at_production(self, application_id: str) -> Task:
        """Have the rows of production looked at that came, or whose truth came, since the last
        look.

        A task answers. Raises ``NotFound``, and ``Conflict`` where neither came, or nothing
        serves.
        """
        return self._send(Task, f"/applications/{application_id}/watch", repeatable=False)

    def ask_for_watching(self, application_id: str, wish: NewWatchLabels) -> WatchLabels:
        """Ask people about rows of the newest look at production, drawn at random by easeml.

        Where the truth of one is known already, nobody is asked, and it counts as one of the
        sample. The next look learns from the answers. Raises ``NotFound``, and ``Conflict``
        where nothing was looked at, rows are not kept with all their columns, or the budget of
        labels has too few left.
        """
        return self._send(
            WatchLabels,
            f"/applications/{application_id}/watch/labels",
            wish.model_dump(mode="json"),
            repeatable=False,
        )

    def work(self, application_id: str) -> WorkQueue:
        """Return the open items of an application, what tells most for a person's second first.

        Raises ``NotFound``.
        """
        return self._get(WorkQueue, f"/applications/{application_id}/work")

    def next_work(self, application_id: str) -> WorkTurn:
        """Give the caller the item that tells most for their time, and keep it for them for ten
        minutes.

        A person who has one already gets it again. Where nothing is open, a task is asked to
        look for items. Raises ``NotFound``.
        """
        return self._send(WorkTurn, f"/applications/{application_id}/work")

    def use_answers(self, application_id: str) -> Version:
        """Make a version of all answers that no version has yet; the search goes on with it.

        Where they change nothing, the version stays. Raises ``NotFound``, ``Conflict`` where
        there are no answers, ``NotReady`` while the data is changed.
        """
        return self._send(Version, f"/applications/{application_id}/work/use", repeatable=False)

    def export_work(self, application_id: str, *, format: str = "label-studio") -> WorkFile:
        """Return the open and the answered items of an application as the text of a file.

        Raises ``NotFound``, ``InvalidInput`` for another format.
        """
        return self._get(WorkFile, f"/applications/{application_id}/work/export", format=format)

    def import_work(self, application_id: str, filename: str, text: str) -> WorkImported:
        """Take the answers of a file that was exported and filled in elsewhere.

        Wrong rows are refused one by one, with their place, and the others are taken. An answer
        that is there already, from whomever, is not taken again. Raises ``NotFound``, and
        ``InvalidInput`` for a file that is no such file.
        """
        return self._send(
            WorkImported,
            f"/applications/{application_id}/work/import",
            {"filename": filename, "text": text},
        )

    def answer_work(
        self, item_id: str, *, value: str = "", way: str = "answer", seconds: float | None = None
    ) -> WorkDone:
        """Answer an item, skip it, say that you do not know, or undo what you did with it.

        Twenty answers make a version, with which the search goes on. Labels that a model waits
        for make none: its test goes on with each. Raises ``NotFound``, ``InvalidInput`` for a
        value that the column cannot have, and ``Conflict`` where somebody else has the item, it
        is answered, or a version has the answer that is to be undone.
        """
        return self._send(
            WorkDone,
            f"/work/{item_id}/answer",
            {"value": value, "way": way, "seconds": seconds},
            repeatable=False,
        )

    def doubts(self, application_id: str, *, after: str | None = None, limit: int = 50) -> Doubts:
        """Return a page of the doubtful cells of an application's data, the most doubtful first.

        Cells that people have answered are none any more. Raises ``NotFound``.
        """
        return self._get(Doubts, f"/applications/{application_id}/doubts", after=after, limit=limit)

    def look_for_doubts(self, application_id: str) -> Doubts:
        """Have a task look for doubtful cells and for what people should be asked.

        Where that was done just so already, nothing more happens. Raises ``NotFound``,
        ``Conflict`` while the data is being prepared, and where rows may have several answers.
        """
        return self._send(Doubts, f"/applications/{application_id}/doubts")
