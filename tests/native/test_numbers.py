"""Every platform computes the same bits: `make native-arm` shows it on an emulated ARM64."""

from __future__ import annotations

import json

from tests.native.numbers import RECORD, fingerprints


def test_every_number_has_the_recorded_bits() -> None:
    assert fingerprints() == json.loads(RECORD.read_text(encoding="utf-8"))
