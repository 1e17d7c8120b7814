"""Settings read from environment variables."""

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import fields

from quotecast.environment import PREFIX, text_of, value_of
from quotecast.errors import SettingsError
from quotecast.providers import plugins
from quotecast.providers.offer import GROUPS, Offer
from quotecast.providers.offers import BUILT_IN, offer_of
from quotecast.settings.checks import contradictions, embedded_servers, unsafe_settings
from quotecast.settings.model import Settings, variable_names, variable_of
from quotecast.settings.providers import OWN, Variable, variables_of


def load(environment: Mapping[str, str] = os.environ, *, needs_servers: bool = True) -> Settings:
    """Returns the checked settings. Raises SettingsError with a line for each problem.

    Without `needs_servers`, production needs no PostgreSQL and no Redis.
    """
    problems = list(_unknown_variables(environment))
    service = [variable_of(field) for field in fields(Settings) if field.name != OWN]
    values = _read(service, environment, problems)
    service_settings = Settings(**values)
    values[OWN] = {
        name: offer.settings(**_read(variables_of(name, offer), environment, problems))
        for name, offer in _offers(service_settings, problems).items()
    }
    if not problems:
        settings = Settings(**values)
        problems.extend(contradictions(settings))
        if settings.mode == "production":
            problems.extend(unsafe_settings(settings))
        if settings.mode == "production" and needs_servers:
            problems.extend(embedded_servers(settings))
    if problems:
        # Providers may share a variable, and so report the same problem.
        raise SettingsError("\n".join(dict.fromkeys(problems)))
    return settings


def _read(
    variables: Iterable[Variable], environment: Mapping[str, str], problems: list[str]
) -> dict[str, Any]:
    """Returns the values of the variables that are set, by field; adds errors to `problems`."""
    values = {}
    for variable in variables:
        try:
            text = text_of(variable.name, environment, secret=variable.secret)
            if text is not None:
                values[variable.field.name] = value_of(variable.name, text, variable.field.type)
        except SettingsError as problem:
            problems.append(str(problem))
    return values


def _offers(settings: Settings, problems: list[str]) -> dict[str, Offer[Any]]:
    """Returns the built-in offers, and those of the plug-ins that the settings choose."""
    names = {name for group in GROUPS for name in settings.providers_of(group)}
    offers = dict(BUILT_IN)
    for name in sorted(names & {*plugins.names()}):
        try:
            offers[name] = offer_of(name)
        except plugins.PluginBroken as problem:
            problems.append(str(problem))
    return offers


def _unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    valid = variable_names()
    # Plug-ins have settings of their own.
    plugin_prefixes = tuple(f"{PREFIX}{plugin.upper()}_" for plugin in plugins.names())
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in valid and not name.startswith(plugin_prefixes):
            near = difflib.get_close_matches(name, valid, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"{name}: there is no such setting{hint}"
