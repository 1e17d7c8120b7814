"""Environment variables as typed values, with errors that say what a variable must be; secrets from files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import inspect

from quotecast.errors import SettingsError

#: The beginning of every variable.
PREFIX: Final = "QUOTECAST_"
FILE_SUFFIX: Final = "_FILE"
#: The key in `Meta(extra=...)` of what a pattern demands, to follow "must".
DEMAND: Final = "demand"


def text_of(variable: str, environment: Mapping[str, str], *, secret: bool) -> str | None:
    """The variable's text, of a secret also that of the file which `<VARIABLE>_FILE` names; None if not set.

    Without space at either end, and so without a file's last line break. Raises SettingsError for a file that
    cannot be read, or that is named beside a variable that is set.
    """
    text = environment.get(variable)
    path = environment.get(variable + FILE_SUFFIX, "").strip() if secret else ""
    if path and text:
        raise SettingsError(f"{variable}{FILE_SUFFIX}: {variable} is set too; set one of them")
    if path:
        text = _content(variable + FILE_SUFFIX, path)
    return None if text is None else text.strip()


def value_of(variable: str, text: str, kind: Any) -> Any:
    """The text as a value of a type; commas separate the parts of a tuple.

    Raises SettingsError with what the type demands, without the text, which may hold a password.
    """
    expected = inspect.type_info(kind)
    extra = (expected.extra or {}) if isinstance(expected, inspect.Metadata) else {}
    plain = expected.type if isinstance(expected, inspect.Metadata) else expected
    value: Any = text
    match plain:
        case inspect.CustomType():
            return Path(text)
        case inspect.VarTupleType():
            value = [part.strip() for part in text.split(",") if part.strip()]
    # Python hands on bytes of the environment that are no UTF-8 as lone surrogates.
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise SettingsError(f"{variable}: must be UTF-8")
    try:
        return msgspec.convert(value, type=kind, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{variable}: must {extra.get(DEMAND) or _demand(plain)}") from error


def _content(variable: str, path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except OSError as error:
        raise SettingsError(f"{variable}: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingsError(f"{variable}: {path} is not text") from error


def _demand(kind: inspect.Type) -> str:
    match kind:
        case inspect.StrType():
            return "not be empty"
        case inspect.UnionType():
            return f"be {', or '.join(map(_kind, kind.types))}"
        case _:
            return f"be {_kind(kind)}"


def _kind(kind: inspect.Type) -> str:
    match kind:
        case inspect.LiteralType(values=[only]):
            return str(only)
        case inspect.LiteralType():
            return f"one of {', '.join(map(str, kind.values))}"
        case inspect.IntType():
            return f"a whole number{_bounds(kind)}"
        case inspect.FloatType():
            return f"a number{_bounds(kind)}"
        case _:
            return "text"


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    least = f" above {kind.gt}" if kind.gt is not None else f" of {kind.ge} or more"
    if kind.le is None:
        return least
    return f"{least}, at most {kind.le}" if kind.ge is None else f" from {kind.ge} to {kind.le}"
