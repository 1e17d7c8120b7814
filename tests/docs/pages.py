"""The documents of the repository, for tests that compare them with the code."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
README: Final = ROOT / "README.md"
#: Every page of the site, decisions included.
PAGES: Final = sorted(DOCS.rglob("*.md"))
#: Every document of the repository.
DOCUMENTS: Final = [*sorted(ROOT.glob("*.md")), *PAGES, *sorted(ROOT.glob("*/README.md"))]
_FENCES: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def page(name: str) -> str:
    """Returns the text of `docs/<name>.md`."""
    return (DOCS / f"{name}.md").read_text("utf-8")


def blocks(text: str, language: str = "") -> list[str]:
    """Returns the fenced blocks of a language, without their fences; an empty language means plain blocks."""
    return [body for name, body in _FENCES.findall(text) if name == language]


def links(text: str) -> list[str]:
    """Returns the targets of links and images that lead to files, without their fragments."""
    targets = re.findall(r"\]\(([^)\s]+)\)", _FENCES.sub("", text))
    return [
        target.partition("#")[0] for target in targets if "://" not in target and not target.startswith("#")
    ]


def code(text: str) -> str:
    """Returns the lines of blocks, fenced or indented, and the spans of a text, one per line."""
    fenced = [line for _, body in _FENCES.findall(text) for line in body.splitlines()]
    rest = _FENCES.sub("", text)
    indented = re.findall(r"^    (.*)$", rest, re.MULTILINE)
    return "\n".join([*fenced, *indented, *re.findall(r"`([^`\n]+)`", rest)])


def curls(text: str) -> list[tuple[str, str]]:
    """Returns each `$ curl` command, in one line, with the answer below it."""
    found = []
    for block in blocks(text):
        for shown in re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
            command, _, answer = shown.partition("\n")
            if command.startswith("curl "):
                found.append((command, answer))
    return found
