"""A model behind TLS with a certificate authority of its own, and a CONNECT proxy on the way; both on loopback."""

import asyncio
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from tests.support.model_stub import ModelStub

NAME = "localhost"


def certificate(folder: Path) -> tuple[Path, Path]:
    """The files of a new authority's certificate, and of key and certificate of a server that it vouches for."""
    authority_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Private authority")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    start = datetime.now(UTC) - timedelta(days=1)
    both = [
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=30))
        .add_extension(extension, critical=False)
        .sign(authority_key, hashes.SHA256())
        for name, key, extension in (
            (issuer, authority_key, x509.BasicConstraints(ca=True, path_length=None)),
            (subject, server_key, x509.SubjectAlternativeName([x509.DNSName(NAME)])),
        )
    ]
    authority, server = folder / "authority.pem", folder / "server.pem"
    authority.write_bytes(both[0].public_bytes(Encoding.PEM))
    private = server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    server.write_bytes(private + both[1].public_bytes(Encoding.PEM))
    return authority, server


class PrivateNetwork:
    """`url` is a model behind TLS, `proxy` a proxy to it; `connects` are the places that the proxy was asked for."""

    def __init__(self, stub: ModelStub, server_certificate: Path) -> None:
        self._stub = stub
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(server_certificate)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.connects: list[str] = []

    @property
    def url(self) -> str:
        """The base url of the model."""
        return f"https://{NAME}:{self._port(0)}/v1"

    @property
    def proxy(self) -> str:
        """The address of the proxy, with the name and password that it wants."""
        return f"http://user:secret@127.0.0.1:{self._port(1)}"

    def __enter__(self) -> "PrivateNetwork":
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _port(self, number: int) -> int:
        port: int = self._servers[number].sockets[0].getsockname()[1]
        return port

    async def _start(self) -> None:
        self._servers.append(await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context))
        self._servers.append(await asyncio.start_server(self._connect, "127.0.0.1", 0))

    async def _stop(self) -> None:
        # Python 3.11 waits for connections, such as those in the middle of a handshake, only when asked before closing.
        closed = [asyncio.create_task(server.wait_closed()) for server in self._servers]
        await asyncio.sleep(0)
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*closed, *(writer.wait_closed() for writer in self._writers), return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._pass_on(reader, writer, self._stub.port)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        place = head.split()[1]
        self.connects.append(place)
        assert "Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=" in head
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await self._pass_on(reader, writer, int(place.rpartition(":")[2]))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        answers, asks = await asyncio.open_connection("127.0.0.1", port)
        ways = ((reader, asks), (answers, writer))
        self._writers += [asks, writer]
        tasks = [asyncio.create_task(_copy(*way)) for way in ways]
        self._tasks.update(tasks)
        await asyncio.gather(*tasks, return_exceptions=True)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            target.write(data)
    finally:
        target.close()
