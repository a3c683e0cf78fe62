"""Qt widgets that every screen is built of; they know nothing of the domain."""

from app.widgets.accessibility import Spoken, describe, tell_roles
from app.widgets.actions import Action, Button, IconButton, Links, button, menu, show_menu, show_menu_under
from app.widgets.activity import Activities, ActivityBar
from app.widgets.bars import IntervalBar, ScaleMark, Segment, StackedBar
from app.widgets.card_list import RailList, RailRow
from app.widgets.cards import ChoiceCard
from app.widgets.cells import Cell, CellKind, Column, Row
from app.widgets.checkable_table import TickTable
from app.widgets.choices import MenuButton, Segmented, Tabs
from app.widgets.dialog import Sheet, ask
from app.widgets.fields import Field, JsonEdit, SearchField, TextArea, set_wrong
from app.widgets.file_drop import FileDrops
from app.widgets.incremental import Making, at_once, breath, held, in_turns
from app.widgets.keyboard_and_mouse import MouseWays, ReadingOrder
from app.widgets.label import Label, LineText, Rule, SpanLine
from app.widgets.marks import Mark, MarkLabel, mark_pixmap
from app.widgets.navigation import Navigation
from app.widgets.notices import EmptyState, IconPicture, Notice, Toaster, clear_layout
from app.widgets.page_header import PageHeader
from app.widgets.panes import DetailPane, FittingPane, KeyValues, ScrollPane, Section
from app.widgets.picker import Picker, PickItem, PickPopup
from app.widgets.safe_text import one_line, plain, tip, visible
from app.widgets.spans import Span, joined, marked
from app.widgets.split import Split
from app.widgets.table import ListTable
from app.widgets.text_edit import GrowingEdit, LineEdit, undo_beyond
from app.widgets.text_view import FlowText
from app.widgets.tokens_edit import TokensEdit

__all__ = [
    "Action",
    "Activities",
    "ActivityBar",
    "Button",
    "Cell",
    "CellKind",
    "ChoiceCard",
    "Column",
    "DetailPane",
    "EmptyState",
    "Field",
    "FileDrops",
    "FittingPane",
    "FlowText",
    "GrowingEdit",
    "IconButton",
    "IconPicture",
    "IntervalBar",
    "JsonEdit",
    "KeyValues",
    "Label",
    "LineEdit",
    "LineText",
    "Links",
    "ListTable",
    "Making",
    "Mark",
    "MarkLabel",
    "MenuButton",
    "MouseWays",
    "Navigation",
    "Notice",
    "PageHeader",
    "PickItem",
    "PickPopup",
    "Picker",
    "RailList",
    "RailRow",
    "ReadingOrder",
    "Row",
    "Rule",
    "ScaleMark",
    "ScrollPane",
    "SearchField",
    "Section",
    "Segment",
    "Segmented",
    "Sheet",
    "Span",
    "SpanLine",
    "Split",
    "Spoken",
    "StackedBar",
    "Tabs",
    "TextArea",
    "TickTable",
    "Toaster",
    "TokensEdit",
    "ask",
    "at_once",
    "breath",
    "button",
    "clear_layout",
    "describe",
    "held",
    "in_turns",
    "joined",
    "mark_pixmap",
    "marked",
    "menu",
    "one_line",
    "plain",
    "set_wrong",
    "show_menu",
    "show_menu_under",
    "tell_roles",
    "tip",
    "undo_beyond",
    "visible",
]
