"""A desktop that says which colours it has: the settings portal, and the message bus on which programs ask it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from tempfile import TemporaryDirectory
from typing import Any

from jeepney import (  # type: ignore[import-untyped]
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    Parser,
    new_error,
    new_method_return,
    new_signal,
)

APPEARANCE = "org.freedesktop.appearance"
SETTINGS = DBusAddress("/org/freedesktop/portal/desktop", interface="org.freedesktop.portal.Settings")
OWNER, GUEST = ":1.0", ":1.1"
NOBODY = "org.freedesktop.DBus.Error.ServiceUnknown"


class Desktop:
    """A session whose colours change; `address` is where its programs find its bus."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._values = {"color-scheme": ("u", 0), "contrast": ("u", 0)}
        self._programs: list[asyncio.StreamWriter] = []

    def change(self, key: str, value: int) -> None:
        """Have another `color-scheme` (1 is dark, 2 light) or `contrast` (1 is high), and tell all programs."""
        self._values[key] = ("u", value)
        for number, program in enumerate(self._programs):
            told = new_signal(SETTINGS, "SettingChanged", "ssv", (APPEARANCE, key, ("u", value)))
            _send(program, told, 1_000 + number)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Let a program in, and answer what it asks until it goes."""
        await reader.readexactly(1)
        while (line := await reader.readline()) not in (b"", b"BEGIN\r\n"):
            known = line.startswith(b"AUTH EXTERNAL")
            writer.write(b"OK 0123456789abcdef0123456789abcdef\r\n" if known else b"ERROR\r\n")
        self._programs.append(writer)
        with suppress(ConnectionResetError):
            await self._converse(reader, writer)
        self._programs.remove(writer)
        writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parser = Parser()
        while data := await reader.read(65_536):
            parser.add_data(data)
            while (message := parser.get_next_message()) is not None:
                if message.header.message_type is MessageType.method_call:
                    _send(writer, self._answer(message), message.header.serial)

    def _answer(self, asked: Message) -> Message:
        match asked.header.fields.get(HeaderFields.member):
            case "Hello":
                return new_method_return(asked, "s", (GUEST,))
            case "AddMatch" | "RemoveMatch":
                return new_method_return(asked)
            case "GetNameOwner":
                return new_method_return(asked, "s", (OWNER,))
            case "ReadAll":
                return new_method_return(asked, "a{sa{sv}}", ({APPEARANCE: self._values},))
            case _:
                return new_error(asked, NOBODY, "s", ("Nobody here does that.",))


def _send(writer: asyncio.StreamWriter, message: Any, serial: int) -> None:
    message.header.fields[HeaderFields.sender] = OWNER
    writer.write(message.serialise(serial=serial))


@asynccontextmanager
async def desktop() -> AsyncIterator[Desktop]:
    """A session of its own, over once the programs in it are."""
    with TemporaryDirectory(prefix="bus-") as folder:
        made = Desktop(f"unix:path={folder}/bus")
        async with await asyncio.start_unix_server(made.serve, f"{folder}/bus"):
            yield made
