"""Menu entries for filters, sort orders and commands."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenCommand(Command):
    """A command with its entry in the screen's context menu.

    Attributes:
        menu_text: text of the entry, or what returns the current one; without a text it is left out.
        menu_keys: keys that the entry shows because a list handles them; otherwise it shows those of the command.
        entries: several entries instead of one.
        icon, apart: as in `Action`.
    """

    menu_text: str | Callable[[], str] = ""
    menu_keys: str = ""
    entries: Callable[[], Sequence[Action]] = tuple
    icon: str = ""
    apart: bool = False


def menu_of(commands: Iterable[ScreenCommand]) -> list[Action]:
    """Return the context menu of a list of commands."""
    return [action for command in commands for action in (*command.entries(), *_entry(command))]


def _entry(command: ScreenCommand) -> Sequence[Action]:
    text = command.menu_text if isinstance(command.menu_text, str) else command.menu_text()
    if not text:
        return ()
    action = command_action(command, text, icon=command.icon, apart=command.apart)
    return (replace(action, keys=command.menu_keys or action.keys),)
