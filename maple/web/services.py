"""What the routes of one application work with."""

from dataclasses import dataclass

from flask import current_app

from maple.engine import Engine
from maple.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """Kept in app.extensions["maple"]."""

    settings: Settings
    engine: Engine


def services() -> Services:
    """Those of the application that serves the current request."""
    return current_app.extensions["maple"]
