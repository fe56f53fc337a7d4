"""Jobs of several processes that start together, end together, and are restarted together."""

from .plan import Job, Member, Role, read_job
from .report import Report
from .running import run_job
from .states import Ending

__all__ = ["Ending", "Job", "Member", "Report", "Role", "read_job", "run_job"]
