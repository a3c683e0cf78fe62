"""The screens of the window, each built when it is first needed."""

from collections.abc import Callable

from app.session import Page, Session
from app.window import Place


def places() -> list[Place]:
    """The screens, in the order of the navigation."""
    return [
        _place("servers", "Servers", "hard-drives", _servers),
        _place("cases", "Test cases", "check-square", _cases),
        _place("runs", "Runs", "play-circle", _runs),
        _place("metrics", "Metrics", "chart-bar", _metrics),
        _place("similarity", "Similarity", "grid-four", _similarity),
        _place("quality", "Quality", "medal", _quality),
    ]


def _place(key: str, title: str, icon: str, make: Callable[[Session], Page]) -> Place:
    return Place(key=key, title=title, icon=icon, make=make, module=f"app.screens.{key}.page")


def _servers(session: Session) -> Page:
    from app.screens.servers.page import ServersPage

    return ServersPage(session)


def _cases(session: Session) -> Page:
    from app.screens.cases.page import CasesPage

    return CasesPage(session)


def _runs(session: Session) -> Page:
    from app.screens.runs.page import RunsPage

    return RunsPage(session)


def _metrics(session: Session) -> Page:
    from app.screens.metrics.page import MetricsPage

    return MetricsPage(session)


def _similarity(session: Session) -> Page:
    from app.screens.similarity.page import SimilarityPage

    return SimilarityPage(session)


def _quality(session: Session) -> Page:
    from app.screens.quality.page import QualityPage

    return QualityPage(session)
