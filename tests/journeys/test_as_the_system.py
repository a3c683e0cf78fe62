"""The desktop turns dark and asks for more contrast, and the window that is open follows."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.theme.tokens import Role, scheme_colours
from tests.support.settings_portal import Desktop, desktop

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0


@asynccontextmanager
async def opened_in(session: Desktop) -> AsyncIterator[asyncio.StreamReader]:
    """The real window in a session; what it says of its colours."""
    surroundings = os.environ | {
        "DBUS_SESSION_BUS_ADDRESS": session.address,
        "QT_QPA_PLATFORM": "offscreen",
        "QT_QPA_PLATFORMTHEME": "xdgdesktopportal",
    }
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.window_programs", "print-colours",
        cwd=ROOT, env=surroundings, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert program.stdout is not None
    try:
        yield program.stdout
    finally:
        program.kill()
        await program.wait()


async def becomes(said: asyncio.StreamReader, *, dark: bool, high: bool = False) -> None:
    """Wait until the window has the ground and the edges of a scheme."""
    colours = scheme_colours(dark, high=high)
    wanted, seen = {colours[role].lower() for role in (Role.SURFACE, Role.CONTROL)}, set[str]()
    async with asyncio.timeout(PATIENCE):
        while not wanted <= seen:
            line = (await said.readline()).decode()
            assert line, "the window has ended"
            seen = set(line.split())


async def test_the_open_window_follows_the_system_to_dark_to_more_contrast_and_back() -> None:
    async with desktop() as session, opened_in(session) as said:
        await becomes(said, dark=False)
        session.change("color-scheme", 1)
        await becomes(said, dark=True)
        session.change("contrast", 1)
        await becomes(said, dark=True, high=True)
        session.change("color-scheme", 2)
        await becomes(said, dark=False, high=True)
        session.change("contrast", 0)
        await becomes(said, dark=False)


async def test_a_window_that_opens_on_a_dark_desktop_of_high_contrast_is_so_from_the_start() -> None:
    async with desktop() as session:
        session.change("color-scheme", 1)
        session.change("contrast", 1)
        async with opened_in(session) as said:
            await becomes(said, dark=True, high=True)
