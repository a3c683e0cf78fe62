"""The form for asking a model to rewrite descriptions."""

from PySide6.QtWidgets import QWidget

from app.core_link.model_requests import AskForm
from app.core_link.session import Session
from app.dialogs.model_request import AskedFor, ModelSheet
from app.screens.similarity.asking import Asking, Pairs
from app.text.formatting import count

WHAT = (
    "A model reads both definitions and what makes them hard to tell apart, and writes new descriptions. Nothing is "
    "changed on any server: you copy or save what you like."
)


def ask_sheet(session: Session, asking: Asking, pairs: Pairs, form: AskForm, parent: QWidget) -> ModelSheet:
    """The form, about these pairs."""
    wanted = AskedFor(
        title="Ask a model for descriptions",
        what=WHAT,
        button=lambda: f"Ask about {count(len(pairs), 'pair')}",
        cost=lambda model: asking.estimate(pairs, model),
    )
    return ModelSheet(session, asking, form, wanted, parent)
