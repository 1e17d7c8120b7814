"""`quotecast audit`: measures a feed, of this or another service or of an upstream, against thresholds."""

import importlib
from argparse import Namespace
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from quotecast.commands.auditing.report import AuditLimits, broken, lines_of
from quotecast.commands.auditing.upstream import audit_vendor, providers_of
from quotecast.errors import SettingsError
from quotecast.local import console
from quotecast.observe.logs import configure_logs
from quotecast.settings.model import Settings

LONGEST_SECONDS: Final = 7 * 86_400.0
_LIMITS: Final = ("max_age_p99", "max_silence", "max_gaps", "max_backwards", "max_disagreements")


def run(settings: Settings, arguments: Namespace) -> int:
    """Writes the report after the given seconds, or at Ctrl-C; returns 1 if a threshold is broken.

    Raises SettingsError for wrong arguments, and AuditRefused if nothing answers at the address.
    """
    if (arguments.url is None) == (arguments.vendor is None):
        raise SettingsError("audit needs the address of a feed, or --vendor NAME")
    for name, value in (("--seconds", arguments.seconds), ("--check-every", arguments.check_every)):
        if not 0 < value <= LONGEST_SECONDS:
            raise SettingsError(f"{name}: must be above 0 and at most {LONGEST_SECONDS:.0f}, which is a week")
    given = {name: getattr(arguments, name) for name in _LIMITS if getattr(arguments, name) is not None}
    for name, value in given.items():
        # Written so that NaN, which compares with nothing, is refused too.
        if not value >= 0:
            raise SettingsError(f"--{name.replace('_', '-')}: must be at least 0")
    limits = AuditLimits(**given)
    configure_logs(level=settings.log_level, as_json=False)
    if arguments.vendor:
        providers = providers_of(arguments.vendor, settings)
        report = audit_vendor(arguments.vendor, providers, arguments.seconds)
    else:
        try:
            session: Any = importlib.import_module("quotecast.commands.auditing.session")
        except ModuleNotFoundError as error:
            if error.name != "quotecast_client":
                raise
            raise SettingsError("audit of a feed needs its extra: pip install 'quotecast[watch]'") from None
        address = session.read_address(arguments.url, arguments.rest)
        report = session.audit(address, arguments.seconds, arguments.check_every)
    report = replace(report, broken=broken(report, limits))
    console.say_all([msgspec.json.encode(report).decode()] if arguments.json else lines_of(report))
    return 1 if report.broken else 0
