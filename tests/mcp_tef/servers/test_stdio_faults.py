"""Programs that misbehave: each ends within its budget, with a sentence that names the cause."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.limits import Limits
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Listing
from mcp_tef.servers import session
from mcp_tef.servers.observations import Observations, Tail, quoted
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.faults.stdio_faults import command
from tests.support.processes import gone

AMPLE, BEGUN, SHORT, MARGIN = 60.0, 2.0, 0.6, 20.0
# For programs that do not end by themselves, so that each of these times passes in full.
HASTY = pytest.mark.parametrize("limits", [Limits(exit_seconds=0.5, leave_seconds=0.2, terminate_seconds=0.2)])
LIBRARY = session


def spec(fault: str, **fields: Any) -> ServerSpec:
    program, *args = command(fault)
    known: dict[str, Any] = {"name": "Bench", "transport": Transport.STDIO, "command": program, "args": tuple(args)}
    return ServerSpec(**(known | fields))


async def listing(lister: McpToolLister, fault: str, **fields: Any) -> Listing:
    return await lister.list_tools(spec(fault, **fields), timeout=AMPLE)


async def failure(lister: McpToolLister, fault: str, budget: float = AMPLE, **fields: Any) -> ServerError:
    async with asyncio.timeout(budget + MARGIN):
        with pytest.raises(ServerError) as caught:
            await lister.list_tools(spec(fault, **fields), timeout=budget)
    return caught.value


async def test_a_listing_tells_tools_protocol_and_latency(lister: McpToolLister) -> None:
    found = await listing(lister, "none")
    assert [tool.name for tool in found.tools] == ["first", "second"]
    assert (found.server, found.problems, found.protocol) == ("Bench", (), "2025-06-18")
    assert found.latency_ms > 0


async def test_a_program_that_says_nothing_costs_its_budget_and_no_more(lister: McpToolLister) -> None:
    error = await failure(lister, "silent", SHORT)
    assert error.fault is ServerFault.SILENT
    assert error.message == "Bench did not answer within 0.6 s."
    assert "more time" in error.hint


async def test_a_silent_list_is_told_from_a_silent_program(lister: McpToolLister) -> None:
    error = await failure(lister, "silent-list", BEGUN)
    assert error.message == "Bench did not finish listing its tools within 2 s."


async def test_a_program_that_exits_is_told_with_its_code_and_last_words(lister: McpToolLister) -> None:
    error = await failure(lister, "exits")
    assert error.fault is ServerFault.EXITED
    expected = "Bench ended with exit code 3 before it answered: Error: no database at /var/lib/shop."
    assert error.message == expected
    assert error.context["exit_code"] == 3
    assert error.context["stderr_tail"] == "Reading the settings\nError: no database at /var/lib/shop"


async def test_a_program_that_is_killed_in_the_middle_is_told_with_its_signal(lister: McpToolLister) -> None:
    error = await failure(lister, "exits-later")
    assert error.message == "Bench was ended by signal 9 before it answered: out of memory."
    assert error.context["exit_code"] == -9


async def test_a_command_that_does_not_exist_is_named(lister: McpToolLister) -> None:
    error = await failure(lister, "none", command="no-such-program-anywhere")
    assert error.fault is ServerFault.PROGRAM_NOT_FOUND
    assert error.message == "Bench cannot be started: there is no program “no-such-program-anywhere”."


async def test_a_file_that_is_no_program_is_told_as_such(lister: McpToolLister, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a program")
    error = await failure(lister, "none", command=str(file))
    assert error.fault is ServerFault.PROGRAM_NOT_FOUND
    assert error.message == f"Bench cannot be started: {file} is not a program."


async def test_a_program_that_the_system_refuses_is_told_with_its_reason(lister: McpToolLister, tmp_path: Path) -> None:
    file = tmp_path / "broken"
    file.write_bytes(b"\x7fELF, but not really")
    file.chmod(0o755)
    error = await failure(lister, "none", command=str(file))
    assert error.fault is ServerFault.PROGRAM_NOT_FOUND
    assert str(file) in error.message


async def test_a_banner_before_the_first_message_is_put_up_with(lister: McpToolLister) -> None:
    assert len((await listing(lister, "junk-first")).tools) == 2


async def test_a_program_that_speaks_something_else_is_quoted(lister: McpToolLister) -> None:
    error = await failure(lister, "junk-only", BEGUN)
    assert error.fault is ServerFault.PROTOCOL
    assert "such as “Usage: server [options]”, and no answer within 2 s" in error.message


@HASTY
@pytest.mark.parametrize(
    ("fault", "words"), [("junk-flood", "such as “noise”"), ("long-line", "sent more than is read")]
)
async def test_a_flood_ends_before_its_budget(lister: McpToolLister, fault: str, words: str) -> None:
    error = await failure(lister, fault, 60.0)
    assert error.fault is ServerFault.PROTOCOL
    assert words in error.message


async def test_a_flood_of_complaints_does_not_hinder(lister: McpToolLister) -> None:
    assert len((await listing(lister, "stderr-flood")).tools) == 2


async def test_a_bad_tool_is_set_aside_and_the_rest_stays(lister: McpToolLister) -> None:
    found = await listing(lister, "bad-tools")
    assert [tool.name for tool in found.tools] == ["sound", "last"]
    assert found.tools[0].raw["vendorField"] == {"kept": [1, 2]}
    assert {problem.tool: problem.reason for problem in found.problems if problem.tool} == {
        "worded": "Its description is a number, not text.",
        "schemaless": "Its inputSchema is text, not an object.",
        "unsound": "Its inputSchema is not a valid JSON Schema: "
        'properties.a.type is "strin", which is not allowed there.',
        "sound": "An earlier tool has the same name.",
    }
    assert [problem.reason for problem in found.problems if problem.tool is None] == [
        "Definition 2: It has no name.",
        "Definition 6: It is text, not an object.",
    ]


async def test_a_listing_follows_its_pages_to_the_end(lister: McpToolLister) -> None:
    found = await listing(lister, "pages")
    assert [tool.name for tool in found.tools] == [f"tool{number}" for number in range(5)]
    assert found.problems == ()


async def test_pages_that_repeat_are_left_and_what_came_is_kept(lister: McpToolLister) -> None:
    found = await listing(lister, "repeated-cursor")
    assert {tool.name for tool in found.tools} == {"once", "again"}
    assert "The listing was cut short because its pages repeat." in [problem.reason for problem in found.problems]


async def test_pages_without_end_are_left_and_what_came_is_kept(lister: McpToolLister) -> None:
    found = await listing(lister, "endless-pages")
    assert len(found.tools) == 200
    assert [problem.reason for problem in found.problems] == [
        "The listing was cut short because it goes on after 200 pages."
    ]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("no-list", "answered to list its tools in a way that MCP does not allow: it holds no list of tools"),
        ("refuses", "refused the greeting: Licence has expired"),
        ("odd-greeting", "answered the greeting in a way that MCP does not allow"),
    ],
)
async def test_a_wrong_answer_is_told_in_one_sentence(lister: McpToolLister, fault: str, words: str) -> None:
    error = await failure(lister, fault)
    assert error.fault is ServerFault.PROTOCOL
    assert words in error.message


@pytest.mark.parametrize("limits", [Limits(discover_seconds=2 * AMPLE)])
async def test_a_server_that_ignores_unknown_methods_is_asked_nothing_that_it_might_not_know(
    lister: McpToolLister,
) -> None:
    assert len((await listing(lister, "ignores-unknown")).tools) == 2


async def test_a_server_without_a_handshake_is_understood(lister: McpToolLister) -> None:
    found = await listing(lister, "modern-only")
    assert (len(found.tools), found.protocol) == (2, "2026-07-28")


async def test_a_server_that_has_no_tools_lists_none(lister: McpToolLister) -> None:
    found = await listing(lister, "toolless")
    assert (found.tools, found.problems) == ((), ())


async def test_only_allowed_tools_are_listed(lister: McpToolLister) -> None:
    found = await listing(lister, "pages", allowed_tools=("tool1", "tool2"), disallowed_tools=("tool2",))
    assert [tool.name for tool in found.tools] == ["tool1"]


@HASTY
async def test_a_stubborn_program_delays_no_answer_and_is_gone_after_close(lister: McpToolLister) -> None:
    found = await listing(lister, "stubborn")
    pid = int(found.tools[0].name.removeprefix("pid-"))
    await lister.close()
    assert await gone(pid)


@HASTY
async def test_a_stubborn_silent_program_costs_its_budget_and_is_gone_after_close(lister: McpToolLister) -> None:
    error = await failure(lister, "stubborn-silent", BEGUN)
    await lister.close()
    assert await gone(int(str(error.context["stderr_tail"]).removeprefix("pid-")))


async def test_children_of_a_program_end_with_it(lister: McpToolLister) -> None:
    found = await listing(lister, "parent")
    await lister.close()
    assert await gone(int(found.tools[0].name.removeprefix("pid-")))


async def test_a_program_gets_a_small_environment_and_what_its_spec_names(
    lister: McpToolLister, environment: dict[str, str]
) -> None:
    environment |= {"PATH": "/usr/bin", "LANG": "C.UTF-8", "OPENAI_API_KEY": "sk-never", "SHOP": "Harbour"}
    found = await listing(lister, "surroundings", env={"GREETING": "Hello ${SHOP}"})
    seen = {tool.name: tool.description for tool in found.tools if not tool.name.startswith("__")}
    seen.pop("LC_CTYPE", None)
    assert seen == {"PATH": "/usr/bin", "LANG": "C.UTF-8", "GREETING": "Hello Harbour"}


async def test_a_variable_that_is_not_set_is_named_before_anything_starts(lister: McpToolLister) -> None:
    error = await failure(lister, "none", env={"TOKEN": "${SHOP_TOKEN}"})
    assert error.fault is ServerFault.SETTINGS
    assert error.message == "Bench needs the environment variable SHOP_TOKEN, which is not set."


async def test_a_secret_that_a_program_prints_is_not_repeated(
    lister: McpToolLister, environment: dict[str, str]
) -> None:
    environment["SHOP_TOKEN"] = "hush-4711"
    error = await failure(lister, "echoes-secret", env={"TOKEN": "${SHOP_TOKEN}"})
    assert error.message.endswith("cannot log in with •••.")
    assert "hush" not in f"{error.message}{error.hint}{error.context}"


async def test_a_folder_that_does_not_exist_is_named(lister: McpToolLister) -> None:
    error = await failure(lister, "none", cwd="/no/such/folder")
    assert error.fault is ServerFault.SETTINGS
    assert "/no/such/folder, which is no folder" in error.message


async def test_a_program_is_found_beside_its_working_folder(lister: McpToolLister, tmp_path: Path) -> None:
    start = tmp_path / "start.sh"
    start.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    start.chmod(0o755)
    found = await listing(lister, "none", command="./start.sh", cwd=str(tmp_path))
    assert len(found.tools) == 2


async def test_a_key_that_is_written_out_in_the_spec_is_not_repeated_either(lister: McpToolLister) -> None:
    error = await failure(lister, "echoes-secret", env={"TOKEN": "hush-4711"})
    assert "hush" not in f"{error.message}{error.context}"


def test_the_last_twenty_lines_are_kept_however_many_there_were() -> None:
    tail = Tail()
    for number in range(100_000):
        tail.feed(f"line {number}\n".encode())
    lines = tail.text.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (20, "line 99980", "line 99999")


def test_colours_and_control_characters_are_left_out() -> None:
    tail = Tail()
    tail.feed(b"\x1b[1;31mred\x1b[0m\x07 \x1b]0;title\x07and\ttab\r\nnext \xff\n")
    assert tail.text == "red and\ttab\nnext \ufffd"


def test_a_quote_is_one_short_line() -> None:
    assert quoted("two\nlines\x00 \x1b[2Jof text") == "two lines of text"
    assert quoted("x" * 500) == "x" * 119 + "…"


def test_secrets_are_left_out_of_the_context() -> None:
    observations = Observations(secrets=(Secret("hush-4711"),))
    observations.stderr.feed(b"the key hush-4711 is wrong")
    assert observations.context["stderr_tail"] == "the key ••• is wrong"
