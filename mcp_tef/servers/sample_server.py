"""The bundled sample server: a bicycle repair shop whose tools are partly easy to confuse, on purpose."""

import asyncio
import contextlib
import functools
import json
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.resources import files
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

_SUNDAY, _SATURDAY = 6, 5
_PAGE = 5


class ShopError(Exception):
    """Refusal of the shop, as a sentence for the customer."""


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
        named = (part for part in self.parts if any(word in part["name"].lower() for word in words))
        found = [
            {key: part[key] for key in ("number", "name", "category", "price")}
            for part in named
            if category in (None, part["category"]) and (max_price is None or part["price"] <= max_price)
        ]
        return found[:limit]

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
        """Return the price of the work, and its duration."""
        jobs = [self.book["work"][item] for item in work]
        factor = self.book["surcharge"][bike_type] * (self.book["express"] if express else 1.0)
        price = round(sum(job["price"] for job in jobs) * factor, 2)
        return {"price": price, "minutes": sum(job["minutes"] for job in jobs)}

    def hours(self, branch: str, day: date) -> str:
        """Return the opening hours of a branch on a day."""
        hours = self.book["hours"][branch]
        kind = {_SATURDAY: "saturday", _SUNDAY: "sunday"}.get(day.weekday(), "weekday")
        return f"{branch} on {day.isoformat()}: {hours[kind]}"


def tyre_pressure(rider_kg: float, width_mm: int, tubeless: bool) -> float:
    """Bar for one tyre: heavier riders and narrower tyres need more, tubeless tyres a tenth less."""
    bar = rider_kg * 1.9 / width_mm
    return round(bar * (0.9 if tubeless else 1.0), 1)


def _data(name: str) -> Any:
    return json.loads(files("resources").joinpath("sample", f"{name}.json").read_text("utf-8"))


Branch = Literal["harbour", "station"]
BikeType = Literal["road", "city", "gravel", "mountain", "cargo"]
Work = Literal["flat tyre", "brake service", "gear tuning", "wheel truing", "new chain", "fork service", "full service"]
PartNumber = Annotated[str, Field(description="The part's number, such as BP-105.", pattern=r"^[A-Za-z]{2}-\d{3}$")]
BookingId = Annotated[str, Field(description="The booking's number, such as R-2042.")]


class Address(BaseModel):
    """Where a parcel goes."""

    name: str
    street: str
    city: str
    postcode: str


class BookingChanges(BaseModel):
    """Fields to overwrite; leave out what stays."""

    bike: str | None = None
    note: str | None = None
    loan_bike: bool | None = None
    date: str | None = None


