"""Makes the blocking face from the asyncio one: `python scripts/make_sync.py`, with --check only compares."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "quotecast_client"
#: Differs by hand: what the two faces do in different ways.
BY_HAND = {"__init__.py", "io.py"}
HEADING = "# Made by scripts/make_sync.py from _async; not to be edited.\n"
WORDS = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b_async\b", "_sync"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"__a(enter|exit|iter|next)__", r"__\1__"),
    (r"__anext__", "__next__"),
    (r"\baclose\b", "close"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
]


def blocking(text: str) -> str:
    """Returns the blocking form of a module of the asyncio face."""
    for pattern, replacement in WORDS:
        text = re.sub(pattern, replacement, text)
    return _ruff(_ruff(HEADING + text, "check", "--fix", "--select", "I"), "format")


def _ruff(text: str, *arguments: str) -> str:
    command = [
        sys.executable,
        "-m",
        "ruff",
        *arguments,
        "--quiet",
        "--stdin-filename",
        SOURCE / "_sync" / "made.py",
    ]
    return subprocess.run([*command, "-"], input=text, text=True, check=True, stdout=subprocess.PIPE).stdout


def main(arguments: list[str]) -> int:
    """Writes, or compares, the modules of the blocking face."""
    outdated = []
    for module in sorted((SOURCE / "_async").glob("*.py")):
        target = SOURCE / "_sync" / module.name
        text = blocking(module.read_text())
        if module.name in BY_HAND or (target.exists() and target.read_text() == text):
            continue
        outdated.append(target.name)
        if "--check" not in arguments:
            target.write_text(text)
    if outdated and "--check" in arguments:
        sys.stderr.write(f"{', '.join(outdated)}: outdated; run scripts/make_sync.py\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
