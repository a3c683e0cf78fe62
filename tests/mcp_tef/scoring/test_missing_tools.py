"""Reasons why an expected tool is not offered."""

from dataclasses import replace

import pytest

from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.tools import Listing, ToolProblem
from mcp_tef.scoring.missing_tools import ListedServers, why_not_asked
from tests.support.fake_ports import http_server, tool


def servers(allowed: tuple[str, ...] = (), disallowed: tuple[str, ...] = ()) -> ListedServers:
    desk = Listing(
        server="desk", tools=(tool("find"), tool("book")), problems=(ToolProblem("move", "It has no inputSchema."),)
    )
    return ((replace(http_server("desk"), allowed_tools=allowed, disallowed_tools=disallowed), desk),)


def expected(*alternatives: tuple[str, ...], server: str | None = None) -> Expectation:
    return Expectation(tuple(tuple(ExpectedCall(tool=name, server=server) for name in names) for names in alternatives))


@pytest.mark.parametrize(
    ("expectation", "settings", "reason"),
    [
        (expected(("fnd",)), {}, "No server of the case has a tool named fnd. The nearest offered tool is find."),
        (
            expected(("fnd",), server="desk"),
            {},
            "The server desk has no tool named fnd. The nearest offered tool is find.",
        ),
        (
            expected(("find",), server="shop"),
            {},
            "The case does not offer the server shop. The nearest offered tool is find.",
        ),
        (
            expected(("move",)),
            {},
            "The tool move of desk was set aside: It has no inputSchema. The nearest offered tool is book.",
        ),
        (
            expected(("find",)),
            {"disallowed": ("find",)},
            "The settings of desk leave out the tool find. The nearest offered tool is book.",
        ),
        (
            expected(("find",)),
            {"allowed": ("book",)},
            "The settings of desk leave out the tool find. The nearest offered tool is book.",
        ),
    ],
)
def test_the_reason_names_the_cause_and_the_nearest_offered_tool(
    expectation: Expectation, settings: dict[str, tuple[str, ...]], reason: str
) -> None:
    assert why_not_asked(expectation, servers(**settings)) == reason


@pytest.mark.parametrize(
    "expectation",
    [
        expected(("find",)),
        expected(("find", "book")),
        expected(("gone",), ("find",)),
        expected(("gone",), ()),
        expected(("find",), server="desk"),
        Expectation(),
    ],
)
def test_one_acceptable_answer_with_all_of_its_tools_is_enough(expectation: Expectation) -> None:
    assert why_not_asked(expectation, servers()) is None


def test_an_answer_of_several_calls_needs_all_of_their_tools() -> None:
    assert why_not_asked(expected(("find", "gone"), ("lost",)), servers()) is not None
