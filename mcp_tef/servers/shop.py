"""The bicycle repair shop behind the sample server: its shelves, its bookings, its prices, all in memory."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.resources import files
from typing import Any

_SUNDAY, _SATURDAY = 6, 5
_PAGE = 5


class ShopError(Exception):
    """What a customer would be told across the counter."""


@dataclass(slots=True)
class Shop:
    """One shop with its two branches; every change lives as long as this object."""

    parts: list[dict[str, Any]]
    bookings: list[dict[str, Any]]
    book: dict[str, Any]
    orders: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def open(cls) -> "Shop":
        """The shop as it is every morning."""
        return cls(_data("parts"), _data("bookings"), _data("shop"))

    def find_parts(self, query: str, category: str | None, max_price: float | None, limit: int) -> list[dict[str, Any]]:
        """Parts whose name has a word of the query, without their stock."""
        words = query.lower().split()
        found = [
            part
            for part in self.parts
            if (category is None or part["category"] == category)
            and (max_price is None or part["price"] <= max_price)
            and any(word in part["name"].lower() for word in words)
        ]
        return [{key: part[key] for key in ("number", "name", "category", "price")} for part in found[:limit]]

    def part(self, number: str) -> dict[str, Any]:
        """One part by its number."""
        part = next((part for part in self.parts if part["number"] == number.strip().upper()), None)
        if part is None:
            raise ShopError(f"There is no part {number}.")
        return part

    def page(self, text: str, page: int) -> dict[str, Any]:
        """One page of everything whose name, category or use has the text."""
        found = [part for part in self.parts if text.lower() in json.dumps(part).lower()]
        start = (page - 1) * _PAGE
        return {"results": [part["name"] for part in found[start : start + _PAGE]], "total": len(found)}

    def order(self, number: str, quantity: int, address: dict[str, Any]) -> dict[str, Any]:
        """Note an order and give its price."""
        part = self.part(number)
        order = {"order": f"O-{500 + len(self.orders)}", "part": part["name"], "quantity": quantity, "to": address}
        self.orders.append(order)
        return order | {"price": round(part["price"] * quantity, 2)}

    def booking(self, booking_id: str) -> dict[str, Any]:
        """One booking by its id."""
        booking = next((item for item in self.bookings if item["id"] == booking_id.strip().upper()), None)
        if booking is None:
            raise ShopError(f"There is no booking {booking_id}.")
        return booking

    def add_booking(self, **details: Any) -> dict[str, Any]:
        """Take in a new booking."""
        booking = {"id": f"R-{2041 + len(self.bookings)}", "status": "waiting", "note": ""} | details
        self.bookings.append(booking)
        return booking

    def change_booking(self, booking_id: str, changes: dict[str, Any]) -> dict[str, Any]:
        """Change the named fields of a booking; None leaves a field as it is."""
        booking = self.booking(booking_id)
        booking.update({key: value for key, value in changes.items() if value is not None})
        return booking

    def quote(self, work: Sequence[str], bike_type: str, express: bool) -> dict[str, Any]:
        """What the work costs, and how long it takes."""
        jobs = [self.book["work"][item] for item in work]
        factor = self.book["surcharge"][bike_type] * (self.book["express"] if express else 1.0)
        price = round(sum(job["price"] for job in jobs) * factor, 2)
        return {"price": price, "minutes": sum(job["minutes"] for job in jobs)}

    def hours(self, branch: str, day: date) -> str:
        """When a branch is open on a day."""
        hours = self.book["hours"][branch]
        kind = {_SATURDAY: "saturday", _SUNDAY: "sunday"}.get(day.weekday(), "weekday")
        return f"{branch} on {day.isoformat()}: {hours[kind]}"


def tyre_pressure(rider_kg: float, width_mm: int, tubeless: bool) -> float:
    """Bar for one tyre: heavier riders and narrower tyres need more, tubeless tyres a tenth less."""
    bar = rider_kg * 1.9 / width_mm
    return round(bar * (0.9 if tubeless else 1.0), 1)


def _data(name: str) -> Any:
    return json.loads(files("resources").joinpath("sample", f"{name}.json").read_text("utf-8"))
