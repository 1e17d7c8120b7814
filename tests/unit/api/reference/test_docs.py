"""The documents of an application are made once, beside its other requests."""

import asyncio
import threading

from quotecast.api.answers.answers import SharedBody
from quotecast.api.reference.docs import Reference, ReferencePages


async def test_requests_at_once_make_the_documents_once() -> None:
    """A thread makes them; a client that leaves takes them from nobody else."""
    made, may_end = [], threading.Event()

    def make() -> ReferencePages:
        made.append(threading.current_thread())
        assert may_end.wait(10)
        return ReferencePages(SharedBody(b"{}"), SharedBody(b"{}"))

    reference = Reference(make)
    asked = [asyncio.create_task(reference.pages()) for _ in range(3)]
    await asyncio.sleep(0)
    asked[0].cancel()
    may_end.set()
    left, *answers = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(left, asyncio.CancelledError)
    assert {id(each) for each in answers} == {id(await reference.pages())}
    assert len(made) == 1
    assert made[0] is not threading.main_thread()
