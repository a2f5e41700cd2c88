"""Evidence crosses processes as JSON without loss."""

import json

import pytest

from pytest_roofline.evidence import (
    CaseSpec,
    Environment,
    Evidence,
    Outcome,
    Telemetry,
    Timing,
    from_plain,
    to_plain,
)

ENVIRONMENT = Environment("NVIDIA H200", "580", "13.0", "3.12", {"torch": "2.11"}, 132, 62914560, ecc=True)
TELEMETRY = Telemetry((1980, 1965), (3201, 3201), (400.5, 500.0), (40, 41), ("SwPowerCap",))
TIMING = Timing((1e-6, 1.1e-6), 154, 154, "graph_cold", 32e-9, 9e-7, 4e-7, 9e-7, 8e-6, 1.0, 0, TELEMETRY)


def test_evidence_survives_json():
    """Every field, nested ones, enums and tuples included, comes back equal."""
    evidence = Evidence("a/b/c/f32/1", Outcome.OK, "", 0.5, TIMING, ENVIRONMENT, {"sectors": 4})
    assert from_plain(Evidence, json.loads(json.dumps(to_plain(evidence)))) == evidence


def test_a_spec_survives_json_and_prints_how_to_repeat_it():
    """An order to the worker crosses the process boundary, and its line names values and seed."""
    spec = CaseSpec("a/b/c/f32/1", "operations.a", ("/root",), "cpu", "nan", 7, time=True)
    assert from_plain(CaseSpec, json.loads(json.dumps(to_plain(spec)))) == spec
    assert spec.line() == "a/b/c/f32/1@nan#7"


@pytest.mark.parametrize(
    ("data", "message"), [({"case": "x", "outcome": "ok", "no": 1}, "no field no"), ({"case": "x"}, "outcome")]
)
def test_unknown_and_missing_fields_are_named(data, message):
    """A file of another version is refused with the field's name."""
    with pytest.raises(ValueError, match=message):
        from_plain(Evidence, data)
