"""The wheels of the embedded servers, which the extra `local` installs."""

import importlib.util
from pathlib import Path

from quotecast.errors import SettingsError


def folder_of(package: str, setting: str) -> Path:
    """Returns the folder of an installed package, without importing it.

    `setting` names the external server that makes the package unnecessary. Raises SettingsError without the
    package.
    """
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SettingsError(
            f"{setting} is empty, and the embedded server needs: pip install 'quotecast[local]'"
        )
    return Path(found.submodule_search_locations[0])
