"""A mirror of the past: the state of a feed at a recorded moment."""

from quotecast.bus.base import Batch, Beat, Snapshot
from quotecast.feed.mirror import Mirror
from quotecast.history.playback import Playback, Played


def mirror_at(playback: Playback, at: float) -> Mirror:
    """Returns the state at a Unix time, in a worker thread, from a new playback. Raises NotRecorded."""
    mirror: Mirror | None = None
    while messages := playback.read(at):
        for _, message in messages:
            if isinstance(message, Snapshot) and mirror is None:
                mirror = Mirror(message.feed)
            assert mirror is not None, "a playback begins with a keyframe"  # noqa: S101 - narrows the type
            apply_message(mirror, message)
    if mirror is None:
        raise playback.damage()
    return mirror


def apply_message(mirror: Mirror, message: Played) -> None:
    """Applies a recorded message; the batches that follow a gap are ignored until the next keyframe."""
    match message:
        case Snapshot():
            mirror.load(message)
        case Batch():
            mirror.apply(message)
        case Beat():
            mirror.info = message.info
