"""View states: search, filters, sort order and selection of a screen's lists, saved per workspace; knows no Qt."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.core_link.settings import VIEW_STATE, Settings
from app.screens.kit.filters import NO_FILTERS, FilterFields, FilterValues

MAIN: Final = "list"


@dataclass(frozen=True, slots=True)
class SortState:
    """Name of the sort order or column in force; "" for the screen's default."""

    name: str = ""
    descending: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewState:
    """State of one list of a screen.

    Attributes:
        text: query in the search field.
        filters: filters in force.
        sort: sort order in force.
        selected: id of the current row; "" for none.
        modes: other choices of the view by name, such as the visible tab.
    """

    text: str = ""
    filters: FilterValues = NO_FILTERS
    sort: SortState = field(default_factory=SortState)
    selected: str = ""
    modes: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return what differs from the default, as JSON values."""
        values = {
            "text": self.text.strip(),
            "filters": {name: list(kept) for name, kept in self.filters.by_field.items()},
            "sort": self.sort.name,
            "descending": self.sort.descending,
            "selected": self.selected,
            "modes": dict(self.modes),
        }
        return {name: value for name, value in values.items() if value}


def view_state_of(saved: Mapping[str, Any]) -> ViewState:
    """Read a saved view state; values of another type are left out, because the file can be edited by anyone."""
    filters = saved.get("filters")
    modes = saved.get("modes")
    lists = filters.items() if isinstance(filters, dict) else ()
    return ViewState(
        text=_text(saved.get("text")),
        filters=FilterValues({name: texts for name, kept in lists if (texts := _texts(kept))}),
        sort=SortState(_text(saved.get("sort")), saved.get("descending") is True),
        selected=_text(saved.get("selected")),
        modes=dict(item for item in modes.items() if isinstance(item[1], str)) if isinstance(modes, dict) else {},
    )


class ViewStates:
    """The view states of one screen in one workspace, kept in the setting "<screen>.view_state"."""

    def __init__(self, settings: Settings, workspace: str, screen: str) -> None:
        self._settings = settings
        self._workspace = workspace
        self._key = f"{screen}{VIEW_STATE}"
        replaced = [one for one in REPLACED_KEYS if one.screen == screen]
        old = {key: settings.take(key) for key in dict.fromkeys(one.key for one in replaced)}
        for one in replaced:
            self._take_over(one, old[one.key])

    def load(self, fields: FilterFields[Any] | None = None, part: str = MAIN) -> ViewState:
        """Return the saved state of a list, with the filters that its fields still know."""
        saved = self._settings.workspace_value(self._key, self._workspace).get(part)
        state = view_state_of(saved if isinstance(saved, dict) else {})
        return replace(state, filters=fields.known(state.filters)) if fields else state

    def save(self, state: ViewState, fields: FilterFields[Any] | None = None, part: str = MAIN) -> None:
        """Save the state of a list; filters that only a link sets are left out."""
        kept = replace(state, filters=fields.known(state.filters)) if fields else state
        parts = self._settings.workspace_value(self._key, self._workspace)
        self._settings.set_workspace_value(self._key, self._workspace, {**parts, part: kept.to_json()})

    def _take_over(self, replaced: "ReplacedKey", old: Any) -> None:
        for workspace, values in replaced.read(old, self._workspace) if old is not None else ():
            parts = self._settings.workspace_value(self._key, workspace)
            known = parts.get(replaced.part)
            merged = _merged(known if isinstance(known, dict) else {}, values)
            self._settings.set_workspace_value(self._key, workspace, {**parts, replaced.part: merged})


# ---------------------------------------------------------------- settings of earlier versions

Saved = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReplacedKey:
    """A settings key of earlier versions; `read` gives (workspace, part of a saved view state) for its value."""

    key: str
    screen: str
    read: Callable[[Any, str], list[tuple[str, Saved]]]
    part: str = MAIN


def _as(convert: Callable[[Any], Saved]) -> Callable[[Any, str], list[tuple[str, Saved]]]:
    """Read a value that was saved for all workspaces: it goes to the one that is opened first."""
    return lambda old, workspace: [(workspace, convert(old))]


def _filters(old: Any) -> Saved:
    """Read filters as `{name: text, list or flag}`, with the sort order among them."""
    values = old if isinstance(old, dict) else {}
    named = {name: _listed(value) for name, value in values.items() if name not in ("order", "text", "batches")}
    order = _text(values.get("order"))
    return {"filters": {name: kept for name, kept in named.items() if kept}, **({"sort": order} if order else {})}


def _listed(value: object) -> list[str]:
    if value is True:
        return ["yes"]
    return list(_texts(value if isinstance(value, list) else [value]))


def _level(old: Any) -> Saved:
    server, level = old if isinstance(old, list) and len(old) == 2 else ("", "")
    return _filters({"server": server, "level": level})


def _runs(part: str) -> Callable[[Any, str], list[tuple[str, Saved]]]:
    """Read filters of runs, which were kept by workspace; the query of the batch list stood among them."""

    def read(old: Any, _workspace: str) -> list[tuple[str, Saved]]:
        found: list[tuple[str, Saved]] = []
        for one in old if isinstance(old, list) else ():
            match one:
                case [str(workspace), dict(values)]:
                    batches = {"text": _text(values.get("batches"))}
                    runs = {"text": _text(values.get("text")), **_filters(values)}
                    found.append((workspace, batches if part == "batches" else runs))
        return found

    return read


REPLACED_KEYS: Final = (
    ReplacedKey("cases.search", "cases", _as(lambda old: {"text": old})),
    ReplacedKey("cases.filters", "cases", _as(_filters)),
    ReplacedKey("runs.narrowed", "runs", _runs("list")),
    ReplacedKey("runs.narrowed", "runs", _runs("batches"), "batches"),
    ReplacedKey("runs.batches", "runs", _as(lambda old: {"sort": old}), "batches"),
    ReplacedKey("servers.search", "servers", _as(lambda old: {"text": old})),
    ReplacedKey("servers.shown", "servers", _as(_filters)),
    ReplacedKey("servers.chosen", "servers", _as(lambda old: {"selected": old})),
    ReplacedKey("servers.tools_shown", "servers", _as(_filters), "tools"),
    ReplacedKey("servers.parameters_shown", "servers", _as(_filters), "parameters"),
    ReplacedKey("servers.calls_shown", "servers", _as(_filters), "calls"),
    ReplacedKey("metrics.search", "metrics", _as(lambda old: {"text": old})),
    ReplacedKey("metrics.filters", "metrics", _as(_filters)),
    ReplacedKey("metrics.view", "metrics", _as(lambda old: {"modes": {"view": old}})),
    ReplacedKey("quality.search", "quality", _as(lambda old: {"text": old})),
    ReplacedKey("quality.filters", "quality", _as(_level)),
    ReplacedKey("quality.chosen", "quality", _as(lambda old: {"selected": old})),
    ReplacedKey("similarity.search", "similarity", _as(lambda old: {"text": old})),
    ReplacedKey("similarity.view", "similarity", _as(lambda old: {"modes": {"view": old}})),
    ReplacedKey("similarity.kind", "similarity", _as(lambda old: {"modes": {"kind": old}})),
    ReplacedKey("similarity.pair", "similarity", _as(lambda old: {"modes": {"pair": "yes" if old else "no"}})),
    ReplacedKey("similarity.servers", "similarity", _as(lambda old: {"filters": {"servers": _listed(old)}})),
)
"""Keys that earlier versions saved, with the place of their values now."""


def _merged(known: Saved, values: Saved) -> Saved:
    filters = {**known.get("filters", {}), **values.get("filters", {})}
    modes = {**known.get("modes", {}), **values.get("modes", {})}
    return {**known, **values, "filters": filters, "modes": modes}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(values: object) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str) and value) if isinstance(values, list) else ()
