"""The bundled sample: a bicycle repair shop whose tools are partly easy to confuse, on purpose."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.resources import files
from typing import Any

from mcp_tef.errors import NotFoundError
from mcp_tef.model.json import JsonObject
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.servers.bundled_tools import BundledTools, text_block

_SUNDAY, _SATURDAY = 6, 5
_PAGE = 5
_CHANGEABLE = ("bike", "note", "loan_bike", "date")


class BikeShop(BundledTools):
    """Satisfies `ServedTools`. Descriptions are for models: some are good, some weak on purpose."""

    def __init__(self) -> None:
        super().__init__("sample")
        self._shop = Shop()

    async def reply(self, name: str, arguments: JsonObject) -> ToolReply:
        """Carry out a tool, whose parameters are those of the shop's method of that name; further ones are ignored."""
        schema = next(raw["inputSchema"] for raw in self.definitions if raw["name"] == name)
        known = {one: value for one, value in arguments.items() if one in schema["properties"]}
        answer = getattr(self._shop, name)(**known)
        parts = answer if isinstance(answer, list) else [answer]
        texts = (part if isinstance(part, str) else json.dumps(part, indent=2, ensure_ascii=False) for part in parts)
        return ToolReply(content=tuple(text_block(text) for text in texts))


class Shop:
    """One shop with its two branches as it is every morning; every change lives as long as this object."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any]] = _data("parts")
        self._bookings: list[dict[str, Any]] = _data("bookings")
        self._book: dict[str, Any] = _data("shop")
        self._orders: list[dict[str, Any]] = []

    def find_parts(
        self, query: str, category: str | None = None, max_price: float | None = None, limit: float = 10
    ) -> list[dict[str, Any]]:
        """Parts whose name has a word of the query, without their stock."""
        words = query.lower().split()
        named = (part for part in self._parts if any(word in part["name"].lower() for word in words))
        found = [
            {key: part[key] for key in ("number", "name", "category", "price")}
            for part in named
            if category in (None, part["category"]) and (max_price is None or part["price"] <= max_price)
        ]
        return found[: int(limit)]

    def check_stock(self, part_number: str, branch: str = "harbour") -> dict[str, Any]:
        """Pieces of a part on the shelf of a branch."""
        part = self._part(part_number)
        return {"part": part["name"], "branch": branch, "pieces": part["stock"][branch]}

    def search_catalogue(self, text: str, page: float = 1) -> dict[str, Any]:
        """One page of everything whose name, category or use has the text."""
        found = [part for part in self._parts if text.lower() in json.dumps(part).lower()]
        start = (int(page) - 1) * _PAGE
        return {"results": [part["name"] for part in found[start : start + _PAGE]], "total": len(found)}

    def order_part(self, part_number: str, quantity: float, deliver_to: Mapping[str, Any]) -> dict[str, Any]:
        """Note an order and give its price."""
        part = self._part(part_number)
        number = f"O-{500 + len(self._orders)}"
        order = {"order": number, "part": part["name"], "quantity": quantity, "to": deliver_to}
        self._orders.append(order)
        return order | {"price": round(part["price"] * quantity, 2)}

    def book_repair(
        self,
        customer: str,
        bike: str,
        work: Sequence[str],
        day: str,
        branch: str = "harbour",
        loan_bike: bool = False,
    ) -> dict[str, Any]:
        """Take in a new booking."""
        booking = {"id": f"R-{2041 + len(self._bookings)}", "status": "waiting", "note": ""}
        details = {"customer": customer, "bike": bike, "work": work, "date": day, "branch": branch}
        self._bookings.append(booking | details | {"loan_bike": loan_bike})
        return self._bookings[-1]

    def reschedule_repair(self, booking_id: str, new_day: str) -> dict[str, Any]:
        """Move a booking to another day."""
        return self.update_booking(booking_id, {"date": new_day})

    def update_booking(self, booking_id: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Change the named fields of a booking; null leaves a field as it is."""
        booking = self._booking(booking_id)
        booking.update({key: changes[key] for key in _CHANGEABLE if changes.get(key) is not None})
        return booking

    def cancel_repair(self, booking_id: str, reason: str = "") -> dict[str, Any]:
        """Cancel a booking."""
        booking = self._booking(booking_id)
        booking.update(status="cancelled", note=reason)
        return booking

    def repair_status(self, booking_id: str) -> dict[str, Any]:
        """The state of a repair."""
        booking = self._booking(booking_id)
        return {key: booking[key] for key in ("id", "bike", "status", "date", "branch")}

    def quote_repair(self, work: Sequence[str], bike_type: str, express: bool = False) -> dict[str, Any]:
        """Return the price of the work, and its duration."""
        jobs = [self._book["work"][item] for item in work]
        factor = self._book["surcharge"][bike_type] * (self._book["express"] if express else 1.0)
        price = round(sum(job["price"] for job in jobs) * factor, 2)
        return {"price": price, "minutes": sum(job["minutes"] for job in jobs)}

    def tyre_pressure(self, rider_weight_kg: float, tyre_width_mm: float, tubeless: bool = False) -> str:
        """Bar for one tyre: heavier riders and narrower tyres need more, tubeless tyres a tenth less."""
        bar = rider_weight_kg * 1.9 / tyre_width_mm
        return f"{round(bar * (0.9 if tubeless else 1.0), 1)} bar"

    def opening_hours(self, day: str, branch: str = "harbour") -> str:
        """Return the opening hours of a branch on a day."""
        hours = self._book["hours"][branch]
        kind = {_SATURDAY: "saturday", _SUNDAY: "sunday"}.get(date.fromisoformat(day).weekday(), "weekday")
        return f"{branch} on {day}: {hours[kind]}"

    def _part(self, number: str) -> dict[str, Any]:
        part = next((part for part in self._parts if part["number"] == number.strip().upper()), None)
        if part is None:
            raise NotFoundError(f"There is no part {number}.")
        return part

    def _booking(self, booking_id: str) -> dict[str, Any]:
        booking = next((item for item in self._bookings if item["id"] == booking_id.strip().upper()), None)
        if booking is None:
            raise NotFoundError(f"There is no booking {booking_id}.")
        return booking


def _data(name: str) -> Any:
    return json.loads(files("resources").joinpath("sample", f"{name}.json").read_text("utf-8"))
