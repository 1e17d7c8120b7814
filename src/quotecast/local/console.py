"""Output of `up`: its own lines on standard output, its children's logs on standard error."""

import sys


def say(line: str) -> None:
    """Writes one line to standard output."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def pass_on(part: str, line: str) -> None:
    """Writes one line of a child's output to standard error, after the child's name."""
    sys.stderr.write(f"{part:<9} | {line}\n")
    sys.stderr.flush()
