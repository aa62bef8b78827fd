"""maple/checkpoints/source.py"""

import pytest

from maple.checkpoints import source
from maple.errors import CheckpointError
from maple.tiny import MODEL_PATH


def test_a_folder_is_taken_as_it_is(tmp_path):
    assert source.locate(str(tmp_path)) == tmp_path


def test_home_is_understood(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    assert source.locate("~/model") == tmp_path / "model"


def test_tiny_is_the_model_in_the_box():
    assert source.locate("tiny") == MODEL_PATH


def test_a_repository_id_is_downloaded(tmp_path, monkeypatch):
    asked = []

    def download(repository, allow_patterns):
        asked.append((repository, allow_patterns))
        return str(tmp_path)

    monkeypatch.setattr(source, "snapshot_download", download)
    assert source.locate("deepgrove/maple-preview") == tmp_path
    repository, patterns = asked[0]
    assert repository == "deepgrove/maple-preview"
    assert "*.safetensors" in patterns
    assert not any(pattern.endswith(".py") for pattern in patterns)  # code is never fetched


def test_a_failed_download_says_why(monkeypatch):
    def download(*_, **__):
        raise OSError("no\nnetwork")

    monkeypatch.setattr(source, "snapshot_download", download)
    with pytest.raises(CheckpointError, match=r"owner/name could not be downloaded: no network"):
        source.locate("owner/name")


@pytest.mark.parametrize("path", ["nowhere", "/nowhere/at/all", "./no/where", "../x", "a/b/c", "a b/c"])
def test_what_is_neither_is_refused(path):
    with pytest.raises(CheckpointError, match="MAPLE_MODEL_PATH"):
        source.locate(path)


def test_a_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "owner").mkdir()
    (tmp_path / "owner" / "file").write_text("")
    with pytest.raises(CheckpointError, match="MAPLE_MODEL_PATH"):
        source.locate("owner/file")
