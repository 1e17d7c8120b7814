"""The users of docs/operating.md on a test's Redis."""

import re
from pathlib import Path
from typing import Any, Final

import redis

PASSWORD: Final = "s3cret"
#: What nodes of a cluster need beyond the lines of one server.
_CLUSTER: Final = re.compile(r"In a cluster add `([^`]*)`")
_TEXT: Final = (Path(__file__).parents[3] / "docs" / "operating.md").read_text("utf-8")


def create_users(client: Any, *, clustered: bool = False) -> None:
    """Creates each documented user with its exact rules."""
    block = re.search(r"^```acl\n(.*?)^```$", _TEXT, re.DOTALL | re.MULTILINE)
    more = _CLUSTER.search(_TEXT)
    assert block
    assert more
    about = client.info("server")
    for line in block[1].splitlines():
        _, name, *rules = line.replace("PASSWORD", PASSWORD).split()
        if about["redis_version"].startswith("7.0") and "valkey_version" not in about:
            rules.remove("+client|setinfo")
        if clustered:
            rules[rules.index("-@all") + 1 : rules.index("-@all") + 1] = more[1].split()
        client.execute_command("ACL", "SETUSER", name, *rules)


def refusals(client: redis.Redis) -> list[tuple[str, str]]:
    """Returns the user and the object of each refused command."""
    entries: Any = client.acl_log()
    return [(entry["username"], entry["object"]) for entry in entries]
