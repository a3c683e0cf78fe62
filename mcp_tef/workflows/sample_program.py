"""The bundled sample server as a program that needs no consent."""

import sys
from enum import StrEnum
from pathlib import Path

from mcp_tef.model.servers import ServerSpec, Transport

SAMPLE_SERVER = "Bike shop"
READING_ROOM = "Reading room"


class SampleName(StrEnum):
    """Bundled sample: a bicycle shop, or six look-alike searches in a reading room."""

    BIKE_SHOP = "bike-shop"
    READING_ROOM = "reading-room"


def sample_spec(
    program: Path = Path(sys.executable),
    *,
    built: bool = hasattr(sys, "frozen"),
    sample: SampleName = SampleName.BIKE_SHOP,
) -> ServerSpec:
    """Return how to start a bundled server: by Python, or in a built app by the command line beside this program."""
    command = program.with_name(f"mcp-tef{program.suffix}") if built else program
    # -P keeps Python from importing an mcp_tef of the current folder, which may be a stranger's.
    args = ("sample-server",) if built else ("-P", "-m", "mcp_tef", "sample-server")
    if sample is SampleName.READING_ROOM:
        return ServerSpec(
            name=READING_ROOM, transport=Transport.STDIO, command=str(command), args=(*args, "--sample", sample.value)
        )
    return ServerSpec(name=SAMPLE_SERVER, transport=Transport.STDIO, command=str(command), args=args)


def bundled_programs() -> frozenset[str]:
    """Return the fingerprints of the programs that belong to mcp-tef."""
    return frozenset(sample_spec(sample=sample).launch_fingerprint for sample in SampleName)
