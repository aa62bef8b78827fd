"""All settings, read from the environment in one place and checked at once."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields


class SettingsError(ValueError):
    """A setting is not usable; the message names it and says what it takes."""


def _text(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be empty")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must be UTF-8") from None
    return value.strip()


def _model_id(value: str) -> str:
    if value.strip().startswith("/") or value.strip().endswith("/"):
        raise ValueError("must not begin or end with a slash")
    return _text(value)


def _boolean(value: str) -> bool:
    words = {
        "true": True,
        "1": True,
        "yes": True,
        "on": True,
        "false": False,
        "0": False,
        "no": False,
        "off": False,
    }
    if value.strip().lower() not in words:
        raise ValueError("must be true or false")
    return words[value.strip().lower()]


def _choice(*choices: str):
    def parse(value: str) -> str:
        if value.strip().lower() not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return value.strip().lower()

    return parse


def _integer(low: int, high: int = 2**31 - 1):
    def parse(value: str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError("must be a whole number") from None
        if not low <= number <= high:
            raise ValueError(f"must be from {low} to {high}")
        return number

    return parse


def _number(low: float, high: float = 1e9):
    def parse(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            raise ValueError("must be a number") from None
        if not low <= number <= high:  # also refuses NaN
            raise ValueError(f"must be from {low:g} to {high:g}")
        return number

    return parse


def _top_p(value: str) -> float:
    number = _number(0, 1)(value)
    if number == 0:
        raise ValueError("must be above 0, at most 1")
    return number


def _device(value: str) -> str:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", value.strip().lower()):
        raise ValueError("must be auto, cpu, cuda, cuda:N or mps")
    return value.strip().lower()


def _origins(value: str) -> tuple[str, ...]:
    origins = tuple(item.strip() for item in value.split(",") if item.strip())
    if origins != ("*",) and not (origins and all(re.fullmatch(r"https?://[\w.-]+(:\d+)?", o) for o in origins)):
        raise ValueError("must be * or origins such as https://chat.example.com, separated by commas")
    return origins


def _setting(variable: str, default, parse):
    return field(default=default, metadata={"variable": variable, "parse": parse})


@dataclass(frozen=True, slots=True)
class Settings:
    """One field for each MAPLE_* variable; the README's table says what each is for."""

    model_path: str = _setting("MAPLE_MODEL_PATH", "deepgrove/maple-preview", _text)
    model_id: str = _setting("MAPLE_MODEL_ID", "maple-preview", _model_id)
    strict_model: bool = _setting("MAPLE_STRICT_MODEL", False, _boolean)
    device: str = _setting("MAPLE_DEVICE", "auto", _device)
    dtype: str = _setting("MAPLE_DTYPE", "auto", _choice("auto", "float32", "bfloat16", "float16"))
    torch_threads: int = _setting("MAPLE_TORCH_THREADS", 0, _integer(0, 256))
    pack_experts: str = _setting("MAPLE_PACK_EXPERTS", "auto", _choice("auto", "true", "false"))
    api_key: str = _setting("MAPLE_API_KEY", "", str)
    max_new_tokens: int = _setting("MAPLE_MAX_NEW_TOKENS", 4096, _integer(1))
    max_new_tokens_limit: int = _setting("MAPLE_MAX_NEW_TOKENS_LIMIT", 32768, _integer(1))
    max_prompt_tokens: int = _setting("MAPLE_MAX_PROMPT_TOKENS", 65536, _integer(1))
    temperature: float = _setting("MAPLE_TEMPERATURE", 0.6, _number(0, 2))
    top_p: float = _setting("MAPLE_TOP_P", 0.95, _top_p)
    top_k: int = _setting("MAPLE_TOP_K", 20, _integer(0))
    enable_thinking: bool = _setting("MAPLE_ENABLE_THINKING", True, _boolean)
    include_reasoning: bool = _setting("MAPLE_INCLUDE_REASONING", True, _boolean)
    host: str = _setting("MAPLE_HOST", "127.0.0.1", _text)
    port: int = _setting("MAPLE_PORT", 8000, _integer(0, 65535))
    max_queue_depth: int = _setting("MAPLE_MAX_QUEUE_DEPTH", 16, _integer(0, 1000))
    queue_timeout: float = _setting("MAPLE_QUEUE_TIMEOUT", 600.0, _number(0))
    stream_open_after: float = _setting("MAPLE_STREAM_OPEN_AFTER", 20.0, _number(0))
    keepalive_seconds: float = _setting("MAPLE_KEEPALIVE_SECONDS", 15.0, _number(0.1))
    max_body_mb: float = _setting("MAPLE_MAX_BODY_MB", 16.0, _number(0.001, 1024))
    allowed_origins: tuple[str, ...] = _setting("MAPLE_ALLOWED_ORIGINS", ("*",), _origins)
    log_level: str = _setting("MAPLE_LOG_LEVEL", "info", _choice("debug", "info", "warning", "error"))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Reads MAPLE_* (and PORT, which platforms set); an unset or empty variable means the default.

        Raises SettingsError naming the first bad variable, or a MAPLE_ variable that does not exist.
        """
        known = {setting.metadata["variable"]: setting for setting in fields(cls)}
        for variable in environment:
            if variable.startswith("MAPLE_") and variable not in known:
                raise SettingsError(f"{variable} is not a setting; the settings are {', '.join(known)}")
        values = {}
        for variable, setting in known.items():
            value = environment.get(variable, "")
            if variable == "MAPLE_PORT" and not value:
                variable, value = "PORT", environment.get("PORT", "")
            if not value:
                continue
            try:
                values[setting.name] = setting.metadata["parse"](value)
            except ValueError as error:
                raise SettingsError(f"{variable} {error}, not {value!r}") from None
        return cls(**values)

    @property
    def max_body_bytes(self) -> int:
        return int(self.max_body_mb * 1024 * 1024)
