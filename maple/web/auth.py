"""The API key."""

import hmac

from flask import request

from maple.errors import InvalidApiKey
from maple.web.services import services


def require_api_key() -> None:
    """Lets a request pass that carries the key, or needs none. Raises InvalidApiKey, for unknown paths too."""
    expected = services().settings.api_key
    # Probes carry no key, and browsers send none with a preflight.
    if not expected or request.blueprint == "health" or request.method == "OPTIONS":
        return
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    # A WSGI header is bytes spelled as latin-1, the environment's text is UTF-8 with odd bytes as surrogates.
    given = key.strip(" \t").encode("latin-1", "replace")
    is_same = hmac.compare_digest(given, expected.strip().encode("utf-8", "surrogateescape"))
    if scheme.lower() != "bearer" or not given or not is_same:
        raise InvalidApiKey("a valid API key is needed, in the header Authorization: Bearer <key>")
