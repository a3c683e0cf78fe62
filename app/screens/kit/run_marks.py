"""The three marks of a judged run as every screen draws them."""

from collections.abc import Mapping

from app.theme import Role
from app.widgets import Mark
from mcp_tef import RunMark

RUN_MARK_SHAPES: Mapping[RunMark, Mark] = {
    RunMark.CORRECT_CALL: Mark.CHECK,
    RunMark.WRONG_ARGUMENTS: Mark.TILDE,
    RunMark.WRONG: Mark.CROSS,
}
RUN_MARK_ROLES: Mapping[RunMark, Role] = {
    RunMark.CORRECT_CALL: Role.GOOD,
    RunMark.WRONG_ARGUMENTS: Role.WARN,
    RunMark.WRONG: Role.BAD,
}
