"""A hub of embedding models on loopback, in the running loop; it serves whatever files it is given."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from mcp_tef.embedding.model_download import PinnedFile, PinnedModel

COMMIT = "5" * 40


@dataclass(slots=True)
class Hub:
    """Files by path of one repository, at one commit. `damaged` ones are sent with other bytes of the same size."""

    files: Mapping[str, bytes]
    damaged: frozenset[str] = frozenset()
    silent: bool = False
    url: str = ""
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str) -> bytes | None:
        """The body for a path; None where there is nothing."""
        self.asked.append(path)
        name = path.partition(f"/resolve/{COMMIT}/")[2]
        body = self.files.get(name)
        return body[::-1] if body is not None and name in self.damaged else body


def pinned(files: Mapping[str, bytes]) -> PinnedModel:
    """The pins of a model whose files these are."""
    return PinnedModel(
        COMMIT, {name: PinnedFile(len(body), hashlib.sha256(body).hexdigest()) for name, body in files.items()}
    )


@asynccontextmanager
async def serving(hub: Hub) -> AsyncIterator[Hub]:
    """Serve until the block ends."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if hub.silent:
            await reader.read()
        else:
            writer.write(_encoded(hub.answer(head.split(b" ", 2)[1].decode())))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    hub.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield hub
    finally:
        server.close()
        await server.wait_closed()


def _encoded(body: bytes | None) -> bytes:
    status, body = ("404 Not Found", b"") if body is None else ("200 OK", body)
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
