"""Qt widgets that every screen is built of; they know nothing of the domain."""

from app.widgets.accessibility import ReadingOrder, Spoken, describe, install_accessible_roles
from app.widgets.actions import (
    Action,
    Button,
    IconButton,
    Links,
    button,
    menu,
    press_focused,
    show_menu,
    show_menu_under,
)
from app.widgets.activity import Activities, ActivityBar
from app.widgets.bars import IntervalBar, ScaleMark, Segment, StackedBar
from app.widgets.cards import CardList, CardRow, ChoiceCard
from app.widgets.checkable_table import CheckableTable
from app.widgets.choices import MenuButton, Segmented, Tabs
from app.widgets.dialog import Dialog, ask
from app.widgets.fields import Field, FileDrops, GrowingEdit, LineEdit, SearchField, TextArea, set_wrong, undo_beyond
from app.widgets.incremental import IncrementalBuild, at_once, frozen_updates, in_turns, yield_to_ui
from app.widgets.layouts import clear_layout, column_layout, row_layout
from app.widgets.marks import Mark, MarkLabel, mark_pixmap
from app.widgets.navigation import MouseNavigation, Navigation
from app.widgets.notices import EmptyState, IconPicture, LoadingCover, Notice, Toaster
from app.widgets.page_header import PageHeader
from app.widgets.panes import DetailPane, FittingPane, KeyValues, ScrollPane, Section, Split
from app.widgets.picker import Picker, PickItem, PickPopup
from app.widgets.rows import Cell, CellKind, Column, Row
from app.widgets.safe_text import one_line, plain, tip, visible
from app.widgets.spans import Span, joined, marked
from app.widgets.table import ListTable
from app.widgets.text_view import FlowText, Label, LineText, Rule
from app.widgets.tokens_edit import TokensEdit

__all__ = [
    "Action", "Activities", "ActivityBar", "Button", "CardList", "CardRow", "Cell", "CellKind", "CheckableTable",
    "ChoiceCard", "Column", "DetailPane", "Dialog", "EmptyState", "Field", "FileDrops", "FittingPane", "FlowText",
    "GrowingEdit", "IconButton", "IconPicture", "IncrementalBuild", "IntervalBar", "KeyValues", "Label", "LineEdit",
    "LineText", "Links", "ListTable", "LoadingCover", "Mark", "MarkLabel", "MenuButton", "MouseNavigation",
    "Navigation", "Notice", "PageHeader", "PickItem", "PickPopup", "Picker", "ReadingOrder", "Row", "Rule",
    "ScaleMark", "ScrollPane", "SearchField", "Section", "Segment", "Segmented", "Span", "Split", "Spoken",
    "StackedBar", "Tabs", "TextArea", "Toaster", "TokensEdit", "ask", "at_once", "button", "clear_layout",
    "column_layout", "describe", "frozen_updates", "in_turns", "install_accessible_roles", "joined", "mark_pixmap",
    "marked", "menu", "one_line", "plain", "press_focused", "row_layout", "set_wrong", "show_menu", "show_menu_under",
    "tip", "undo_beyond", "visible", "yield_to_ui",
]  # fmt: skip
