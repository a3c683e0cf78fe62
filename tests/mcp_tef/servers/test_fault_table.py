"""Every fault that a server can have: its sentence, its time and its memory, while other servers go on.

`python3 dev.py test tests/mcp_tef/servers/test_fault_table.py -s` prints the table.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from time import perf_counter

from mcp_tef.errors import ServerError
from mcp_tef.model.limits import Limits
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing
from mcp_tef.servers.tool_lister import McpToolLister
from tests.benchmarks.fault_memory import LIMIT_MB, growth
from tests.support.faults import http_faults, stdio_faults
from tests.support.processes import children

HEALTHY = "2 tools."
SHORT, AMPLE, SLACK = 6.0, 60.0, 20.0
AT_ONCE = 6
LIMITS = Limits(discover_seconds=1.0, exit_seconds=5.0, message_bytes=4_000_000, answer_bytes=8_000_000)
FOREIGN = re.compile(r"Traceback|\w(Error|Exception|Group)\b|File \"|object at 0x|\n")

JUNK = "wrote a line that is no MCP message, such as “{}”, and no answer within 6 s."
SILENT, SILENT_LIST = "did not answer within 6 s.", "did not finish listing its tools within 6 s."
UNFIT = "answered to list its tools in a way that MCP does not allow: "
FLOOD = "sent more than is read at once."
OFF = "broke the connection off before it answered."
NOT_MCP = "is no MCP server at 127.0.0.1:…: "
STRAY = "answered request 4711, which nobody has made, and not ours within 6 s."
NO_ID = "answered no request, saying “Cannot read this”, and not ours within 6 s."

STDIO: Mapping[str, str] = {
    "silent": SILENT,
    "silent-list": SILENT_LIST,
    "drip": SILENT,
    "drip-list": SILENT_LIST,
    "ignores-unknown": "2 tools.",
    "ignores-discover": "refused the greeting: Method not found.",
    "wrong-id": STRAY,
    "no-id": NO_ID,
    "closes-output": "closed its output before it answered.",
    "exits": "ended with exit code 3 before it answered: Error: no database at /var/lib/shop.",
    "exits-greeted": "ended with exit code 4 before it answered: cannot bind the port.",
    "exits-greeting": "ended with exit code 0 before it answered.",
    "exits-later": "was ended by signal 9 before it answered: out of memory.",
    "exits-paging": "ended with exit code 1 before it answered: lost the cursor.",
    "exits-mid-line": "ended with exit code 1 before it answered.",
    "exits-listed": "2 tools.",
    "stubborn": "1 tools.",
    "stubborn-silent": SILENT,
    "parent": "1 tools.",
    "junk-first": "2 tools.",
    "junk-prefix": JUNK.format("fault> {…"),
    "junk-only": JUNK.format("Usage: server [options]"),
    "junk-flood": "wrote lines that are no MCP messages, such as “noise”, and no answer.",
    "chatter-flood": FLOOD,
    "long-line": FLOOD,
    "stderr-flood": "2 tools.",
    "batch": JUNK.format("[{…"),
    "deep-json": "1 tools. deep: It nests more than 64 levels deep.",
    "lone-surrogates": "1 tools. half: Its description is not valid Unicode. inner: It holds text that is not valid …",
    "invalid-utf8": "1 tools. latin: Its description is not valid Unicode.",
    "bad-tools": "2 tools. Definition 2: It has no name. worded: Its description is a number, not text. …",
    "worse-tools": "1 tools. Definition 1: It is null, not an object. … huge: It has … bytes, more than 262144.",
    "duplicates": "2 tools. first: An earlier tool has the same name. second: An earlier tool has the same name.",
    "many": "10000 tools.",
    "small-values": FLOOD,
    "worst-values": "0 tools. worst: It holds more than 10000 values.",
    "references": "4 tools.",
    "no-list": f"{UNFIT}it holds no list of tools.",
    "pages": "5 tools.",
    "repeated-cursor": "2 tools. The listing was cut short because its pages repeat.",
    "endless-pages": "200 tools. The listing was cut short because it goes on after 200 pages.",
    "refuses": "refused the greeting: Licence has expired.",
    "odd-greeting": "answered the greeting in a way that MCP does not allow: capabilities: field required.",
    "modern-only": "2 tools.",
    "toolless": "0 tools.",
}

HTTP: Mapping[str, str] = {
    "modern-only": "2 tools.",
    "bad-tools": "2 tools. Definition 2: It has no name. worded: Its description is a number, not text. …",
    "many": "10000 tools.",
    "small-values": FLOOD,
    "worst-values": "0 tools. worst: It holds more than 10000 values.",
    "repeated-cursor": "2 tools. The listing was cut short because its pages repeat.",
    "batch": f"{NOT_MCP}its answer is no MCP message.",
    "deep-json": "1 tools. deep: It nests more than 64 levels deep.",
    "lone-surrogates": "1 tools. half: Its description is not valid Unicode. inner: It holds text that is not valid …",
    "invalid-utf8": "1 tools. latin: Its description is not valid Unicode.",
    "wrong-id": STRAY,
    "no-id": NO_ID,
    "web-page": f"{NOT_MCP}it answers with a web page.",
    "unauthorized": "…(HTTP 401).",
    "unauthorized-metadata": "…(HTTP 401).",
    "forbidden": "…(HTTP 403).",
    "forbidden-metadata": "…(HTTP 403).",
    "not-found": "answered that there is nothing at this path (HTTP 404).",
    "wrong-method": "answered that it does not take the request (HTTP 405).",
    "too-many": "answered that it gets too many requests (HTTP 429).",
    "broken": "answered with an error of its own (HTTP 500).",
    "accepted": "answered the greeting in a way that MCP does not allow: it took the request and sent no message.",
    "elsewhere": "sends us on to https://elsewhere.example/login (HTTP 302).",
    "elsewhere-kept": "sends us on to https://elsewhere.example/mcp (HTTP 307).",
    "moved": "2 tools.",
    "moved-badly": "sends us on to http://127.0.0.1:…/new (HTTP 302).",
    "circle": "sends us in a circle (HTTP 307).",
    "other-json": f"{NOT_MCP}its answer is no MCP message.",
    "hangs-up": OFF,
    "truncated": OFF,
    "silent": SILENT,
    "drip": SILENT,
    "flood": FLOOD,
    "big-body": FLOOD,
    "gzip-bomb": "compressed its answer although it was asked not to.",
    "endless-events": FLOOD,
    "endless-pings": SILENT,
    "oversize-event": FLOOD,
    "broken-event": f"{NOT_MCP}its answer is no MCP message.",
    "truncated-events": OFF,
}

OLDER: Mapping[str, str] = {
    "silent": SILENT,
    "web-page": f"{NOT_MCP}it answers with a web page.",
    "unauthorized": "…(HTTP 401).",
    "elsewhere": "sends us on to https://elsewhere.example/login (HTTP 302).",
    "circle": "sends us in a circle (HTTP 307).",
    "gzip-bomb": "compressed its answer although it was asked not to.",
    "oversize-event": FLOOD,
    "truncated-events": OFF,
    "endless-events": FLOOD,
    "sse-refuses": "answered with an error of its own (HTTP 500).",
    "sse-silent": SILENT,
    "sse-junk": JUNK.format("what?"),
    "sse-elsewhere": "wants its messages at http://elsewhere.example, which is not where it is itself.",
    "sse-nowhere": SILENT,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A server, and what is to be read of it; `…` stands for anything."""

    spec: ServerSpec
    name: str
    expected: str

    @property
    def seconds(self) -> float:
        """The budget of its visit."""
        return SHORT if self.expected.endswith("within 6 s.") else AMPLE

    def fits(self, words: str) -> bool:
        """Whether the user reads what is expected."""
        return re.fullmatch(".*".join(map(re.escape, self.expected.split("…"))), words) is not None


