"""The list of servers shows what is wanted, in the wanted order, and remembers both."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.screens.servers.filters import Order, Shown, narrowing_actions, shown_of
from mcp_tef import Server, ServerId, ServerSpec, ServerStatus, Transport

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def server(name: str, kind: Transport, status: ServerStatus, tools: int | None, minutes: int | None) -> Server:
    return Server(
        id=ServerId(name),
        spec=ServerSpec(name=name, transport=kind),
        status=status,
        tool_count=tools,
        last_connected_at=None if minutes is None else NOW - timedelta(minutes=minutes),
        created_at=NOW,
        updated_at=NOW,
    )


ALL = (
    server("beta", Transport.STDIO, ServerStatus.ACTIVE, 7, 1),
    server("Alpha", Transport.FILE, ServerStatus.ACTIVE, 2, 5),
    server("delta", Transport.STDIO, ServerStatus.FAILED, None, None),
)


def names(shown: Shown) -> list[str]:
    return [one.name for one in shown.sorted(one for one in ALL if shown.fits(one, changed=one.name == "beta"))]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (Shown(), ["Alpha", "beta", "delta"]),
        (Shown(state=ServerStatus.FAILED), ["delta"]),
        (Shown(kind=Transport.STDIO), ["beta", "delta"]),
        (Shown(kind=Transport.STDIO, state=ServerStatus.ACTIVE), ["beta"]),
        (Shown(changed=True), ["beta"]),
        (Shown(order=Order.STATE), ["delta", "Alpha", "beta"]),
        (Shown(order=Order.TOOLS), ["beta", "Alpha", "delta"]),
        (Shown(order=Order.SEEN), ["beta", "Alpha", "delta"]),
    ],
)
def test_it_shows_what_fits_in_order(shown: Shown, expected: list[str]) -> None:
    assert names(shown) == expected


def test_what_was_chosen_is_there_again_and_nonsense_is_not() -> None:
    shown = Shown(ServerStatus.FAILED, Transport.FILE, changed=True, order=Order.SEEN)
    assert shown_of(shown.to_keep()) == shown
    assert shown_of({"state": 7, "kind": "pigeon", "changed": "yes", "order": None}) == Shown()


def test_a_second_click_takes_a_filter_away_and_the_order_stays() -> None:
    told: list[Shown] = []
    now = Shown(state=ServerStatus.FAILED, order=Order.TOOLS)
    actions = {action.text: action for action in narrowing_actions(now, told.append)}
    assert [text for text, action in actions.items() if action.checked] == ["Failed", "Sort by tools, most first"]
    actions["Failed"].do()
    actions["Show all servers"].do()
    actions["Tools files"].do()
    assert told == [Shown(order=Order.TOOLS), Shown(order=Order.TOOLS), replace(now, kind=Transport.FILE)]
