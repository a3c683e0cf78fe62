"""Puts the bundled sample server and its suite into a workspace, and brings them up to date."""

from importlib.resources import files

from mcp_tef.errors import NotFoundError
from mcp_tef.formats.cases import tef
from mcp_tef.formats.cases.entries import CaseSource
from mcp_tef.model.cases import TestCase
from mcp_tef.model.transfer import CaseFileFormat
from mcp_tef.workflows.cases import Cases
from mcp_tef.workflows.sample_program import SAMPLE_SERVER, sample_spec
from mcp_tef.workflows.servers import Servers
from mcp_tef.workflows.transfer import CaseTransfer

SAMPLE_SUITE = "Sample"


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
