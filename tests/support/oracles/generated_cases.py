"""Writes the generated cases of clients/conformance.

The expected copy is the state of the worker's mirror, so no client's rules are part of it. The same seed
gives the same bytes.
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from quotecast.feed.encoding import JSON, ROWS
from quotecast.market.feeds import Feed
from support.oracles.generated_player import Plan, Player, Step

_MARKET: Final = (Feed.STOCKS,)
_PRICES: Final = (("price",), ("price", "changePercent", "volume"))
PLANS: Final = (
    Plan(_MARKET, 1),
    Plan(_MARKET, 2),
    Plan(_MARKET, 3, rows=True),
    Plan(_MARKET, 4, fields=_PRICES),
    Plan(_MARKET, 5, rows=True, fields=_PRICES),
    Plan(_MARKET, 6, groups=("sector:Energy", "sector:Technology")),
    Plan((Feed.CRYPTO,), 7),
    Plan((Feed.DOVIZ,), 8, rows=True),
    Plan(_MARKET, 9, bars="1m", events=9),
    Plan(_MARKET, 10, rows=True, bars="5m", events=16),
    Plan((Feed.STOCKS, Feed.CRYPTO), 11),
    Plan((Feed.STOCKS, Feed.DOVIZ), 12, rows=True, bars="1m", events=9),
)


def case_text(plan: Plan) -> str:
    """Returns the file of a case, a step a line."""
    head = {
        "name": plan.name,
        "describes": f"Random events, from the seed {plan.seed}; every copy is the state of the worker.",
        "feed": "all" if len(plan.feeds) > 1 else plan.feeds[0].spec.name,
        "subprotocol": (ROWS if plan.rows else JSON).subprotocol,
    }
    return written(head, Player(plan).play())


def written(head: dict[str, Any], steps: Iterable[Step]) -> str:
    """Returns the text of a case, a step a line."""
    lines = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items())
    listed = ",\n  ".join(json.dumps(step, ensure_ascii=False, separators=(",", ":")) for step in steps)
    return f'{{\n{lines} "steps": [\n  {listed}\n ]\n}}\n'


def main(folder: Path) -> None:
    """Replaces the generated cases of a folder."""
    for old in folder.glob("generated-*.json"):
        old.unlink()
    for plan in PLANS:
        (folder / f"{plan.name}.json").write_text(case_text(plan))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