class Counter:
    """The tools, as methods on one shop. Descriptions are for models: some are good, some weak on purpose."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def find_parts(
        self,
        query: Annotated[str, Field(description="What the part is, in the customer's words.")],
        category: Literal["brakes", "drivetrain", "wheels", "lights", "comfort"] | None = None,
        max_price: Annotated[float | None, Field(description="Highest price of one piece, in euros.", ge=0)] = None,
        limit: Annotated[int, Field(description="How many parts to list at most.", ge=1, le=50)] = 10,
    ) -> list[dict[str, Any]]:
        """Find spare parts by name or purpose. Lists part numbers and prices, not how many are on the shelf."""
        return self._shop.find_parts(query, category, max_price, limit)

    def check_stock(self, part_number: PartNumber, branch: Branch = "harbour") -> dict[str, Any]:
        """How many pieces of one part are on the shelf of a branch right now. Needs the part number."""
        part = self._shop.part(part_number)
        return {"part": part["name"], "branch": branch, "pieces": part["stock"][branch]}

    def search_catalogue(self, text: str, page: int = 1) -> dict[str, Any]:
        """Search the catalogue."""
        return self._shop.page(text, page)

    def order_part(
        self,
        part_number: PartNumber,
        quantity: Annotated[int, Field(description="How many pieces.", ge=1, le=100)],
        deliver_to: Address,
    ) -> dict[str, Any]:
        """Order pieces of one part and have them sent to a customer's address."""
        return self._shop.order(part_number, quantity, deliver_to.model_dump())

    def book_repair(
        self,
        customer: Annotated[str, Field(description="The customer's full name.")],
        bike: Annotated[str, Field(description="Which bike it is, in the customer's words.")],
        work: Annotated[list[Work], Field(description="What is to be done.", min_length=1)],
        day: Annotated[date, Field(description="The day the bike comes in.")],
        branch: Branch = "harbour",
        loan_bike: Annotated[bool, Field(description="Whether the customer needs a bike meanwhile.")] = False,
    ) -> dict[str, Any]:
        """Book a new repair: a customer brings a bike on a day for some work. For bookings that do not exist yet."""
        return self._shop.add_booking(
            customer=customer, bike=bike, work=work, date=day.isoformat(), branch=branch, loan_bike=loan_bike
        )

    def reschedule_repair(
        self, booking_id: BookingId, new_day: Annotated[date, Field(description="The day it moves to.")]
    ) -> dict[str, Any]:
        """Move an existing repair booking to another day and change nothing else."""
        return self._shop.change_booking(booking_id, {"date": new_day.isoformat()})

    def update_booking(self, booking_id: str, changes: BookingChanges) -> dict[str, Any]:
        """Updates a booking."""
        return self._shop.change_booking(booking_id, changes.model_dump())

    def cancel_repair(
        self,
        booking_id: BookingId,
        reason: Annotated[str, Field(description="Why, if the customer said so.")] = "",
    ) -> dict[str, Any]:
        """Cancel a repair booking for good, so that its time can be given to somebody else."""
        return self._shop.change_booking(booking_id, {"status": "cancelled", "note": reason})

    def repair_status(self, booking_id: BookingId) -> dict[str, Any]:
        """How far a repair is: waiting, in work, waiting for parts, or ready for pick-up."""
        booking = self._shop.booking(booking_id)
        return {key: booking[key] for key in ("id", "bike", "status", "date", "branch")}

    def quote_repair(
        self,
        work: Annotated[list[Work], Field(description="What would be done.", min_length=1)],
        bike_type: BikeType,
        express: Annotated[bool, Field(description="Done the same day, for half as much again.")] = False,
    ) -> dict[str, Any]:
        """What a repair would cost and how long it would take. Only an estimate: books nothing."""
        return self._shop.quote(work, bike_type, express)

    def tyre_pressure(
        self,
        rider_weight_kg: Annotated[float, Field(description="Rider with luggage, in kilograms.", gt=0)],
        tyre_width_mm: Annotated[int, Field(description="Width printed on the tyre.", ge=18, le=80)],
        tubeless: bool = False,
    ) -> str:
        """Recommend the air pressure for a tyre, in bar, from the rider's weight and the tyre's width."""
        return f"{tyre_pressure(rider_weight_kg, tyre_width_mm, tubeless)} bar"

    def opening_hours(self, day: Annotated[date, Field(description="Which day.")], branch: Branch = "harbour") -> str:
        """When a branch of the shop is open on a given day."""
        return self._shop.hours(branch, day)


def sample_server() -> MCPServer[Any]:
    """A fresh shop with all of its tools."""
    counter = Counter(Shop.open())
    server: MCPServer[Any] = MCPServer("Bike shop", version="1.0.0", log_level="WARNING")
    for tool in (
        counter.find_parts,
        counter.check_stock,
        counter.search_catalogue,
        counter.order_part,
        counter.book_repair,
        counter.reschedule_repair,
        counter.update_booking,
        counter.cancel_repair,
        counter.repair_status,
        counter.quote_repair,
        counter.tyre_pressure,
        counter.opening_hours,
    ):
        server.add_tool(_told_kindly(tool), structured_output=False)
    return server


def _told_kindly(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The same tool, whose refusals reach the caller in the shop's own words."""

    @functools.wraps(tool)
    def answer(**arguments: Any) -> Any:
        try:
            return tool(**arguments)
        except ShopError as refusal:
            raise ToolError(str(refusal)) from None

    return answer


def run_sample_server(http_port: int | None) -> None:
    """Serve until told to stop: over stdio, or over streamable HTTP on 127.0.0.1 (port 0 takes a free one).

    Over HTTP the url is written to stderr, on a line of its own, once connections are taken.
    """
    with contextlib.suppress(KeyboardInterrupt):
        if http_port is None:
            sample_server().run("stdio")
        else:
            asyncio.run(_serve(http_port))


async def _serve(port: int) -> None:
    import uvicorn

    with socket.create_server(("127.0.0.1", port)) as listener:
        app = sample_server().streamable_http_app(host="127.0.0.1")
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        sys.stderr.write(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp\n")
        sys.stderr.flush()
        await uvicorn.Server(config).serve(sockets=[listener])
