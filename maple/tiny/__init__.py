"""The model in the box: a very small Maple, the text it learned from, and how it was made."""

from pathlib import Path

# What MAPLE_MODEL_PATH=tiny serves.
MODEL_PATH = Path(__file__).parent / "model"
