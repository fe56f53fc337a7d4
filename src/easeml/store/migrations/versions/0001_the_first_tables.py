"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:  # noqa: PLR0915  one statement a table and index
    """Bring the tables to this revision."""
    op.create_table(
        "api_keys",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=True),
        sa.Column("revoked", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("api_keys_by_hash", "api_keys", ["hash"], unique=True)
    op.create_index("api_keys_by_tenant_id_id", "api_keys", ["tenant_id", "id"])
    op.create_index("api_keys_by_user_id_tenant_id_id", "api_keys", ["user_id", "tenant_id", "id"])
    op.create_table(
        "applications",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("dataset_id", sa.Text(), nullable=False),
        sa.Column("version_id", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("objective", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("live_model_id", sa.Text(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("gates", sa.JSON(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "applications_by_dataset_id_tenant_id_id", "applications", ["dataset_id", "tenant_id", "id"]
    )
    op.create_index(
        "applications_by_name_tenant_id_id", "applications", ["name", "tenant_id", "id"]
    )
    op.create_index(
        "applications_by_state_tenant_id_id", "applications", ["state", "tenant_id", "id"]
    )
    op.create_index("applications_by_tenant_id_id", "applications", ["tenant_id", "id"])
    op.create_index(
        "applications_by_version_id_tenant_id_id", "applications", ["version_id", "tenant_id", "id"]
    )
    op.create_table(
        "artefacts",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("size", _BIG, nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("artefacts_by_digest_tenant_id_id", "artefacts", ["digest", "tenant_id", "id"])
    op.create_index("artefacts_by_tenant_id_id", "artefacts", ["tenant_id", "id"])
    op.create_table(
        "attempts",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("number", _BIG, nullable=False),
        sa.Column("process_id", sa.Text(), nullable=False),
        sa.Column("lease_expires", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("started", sa.Double(), nullable=False),
        sa.Column("finished", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("attempts_by_process_id_state", "attempts", ["process_id", "state"])
    op.create_index("attempts_by_state_lease_expires", "attempts", ["state", "lease_expires"])
    op.create_index(
        "attempts_by_task_id_tenant_id_number",
        "attempts",
        ["task_id", "tenant_id", "number"],
        unique=True,
    )
    op.create_index("attempts_by_tenant_id_id", "attempts", ["tenant_id", "id"])
    op.create_table(
        "candidates",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("arm", _BIG, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("pipeline", sa.JSON(), nullable=False),
        sa.Column("predicted_cost", sa.Double(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "candidates_by_job_id_tenant_id_arm",
        "candidates",
        ["job_id", "tenant_id", "arm"],
        unique=True,
    )
    op.create_index("candidates_by_tenant_id_id", "candidates", ["tenant_id", "id"])
    op.create_table(
        "datasets",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("datasets_by_name_tenant_id_id", "datasets", ["name", "tenant_id", "id"])
    op.create_index("datasets_by_tenant_id_id", "datasets", ["tenant_id", "id"])
    op.create_table(
        "decisions",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("candidate_id", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("epoch", _BIG, nullable=False),
        sa.Column("explanation", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("decisions_by_job_id_tenant_id_id", "decisions", ["job_id", "tenant_id", "id"])
    op.create_index(
        "decisions_by_task_id_tenant_id_id", "decisions", ["task_id", "tenant_id", "id"]
    )
    op.create_index("decisions_by_tenant_id_id", "decisions", ["tenant_id", "id"])
    op.create_table(
        "events",
        sa.Column("seq", _BIG, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sqlite_autoincrement=True,
    )
    op.create_index("events_by_tenant_id_seq", "events", ["tenant_id", "seq"])
    op.create_table(
        "idempotency",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.Text(), nullable=False),
        sa.Column("response", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("idempotency_by_tenant_id_id", "idempotency", ["tenant_id", "id"])
    op.create_table(
        "jobs",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("version_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("limits", sa.JSON(), nullable=False),
        sa.Column("tolerance", sa.Double(), nullable=False),
        sa.Column("best_quality", sa.Double(), nullable=True),
        sa.Column("expected_improvement", sa.Double(), nullable=True),
        sa.Column("expected_improvement_error", sa.Double(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "jobs_by_application_id_tenant_id_id", "jobs", ["application_id", "tenant_id", "id"]
    )
    op.create_index("jobs_by_state_tenant_id_id", "jobs", ["state", "tenant_id", "id"])
    op.create_index("jobs_by_tenant_id_id", "jobs", ["tenant_id", "id"])
    op.create_index("jobs_by_version_id_tenant_id_id", "jobs", ["version_id", "tenant_id", "id"])
    op.create_table(
        "leases",
        sa.Column("name", _KEY, nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("epoch", _BIG, nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "memberships",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("user_id", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("memberships_by_tenant_id_id", "memberships", ["tenant_id", "id"])
    op.create_index(
        "memberships_by_user_id_tenant_id", "memberships", ["user_id", "tenant_id"], unique=True
    )
    op.create_table(
        "models",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("task_id", sa.Text(), nullable=False),
        sa.Column("candidate_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("artefact", sa.Text(), nullable=False),
        sa.Column("predictions", sa.Text(), nullable=False),
        sa.Column("quality", sa.Double(), nullable=False),
        sa.Column("metrics", sa.JSON(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "models_by_application_id_tenant_id_id", "models", ["application_id", "tenant_id", "id"]
    )
    op.create_index("models_by_job_id_tenant_id_id", "models", ["job_id", "tenant_id", "id"])
    op.create_index("models_by_task_id", "models", ["task_id"], unique=True)
    op.create_index("models_by_tenant_id_id", "models", ["tenant_id", "id"])
    op.create_table(
        "processes",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("pid", _BIG, nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("heartbeat", sa.Double(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("processes_by_state_kind", "processes", ["state", "kind"])
    op.create_table(
        "promotions",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("application_id", sa.Text(), nullable=False),
        sa.Column("model_id", sa.Text(), nullable=False),
        sa.Column("previous_model_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "promotions_by_application_id_tenant_id_id",
        "promotions",
        ["application_id", "tenant_id", "id"],
    )
    op.create_index("promotions_by_tenant_id_id", "promotions", ["tenant_id", "id"])
    op.create_table(
        "reports",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("version_id", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("reports_by_subject_tenant_id_id", "reports", ["subject", "tenant_id", "id"])
    op.create_index("reports_by_tenant_id_id", "reports", ["tenant_id", "id"])
    op.create_table(
        "tasks",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Text(), nullable=False),
        sa.Column("candidate_id", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("max_attempts", _BIG, nullable=False),
        sa.Column("attempts", _BIG, nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("quality", sa.Double(), nullable=True),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("started", sa.Double(), nullable=True),
        sa.Column("finished", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "tasks_by_candidate_id_tenant_id_id", "tasks", ["candidate_id", "tenant_id", "id"]
    )
    op.create_index("tasks_by_job_id_state", "tasks", ["job_id", "state"])
    op.create_index("tasks_by_job_id_tenant_id_id", "tasks", ["job_id", "tenant_id", "id"])
    op.create_index("tasks_by_state_lane_id", "tasks", ["state", "lane", "id"])
    op.create_index("tasks_by_subject_tenant_id_id", "tasks", ["subject", "tenant_id", "id"])
    op.create_index("tasks_by_tenant_id_id", "tasks", ["tenant_id", "id"])
    op.create_table(
        "tenants",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "users",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("users_by_name", "users", ["name"], unique=True)
    op.create_table(
        "versions",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("tenant_id", sa.Text(), nullable=False),
        sa.Column("dataset_id", sa.Text(), nullable=False),
        sa.Column("number", _BIG, nullable=False),
        sa.Column("operation", sa.JSON(), nullable=False),
        sa.Column("parents", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("source_artefact", sa.Text(), nullable=False),
        sa.Column("artefact", sa.Text(), nullable=False),
        sa.Column("columns", sa.JSON(), nullable=False),
        sa.Column("schema_in", sa.JSON(), nullable=False),
        sa.Column("schema_out", sa.JSON(), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "versions_by_dataset_id_tenant_id_number",
        "versions",
        ["dataset_id", "tenant_id", "number"],
        unique=True,
    )
    op.create_index("versions_by_state_tenant_id_id", "versions", ["state", "tenant_id", "id"])
    op.create_index("versions_by_tenant_id_id", "versions", ["tenant_id", "id"])