@dataclass(frozen=True, slots=True)
class Told:
    """The answer of a fault, that of a healthy server if one was asked beside it, and the seconds."""

    fault: Fault
    words: str
    seconds: float
    words_beside: str = HEALTHY

    def __str__(self) -> str:
        fault = self.fault
        times = f"{fault.seconds:6.0f} s {self.seconds:6.2f} s"
        return f"{fault.spec.transport:16} {fault.name:22} {times}  {self.words[:150]}"


def faults(open_servers: ExitStack, remote: str) -> Iterator[Fault]:
    """All of them; the HTTP servers run until `open_servers` is closed. Schemas refer to the address `remote`."""
    for name, expected in STDIO.items():
        program, *args = stdio_faults.command(name)
        stdio = ServerSpec(
            name="Bench", transport=Transport.STDIO, command=program, args=tuple(args), env={"REMOTE": remote}
        )
        yield Fault(stdio, name, expected)
    for transport, rows in ((Transport.STREAMABLE_HTTP, HTTP), (Transport.SSE, OLDER)):
        for name, expected in rows.items():
            url = open_servers.enter_context(http_faults.serving(name)).url
            yield Fault(ServerSpec(name="Bench", transport=transport, url=url), name, expected)


def words(listing: Listing) -> str:
    """A listing in the words that are shown of it."""
    problems = [f"{found.tool}: {found.reason}" if found.tool else found.reason for found in listing.problems]
    return " ".join((f"{len(listing.tools)} tools.", *problems))


