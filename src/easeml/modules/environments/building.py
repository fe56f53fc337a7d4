"""Making an environment: pip installs packages into a folder, which becomes one file.

Only wheels are installed, since building a package runs its code. So nothing of what somebody asks
for runs here. pip itself may write to one folder and go on the network, and can do nothing else.
"""

import json
import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

from easeml.confinement import why_unavailable
from easeml.errors import Conflict, InvalidInput, TooLarge
from easeml.folders import paths_below, temporary_folder
from easeml.modules import launch
from easeml.modules.programs import Ended, Limits, watched

from .placing import ABOUT, PACKAGES
from .requirements import FILE, interpreter

NOWHERE = "none"
"""The source of packages by which none are installed."""
_OF_PIP = ("PIP_", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")
_OF_SYSTEM = (  # pip tells an index which system asks
    *("/etc/debian_version", "/etc/os-release", "/etc/lsb-release"),
    *("/etc/redhat-release", "/etc/system-release", "/etc/SuSE-release"),
)
_OF_NETWORK = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/ssl",
    "/etc/pki",
    "/etc/pip.conf",
    "/etc/xdg/pip",
)
_DEEPEST = 40  # folders in each other
_MOST_FILES = 100_000
_MEMORY = 2 * 2**30
_UNPACKED = 3  # times as many bytes as the file of an environment may have
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # equal packages make equal files
_HINT = "Only wheels are installed. Name versions that have one for this Python, or bring an image."


@dataclass(frozen=True, slots=True)
class Source:
    """Where pip finds packages: its ``options``, ``variables``, and what it has to ``read``.

    What may hold a password is among the variables.
    """

    options: list[str]
    variables: Mapping[str, str]
    reads: list[Path]

    @classmethod
    def of(cls, setting: str) -> "Source":
        """Return what a setting says: a folder with wheels, the address of an index, or nothing, by
        which pip does as it is configured on this machine.

        Raises ``Conflict`` for ``none``.
        """
        if setting == NOWHERE:
            raise Conflict(
                "This service installs no packages for modules.",
                where="package_index",
                remedy="Bring an image, or ask the provider to set package_index.",
            )
        network = list(map(Path, _OF_NETWORK))
        if not setting:
            configured = {k: v for k, v in os.environ.items() if _is_for_pip(k)}
            named = " ".join(configured.values()).split()
            places = [Path(one.removeprefix("file://")) for one in named]
            folders = list(filter(Path.is_absolute, places))
            return cls([], configured, network + folders)
        own = {"PIP_CONFIG_FILE": os.devnull}
        if Path(setting).is_dir():
            place = Path(setting).resolve()
            return cls(["--no-index", "--find-links", str(place)], own, [place])
        own |= {k: v for k, v in os.environ.items() if _is_for_pip(k) and not k.startswith("PIP_")}
        return cls([], own | {"PIP_INDEX_URL": setting}, network)


def _is_for_pip(name: str) -> bool:
    return name.startswith(_OF_PIP) or name.lower() in _PROXIES


def build(
    requirements: Sequence[str], source: Source, out: Path, limit: int, seconds: float
) -> list[str]:
    """Have packages installed, and write them to the new file ``out``; return what they are.

    ``limit``: most bytes of the file. Raises ``InvalidInput`` with what pip said where it fails,
    ``TooLarge``, and ``Conflict`` where pip is missing or cannot be confined.
    """
    _check_machine()
    with temporary_folder("environment-") as made:
        place = made / "own"
        (place / PACKAGES).mkdir(parents=True)
        (place / FILE).write_text("\n".join(requirements) + "\n")
        limits = Limits(seconds, _MEMORY, _UNPACKED * limit, _MOST_FILES)
        _judge(_run_pip(place, source, limits))
        found = distributions(path=[str(place / PACKAGES)])
        packages = sorted(f"{one.name} {one.version}" for one in found)
        about = {"interpreter": interpreter(), "packages": packages}
        (place / ABOUT).write_text(json.dumps(about))
        _pack(place, out)
    if out.stat().st_size > limit:
        raise TooLarge(
            f"The packages of {FILE} have {out.stat().st_size:,} bytes, more than the {limit:,} "
            "that may be stored.",
            where=FILE,
            remedy="Name fewer packages, or ask your provider for more storage.",
        )
    return packages


def _check_machine() -> None:
    reason = why_unavailable()
    if not reason and find_spec("pip") is None:
        reason = "pip is not installed beside easeml"
    if reason:
        raise Conflict(f"Packages cannot be installed on this machine: {reason}.", where=FILE)


def _run_pip(place: Path, source: Source, limits: Limits) -> Ended:
    options = ["--target", PACKAGES, "--requirement", FILE, "--only-binary", ":all:"]
    options += ["--no-compile", "--no-cache-dir", "--no-input", "--disable-pip-version-check"]
    options += ["--quiet", "--progress-bar", "off", "--root-user-action", "ignore"]
    command = [sys.executable, "-I", "-m", "pip", "install", *options, *source.options]
    reads = [*map(Path, _OF_SYSTEM), *source.reads]
    plan = launch.Plan(
        str(place),
        limits.memory,
        command,
        reads=[str(path) for path in reads if path.exists()],
        network=True,
        largest_file=limits.disk,
    )
    # Passwords of an index or a proxy are variables: arguments are shown to everybody by ps.
    variables = {"PATH": "/usr/bin:/bin", **source.variables}
    return watched(launch.command_of(plan), variables, place, limits)


def _judge(ended: Ended) -> None:
    if ended.fault:
        raise InvalidInput(f"pip was ended: {ended.fault}.\n{ended.said}".strip(), where=FILE)
    if ended.code != 0:
        raise InvalidInput(
            f"pip could not install the packages:\n{ended.said}", where=FILE, remedy=_HINT
        )


def _pack(place: Path, out: Path) -> None:
    """Write what was installed to a file that depends on nothing else.

    Nothing is compressed, so that what it is charged for is what it takes wherever it is laid out.
    """
    installed = paths_below(place / PACKAGES, _DEEPEST)
    plain = [path for path in installed if path.is_file() and not path.is_symlink()]
    with zipfile.ZipFile(out, "w") as packed:
        for path in sorted([place / ABOUT, *plain]):
            entry = zipfile.ZipInfo(path.relative_to(place).as_posix(), _LONG_AGO)
            with packed.open(entry, "w", force_zip64=True) as file, path.open("rb") as content:
                while piece := content.read(2**20):
                    file.write(piece)
