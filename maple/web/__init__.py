"""The HTTP side: from a request to the engine, and from its text to a reply."""
