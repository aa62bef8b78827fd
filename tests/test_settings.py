import dataclasses

import pytest

from maple.settings import Settings, SettingsError

# The variable, its field, its default, and a value to set it to with what that means.
SETTINGS = [
    ("MAPLE_MODEL_PATH", "model_path", "deepgrove/maple-preview", " /models/maple ", "/models/maple"),
    ("MAPLE_MODEL_ID", "model_id", "maple-preview", "maple", "maple"),
    ("MAPLE_STRICT_MODEL", "strict_model", False, "true", True),
    ("MAPLE_DEVICE", "device", "auto", "CUDA:1", "cuda:1"),
    ("MAPLE_DTYPE", "dtype", "auto", "BFloat16", "bfloat16"),
    ("MAPLE_TORCH_THREADS", "torch_threads", 0, "3", 3),
    ("MAPLE_PACK_EXPERTS", "pack_experts", "auto", "false", "false"),
    ("MAPLE_API_KEY", "api_key", "", " sk-é ", " sk-é "),
    ("MAPLE_MAX_NEW_TOKENS", "max_new_tokens", 4096, "1", 1),
    ("MAPLE_MAX_NEW_TOKENS_LIMIT", "max_new_tokens_limit", 32768, "100", 100),
    ("MAPLE_MAX_PROMPT_TOKENS", "max_prompt_tokens", 65536, "100", 100),
    ("MAPLE_TEMPERATURE", "temperature", 0.6, "0", 0.0),
    ("MAPLE_TOP_P", "top_p", 0.95, "1", 1.0),
    ("MAPLE_TOP_K", "top_k", 20, "0", 0),
    ("MAPLE_ENABLE_THINKING", "enable_thinking", True, "off", False),
    ("MAPLE_INCLUDE_REASONING", "include_reasoning", True, "No", False),
    ("MAPLE_HOST", "host", "127.0.0.1", "::", "::"),
    ("MAPLE_PORT", "port", 8000, "0", 0),
    ("MAPLE_MAX_QUEUE_DEPTH", "max_queue_depth", 16, "0", 0),
    ("MAPLE_QUEUE_TIMEOUT", "queue_timeout", 600, "0.5", 0.5),
    ("MAPLE_STREAM_OPEN_AFTER", "stream_open_after", 20, "2", 2.0),
    ("MAPLE_KEEPALIVE_SECONDS", "keepalive_seconds", 15, "0.1", 0.1),
    ("MAPLE_MAX_BODY_MB", "max_body_mb", 16, "0.5", 0.5),
    ("MAPLE_ALLOWED_ORIGINS", "allowed_origins", ("*",), "http://a, http://b:1,", ("http://a", "http://b:1")),
    ("MAPLE_LOG_LEVEL", "log_level", "info", "DEBUG", "debug"),
]


def test_table_is_complete():
    assert {field.metadata["variable"] for field in dataclasses.fields(Settings)} == {row[0] for row in SETTINGS}


