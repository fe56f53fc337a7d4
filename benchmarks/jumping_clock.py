"""A clock of some programs of this machine that goes wrong when it is told to.

A library that is loaded before others adds seconds to what programs are told of the time of day. A
monotonic clock, by which they wait, goes on as before: so it is on a machine whose time is set.
"""

import mmap
import shutil
import struct
import subprocess
from pathlib import Path

_SECONDS = struct.Struct("=d")
_SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile double *wrong_by;

__attribute__((constructor)) static void open_clock(void) {
    const char *name = getenv("JUMPING_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *place = mmap(NULL, sizeof *wrong_by, PROT_READ, MAP_SHARED, file, 0);
    if (place != MAP_FAILED) wrong_by = place;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *told) {
    int failed = syscall(SYS_clock_gettime, clock, told);
    if (!failed && wrong_by && clock == CLOCK_REALTIME) told->tv_sec += (time_t) *wrong_by;
    return failed;
}

int gettimeofday(struct timeval *restrict told, void *restrict zone) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    told->tv_sec = now.tv_sec;
    told->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}
"""


def build(folder: Path) -> Path | None:
    """Return the library, made in a folder; None where this machine has no C compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = folder / "jumping_clock.c", folder / "jumping_clock.so"
    source.write_text(_SOURCE)
    options = ["-O1", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run([compiler, *options], check=True)
    return library


class JumpingClock:
    """``environment``: of the programs that have this clock."""

    def __init__(self, library: Path, file: Path):
        file.write_bytes(_SECONDS.pack(0.0))
        with file.open("r+b") as opened:
            self._place = mmap.mmap(opened.fileno(), _SECONDS.size)
        self.environment = {"LD_PRELOAD": str(library), "JUMPING_CLOCK": str(file)}

    def jump(self, seconds: float) -> None:
        """Be wrong by so many whole seconds from now on."""
        self._place[:] = _SECONDS.pack(seconds)
