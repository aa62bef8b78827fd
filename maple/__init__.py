"""An OpenAI-compatible server for DeepGrove's Maple."""

__version__ = "0.1.0"