@pytest.mark.parametrize(("variable", "field", "default", "text", "value"), SETTINGS)
def test_each_setting_has_its_default_and_is_read(variable, field, default, text, value):
    assert getattr(Settings(), field) == default
    assert getattr(Settings.from_environment({variable: ""}), field) == default
    settings = Settings.from_environment({variable: text, "PATH": "/bin", "MAPLES": "7"})
    assert getattr(settings, field) == value
    assert type(getattr(settings, field)) is type(value)
    assert settings == dataclasses.replace(Settings(), **{field: value})


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("MAPLE_MODEL_PATH", "  ", "must not be empty"),
        ("MAPLE_STRICT_MODEL", "maybe", "must be true or false"),
        ("MAPLE_ENABLE_THINKING", "2", "must be true or false"),
        ("MAPLE_DEVICE", "tpu", "must be auto, cpu, cuda"),
        ("MAPLE_DEVICE", "cuda:x", "must be auto, cpu, cuda"),
        ("MAPLE_DEVICE", "cuda:", "must be auto, cpu, cuda"),
        ("MAPLE_DEVICE", "cpu:0", "must be auto, cpu, cuda"),
        ("MAPLE_DEVICE", "mps:7", "must be auto, cpu, cuda"),
        ("MAPLE_DTYPE", "int8", "must be one of auto, float32, bfloat16, float16"),
        ("MAPLE_PACK_EXPERTS", "yes", "must be one of auto, true, false"),
        ("MAPLE_TORCH_THREADS", "-1", "must be from 0 to 256"),
        ("MAPLE_TORCH_THREADS", "1025", "must be from 0 to 256"),
        ("MAPLE_MAX_NEW_TOKENS", "0", "must be from 1 to"),
        ("MAPLE_MAX_NEW_TOKENS", "10.5", "must be a whole number"),
        ("MAPLE_MAX_NEW_TOKENS_LIMIT", "1e3", "must be a whole number"),
        ("MAPLE_MAX_PROMPT_TOKENS", "0x10", "must be a whole number"),
        ("MAPLE_TEMPERATURE", "2.1", "must be from 0 to 2"),
        ("MAPLE_TEMPERATURE", "-0.1", "must be from 0 to 2"),
        ("MAPLE_TEMPERATURE", "nan", "must be from 0 to 2"),
        ("MAPLE_TEMPERATURE", "warm", "must be a number"),
        ("MAPLE_TOP_P", "0", "must be above 0, at most 1"),
        ("MAPLE_TOP_P", "1.01", "must be from 0 to 1"),
        ("MAPLE_TOP_K", "-1", "must be from 0 to"),
        ("MAPLE_PORT", "65536", "must be from 0 to 65535"),
        ("MAPLE_PORT", "http", "must be a whole number"),
        ("PORT", "65536", "must be from 0 to 65535"),
        ("MAPLE_MAX_QUEUE_DEPTH", "-1", "must be from 0 to 1000"),
        ("MAPLE_QUEUE_TIMEOUT", "inf", "must be from 0 to"),
        ("MAPLE_QUEUE_TIMEOUT", "-1", "must be from 0 to"),
        ("MAPLE_KEEPALIVE_SECONDS", "0", "must be from 0.1 to"),
        ("MAPLE_MAX_BODY_MB", "0", "must be from 0.001 to 1024"),
        ("MAPLE_MODEL_ID", "abc/", "must not begin or end with a slash"),
        ("MAPLE_MODEL_ID", "a\udcffb", "must be UTF-8"),
        ("MAPLE_MODEL_PATH", "/model\udcff", "must be UTF-8"),
        ("MAPLE_ALLOWED_ORIGINS", " , ", "must be * or origins"),
        ("MAPLE_ALLOWED_ORIGINS", "https://*.example.com", "must be * or origins"),
        ("MAPLE_ALLOWED_ORIGINS", "*, https://a.example.com", "must be * or origins"),
        ("MAPLE_ALLOWED_ORIGINS", "https://a.example.com/", "must be * or origins"),
        ("MAPLE_LOG_LEVEL", "loud", "must be one of debug, info, warning, error"),
        ("MAPLE_TEMPRATURE", "0.5", "is not a setting"),
        ("MAPLE_", "", "is not a setting"),
    ],
)
def test_bad_setting_is_named_with_what_it_takes(variable, text, message):
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment({variable: text})
    assert str(caught.value).startswith(f"{variable} ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("environment", "port"),
    [
        ({"PORT": "5000"}, 5000),
        ({"PORT": "5000", "MAPLE_PORT": "6000"}, 6000),
        ({"PORT": "5000", "MAPLE_PORT": ""}, 5000),
        ({"PORT": "nonsense", "MAPLE_PORT": "6000"}, 6000),
        ({"PORT": ""}, 8000),
    ],
)
def test_port_of_the_platform_yields_to_our_own(environment, port):
    assert Settings.from_environment(environment).port == port


def test_environment_of_the_process_is_the_default(monkeypatch):
    monkeypatch.setenv("MAPLE_TOP_K", "7")
    assert Settings.from_environment().top_k == 7


@pytest.mark.parametrize(("megabytes", "num_bytes"), [("16", 16777216), ("0.5", 524288), ("0.001", 1048)])
def test_body_limit_in_bytes(megabytes, num_bytes):
    assert Settings.from_environment({"MAPLE_MAX_BODY_MB": megabytes}).max_body_bytes == num_bytes


def test_settings_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().top_k = 1
