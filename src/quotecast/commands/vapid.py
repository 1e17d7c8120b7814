"""`quotecast vapid`: makes the key of Web Push."""

from argparse import Namespace

from quotecast.alerts.push import new_private_key
from quotecast.local import console
from quotecast.settings.model import Settings


def run(_: Settings, __: Namespace) -> int:
    """Prints a new private key; returns 0."""
    console.say(new_private_key())
    return 0
