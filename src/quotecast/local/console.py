"""What `up` tells the person in front of it: news on standard output, the children's logs on error."""

import sys


def say(line: str) -> None:
    """One line of news."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def pass_on(part: str, line: str) -> None:
    """One line that a part of the service wrote, under the part's name."""
    sys.stderr.write(f"{part:<9} | {line}\n")
    sys.stderr.flush()
