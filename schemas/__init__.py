"""Wire shapes: request bodies into frozen dataclasses, replies out of plain values."""
