"""Model files that somebody made: one line and exit code 1, whatever they hold."""
import json
import struct
import zlib

import pytest

from conftest import DATA


def forged(path, change):
    """The model with its header changed and the checksum put right."""
    data = path.read_bytes()
    size = struct.unpack("<I", data[12:16])[0]
    header = change(data[16:16 + size].decode()).encode()
    body = data[:12] + struct.pack("<I", len(header)) + header + data[16 + size:-4]
    path.write_bytes(body + struct.pack("<I", zlib.crc32(body)))
    return path


def refused(result, *words):
    assert result.code == 1, (result.code, result.err)
    assert result.err.startswith("kerf: ") and result.err.count("\n") == 1, result.err[:500]
    assert all(word in result.err for word in words), result.err[:500]


@pytest.mark.parametrize("name", ["encoding", "images", "temperature"])
def test_brackets_without_end(kerf, model, name):
    deep = "[" * 300_000 + "]" * 300_000

    def change(header):
        parsed = json.loads(header)
        parsed[name] = "DEEP"
        return json.dumps(parsed).replace('"DEEP"', deep)

    refused(kerf("info", forged(model, change)), "nested")


def test_a_classifier_has_no_variance(kerf, tmp_path):
    kerf("fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", "16", "--variance", "-o", "m.kerf", "--target", "s6,progression")

    def change(header):
        parsed = json.loads(header)
        parsed["task"], parsed["classes"], parsed["encoding"] = "classification", ["a", "b"], None
        return json.dumps(parsed)

    refused(kerf("info", forged(tmp_path / "m.kerf", change)), "variance")


def test_noise_is_not_negative(kerf, tmp_path):
    assert kerf("fit", DATA / "diabetes_train.csv", "--map", "rff", "--features", "16", "--variance", "--quiet", "-o", "m.kerf").code == 0
    path = tmp_path / "m.kerf"
    data = bytearray(path.read_bytes())
    size = struct.unpack("<I", data[12:16])[0]
    at = 16 + size
    for array in json.loads(data[16:at].decode())["arrays"]:
        if array["name"] == "variance_noise":
            break
        at += array["rows"] * array["cols"] * (4 if array["type"] in ("float32", "int32") else 8)
    noise = struct.unpack_from("<d", data, at)[0]
    assert noise > 0
    struct.pack_into("<d", data, at, -noise)
    path.write_bytes(data[:-4] + struct.pack("<I", zlib.crc32(data[:-4])))
    refused(kerf("info", path), "negative")


def test_numbers_that_are_none(kerf, model, tmp_path):
    result = kerf("info", forged(model, lambda header: header.replace('"rows":', '"rows":1e400,"rows":', 1)))
    refused(result, "1e400")
    assert "json.exception" not in result.err
    (tmp_path / "net.json").write_text('{"columns": 1, "base": {"space": "circle", "scale": 1e400}, "layers": [{"activation": "relu"}]}')
    result = kerf("skeleton", "check", "net.json")
    assert result.code == 2 and "1e400" in result.err and "json.exception" not in result.err, result.err


@pytest.mark.parametrize("text", ["/dev/zero", "secret.json"])
def test_a_model_opens_no_files(kerf, tmp_path, text):
    (tmp_path / "secret.json").write_text('{"password": 1}')
    (tmp_path / "t.csv").write_text("a,b,c,y\n" + "".join(f"{i},{i % 3},{i % 7},{i % 5}.5\n" for i in range(40)))
    assert kerf("fit", "t.csv", "--map", "skeleton", "--skeleton", "circle 1, full relu", "--features", "64", "-o", "m.kerf").code == 0

    def change(header):
        parsed = json.loads(header)
        parsed["recipe"]["options"]["skeleton"] = text
        return json.dumps(parsed)

    result = kerf("predict", forged(tmp_path / "m.kerf", change), "t.csv")
    assert result.code in (1, 2) and result.err.count("\n") == 1, result.err[:500]
    assert "password" not in result.err


def test_a_skeleton_that_never_ends(kerf):
    result = kerf("skeleton", "check", "/dev/zero")
    assert result.code == 1 and "/dev/zero" in result.err
