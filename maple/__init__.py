"""An OpenAI-compatible server for DeepGrove's Maple."""

import os

__version__ = "0.1.0"

# Before torch is imported: threads that wait for others are soon to sleep. Spinning on, they slow each other down
# many times over once another process is busy; docs/performance.md has the figures.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
