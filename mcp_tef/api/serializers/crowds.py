"""JSON shapes of crowd tests and steal tests."""

from dataclasses import asdict

from mcp_tef.model.crowds import CrowdResult, RetrievalPoint, StealResult
from mcp_tef.model.json import Json


def crowd_to_json(result: CrowdResult, retrieval: tuple[RetrievalPoint, ...] = ()) -> dict[str, Json]:
    """Serialize a crowd test, with the line of the retrieval."""
    kind = {"kind": result.kind.value}
    points: list[Json] = [asdict(one) | kind for one in result.points]
    losses: list[Json] = [{**asdict(one), "value": one.high} for one in result.lost_at]
    return {
        "batch": result.batch_id,
        "status": result.status.value,
        **kind,
        "crowds": result.crowds,
        "cases": result.cases,
        "points": points,
        "lost_at": losses,
        "order": [asdict(one) for one in result.order],
        "silence": [asdict(one) for one in result.silence],
        "selected_instead": [asdict(one) for one in result.picks],
        "retrieval": [_retrieval(one) for one in retrieval],
        "calls": result.calls,
        "planned_calls": result.planned_calls,
        "cost_usd": result.cost_usd,
        "seed": result.seed,
        "sentence": result.sentence,
    }


def _retrieval(point: RetrievalPoint) -> dict[str, Json]:
    recall = {str(most): share for most, share in point.recall}
    return {"strangers": point.strangers, "recall": recall, "silent": point.silent}


def steal_to_json(result: StealResult) -> dict[str, Json]:
    """Serialize a steal test. `matrix` holds by tool how often each tool of the new server was selected instead."""
    tools: list[Json] = [
        asdict(one) | {"takers": [{"tool": tool, "times": times} for tool, times in one.takers]} for one in result.tools
    ]
    return {
        "batch": result.batch_id,
        "status": result.status.value,
        "server": result.server,
        "among": list(result.among),
        "model": result.model,
        "margin": 100 * result.margin,
        "worse": [f"{one.server} / {one.tool}" for one in result.tools if one.worse],
        "tools": tools,
        "matrix": {f"{one.server} / {one.tool}": dict(one.takers) for one in result.tools},
        "unknown": list(result.unknown),
        "left_out": result.left_out,
        "calls": result.calls,
        "planned_calls": result.planned_calls,
        "cost_usd": result.cost_usd,
        "seed": result.seed,
        "sentence": result.sentence,
    }
