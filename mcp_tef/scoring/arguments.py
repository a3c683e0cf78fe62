"""Whether arguments that somebody wrote by hand fit a tool's schema."""

from mcp_tef.model.json import JsonObject
from mcp_tef.model.tools import Tool
from mcp_tef.model.verdicts import ParameterFinding
from mcp_tef.scoring.findings import missing, of_fault
from mcp_tef.scoring.parameters import GivenCall
from mcp_tef.scoring.schema import SHELF


def argument_problems(tool: Tool, arguments: JsonObject) -> tuple[ParameterFinding, ...]:
    """What keeps arguments from being taken: those that the schema requires and that are missing, then those that
    break it."""
    given = GivenCall(tool.name, arguments, SHELF.get(tool.input_schema))
    absent = sorted(name for name in given.required if name not in given.arguments)
    return (
        *(missing((name,), None, "the schema requires it") for name in absent),
        *(of_fault(fault) for fault in given.report.faults),
    )
