"""Filters and sort orders of a list, declared as fields; knows no Qt."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class FilterValues:
    """Filters in force: the values set for each field, by its name. Fields without a value are absent."""

    by_field: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.by_field.values()))

    def of(self, name: str) -> tuple[str, ...]:
        """Return the values of a field."""
        return self.by_field.get(name, ())

    def first(self, name: str) -> str:
        """Return the value of a field that has at most one; "" if none is set."""
        return next(iter(self.of(name)), "")

    def with_values(self, name: str, *values: str) -> "FilterValues":
        """Return these filters with the field set to exactly these values; none clears it."""
        others = {key: kept for key, kept in self.by_field.items() if key != name}
        return FilterValues({**others, name: values} if values else others)

    def without(self, name: str, value: str) -> "FilterValues":
        """Return these filters without one value."""
        return self.with_values(name, *(kept for kept in self.of(name) if kept != value))


NO_FILTERS = FilterValues()


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterField(Generic[Item]):
    """A property by which a list can be filtered.

    Attributes:
        name: key in `FilterValues` and in the saved view state.
        label: noun before the value in menus and chips ("Suite: Smoke"); "" if the value's text is enough.
        texts: text of each value that can be set, in the menu's order; empty if the values come from the workspace.
        fits: return True if an item has the value; None if the core filters.
        many: more than one value can be set; an item then needs any of them.
        excludes: names of fields that are cleared when this one is set.
        saved: False for what only a link from another screen sets.
    """

    name: str
    label: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    fits: Callable[[Item, str], bool] | None = None
    many: bool = False
    excludes: tuple[str, ...] = ()
    saved: bool = True

    def text(self, value: str) -> str:
        """Return a value as menus and chips show it."""
        text = self.texts.get(value, value)
        return f"{self.label}: {text}" if self.label else text

    def toggled(self, values: FilterValues, value: str) -> FilterValues:
        """Set a value, or clear it if it is set; a field with one value replaces the other."""
        if value in values.of(self.name):
            return values.without(self.name, value)
        for name in self.excludes:
            values = values.with_values(name)
        return values.with_values(self.name, *(values.of(self.name) if self.many else ()), value)


@dataclass(frozen=True, slots=True)
class FilterChip:
    """One value in force, as a chip that removes it; `key` names the chip in a `ChipRow`."""

    name: str
    value: str
    text: str

    @property
    def key(self) -> str:
        """Return field and value as one string."""
        return f"{self.name}\n{self.value}"


@dataclass(frozen=True, slots=True)
class FilterFields(Generic[Item]):
    """The fields of one list, in the order of menus and chips."""

    fields: Sequence[FilterField[Item]]

    def fits(self, item: Item, values: FilterValues) -> bool:
        """Return True if an item passes every filter in force."""
        return all(
            any(one.fits(item, value) for value in values.of(one.name))
            for one in self.fields
            if one.fits is not None and values.of(one.name)
        )

    def chips(self, values: FilterValues) -> tuple[FilterChip, ...]:
        """Return one chip for each value in force."""
        return tuple(
            FilterChip(one.name, value, one.text(value)) for one in self.fields for value in values.of(one.name)
        )

    def without_chip(self, values: FilterValues, key: str) -> FilterValues:
        """Return the filters without the value of a chip."""
        name, _, value = key.partition("\n")
        return values.without(name, value)

    def known(self, values: FilterValues) -> FilterValues:
        """Return the values that can be set today and are saved: a field or a value may be gone since."""
        kept = NO_FILTERS
        for one in (one for one in self.fields if one.saved):
            found = tuple(value for value in values.of(one.name) if not one.texts or value in one.texts)
            kept = kept.with_values(one.name, *(found if one.many else found[:1]))
        return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class SortOrder(Generic[Item]):
    """One entry of a sort menu; without a `key` the given order stays."""

    name: str
    text: str
    key: Callable[[Item], Any] | None = None
    descending: bool = False


def in_order(items: Iterable[Item], orders: Sequence[SortOrder[Item]], name: str) -> list[Item]:
    """Sort items by the order of this name, or by the first order if there is none; equal items keep their places."""
    order = next((order for order in orders if order.name == name), orders[0])
    listed = list(items)
    if order.key is not None:
        listed.sort(key=order.key, reverse=order.descending)
    elif order.descending:
        listed.reverse()
    return listed
