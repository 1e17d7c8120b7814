"""The client and the keys of alerts' receivers, made from the settings."""

from quotecast.alerts.networks import LOOPBACK, networks_of
from quotecast.alerts.outbound import Outbound
from quotecast.alerts.push import Vapid
from quotecast.settings.model import Settings


def make_outbound(settings: Settings) -> Outbound:
    """Returns the client that posts to receivers.

    Development admits HTTP and this machine's loopback, so that a webhook can be tried.
    """
    networks = networks_of(settings.webhook_networks)
    if settings.mode == "production":
        return Outbound(networks=networks)
    return Outbound(schemes=("https", "http"), networks=(*networks, *LOOPBACK))


def make_vapid(settings: Settings) -> Vapid | None:
    """Returns the identity towards push services; None without a key. Raises SettingsError."""
    key = settings.vapid_private_key
    return Vapid(key, settings.vapid_contact) if key else None
