"""Reading and writing the prototype's folders of samples, with the standard library alone."""

import ast
import struct
from pathlib import Path


def samples(folder):
    return {place.name: place for place in sorted(Path(folder).iterdir()) if place.is_dir()}


def vector(place):
    (path,) = place.glob("*.ten.npy")
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10 : 10 + length].decode())
    assert head["descr"] == "<f8", head
    return list(struct.unpack(f"<{(len(data) - 10 - length) // 8}d", data[10 + length :]))


def label(place):
    (path,) = place.glob("*.cat.txt")
    return path.read_text().strip()
