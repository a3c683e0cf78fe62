"""Mutants of a module: each with one small change of one node of its syntax tree."""

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from tests.support.source_modules import ROOT

SWAPPED: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Break: ast.Continue,
}


Change = Callable[[ast.AST], ast.AST]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one node of a module: where it is, and how it reads before and after."""

    file: str
    text: str
    function: str
    line: int
    before: str
    after: str
    place: int = 0
    change: Change = copy.copy
    constant: tuple[str, int] | None = None

    @property
    def key(self) -> str:
        """The change without its line, which moves."""
        return f"{self.file} {self.function}: {self.before} → {self.after}"

    def tree(self) -> ast.Module:
        """Return the module with the change."""
        tree = ast.parse(self.text)
        old = next(one for place, one in enumerate(ast.walk(tree)) if place == self.place)
        new = ast.copy_location(self.change(copy.deepcopy(old)), old)
        for parent in ast.walk(tree):
            for field, value in ast.iter_fields(parent):
                if value is old:
                    setattr(parent, field, new)
                elif isinstance(value, list):
                    setattr(parent, field, [new if one is old else one for one in value])
        return ast.fix_missing_locations(tree)


def mutants(file: str) -> Iterator[Mutant]:
    """Yield every mutant of a module, from top to bottom."""
    text = (ROOT / file).read_text("utf-8")
    tree = ast.parse(text)
    places = {id(node): place for place, node in enumerate(ast.walk(tree))}
    for holder, name in _functions(tree, ""):
        for node in (node for statement in holder.body for node in _changeable(statement)):
            for change in _changes(node):
                after = _said(change(copy.deepcopy(node)))
                line = getattr(node, "lineno", holder.lineno)
                yield Mutant(file, text, name, line, _said(node), after, places[id(node)], change)
    for one in tree.body:
        value = getattr(one, "value", None)
        if isinstance(one, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Constant) and type(value.value) is int:
            name = ast.unparse(one.targets[0] if isinstance(one, ast.Assign) else one.target)
            after = f"{name} = {value.value + 1}"
            yield Mutant(file, text, "", one.lineno, ast.unparse(one), after, constant=(name, value.value))


def _functions(node: ast.AST, above: str) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """Yield the outermost functions with their qualified names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child, above + child.name
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{above}{child.name}.")


def _changeable(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is in it, without annotations, decorators, defaults, docstrings and texts."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "defaults", "kw_defaults", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _changeable(child)


def _changes(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare():
            for place, one in enumerate(node.ops):
                if type(one) in SWAPPED:
                    yield lambda new, place=place: _swap_in(new, place)  # type: ignore[misc]
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign() if type(node.op) in SWAPPED:
            yield _swap
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield lambda new: new.operand  # type: ignore[attr-defined]
        case ast.Constant(value=bool()):
            yield lambda new: ast.Constant(not new.value)  # type: ignore[attr-defined]
        case ast.Constant(value=int() | float()):
            yield lambda new: ast.Constant(new.value + 1)  # type: ignore[attr-defined]
            yield lambda new: ast.Constant(new.value - 1)  # type: ignore[attr-defined]
        case _:
            yield from _changes_of_flow(node)


def _changes_of_flow(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If() | ast.IfExp() | ast.While() if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield _negate
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield lambda _: ast.Return(ast.Constant(None))
        case ast.Raise() | ast.Expr(value=ast.Call() | ast.Await()):
            yield lambda _: ast.Pass()
        case ast.Break():
            yield lambda _: ast.Continue()


def _swap(new: ast.AST) -> ast.AST:
    new.op = SWAPPED[type(new.op)]()  # type: ignore[attr-defined]
    return new


def _swap_in(new: ast.AST, place: int) -> ast.AST:
    new.ops[place] = SWAPPED[type(new.ops[place])]()  # type: ignore[attr-defined]
    return new


def _negate(new: ast.AST) -> ast.AST:
    new.test = ast.UnaryOp(ast.Not(), new.test)  # type: ignore[attr-defined]
    return new


def _said(node: ast.AST) -> str:
    return re.sub(r"\s+", " ", ast.unparse(node).partition("\n")[0])
