"""Menu entries for filters, sort orders and commands."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from app.core_link.commands import Command
from app.screens.kit.filters import FilterField, FilterFields, FilterValues, SortOrder
from app.screens.kit.view_state import SortState, ViewState
from app.widgets import Action, one_line

MAX_NAME_LENGTH = 60


def filter_actions(
    fields: FilterFields[Any],
    values: FilterValues,
    show: Callable[[FilterValues], object],
    offered: Mapping[str, Sequence[str]] | None = None,
    show_all: str = "Show all",
) -> list[Action]:
    """Return an entry that clears all filters, then one group for each field, values in force checked.

    `offered` gives the values of fields that take them from the workspace, by field name.
    """
    clear = Action(text=show_all, do=partial(show, FilterValues()), enabled=len(values) > 0)
    groups = (_group(one, values, show, (offered or {}).get(one.name, ())) for one in fields.fields)
    return [clear, *(replace(action, apart=not place) for group in groups for place, action in enumerate(group))]


def _group(
    one: FilterField[Any], values: FilterValues, show: Callable[[FilterValues], object], offered: Sequence[str]
) -> list[Action]:
    known = tuple(one.texts) or tuple(offered)
    gone = tuple(value for value in values.of(one.name) if value not in known)
    return [
        Action(
            text=one_line(one.text(value), MAX_NAME_LENGTH),
            do=partial(show, one.toggled(values, value)),
            checked=value in values.of(one.name),
        )
        for value in (*gone, *known)
    ]


def sort_actions(orders: Sequence[SortOrder[Any]], name: str, show: Callable[[str], object]) -> list[Action]:
    """Return one entry for each order, the one in force checked; the first one if the name is unknown."""
    current = name if name in {order.name for order in orders} else orders[0].name
    return [
        Action(text=order.text, do=partial(show, order.name), checked=order.name == current, apart=not place)
        for place, order in enumerate(orders)
    ]


def command_action(command: Command, text: str = "", **looks: Any) -> Action:
    """Return a button or menu entry for a command; it is enabled if the command can run now.

    `text` replaces the command's text where the place says what it is about; `looks` are further fields of `Action`.
    """
    enabled = looks.pop("enabled", True) and command.needs()
    return Action(text=text or command.current_text, do=command.do, keys=command.keys, enabled=enabled, **looks)


def view_actions(
    fields: FilterFields[Any],
    orders: Sequence[SortOrder[Any]],
    view: ViewState,
    show: Callable[[ViewState], object],
    *,
    show_all: str = "Show all",
) -> list[Action]:
    """Return the filter and sort menu of one list; `show` gets the view state that follows from a choice."""
    return [
        *filter_actions(fields, view.filters, lambda filters: show(replace(view, filters=filters)), show_all=show_all),
        *sort_actions(orders, view.sort.name, lambda name: show(replace(view, sort=SortState(name)))),
    ]
