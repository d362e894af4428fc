"""Where a generation comes from: its words, and its way through a manifest."""

from __future__ import annotations

import pytest

from lineage.generation import provenance_of
from lineage.records import UNKNOWN, BundleOrigin, Provenance, built_here, imported_from

BUNDLE = BundleOrigin("ab" * 32, "cd" * 32, "2026-01-02T03:04:05+00:00", "lineage 1")


@pytest.mark.parametrize(
    ("provenance", "words"),
    [
        (built_here(mirrored=False, asked=True), ""),
        (built_here(mirrored=False, asked=False), ""),
        (built_here(mirrored=True, asked=True), "built through a mirror"),
        (imported_from(BUNDLE), "imported from a bundle of 2026-01-02 (SHA-256 abababababab), not checked against its sources"),
        (UNKNOWN, "of unknown origin: built before origins were recorded"),
    ],
)
def test_only_what_was_built_here_of_public_sources_needs_no_words(provenance, words):
    assert provenance.words == words


def test_only_what_this_program_fetched_from_the_public_services_is_verified():
    made = [built_here(False, True), built_here(True, True), imported_from(BUNDLE), UNKNOWN]
    assert [provenance.verified for provenance in made] == [
        True,
        False,
        False,
        False,
    ]


def test_a_value_of_a_manifest_is_read_back_and_another_shape_refused():
    value = {**vars(imported_from(BUNDLE)), "bundle": vars(BUNDLE)}
    assert provenance_of(value) == imported_from(BUNDLE)
    assert provenance_of(None) is None
    with pytest.raises(TypeError):
        provenance_of({"bundle": None, "forged": True})
    assert Provenance().bundle is None
