"""One client's side of one feed: commands in, frames out; no I/O."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET

from quotecast.feed import frames
from quotecast.feed.commands import (
    DEFAULT_INTERVAL,
    Command,
    CommandError,
    require_fields,
    require_interval,
    require_time,
)
from quotecast.feed.form import Form
from quotecast.feed.frames import Id, Limits, Place, Rejected
from quotecast.feed.mirror import FeedState, Mirror
from quotecast.feed.projection import moving_fields
from quotecast.feed.subscription import Subscription, Wanted
from quotecast.framing import Frame

#: A command may repeat names and include unknown ones, so it may be longer than a subscription.
NAMES_PER_SYMBOL: Final = 2
#: A name that an ingest gave to an epoch: its time first.
_EPOCH: Final = re.compile("[0-9a-f]{20}")
#: The cursor of a client without a copy: every worker answers it with a resync.
NOWHERE: Final = Place("", 0)


class Resolved(NamedTuple):
    """The keys and groups that names mean, the unknown names, and the keys that former symbols mean."""

    wanted: Wanted
    rejected: Sequence[Rejected] = ()
    renamed: Mapping[str, str] | None = None


class FeedSession:
    """The subscription of one client to one feed; equal sessions may share it between two commands."""

    __slots__ = ("_limits", "_resumptions", "interval", "subscription")

    def __init__(
        self, mirror: Mirror, limits: Limits, form: Form, resumptions: Counter[str] | None = None
    ) -> None:
        self.interval = max(DEFAULT_INTERVAL, limits.interval)
        self.subscription = Subscription(mirror, form)
        self._limits = limits
        #: Counts of reconnects with a cursor, by their outcome: `resume` or `resync`.
        self._resumptions = Counter[str]() if resumptions is None else resumptions

    @property
    def mirror(self) -> Mirror:
        """The mirror of the feed."""
        return self.subscription.mirror

    def obey(self, command: Command) -> list[Frame]:
        """Returns the answer to subscribe, unsubscribe or list. Raises CommandError."""
        match command.action:
            case "subscribe":
                return self._subscribe(command)
            case "unsubscribe":
                return self._unsubscribe(command)
            case _:
                return [self._acknowledgement(command.id)]

    def heartbeat(self, timestamp: str, state: FeedState, market: str, *, announces: bool = False) -> Frame:
        """Returns a heartbeat frame with this session's cursor; one may announce another state."""
        encoding, _, label, _ = self.subscription.form
        at = self.mirror.replayed_at
        beat = frames.heartbeat(label, self.subscription.mark, timestamp, state, market, replayed_at=at)
        return encoding.write(beat) if announces else encoding.write_beat(beat)

    def _subscribe(self, command: Command) -> list[Frame]:
        if command == Command("subscribe", id=command.id, snapshot=command.snapshot, feed=command.feed):
            raise CommandError("symbols: Must be given with subscribe: a list, or all")
        # Nobody knows which names and cursors are right before the feed has data.
        names = isinstance(command.symbols, list) and bool(command.symbols)
        among_feeds = self.subscription.form.label is not UNSET
        if not self.mirror.loaded and (names or (among_feeds and command.since is not None)):
            code = 503 if among_feeds else 400
            raise CommandError("The feed has no data yet", code)
        subscription = self.subscription
        interval = require_interval(command.interval, self.interval)
        self._require_rights(command, interval)
        form = self._form(command)
        bars_since = None if command.bars_since is None else require_time(command.bars_since)
        if bars_since is not None and form.bars is None:
            raise CommandError("barsSince: Must be given together with `bars`")
        named = self._resolve(command.symbols)
        wanted = self._union(named.wanted)
        self.interval = interval
        if command.since is None:
            return self._change(wanted, form, bars_since, command, named)
        # A name that is rejected now may have existed at `since`: only a resync says that it is gone. Nor
        # does a copy with other fields resume.
        # Nor has a copy the quote of a symbol that was renamed since then.
        known = not named.rejected and not named.renamed and not self._reforms(form)
        subscription.form = form
        subscription.want(wanted)
        return [
            self._acknowledgement(command.id, named),
            *self._resume(command.since, bars_since, known=known),
        ]

    def _require_rights(self, command: Command, interval: int) -> None:
        """Raises CommandError for a command beyond the bounds of this connection."""
        limits = self._limits
        if interval < limits.interval:
            raise CommandError(
                limits.refusal(f"has an interval of at least {limits.interval} milliseconds"), 403
            )
        if command.bars not in {None, "none"} and not limits.bars:
            raise CommandError(limits.refusal("has no bars"), 403)
        if isinstance(command.symbols, str) and limits.only:
            raise CommandError("This API key is limited to certain symbols; subscribe to them by name", 403)
        if isinstance(command.symbols, str) and limits.is_narrow:
            most = f"has at most {limits.symbols} symbols per socket, so not all"
            raise CommandError(limits.refusal(most), 403)

    def _form(self, command: Command) -> Form:
        """Returns the form with the fields of a command."""
        form = self.subscription.form
        feed = self.mirror.feed
        if command.fields is not None:
            form = form.select(feed, require_fields(command.fields, moving_fields(feed)))
        if command.bars is not None:
            form = form.with_bars(feed, None if command.bars == "none" else command.bars)
        return form

    def _reforms(self, form: Form) -> bool:
        """Returns whether a form replaces the client's copy, whose items then have other fields."""
        present = self.subscription
        return form.projection is not present.form.projection and present.wanted != frozenset()

    def _change(
        self,
        wanted: Wanted,
        form: Form,
        bars_since: int | None,
        command: Command,
        named: Resolved,
    ) -> list[Frame]:
        """Advances the old list in the old form before it changes either, so that one cursor serves both."""
        subscription = self.subscription
        before = subscription.wanted
        reforms, grows = self._reforms(form), wanted != before
        rebars = form.bars is not subscription.form.bars or bars_since is not None
        if rebars:
            subscription.form = subscription.form._replace(bars=None)
        # A snapshot replaces the quotes, but no final bar.
        advances = subscription.form.bars is not None if reforms else grows or rebars
        opening = subscription.advance() if advances else []
        held, mark = subscription.keys, subscription.mark
        place = Place(mark.epoch, mark.seq) if before != frozenset() else NOWHERE
        subscription.form = form
        if reforms or grows:
            subscription.mark = self.mirror.mark
            subscription.want(wanted)
        bars: list[Frame] = []
        if bars_since is not None:
            bars = self._bars_past(bars_since, None, place)
        elif rebars or grows:
            bars = subscription.open_bars("subscribe", place, held=frozenset() if rebars else held)
        quotes: list[Frame] = []
        if reforms:
            quotes = [subscription.snapshot("resync")]
        elif grows and command.snapshot:
            quotes = [self._added(held)]
        elif grows and form.encoding.rows:
            # A client without a snapshot needs the columns of its rows.
            quotes = [subscription.snapshot("subscribe", ())]
        return [*opening, self._acknowledgement(command.id, named), *bars, *quotes]

    def _bars_past(self, moment: int | None, seq: int | None, place: Place) -> list[Frame]:
        """Returns the bars after a client's position; a resync if this worker lacks some."""
        subscription = self.subscription
        if subscription.form.bars is None:
            return []
        closings = self.mirror.bars.past(moment, seq)
        if closings is None:
            return subscription.open_bars("resync", place)
        return subscription.open_bars("resume", place, closings)

    def _added(self, held: frozenset[str]) -> Frame:
        """Returns the snapshot of the symbols that the client does not have."""
        subscription = self.subscription
        if not held:
            return subscription.snapshot("subscribe")
        everything = subscription.wanted is None
        entries = self.mirror.live() if everything else self.mirror.entries(subscription.keys)
        return subscription.snapshot("subscribe", (entry for entry in entries if entry.key not in held))

    def _resume(self, since: str, bars_since: int | None, *, known: bool) -> list[Frame]:
        """Returns bars and changes after the client's cursor; a resync if this mirror lacks that point."""
        subscription = self.subscription
        mark = subscription.mark = self.mirror.mark
        epoch, seq = parse_since(since)
        present = epoch == mark.epoch
        bars = self._bars_past(
            bars_since,
            seq if present and seq <= mark.seq else None,
            Place(epoch, seq) if present else NOWHERE,
        )
        changed = subscription.changes_past(seq) if known and present else None
        if epoch:  # other texts ask for a resync
            self._resumptions["resync" if changed is None else "resume"] += 1
        return [*bars, subscription.snapshot("resync" if changed is None else "resume", changed)]

    def _unsubscribe(self, command: Command) -> list[Frame]:
        subscription = self.subscription
        if command.symbols is None:
            raise CommandError("symbols: Must be given with unsubscribe: a list, or all")
        if isinstance(command.symbols, list) and subscription.wanted is None:
            raise CommandError("All symbols are subscribed already; unsubscribe from `all` first")
        # The client must hear of symbols that left a group before the set changes.
        opening = subscription.advance()
        if isinstance(command.symbols, str) or subscription.wanted is None:
            subscription.want(frozenset())
        else:
            unwanted = self._resolve(command.symbols).wanted or frozenset()
            # Symbols without a quote and groups without members resolve to nothing.
            unwanted |= {*command.symbols, *filter(None, map(self.mirror.known_key, command.symbols))}
            groups = {name.strip().casefold() for name in command.symbols if ":" in name}
            left = (name for name in subscription.wanted - unwanted if name.casefold() not in groups)
            subscription.want(frozenset(left))
        return [*opening, self._acknowledgement(command.id)]

    def _resolve(self, symbols: list[str] | str | None) -> Resolved:
        """Returns what names mean. Raises CommandError for a list that is too long, before any look-up."""
        if isinstance(symbols, str):
            return Resolved(None)
        most = NAMES_PER_SYMBOL * self._limits.symbols
        if len(symbols or ()) > most:
            raise CommandError(f"A command may have at most {most} names")
        names = symbols or []
        if ":" in "".join(names):
            named = self.mirror.keys_named(name for name in names if ":" not in name)
            named |= {name: self.mirror.group(name) for name in names if ":" in name}
        else:
            named = self.mirror.keys_named(names)
        known = frozenset(filter(None, named.values()))
        if None not in named.values() and not self._limits.only:
            return Resolved(known, renamed=self.mirror.renamed(named.items()))
        # A group that this client may have includes its members.
        only = self._limits.only
        allowed = known & self.mirror.scope_of(only) if only else known
        rejected = [
            Rejected(name[:64], 404 if named[name] is None else 403)
            for name in dict.fromkeys(names)
            if named[name] not in allowed
        ]
        renamed = self.mirror.renamed((name, key) for name, key in named.items() if key in allowed)
        return Resolved(allowed, rejected, renamed)

    def _union(self, added: Wanted) -> Wanted:
        wanted = self.subscription.wanted
        if added is None or wanted is None:
            return None
        joined = wanted | added
        limits = self._limits
        if limits.is_narrow and len(self.mirror.keys_of(joined)) > limits.symbols:
            raise CommandError(limits.refusal(f"has at most {limits.symbols} symbols per socket"), 403)
        if len(joined) > limits.symbols:
            raise CommandError(f"A connection may have at most {limits.symbols} symbols")
        return joined

    def _acknowledgement(self, request: Id, named: Resolved | None = None) -> Frame:
        wanted, (encoding, projection, label, bars) = self.subscription.key
        symbols = "all" if wanted is None else sorted(wanted)
        answer = frames.subscribed(
            label,
            symbols,
            named.rejected if named else (),
            self.interval,
            renamed=named.renamed if named else None,
            fields=projection.fields,
            bars=bars.interval if bars else None,
            request=request,
        )
        return encoding.write(answer)


def parse_since(text: str) -> tuple[str, int]:
    """Returns the epoch and seq of `<epoch>-<seq>`; an empty epoch, which no mirror has, for other text."""
    epoch, _, digits = text.rpartition("-")
    return (epoch, int(digits)) if digits.isascii() and digits.isdigit() and len(digits) < 20 else ("", 0)


def is_ahead(mirror: Mirror, since: str | None) -> bool:
    """Returns whether a client's cursor is ahead of this mirror, as it may be after a faster worker or tier.

    A worker of another version names its epoch with another shape, or without one. The names of epochs are
    in the order of their beginnings.
    """
    text, seq = parse_since(since or "")
    epoch = text.partition(".")[0]
    if epoch == mirror.epoch:
        return seq > mirror.mark.seq
    return "" < mirror.epoch < epoch and _EPOCH.fullmatch(epoch) is not None
