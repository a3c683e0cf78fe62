"""Filter, sort, search and view state of lists, shared by all screens; screens import this package and not each other.

A screen declares the properties of its list once, as fields and orders:

    FIELDS = FilterFields((
        FilterField(name="suite", label="Suite", fits=lambda row, value: value in row.suites),
        FilterField(name="last", texts=LAST_RUN_TEXTS, fits=lambda row, value: row.last == value),
    ))
    ORDERS = (SortOrder(name="name", text="Sort by name", key=lambda row: row.name.casefold()),)

- `filters`: the presenter applies them, without Qt: `FIELDS.fits(row, state.filters)`, `in_order(rows, ORDERS, name)`
  and `matches_all_words(text, state.text)`, which is the rule of every search field. Where the core filters, fields
  have no `fits`, and the presenter builds its `RunFilter` from `state.filters.of(name)`.
- `menus`: the page fills the filter menu with `filter_actions(...)` and `sort_actions(...)`, and a `ChipRow` with
  `FIELDS.chips(...)`; values of the workspace, such as suites, are passed as `offered`.
- `run_marks`: the marks of judged runs, for every screen that lists runs.
- `view_state`: the page loads a `ViewState` when it is built and saves it after each change:

    states = ViewStates(session.settings, session.workspace, "cases")
    presenter.view = states.load(FIELDS)
    states.save(presenter.view, FIELDS)

  A screen with several lists names each as a `part`. Views are saved per workspace, because the names of suites,
  servers and tools belong to one. Widths of columns and panes belong to the user: they stay under their own keys.
  `REPLACED_KEYS` maps the keys of earlier versions; a field has to be named as it is there.
"""

from app.screens.kit.filters import (
    NO_FILTERS,
    FilterChip,
    FilterField,
    FilterFields,
    FilterValues,
    SortOrder,
    in_order,
)
from app.screens.kit.view_state import SortState, ViewState, ViewStates
from app.text.formatting import matches_all_words

__all__ = [
    "NO_FILTERS",
    "FilterChip",
    "FilterField",
    "FilterFields",
    "FilterValues",
    "SortOrder",
    "SortState",
    "ViewState",
    "ViewStates",
    "in_order",
    "matches_all_words",
]
