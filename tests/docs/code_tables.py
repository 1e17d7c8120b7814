"""Writes the tables of documents that the code has: `python -m docs.code_tables`, with tests/ on the path."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, get_args, get_origin

from msgspec import NODEFAULT, Meta
from msgspec.structs import FieldInfo

from docs.pages import DOCS
from quotecast.__main__ import _COMMANDS
from quotecast.api.reference.error_codes import error_rows
from quotecast.environment import FILE_SUFFIX
from quotecast.providers.offers import TERMS
from quotecast.settings.model import all_variables


def with_tables(name: str, text: str) -> str:
    """Returns a page with new tables; comment lines mark the begin and the end of each."""
    for table, lines in TABLES[name].items():
        begin, end = f"<!-- {table} -->\n", f"<!-- end of {table} -->"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        if not tail:
            raise LookupError(f"{name}.md has no place for the table of {table}")
        rows = "\n".join(lines())
        text = f"{head}{begin}\n{rows}\n\n{end}{tail}"
    return text


def _commands() -> Iterator[str]:
    yield from ("| command | what it does |", "|---|---|")
    yield from (f"| `quotecast {each.name}` | {each.summary} |" for each in _COMMANDS.values())


def _secrets() -> Iterator[str]:
    yield from (f"- `{variable.name}{FILE_SUFFIX}`" for variable in all_variables() if variable.secret)


def _settings() -> Iterator[str]:
    yield from ("| variable | default | meaning |", "|---|---|---|")
    for variable in all_variables():
        yield f"| `{variable.name}` | {_default(variable.field)} | {_meaning(variable.field)} |"


def _meaning(field: FieldInfo) -> str:
    kind, *metas = get_args(field.type)
    meaning = next(meta.description for meta in metas if isinstance(meta, Meta) and meta.description)
    if get_origin(kind) is Literal:
        return f"{meaning} ({', '.join(f'`{choice}`' for choice in get_args(kind))})"
    return str(meaning)


def _default(field: FieldInfo) -> str:
    match field.default:
        case value if value is NODEFAULT:
            return "one for every four cores"
        case tuple() as names:
            text = ",".join(names)
        case float() as number:
            text = f"{number:g}"
        case value:
            text = str(value)
    return f"`{text}`" if text else ""


def _codes() -> Iterator[str]:
    yield from ("| code | status | cause | remedy |", "|---|---|---|---|")
    yield from (f"| `{each.code}` | {each.status} | {each.cause} | {each.remedy} |" for each in error_rows())


def _terms() -> Iterator[str]:
    yield from (
        "| provider | show | store | redistribute | attribution | in a sentence | source, last read |",
        "|---|---|---|---|---|---|---|",
    )
    for name, each in TERMS.items():
        source = f"[{each.read}]({each.source})" if each.source else ""
        allowed = f"{each.show} | {each.store} | {each.redistribute}"
        yield f"| `{name}` | {allowed} | {each.attribution or ''} | {each.summary} | {source} |"


#: The tables of each page, by the name in their comment lines.
TABLES: Final[Mapping[str, Mapping[str, Callable[[], Iterator[str]]]]] = {
    "configuration": {"commands": _commands, "secrets": _secrets, "settings": _settings},
    "errors": {"codes": _codes},
    "providers": {"terms": _terms},
}

if __name__ == "__main__":
    for name in TABLES:
        path = DOCS / f"{name}.md"
        path.write_text(with_tables(name, path.read_text("utf-8")), "utf-8")
