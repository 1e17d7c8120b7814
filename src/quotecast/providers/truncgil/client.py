"""Reads Truncgil, from the first of its versions that answers."""

from typing import Final

from msgspec import Struct

from quotecast.errors import UpstreamCutShort, UpstreamError
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.transport.fetch import get_bytes, open_client
from quotecast.providers.truncgil.wire import read_answer
from quotecast.providers.turkey.dealing import RatesAnswer


class _Version(Struct, frozen=True):
    name: str
    path: str
    turkish: bool = False


_FOURTH: Final = _Version("v4", "/v4/today.json")
_FIFTH: Final = _Version("v5", "/api/today.json")
_THIRD: Final = _Version("v3", "/v3/today.json", turkish=True)


class Truncgil:
    """Versions 4 and 3 at `url`, version 5 at `fifth_url`: it reads the first that answers in full."""

    name = "truncgil"
    #: A free service of a community: once a minute is enough.
    every_seconds = 60.0

    def __init__(self, url: str, fifth_url: str) -> None:
        self._versions = ((url, _FOURTH), (fifth_url, _FIFTH), (url, _THIRD))
        self._refused = RefusalCounter(self.name)

    async def read(self) -> RatesAnswer:
        """Returns the first whole answer, or the longest of the incomplete ones.

        Raises UpstreamError when no version answers, or one asks for a pause.
        """
        failures: list[str] = []
        parts: list[RatesAnswer] = []
        for url, version in self._versions:
            try:
                answer = await self._read(url, version)
            except UpstreamError as error:
                if error.retry_after is not None:
                    raise
                failures.append(f"{version.name}: {error}")
                continue
            if answer.whole:
                return answer
            parts.append(answer)
        if parts:
            return max(parts, key=lambda part: len(part.rates))
        raise UpstreamError(f"Truncgil does not answer: {'; '.join(failures)}")

    async def _read(self, url: str, version: _Version) -> RatesAnswer:
        try:
            async with open_client(url) as client:
                body = await get_bytes(client, version.path)
        except UpstreamCutShort as error:
            body = error.received
        try:
            return read_answer(body, self._refused, turkish=version.turkish)
        except ValueError as error:
            raise UpstreamError(f"unreadable: {error}") from error
