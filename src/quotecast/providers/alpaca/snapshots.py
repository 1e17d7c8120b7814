"""Snapshots by REST: batches of stocks, in which an invalid ticker does not affect the others."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import httpx
import structlog
from msgspec import Raw, Struct

from quotecast.errors import UpstreamError, UpstreamRefused
from quotecast.providers.alpaca import wire
from quotecast.providers.alpaca.rest import KEYS_REFUSED
from quotecast.providers.base import Admission
from quotecast.providers.transport.fetch import get_json

BATCH: Final = 100
#: Deadline in seconds; a later response would delay the next poll.
ANSWER_SECONDS: Final = 7.0

SnapshotRows = Mapping[str, Raw]

log = structlog.get_logger()


class PollResult(Struct, frozen=True):
    """The result of a poll: rows of the successful batches by ticker, and the errors of the others."""

    rows: SnapshotRows
    failures: Sequence[UpstreamError]
    #: Whether any batch succeeded.
    answered: bool

    @property
    def retry_after(self) -> float:
        """Returns the longest `retry_after` of the failures in seconds; 0 without one."""
        return max((failure.retry_after or 0.0 for failure in self.failures), default=0.0)

    @property
    def worst_failure(self) -> UpstreamError:
        """Returns the failure with the longest `retry_after`."""
        return max(self.failures, key=lambda failure: failure.retry_after or 0.0)


class Snapshots:
    """Snapshot requests over one HTTP client."""

    def __init__(self, client: httpx.AsyncClient, plan_feed: str, admitted: Admission) -> None:
        self._client = client
        self._feed = plan_feed
        self._admitted = admitted
        self._invalid: set[str] = set()

    async def poll(self, tickers: Sequence[str]) -> PollResult:
        """Returns the snapshots of all tickers, requested in concurrent batches."""
        batches = [tickers[first : first + BATCH] for first in range(0, len(tickers), BATCH)]
        answers = await asyncio.gather(*map(self._try_batch, batches))
        failures = [answer for answer in answers if isinstance(answer, UpstreamError)]
        answered = [answer for answer in answers if not isinstance(answer, UpstreamError)]
        rows = {ticker: row for part in answered for ticker, row in part.items() if bytes(row) != b"null"}
        return PollResult(rows, failures, bool(answered) or not failures)

    async def _try_batch(self, tickers: Sequence[str]) -> SnapshotRows | UpstreamError:
        try:
            return await self._fetch([ticker for ticker in tickers if ticker not in self._invalid])
        except UpstreamError as error:
            return error

    async def _fetch(self, tickers: Sequence[str]) -> SnapshotRows:
        if not tickers:
            return {}
        await self._admitted()
        params = {"symbols": ",".join(tickers), "feed": self._feed}
        try:
            return await get_json(
                self._client,
                "/v2/stocks/snapshots",
                dict[str, Raw],
                params=params,
                deadline_seconds=ANSWER_SECONDS,
            )
        except UpstreamRefused as error:
            return await self._fetch_without_invalid(tickers, error)

    async def _fetch_without_invalid(self, tickers: Sequence[str], error: UpstreamRefused) -> SnapshotRows:
        """Returns the batch's snapshots after excluding the malformed ticker.

        Alpaca rejects a whole batch for one malformed ticker. When the error does not name it, halving the
        batch finds it.
        """
        if error.upstream_status in KEYS_REFUSED:
            raise UpstreamError(f"Alpaca refuses the keys or the plan: {error}") from error
        if error.upstream_status != httpx.codes.BAD_REQUEST or "symbol" not in error.excerpt:
            raise error
        invalid = wire.invalid_symbol(error.excerpt)
        if invalid is not None and invalid in tickers:
            self._exclude(invalid)
            return await self._fetch([ticker for ticker in tickers if ticker != invalid])
        if len(tickers) == 1:
            self._exclude(tickers[0])
            return {}
        half = len(tickers) // 2
        return {**await self._fetch(tickers[:half]), **await self._fetch(tickers[half:])}

    def _exclude(self, ticker: str) -> None:
        log.warning("alpaca refuses the ticker", ticker=ticker)
        self._invalid.add(ticker)
