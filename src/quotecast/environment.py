"""Environment variables as typed values, and secrets from files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import inspect

from quotecast.errors import SettingsError

#: The prefix of every variable's name.
PREFIX: Final = "QUOTECAST_"
FILE_SUFFIX: Final = "_FILE"
#: The key in `Meta(extra=...)` of a pattern's explanation, which follows "must" in errors.
DEMAND: Final = "demand"


def text_of(variable: str, environment: Mapping[str, str], *, secret: bool) -> str | None:
    """Returns the variable's text without space at either end; None if it is not set.

    A secret may also come from the file that `<VARIABLE>_FILE` names. Raises SettingsError for an unreadable
    file, and when both variables are set.
    """
    text = environment.get(variable)
    path = environment.get(variable + FILE_SUFFIX, "").strip() if secret else ""
    if path and text:
        raise SettingsError(f"{variable}{FILE_SUFFIX}: {variable} is set too; set one of them")
    if path:
        try:
            text = Path(path).read_text("utf-8")
        except OSError as error:
            message = f"{path} cannot be read: {error.strerror}"
            raise SettingsError(f"{variable}{FILE_SUFFIX}: {message}") from error
        except ValueError as error:
            raise SettingsError(f"{variable}{FILE_SUFFIX}: {path} is not text") from error
    return None if text is None else text.strip()


def value_of(variable: str, text: str, kind: Any) -> Any:
    """Returns the text as a value of type `kind`; commas separate the items of a tuple.

    Raises SettingsError with the type's bounds. The message leaves out the text, which may hold a password.
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
    # Python decodes bytes of the environment that are not UTF-8 to lone surrogates.
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise SettingsError(f"{variable}: must be UTF-8")
    try:
        return msgspec.convert(value, type=kind, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{variable}: must {extra.get(DEMAND) or _demand(plain)}") from error


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
