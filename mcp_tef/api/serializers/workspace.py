"""Servers, their tools, tool calls and imports, and test cases, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_tef.model.cases import expectation_to_json, messages_to_json
from mcp_tef.model.json import fields_to_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mcp_tef.model.cases import TestCase
    from mcp_tef.model.comparison import Drift
    from mcp_tef.model.drafted_cases import CaseFinding, DraftedCases
    from mcp_tef.model.json import Json
    from mcp_tef.model.servers import Server, ServerSpec
    from mcp_tef.model.tool_calls import ToolCall
    from mcp_tef.model.tools import Listing
    from mcp_tef.model.transfer import (
        CaseImportPreview,
        DetectedConfig,
        ExportReport,
        ImportedItem,
        ImportedServer,
        ServerImportPreview,
    )


def server_check_to_json(server: Server) -> Json:
    """Serialize the result of `servers check`."""
    return fields_to_json(server, "name status reason latency_ms protocol")


def server_to_json(server: Server) -> Json:
    """Serialize a server; of secrets, only the names of the places that hold them."""
    spec = server.spec
    return {
        **server_check_to_json(server),
        "id": server.id,
        "transport": spec.transport.value,
        "url": spec.url and spec.address,
        **fields_to_json(spec, "command args cwd"),
        "env": sorted(spec.env),
        "headers": sorted(spec.headers),
        "auth": spec.auth_type.value.replace("_", "-"),
        "secret": spec.secret,
        **fields_to_json(spec.oauth, "client_id issuer"),
        "scopes": (spec.oauth.scope or "").split(),
        "private_key_file": spec.oauth.private_key_file,
        "tools_file": spec.path,
        "tools": server.tool_count,
        "problems": server.problem_count,
        **fields_to_json(server, "hint exit_code"),
        "stderr": server.stderr_tail,
        **fields_to_json(server, "last_connected_at"),
    }


def listing_to_json(listing: Listing) -> Json:
    """Serialize a listing: raw definitions, and the rejected ones with their reasons."""
    return {
        "server": listing.server,
        "instructions": listing.instructions or None,
        "tools": [dict(tool.raw) for tool in listing.tools],
        "problems": [fields_to_json(problem, "tool reason") for problem in listing.problems],
    }


def drift_to_json(server: str, drift: Drift | None) -> Json:
    """Serialize the definition changes that `servers accept` accepts."""
    return {
        "server": server,
        "tools": [
            {
                "tool": tool.name,
                "change": tool.change.change.value,
                "suspicions": [finding.sentence for finding in tool.findings],
                "diff": tool.change.diff,
            }
            for tool in (drift.tools if drift else ())
        ],
    }


def tool_call_to_json(call: ToolCall) -> Json:
    """Serialize a tool call that a user made."""
    from mcp_tef.model.tool_calls import ToolReply

    reply = call.reply or ToolReply()
    return {
        **fields_to_json(call, "id server tool arguments status asked_at duration_ms"),
        **fields_to_json(reply, "execution_time_ms is_error content structured cut"),
    }


def server_import_to_json(preview: ServerImportPreview) -> dict[str, Json]:
    """Serialize the preview of a server import."""
    from mcp_tef.model.transfer import ImportStatus

    named = {fate: [server.name for server in preview.of(fate)] for fate in ImportStatus}
    return {
        "source": preview.source,
        "format": preview.form.value,
        "added": named[ImportStatus.ADDED],
        "changed": named[ImportStatus.CHANGED],
        "unchanged": named[ImportStatus.UNCHANGED],
        "refused": [
            {"server": server.label, **fields_to_json(server, "place reason")}
            for server in preview.of(ImportStatus.REFUSED)
        ],
        "servers": [_imported_server_to_json(server, server.spec) for server in preview.servers if server.spec],
    }


def _imported_server_to_json(server: ImportedServer, spec: ServerSpec) -> Json:
    return {
        **fields_to_json(server, "name label place fate"),
        "transport": spec.transport.value,
        "url": spec.url and spec.address,
        "command": list(spec.argv) if spec.command else None,
        "cwd": spec.cwd,
        "env": sorted(spec.env),
        "headers": sorted(spec.headers),
        "changes": [fields_to_json(item, "field before after") for item in server.changes],
        "secrets": [fields_to_json(secret, "where variable") for secret in server.secrets],
        **fields_to_json(server, "needs notes"),
    }


def detected_config_to_json(config: DetectedConfig) -> Json:
    """Serialize a config file that was found, with the import that it would give."""
    found = (
        server_import_to_json(config.preview)
        if config.preview
        else {"source": config.path.name, "problem": config.problem}
    )
    return {"title": config.title, "path": str(config.path), **found}


def case_to_json(case: TestCase) -> Json:
    """Serialize a stored case."""
    return {
        "id": case.id,
        "name": case.name,
        "query": case.draft.query,
        "servers": list(case.draft.servers),
        "expected": expectation_to_json(case.draft.expectation),
        **fields_to_json(case.draft, "suites tags family"),
        "before": messages_to_json(case.draft.before) or [],
        "origin": case.draft.origin.value,
        **({"held_back": True} if case.draft.held_back else {}),
    }


def drafted_cases_to_json(found: DraftedCases) -> dict[str, Json]:
    """Serialize drafts of cases, in the shape of case files, with what was refused and what failed."""
    return {
        "drafts": [
            {
                "kind": one.kind.value,
                "server": one.server,
                "tool": one.tool or None,
                "look_alike": one.other or None,
                "query": one.draft.query,
                "expected": expectation_to_json(one.draft.expectation),
                "family": one.draft.family,
                "origin": one.draft.origin.value,
            }
            for one in found.drafts
        ],
        "refused": [fields_to_json(one, "query reason") for one in found.refused],
        "failures": [{"tool": tool, **fields_to_json(failure, "code message")} for tool, failure in found.failures],
        "left_out": [{"tool": tool, "reason": reason} for tool, reason in found.left_out],
        **fields_to_json(found, "tokens cost_usd"),
    }


def case_finding_to_json(finding: CaseFinding) -> dict[str, Json]:
    """Serialize a doubt about a case; `proposed` is an expectation, or None."""
    return {
        **fields_to_json(finding, "case name doubt sentence actions"),
        "proposed": expectation_to_json(finding.proposed) if finding.proposed else None,
    }


def import_items_to_json(items: Sequence[ImportedItem]) -> dict[str, Json]:
    """Serialize what an import adds, changes and leaves as it is."""
    from mcp_tef.model.transfer import ImportStatus

    named = {fate: [fields_to_json(one, "kind name") for one in items if one.fate is fate] for fate in ImportStatus}
    changes = {one: [fields_to_json(each, "field before after") for each in one.changes] for one in items}
    changed = [{**fields_to_json(one, "kind name"), "changes": found} for one, found in changes.items() if found]
    return {"added": named[ImportStatus.ADDED], "changed": changed, "unchanged": named[ImportStatus.UNCHANGED]}


def case_import_to_json(
    preview: CaseImportPreview, warnings: Sequence[tuple[str, str]], *, dry: bool
) -> dict[str, Json]:
    """Serialize the preview of a case import; `warnings` are pairs of a case and a message."""
    from mcp_tef.model.transfer import ImportStatus

    labels = {fate: [case.label for case in preview.of(fate)] for fate in ImportStatus}
    changes = [(case.label, change) for case in preview.cases for change in case.changes]
    refused = preview.of(ImportStatus.REFUSED)
    return {
        "format": preview.form.value,
        "dry_run": dry,
        "added": labels[ImportStatus.ADDED],
        "updated": labels[ImportStatus.CHANGED],
        "unchanged": labels[ImportStatus.UNCHANGED],
        "refused": [{"case": case.label, **fields_to_json(case, "place reason")} for case in refused],
        "changes": [{"case": label, **fields_to_json(change, "field before after")} for label, change in changes],
        "notes": [{"case": case.label, "message": note} for case in preview.cases for note in case.notes],
        "servers": [{"name": new.name, "file": str(new.path), "tools": len(new.tools)} for new in preview.servers],
        "warnings": [{"case": case, "message": message} for case, message in warnings],
    }


def case_export_to_json(file: Path, report: ExportReport) -> dict[str, Json]:
    """Serialize the report of a case export."""
    return {
        "file": str(file),
        "format": report.form.value,
        "cases": report.written,
        "left_out": [{"case": case, "reason": reason} for case, reason in report.left_out],
        "lost": [{"case": case, "message": message} for case, message in report.lost],
    }
