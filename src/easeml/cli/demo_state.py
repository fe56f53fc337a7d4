"""What the demo must know to go on after a restart: ``<home>/demo.json``.

Only its owner can read the file.
"""

import json
import os
import secrets
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(slots=True)
class DemoTenant:
    """A tenant of the demo.

    The two idempotency keys make upload and declaration happen once, whenever it is killed.
    """

    password: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    key: str = ""
    upload_key: str = field(default_factory=lambda: secrets.token_hex(16))
    declare_key: str = field(default_factory=lambda: secrets.token_hex(16))
    application_id: str = ""
    first_prediction: float | None = None  # seconds from the service being up


@dataclass(slots=True)
class DemoState:
    """The provider's login, where the demo saw the first start, and the tenants by name."""

    path: Path
    provider: dict[str, str] = field(default_factory=dict)
    tenants: dict[str, DemoTenant] = field(default_factory=dict)

    @classmethod
    def load(cls, home: Path) -> "DemoState":
        """Return the state kept in a home; an empty one where there is none yet."""
        path = home / "demo.json"
        if not path.exists():
            return cls(path)
        found = json.loads(path.read_text(encoding="utf-8"))
        tenants = {name: DemoTenant(**tenant) for name, tenant in found["tenants"].items()}
        return cls(path, found["provider"], tenants)

    def tenant(self, name: str) -> DemoTenant:
        """Return a tenant; a new one is written down before anything is done with its password."""
        if name not in self.tenants:
            self.tenants[name] = DemoTenant()
            self.save()
        return self.tenants[name]

    def save(self) -> None:
        """Write the state, whole or not at all."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        tenants = {name: asdict(tenant) for name, tenant in self.tenants.items()}
        handle, temporary = tempfile.mkstemp(
            dir=self.path.parent, prefix="demo-"
        )  # made with mode 0600
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"provider": self.provider, "tenants": tenants}, file, indent=2)
        Path(temporary).replace(self.path)
