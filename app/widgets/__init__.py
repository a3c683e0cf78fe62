"""Qt parts that every screen is built of; they know no word of the trade."""

from app.widgets.actions import Action, Button, IconButton, button, menu, show_menu, show_menu_under
from app.widgets.activity import Activities, ActivityBar
from app.widgets.bars import IntervalBar, ScaleMark, Segment, StackedBar
from app.widgets.cards import ChoiceCard
from app.widgets.cells import Cell, CellKind, Column, Row
from app.widgets.choices import MenuButton, Segmented, Tabs
from app.widgets.drops import FileDrops
from app.widgets.fields import Field, JsonEdit, SearchField, TextArea, set_wrong
from app.widgets.fitting import FittingPane
from app.widgets.flow import FlowText
from app.widgets.focus import ReadingOrder
from app.widgets.label import Label, LineText, Rule
from app.widgets.links import Links
from app.widgets.marks import Mark, MarkLabel, mark_pixmap
from app.widgets.mouse_ways import MouseWays
from app.widgets.navigation import Navigation
from app.widgets.notices import EmptyState, IconPicture, Notice, Toaster, clear_layout
from app.widgets.page_header import PageHeader
from app.widgets.panes import DetailPane, KeyValues, ScrollPane, Section
from app.widgets.picker import Picker, PickItem, PickPopup
from app.widgets.plain import one_line, plain, tip, visible
from app.widgets.rail import RailList, RailRow
from app.widgets.sheets import Sheet, ask
from app.widgets.span_line import SpanLine
from app.widgets.spans import Span, joined, marked
from app.widgets.split import Split
from app.widgets.spoken import Spoken, describe, tell_roles
from app.widgets.table import ListTable
from app.widgets.text_edit import GrowingEdit, LineEdit, undo_beyond
from app.widgets.ticks import TickTable
from app.widgets.tokens_edit import TokensEdit
from app.widgets.turns import Making, at_once, breath, held, in_turns

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
