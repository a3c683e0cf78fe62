"""Programs that run until they are killed: one holds three batches, the other saves the settings of the window.

`python -m tests.support.killed_programs WORKSPACE ADDRESS` has one batch running and two queued.
`python -m tests.support.killed_programs FILE settings` saves settings over and over.
"""

import argparse
import asyncio
import itertools
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from app.core_link.settings import Settings
from mcp_tef import BatchRequest, ModelSettings
from mcp_tef.engine import Engine
from tests.support.command_line import ROOT

NAMES = ("First", "Second", "Third")
SETTINGS_SAVED = 20_000
LONGEST_S = 90.0


def kill_saving(folder: Path, seconds: float) -> int:
    """Kill a process that saves the settings of the window over and over; how much of them is not whole then."""
    file = folder / "settings.json"
    process = subprocess.Popen([sys.executable, "-m", "tests.support.killed_programs", str(file), "settings"], cwd=ROOT)
    with process:
        until = time.monotonic() + LONGEST_S
        while process.poll() is None and not file.exists():
            assert time.monotonic() < until, "no settings were saved"
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
    settings = Settings(file)
    values = [settings.get(name, []) for name in NAMES]
    return len(settings.notices()) + sum(len(one) != SETTINGS_SAVED or len({*one, *values[0]}) > 1 for one in values)


def save_settings(file: Path) -> None:
    """Save settings over and over, all of them anew each time."""
    for number in itertools.count():
        settings = Settings(file)
        for name in NAMES:
            settings.set(name, [number] * SETTINGS_SAVED)
        settings.save()


async def hold(workspace: Path, address: str) -> None:
    """Start the batches, and stay."""
    engine = await Engine.open(workspace)
    engine.consents.add_typed_address("openai", address)  # as commands do
    model = ModelSettings(provider="openai", model="gpt-4", base_url=address, timeout=300, max_retries=0)
    for name in NAMES:
        await engine.runs.start(BatchRequest(models=(model,), concurrency=1, name=name))
    assert len(engine.runs.waiting()) == len(NAMES) - 1
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("address")
    given = parser.parse_args()
    if given.address == "settings":
        save_settings(given.workspace)
    else:
        asyncio.run(hold(given.workspace, given.address))
