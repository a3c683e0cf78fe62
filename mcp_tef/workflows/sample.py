"""Puts the bundled sample server and its suite into a workspace, and brings them up to date."""

import sys
from importlib.resources import files
from pathlib import Path

from mcp_tef.errors import NotFoundError
from mcp_tef.formats.cases import tef
from mcp_tef.formats.cases.entries import CaseSource
from mcp_tef.model.cases import TestCase
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.transfer import CaseFileFormat
from mcp_tef.workflows.cases import Cases
from mcp_tef.workflows.servers import Servers
from mcp_tef.workflows.transfer import CaseTransfer

SAMPLE_SERVER = "Bike shop"
SAMPLE_SUITE = "Sample"


def sample_spec(program: Path = Path(sys.executable), *, built: bool = hasattr(sys, "frozen")) -> ServerSpec:
    """Return how to start the bundled server: by Python, or in a built app by the command line beside this program."""
    command = program.with_name(f"mcp-tef{program.suffix}") if built else program
    # -P keeps Python from importing an mcp_tef of the current folder, which may be a stranger's.
    args = ("sample-server",) if built else ("-P", "-m", "mcp_tef", "sample-server")
    return ServerSpec(name=SAMPLE_SERVER, transport=Transport.STDIO, command=str(command), args=args)


async def open_sample(servers: Servers, cases: Cases, transfer: CaseTransfer) -> tuple[TestCase, ...]:
    """Return the sample's cases, with its server registered; running it twice changes nothing."""
    spec = sample_spec()
    try:
        server = await servers.find(SAMPLE_SERVER)
    except NotFoundError:
        await servers.add(spec)
    else:
        if server.spec != spec:
            await servers.edit(server.id, spec)
    text = files("resources").joinpath("sample/suite.yaml").read_text(encoding="utf-8")
    entries = tef.read(CaseSource(text, "the sample"))
    await transfer.apply(await transfer.preview_entries(entries, "the sample", CaseFileFormat.TEF))
    return tuple(case for case in await cases.list() if SAMPLE_SUITE in case.draft.suites)
