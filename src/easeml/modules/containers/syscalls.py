"""Which system calls a container may make: podman's own list, less what leads to new namespaces.

Docker's list refuses these to whoever has no capabilities. Podman's allows them, and in a user
namespace of its own a program has all capabilities over what it makes there: much of the kernel that
it otherwise never reaches.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

_LISTS = (Path("/etc/containers/seccomp.json"), Path("/usr/share/containers/seccomp.json"))
_REFUSED = {
    "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "mount_setattr",
    "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp",
    "bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key",
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    "open_by_handle_at", "name_to_handle_at", "mknod", "mknodat",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load",
    "reboot", "swapon", "swapoff", "settimeofday", "clock_settime", "sethostname", "setdomainname",
    "clone", "clone3",
}  # fmt: skip
_NEW_NAMESPACES = 0x7E020000  # flags of clone
_ALLOW, _REFUSE = "SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"
_NO_SUCH_CALL = 38  # the C library then uses clone, whose flags can be looked at


@cache
def profile() -> str:
    """Return the list as a seccomp profile in JSON.

    https://github.com/opencontainers/runtime-spec/blob/main/config-linux.md#seccomp
    """
    document = _own_list()
    kept = []
    for rule in document["syscalls"]:
        names = [name for name in rule["names"] if name not in _REFUSED]
        if names:
            kept.append({**rule, "names": names})
    kept.append({"names": ["clone3"], "action": _REFUSE, "errnoRet": _NO_SUCH_CALL})
    if document["defaultAction"] == _ALLOW:
        kept += _refusals()
    else:
        kept.append(_clone(_ALLOW, _NEW_NAMESPACES, 0))
    return json.dumps({**document, "syscalls": kept})


def _refusals() -> list[dict[str, Any]]:
    """Return the rules that refuse calls where all others are allowed."""
    flags = [1 << bit for bit in range(32) if _NEW_NAMESPACES >> bit & 1]
    calls = {"names": sorted(_REFUSED - {"clone", "clone3"}), "action": _REFUSE}
    return [calls, *(_clone(_REFUSE, flag, flag) for flag in flags)]


def _clone(action: str, mask: int, wanted: int) -> dict[str, Any]:
    """Return the rule for ``clone`` where its flags, of those of the mask, are the wanted ones."""
    flags = {"index": 0, "value": mask, "valueTwo": wanted, "op": "SCMP_CMP_MASKED_EQ"}
    return {"names": ["clone"], "action": action, "args": [flags]}


def _own_list() -> dict[str, Any]:
    """Return the list that this machine's podman has; without one, all calls but the refused."""
    for path in _LISTS:
        if path.is_file():
            return json.loads(path.read_text("utf-8"))
    return {"defaultAction": _ALLOW, "syscalls": []}
