"""Reads GenelPara, within its limit of a thousand requests a day and address."""

from quotecast.errors import UpstreamError
from quotecast.providers.genelpara.wire import LISTS, rates
from quotecast.providers.refusals import RefusalCounter
from quotecast.providers.transport.fetch import get_bytes, open_client
from quotecast.providers.turkey.dealing import RatesAnswer


class GenelPara:
    """The lists at `url`."""

    name = "genelpara"
    #: Three requests each time: 864 a day.
    every_seconds = 300.0

    def __init__(self, url: str) -> None:
        self._url = url
        self._refused = RefusalCounter(self.name)

    async def read(self) -> RatesAnswer:
        """Returns the rates of all lists. Raises UpstreamError when a list fails, or all are empty."""
        async with open_client(self._url) as client:
            bodies = {
                name: await get_bytes(client, "/json/", params={"list": name, "sembol": "all"})
                for name in LISTS
            }
        try:
            found_rates = [rate for name, body in bodies.items() for rate in rates(body, name, self._refused)]
        except ValueError as error:
            raise UpstreamError(f"GenelPara: {error}") from error
        if not found_rates:
            raise UpstreamError("GenelPara: no rates")
        return RatesAnswer(found_rates)
