"""Access to the core's reports, whose modules are loaded at the first use and not with the window."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_tef import AnalysisReports, Engine, RunReports


def run_reports(core: "Engine") -> "RunReports":
    """Return the reports about runs."""
    from mcp_tef import RunReports

    return RunReports(core)


def analysis_reports() -> "AnalysisReports":
    """Return the reports about tools."""
    from mcp_tef import AnalysisReports

    return AnalysisReports()