async def reads(lister: McpToolLister, spec: ServerSpec, seconds: float) -> tuple[str, float]:
    """What the user reads of a server, without its name, and how long that took."""
    began = perf_counter()
    try:
        told = words(await lister.list_tools(spec, timeout=seconds))
    except ServerError as error:
        told = error.message.removeprefix(f"{spec.name} ")
        if FOREIGN.search(f"{error.message} {error.hint}") or not error.hint.endswith("."):
            told = f"not for users: {error.message} {error.hint}"
    return told, perf_counter() - began


async def told(lister: McpToolLister, fault: Fault, healthy: ServerSpec, turn: asyncio.Semaphore) -> Told:
    """Ask a server with a fault, and a healthy one beside floods and silence; silent ones wait for no turn."""
    async with turn if fault.seconds == AMPLE else nullcontext():
        if fault.expected not in (FLOOD, SILENT, SILENT_LIST):
            return Told(fault, *await reads(lister, fault.spec, fault.seconds))
        both = await asyncio.gather(reads(lister, fault.spec, fault.seconds), reads(lister, healthy, AMPLE))
    return Told(fault, *both[0], both[1][0])


async def test_every_fault_is_told_in_a_sentence_within_its_budget_while_others_go_on() -> None:
    before, lister, turn = children(), McpToolLister({}, LIMITS), asyncio.Semaphore(AT_ONCE)
    with ExitStack() as open_servers:
        healthy = ServerSpec(
            name="Healthy",
            transport=Transport.STREAMABLE_HTTP,
            url=open_servers.enter_context(http_faults.serving("none")).url,
        )
        remote = open_servers.enter_context(http_faults.serving("none"))
        everything = tuple(faults(open_servers, remote.url))
        try:
            await reads(lister, healthy, AMPLE)
            table = await asyncio.gather(*(told(lister, fault, healthy, turn) for fault in everything))
        finally:
            await lister.close()
    print("", *table, sep="\n")
    assert [str(row) for row in table if not row.fault.fits(row.words)] == []
    assert [str(row) for row in table if row.seconds > row.fault.seconds + SLACK] == []
    assert [(row.words_beside, str(row)) for row in table if row.words_beside != HEALTHY] == []
    assert remote.headers_seen == []
    assert children() <= before


def test_no_fault_of_the_fault_servers_is_left_out() -> None:
    ours = {"none", "echoes-secret", "surroundings", "web-page-405", "compressed"}
    assert set(STDIO) == set(stdio_faults.FAULTS) - ours
    assert HTTP.keys() | OLDER.keys() == set(http_faults.FAULTS) - ours


def test_the_worst_message_that_is_read_stays_within_the_memory_limit() -> None:
    grown, words = growth(Transport.STREAMABLE_HTTP, "worst-values")
    assert words == "0 tools, 1 set aside"
    assert grown < LIMIT_MB
