"""JSON shape of prompt templates."""

from mcp_tef.model.json import Json
from mcp_tef.model.prompt_templates import PromptTemplate


def prompt_to_json(template: PromptTemplate) -> dict[str, Json]:
    """Serialize one version of a template."""
    return {
        "name": template.name,
        "version": template.version,
        "kind": template.kind.value,
        "built_in": template.built_in,
        "text": template.text,
        "variables": dict(template.variables),
        "model": template.model or None,
        "note": template.note,
        "created_at": template.created_at.isoformat() if template.created_at else None,
    }
