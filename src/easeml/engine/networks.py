"""Networks that a setting names."""

from ipaddress import ip_network

from easeml.errors import InvalidInput


def networks_of(setting: str) -> list[str]:
    """Return the addresses and networks of ``trusted_proxies``: ``10.0.0.0/8, 192.0.2.7``.

    Raises ``InvalidInput`` for what is neither, such as a name or a ``*`` that would believe
    anybody.
    """
    texts = map(str.strip, setting.split(","))
    return list(map(_network, filter(None, texts)))


def _network(text: str) -> str:
    try:
        return str(ip_network(text, strict=False))
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} is neither an address nor a network.",
            where="trusted_proxies",
            remedy="Such as 10.0.0.0/8 or 192.0.2.7.",
        ) from error
