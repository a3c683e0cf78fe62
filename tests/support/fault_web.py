"""HTTP MCP servers on loopback that misbehave in the one way they are named after.

Add a fault by writing a function that answers one request, and naming it in the `FAULTS` of its kind under `faults/`.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from tests.support.faults import web, web_answers, web_streams

FAULTS: Mapping[str, web.Fault] = {**web_answers.ANSWERS, **web_streams.STREAMS}


def serving(fault: str) -> AbstractContextManager[web.Server]:
    """A running server with one fault."""
    return web.serving(FAULTS[fault])
