"""Puts the bundled sample server and its suite into a workspace, and brings them up to date."""

from importlib.resources import files

from mcp_tef.errors import NotFoundError
from mcp_tef.formats.cases import tef
from mcp_tef.formats.cases.entries import CaseSource
from mcp_tef.model.cases import TestCase
from mcp_tef.model.draft_edits import ToolEdit
from mcp_tef.model.drafts import Draft
from mcp_tef.model.transfer import CaseFileFormat
from mcp_tef.workflows.cases import Cases
from mcp_tef.workflows.drafts import Drafts
from mcp_tef.workflows.sample_program import READING_ROOM, SAMPLE_SERVER, SampleName, sample_spec
from mcp_tef.workflows.servers import Servers
from mcp_tef.workflows.transfer import CaseTransfer

SAMPLE_SUITE = "Sample"
_SUITES = {
    SampleName.BIKE_SHOP: ("sample", SAMPLE_SUITE),
    SampleName.READING_ROOM: ("reading_room", READING_ROOM),
}
SAMPLE_DRAFT = "Say what an update of a booking is for"
_WEAK_TOOL = "update_booking"
_BETTER = (
    "Change a booking that exists, by its number such as R-2041: add or remove a loan bike, a note, the bike "
    "or the day. Use it when the customer wants something after all. To book a new repair, use `book_repair`."
)


async def open_sample(
    servers: Servers, cases: Cases, transfer: CaseTransfer, sample: SampleName = SampleName.BIKE_SHOP
) -> tuple[TestCase, ...]:
    """Return a sample's cases, with its server registered; running it twice changes nothing."""
    spec = sample_spec(sample=sample)
    folder, suite = _SUITES[sample]
    try:
        server = await servers.find(spec.name)
    except NotFoundError:
        await servers.add(spec)
    else:
        if server.spec != spec:
            await servers.edit(server.id, spec, seen=server.spec)
    await _import(transfer, folder, "suite.yaml")
    return tuple(case for case in await cases.list() if suite in case.draft.suites)


async def _import(transfer: CaseTransfer, folder: str, file: str) -> None:
    text = files("resources").joinpath(folder, file).read_text(encoding="utf-8")
    entries = tef.read(CaseSource(text, "the sample"))
    await transfer.apply(await transfer.preview_entries(entries, "the sample", CaseFileFormat.TEF))


async def open_sample_draft(drafts: Drafts, transfer: CaseTransfer) -> Draft:
    """Return the prepared draft of the sample, which gives one vague tool a better description.

    It stands over the listing of the bundled server, which is started if it was never listed. Its own cases come with
    it: the same wishes in many words, enough of them to search for a better text.
    """
    await _import(transfer, _SUITES[SampleName.BIKE_SHOP][0], "booking_wishes.yaml")
    for draft in await drafts.list():
        if draft.name == SAMPLE_DRAFT:
            return draft
    draft = await drafts.new(SAMPLE_DRAFT, server=SAMPLE_SERVER)
    return await drafts.edit(draft.id, _WEAK_TOOL, ToolEdit(description=_BETTER))
