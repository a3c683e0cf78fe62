"""Qt parts that every screen is built of; they know no word of the trade."""

from app.widgets.actions import Action, Button, IconButton, button, menu, show_menu
from app.widgets.activity import ActivityBar
from app.widgets.bars import IntervalBar, ScaleMark, Segment, StackedBar
from app.widgets.cards import ChoiceCard
from app.widgets.cells import Cell, CellKind, Column, Row
from app.widgets.choices import MenuButton, Segmented, Tabs
from app.widgets.drops import FileDrops
from app.widgets.fields import Field, JsonEdit, SearchField, TextArea, set_wrong
from app.widgets.fitting import FittingPane
from app.widgets.flow import FlowText
from app.widgets.focus import put_before
from app.widgets.label import Label, LineText, Rule
from app.widgets.marks import Mark, MarkLabel, mark_pixmap
from app.widgets.navigation import Navigation
from app.widgets.notices import EmptyState, IconPicture, Notice, Toaster, clear_layout
from app.widgets.page_header import PageHeader
from app.widgets.panes import DetailPane, KeyValues, ScrollPane, Section, Split
from app.widgets.picker import Picker, PickItem, PickPopup
from app.widgets.plain import one_line, plain, tip, visible
from app.widgets.rail import RailList, RailRow
from app.widgets.sheets import Sheet, ask
from app.widgets.span_line import SpanLine
from app.widgets.spans import Span, joined, marked
from app.widgets.table import ListTable
from app.widgets.text_edit import GrowingEdit, LineEdit, undo_beyond
from app.widgets.ticks import TickTable
from app.widgets.tokens_edit import TokensEdit

__all__ = [
    "Action",
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
    "ListTable",
    "Mark",
    "MarkLabel",
    "MenuButton",
    "Navigation",
    "Notice",
    "PageHeader",
    "PickItem",
    "PickPopup",
    "Picker",
    "RailList",
    "RailRow",
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
    "StackedBar",
    "Tabs",
    "TextArea",
    "TickTable",
    "Toaster",
    "TokensEdit",
    "ask",
    "button",
    "clear_layout",
    "joined",
    "mark_pixmap",
    "marked",
    "menu",
    "one_line",
    "plain",
    "put_before",
    "set_wrong",
    "show_menu",
    "tip",
    "undo_beyond",
    "visible",
]
