"""TLS to Redis: one context for all connections of the same options, and the problems of those options.

Making a context reads the system's authorities, 20 to 50 ms of the event loop. redis-py makes one for each
connection; with three Sentinels a new connection to the master is four.
"""

import inspect
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from redis.asyncio import SSLConnection
from redis.asyncio.connection import RedisSSLContext

#: Options of a URL that name a file.
_FILES: Final = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_OPTIONS: Final = sorted(name for name in inspect.signature(SSLConnection).parameters if name[:4] == "ssl_")

#: By options: the files' times of change, and the context that was made of them.
_contexts: Final[dict[tuple[Any, ...], tuple[list[int], ssl.SSLContext]]] = {}


class TlsConnection(SSLConnection):
    """A connection over TLS with the context of its options."""

    def _connection_arguments(self) -> Mapping[str, Any]:
        self.ssl_context.context = context_of(self.ssl_context)
        arguments: Mapping[str, Any] = super()._connection_arguments()
        return arguments


def context_of(options: RedisSSLContext) -> ssl.SSLContext:
    """Returns the context of these options, a new one when a file has changed: certificates get renewed.

    While the new files are unreadable, the old context stays. Raises OSError if there is none.
    """
    named = (options.certfile, options.keyfile, options.ca_certs)
    others = (options.ca_data, options.ca_path, options.ciphers, options.password, options.min_version)
    flags = (str(options.include_verify_flags), str(options.exclude_verify_flags))
    key = (*named, *others, *flags, options.cert_reqs, options.check_hostname)
    changed = [_changed_at(name) for name in named if name]
    known = _contexts.get(key)
    if known and known[0] == changed:
        return known[1]
    options.context = None
    try:
        made: ssl.SSLContext = options.get()
    except OSError:
        if known:
            return known[1]
        raise
    _contexts[key] = (changed, made)
    return made


def _changed_at(name: str) -> int:
    try:
        return Path(name).stat().st_mtime_ns
    except OSError:
        return 0


def problems(options: Mapping[str, Any], *, encrypted: bool) -> Iterator[str]:
    """Yields what is wrong with a URL's TLS options; the lines hold no secret."""
    given = [name for name in options if name.startswith("ssl_")]
    if given and not encrypted:
        yield f"{given[0]} needs TLS: rediss:// instead of redis://"
        return
    unknown = [name for name in given if name not in _OPTIONS]
    if unknown:
        yield f"there is no option {unknown[0]}; those of TLS are {', '.join(_OPTIONS)}"
    if options.get("ssl_cert_reqs", "required") not in {"required", "optional", "none"}:
        yield "ssl_cert_reqs is required, optional or none"
    if "ssl_keyfile" in options and "ssl_certfile" not in options:
        yield "ssl_keyfile needs the certificate too: ssl_certfile"
    unreadable = [name for name in _FILES if name in options and not _is_readable(options[name])]
    for name in unreadable:
        yield f"{name}: the file {options[name]} cannot be read"
    if not unreadable:
        yield from _unusable(options)


def _unusable(options: Mapping[str, Any]) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if authorities := options.get("ssl_ca_certs"):
            context.load_verify_locations(authorities)
    except OSError:
        yield "ssl_ca_certs: the file holds no certificates in PEM"
    try:
        if certificate := options.get("ssl_certfile"):
            # Without any password OpenSSL would ask for it at the terminal.
            context.load_cert_chain(
                certificate, options.get("ssl_keyfile"), password=options.get("ssl_password", "")
            )
    except OSError:
        problem = "no certificate in PEM with its own key, or the key is encrypted (ssl_password)"
        yield f"ssl_certfile, ssl_keyfile: {problem}"


def _is_readable(name: str) -> bool:
    try:
        with Path(name).open("rb"):
            return True
    except OSError:
        return False


def is_unverified(options: Mapping[str, Any]) -> bool:
    """Returns whether the options accept any server's certificate, or one of any name."""
    return options.get("ssl_cert_reqs", "required") != "required" or not options.get(
        "ssl_check_hostname", True
    )
