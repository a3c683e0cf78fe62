"""The older HTTP transport: the server's messages come as events, ours are posted to where its first event says.

The SDK's own waits for ever where that address is elsewhere or missing, and takes no message above 1 MB.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared._httpx_utils import request_within_origin, sse_within_origin
from mcp.shared.message import SessionMessage

from mcp_tef.servers.evidence import Evidence
from mcp_tef.servers.faults import Faults
from mcp_tef.servers.messages import message_in


@asynccontextmanager
async def older_streams(url: httpx2.URL, client: httpx2.AsyncClient, faults: Faults) -> AsyncIterator[TransportStreams]:
    """The message streams of a server over a client that is open."""
    evidence = faults.evidence
    most = evidence.limits.message_bytes
    async with sse_within_origin(client, str(url), max_event_size=most) as source:
        source.response.raise_for_status()
        events = aiter(source)
        posts = _Posts(client, await _endpoint(url, events, faults))
        heard, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with messages, anyio.create_task_group() as group:
            group.start_soon(_hear, events, heard, evidence)
            yield messages, posts
            group.cancel_scope.cancel()


async def _endpoint(url: httpx2.URL, events: AsyncIterator[httpx2.ServerSentEvent], faults: Faults) -> httpx2.URL:
    """Where the server wants our messages; only on its own origin, for they carry the user's keys."""
    async for event in events:
        if event.event == "endpoint":
            there = url.join(event.data.strip())
            if (there.scheme, there.netloc) != (url.scheme, url.netloc):
                raise faults.elsewhere(f"{there.scheme}://{there.host}:{there.port or ''}".rstrip(":"))
            return there
    raise httpx2.RemoteProtocolError("The events ended before they named an address.")


async def _hear(
    events: AsyncIterator[httpx2.ServerSentEvent],
    heard: MemoryObjectSendStream[SessionMessage | Exception],
    evidence: Evidence,
) -> None:
    async with heard:
        async for event in events:
            data = event.data.encode() if event.event == "message" else b""
            message = message_in(data)
            if message is not None:
                await heard.send(message)
            elif data:
                evidence.note_junk(data)


class _Posts:
    """Posts messages as the SDK's sessions write them; an answer that is no success raises."""

    def __init__(self, client: httpx2.AsyncClient, endpoint: httpx2.URL) -> None:
        self._client = client
        self._endpoint = endpoint

    async def send(self, item: SessionMessage, /) -> None:
        content = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        response = await request_within_origin(self._client, "POST", self._endpoint, json=content)
        response.raise_for_status()

    async def aclose(self) -> None:
        """The client is closed by who opened it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
