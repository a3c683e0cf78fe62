"""The form for asking a model for its opinion: of which tools, beside who is asked."""

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from app.core_link.model_requests import AskForm
from app.core_link.session import Session
from app.dialogs.model_request import AskedFor, ModelSheet
from app.screens.quality.asking import Asking
from app.text.formatting import count
from app.widgets import Field, Segmented
from mcp_tef import ToolQuality

WHAT = (
    "A model reads each definition, grades its clarity, completeness and conciseness, and suggests a description. "
    "That is an opinion beside the findings; the score stays as it is."
)
Scopes = Sequence[tuple[str, Sequence[ToolQuality]]]


class AskSheet(ModelSheet):
    """`tools` are those that were chosen to be asked about."""

    def __init__(self, session: Session, asking: Asking, form: AskForm, scopes: Scopes, parent: QWidget) -> None:
        self._scopes = tuple((name, tuple(tools)) for name, tools in scopes)
        self.scope = Segmented([(str(n), name) for n, (name, _) in enumerate(self._scopes)], "Tools")
        wanted = AskedFor(
            title="Ask a model",
            what=WHAT,
            button=lambda: f"Ask about {count(len(self.tools()), 'tool')}",
            cost=lambda model: asking.estimate(self.tools(), model),
        )
        super().__init__(session, asking, form, wanted, parent, [Field("Tools", self.scope)])
        self.scope.changed.connect(lambda _: self.look_again())

    def tools(self) -> tuple[ToolQuality, ...]:
        """The tools of the chosen scope."""
        return self._scopes[int(self.scope.current())][1]
