"""How works are related to the target."""

from __future__ import annotations

import pytest

from lineage.generation import open_generation
from lineage.model import WorkId
from retrieval.kinship import Kinship
from tests.fakes import small_lineage as small


@pytest.fixture
def kinship(tmp_path):
    small.build(tmp_path)
    with open_generation(tmp_path, "small") as generation:
        return Kinship.read(generation.catalog, small.TARGET)


def test_a_repository_belongs_to_its_paper_and_to_the_edge_that_cites_it(kinship):
    kin = kinship.of(small.REPO)
    assert (kin.paper.id, kin.reference.cited, kin.from_target) == (small.CITED, small.CITED, False)


def test_the_target_and_its_official_code_are_its_own(kinship):
    assert kinship.of(small.TARGET).from_target
    assert kinship.of(small.OWN).from_target
    assert kinship.target_code == {small.OWN}


def test_priors_follow_the_score_of_the_edge(kinship):
    assert kinship.prior(0.5, 0.4, 0.6) == {
        small.TARGET: (0.4, "the target's own"),
        small.OWN: (0.6, "the target's own"),
        small.CITED: (0.45, "baseline of the target, lineage score 0.90"),
        small.REPO: (0.45, "baseline of the target, lineage score 0.90"),
        small.FORK: (0.45, "baseline of the target, lineage score 0.90"),
    }


def test_a_work_that_is_not_catalogued_stands_alone(kinship):
    kin = kinship.of(WorkId("local:0"))
    assert (kin.work.id, kin.paper, kin.reference, kin.from_target) == ("local:0", None, None, False)
