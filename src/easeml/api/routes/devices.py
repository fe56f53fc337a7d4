"""Devices: what works for this easeml, here and on other machines."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.administration import devices

OPERATIONS = (
    Operation("devices", "GET", "/devices", devices.list_page),
    Operation("drain_device", "POST", "/devices/{device_id}/drain", devices.drain),
    Operation("join_machine", "POST", "/devices/join", devices.join),
)

router = APIRouter(tags=["administration"])
add_routes(router, OPERATIONS)
