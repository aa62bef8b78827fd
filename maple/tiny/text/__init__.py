"""The seeded text the tiny model learns from, one file per family of skill."""

from maple.tiny.text.mixture import make_sample
from maple.tiny.text.sample import Sample, Turn

__all__ = ["Sample", "Turn", "make_sample"]
