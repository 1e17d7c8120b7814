"""Statements of alerts: each function is work of one transaction on asyncpg's connection."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from quotecast.market.crossings import NO_CROSSING, Crossing, CrossingId, Levels, Measure, Thresholds
from quotecast.market.feeds import Feed, Kind

#: An arbitrary number, the same in every version: the writers of all feeds take turns, so that the ids of
#: events grow in the order of commits.
_LOCK: Final = 7_120_531_940_552_613
_THRESHOLDS: Final = (
    "SELECT ticker, measure, direction, array_agg(DISTINCT threshold) AS thresholds FROM alerts"
    " WHERE kind = $1 AND active GROUP BY ticker, measure, direction"
)
#: An ingest whose clock was wrong must not stop the next one's crossings from becoming events.
_WRITTEN: Final = (
    "SELECT through FROM alert_crossings_written WHERE feed = $1"
    " AND split_part(through, '-', 1)::bigint < extract(epoch FROM now() + interval '1 hour') * 1000"
)
_NOTE_WRITTEN: Final = (
    "INSERT INTO alert_crossings_written (feed, through) VALUES ($1, $2)"
    " ON CONFLICT (feed) DO UPDATE SET through = excluded.through"
)
_COUNT_CHANGE: Final = (
    "INSERT INTO alert_changes AS counted (kind, number) VALUES ($1, 1)"
    " ON CONFLICT (kind) DO UPDATE SET number = counted.number + 1"
)
#: Matches of crossings and alerts in one transaction. A crossing that a hundred thousand alerts wait for
#: takes several, each well within the writer's deadline.
MATCHES: Final = 5000
#: Events after which a repeating alert stops: a price that swings around a threshold would make ten thousands
#: a day.
EVENTS_OF_ALERT: Final = 1000
#: Locks the alerts that wait for the crossings before anything else: a user who changes one meanwhile waits,
#: or is waited for. An alert that has its event of a crossing already comes from an earlier transaction.
#: Deliveries join alerts by their primary key: PostgreSQL expects few events, and would compare each event
#: with each match.
_MAKE_EVENTS: Final = """
WITH crossings AS (
  SELECT * FROM unnest(
    $2::text[], $3::text[], $4::text[], $5::float8[], $6::float8[], $7::float8[], $8::float8[]
  ) WITH ORDINALITY AS crossing (crossing, ticker, measure, before, value, price, at, place)
), matches AS MATERIALIZED (
  SELECT alerts.id AS alert_id, user_id, ticker, measure, direction, threshold, note, repeats, events,
    by_webhook, by_push, crossing, value, price, to_timestamp(at) AS happened_at, place
  FROM alerts JOIN crossings USING (ticker, measure)
  WHERE kind = $1 AND active AND armed_at <= to_timestamp(at)
    AND CASE direction
      WHEN 'up' THEN before < threshold AND threshold <= value
      ELSE before > threshold AND threshold >= value
    END
    AND NOT EXISTS (
      SELECT 1 FROM alert_events AS known
      WHERE known.alert_id = alerts.id AND known.crossing = crossings.crossing
    )
  ORDER BY place, alerts.id LIMIT $9
  FOR NO KEY UPDATE OF alerts
), numbered AS (
  SELECT *, row_number() OVER (PARTITION BY alert_id ORDER BY place) AS number FROM matches
), happened AS (
  SELECT * FROM numbered WHERE number <= CASE WHEN repeats THEN $10 - events ELSE 1 END
), counted AS (
  UPDATE alerts SET events = alerts.events + more.number,
    active = repeats AND alerts.events + more.number < $10
  FROM (SELECT alert_id, max(number) AS number FROM happened GROUP BY alert_id) AS more
  WHERE id = alert_id RETURNING active
), events AS (
  INSERT INTO alert_events (
    user_id, alert_id, crossing, kind, ticker, measure, direction, threshold, note, value, price, happened_at
  )
  SELECT user_id, alert_id, crossing, $1, ticker, measure, direction, threshold, note, value, price,
    happened_at
  FROM happened ORDER BY place, alert_id
  ON CONFLICT (alert_id, crossing) DO NOTHING
  RETURNING id, user_id, alert_id
), deliveries AS (
  INSERT INTO alert_deliveries (event_id, user_id, channel, target)
  SELECT events.id, events.user_id, 'webhook', '' FROM events
    JOIN alerts ON alerts.id = alert_id AND by_webhook
    JOIN webhooks ON webhooks.user_id = events.user_id
  UNION ALL
  SELECT events.id, events.user_id, 'push', push_subscriptions.id FROM events
    JOIN alerts ON alerts.id = alert_id AND by_push
    JOIN push_subscriptions ON push_subscriptions.user_id = events.user_id
)
SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM counted WHERE NOT active) AS stopped,
  ARRAY(SELECT DISTINCT user_id FROM events) AS users, (SELECT count(*) FROM matches) AS matches
"""


class Written(Struct, frozen=True):
    """The id of the crossing up to which a feed is written, and what the last transaction added."""

    last: CrossingId
    events: int = 0
    users: Sequence[str] = ()


async def changes(connection: Any) -> Mapping[Kind, int]:
    """Returns the number of changes to the alerts of each kind that has any."""
    return {row["kind"]: row["number"] for row in await connection.fetch("SELECT * FROM alert_changes")}


async def levels(connection: Any, kind: Kind) -> Levels:
    """Returns the thresholds that alerts of a kind wait for."""
    found: dict[str, dict[Measure, dict[str, tuple[float, ...]]]] = {}
    for row in await connection.fetch(_THRESHOLDS, kind):
        measures = found.setdefault(row["ticker"], {})
        measures.setdefault(row["measure"], {})[row["direction"]] = tuple(sorted(row["thresholds"]))
    return {
        ticker: tuple(Thresholds(measure, **sides) for measure, sides in measures.items())
        for ticker, measures in found.items()
    }


async def last_written(connection: Any, feed: Feed) -> CrossingId:
    """Returns the id of the crossing up to which a feed is written.

    It is NO_CROSSING before the first, and if it lies in the future: then the writer looks at all crossings
    in Redis once more, and none becomes a second event.
    """
    through = await connection.fetchval(_WRITTEN, feed)
    return CrossingId(*map(int, through.split("-"))) if through else NO_CROSSING


async def write(connection: Any, *, feed: Feed, after: CrossingId, crossings: Sequence[Crossing]) -> Written:
    """Makes events of crossings that follow the one with the id `after`, the oldest first.

    Writes nothing if the feed is written up to another one: another ingest wrote, or a server took over that
    lacks the last transactions. Stays at `after` if there may be more than MATCHES: the caller calls again.
    """
    await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
    stored = await last_written(connection, feed)
    if stored != after:
        return Written(stored)
    columns = [
        [getattr(each, name) for each in crossings]
        for name in ("ticker", "measure", "before", "value", "price", "at")
    ]
    ids = [str(each.id) for each in crossings]
    row = await connection.fetchrow(_MAKE_EVENTS, feed.spec.kind, ids, *columns, MATCHES, EVENTS_OF_ALERT)
    last = crossings[-1].id if row["matches"] < MATCHES else after
    if last != after:
        await connection.execute(_NOTE_WRITTEN, feed, str(last))
    if row["stopped"]:
        await connection.execute(_COUNT_CHANGE, feed.spec.kind)
    return Written(last, row["events"], row["users"])
