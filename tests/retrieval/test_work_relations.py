"""How works are related to the target."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.errors import NotFound
from lineage.generation import open_generation
from lineage.records import Chunk, CodeLink, Reason, ReasonKind, Tier, Work, WorkId
from retrieval.search.priors import FusionWeights, KnownNames, place_in_lineage
from retrieval.search.work_relations import WorkRelation, WorkRelations
from tests.fakes import small_lineage as small


@pytest.fixture
def relations(tmp_path):
    small.build(tmp_path)
    with open_generation(tmp_path, "small") as generation:
        return WorkRelations.read(generation.catalog, small.TARGET)


def test_a_repository_belongs_to_its_paper_and_to_the_edge_that_cites_it(relations):
    relation = relations.of(small.REPO)
    assert (relation.paper.id, relation.reference.cited, relation.from_target) == (small.CITED, small.CITED, False)


def test_the_target_and_its_official_code_are_its_own(relations):
    assert relations.of(small.TARGET).from_target
    assert relations.of(small.OWN).from_target


def prior(relations, work):
    weights = FusionWeights(graph=0.5, target=0.4, own=0.6)
    chunk = Chunk("c_1", work, "a.py", "code", "function", "", "", 0, 1, 1, 1)
    return place_in_lineage(0, chunk, KnownNames(weights, relations=relations.by_work))


def test_priors_follow_the_score_of_the_edge(relations):
    cited = Reason(ReasonKind.LINEAGE, 0.45, ("baseline", "", "0.90"))
    assert {work: prior(relations, work) for work in relations.by_work} == {
        small.TARGET: Reason(ReasonKind.TARGET, 0.4),
        small.OWN: Reason(ReasonKind.TARGET, 0.6),
        small.CITED: cited,
        small.REPO: cited,
        small.FORK: cited,
    }


def test_a_work_that_is_not_catalogued_stands_alone(relations):
    relation = relations.of(WorkId("local:0"))
    assert (relation.work.id, relation.paper, relation.reference, relation.from_target) == ("local:0", None, None, False)


class Shelf:
    """A catalogue of what it is given."""

    def __init__(self, works=(), references=(), links=()):
        self.held = (works, references, links)

    def files(self, work):
        return {}

    def works(self):
        return iter(self.held[0])

    def references(self):
        return iter(self.held[1])

    def links(self):
        return iter(self.held[2])


OTHER = WorkId("arxiv:2105.00002")


def linked(*links, references=()):
    """How `REPO` is related to the target, by links from (paper, tier)."""
    works = [*small.works(), Work(OTHER, title="Other")]
    return WorkRelations.read(Shelf(works, references, [CodeLink(paper, small.REPO, tier) for paper, tier in links]), small.TARGET).of(small.REPO)


@pytest.mark.parametrize(
    ("links", "paper", "own"),
    [
        ([(small.CITED, Tier.MENTIONED), (OTHER, Tier.OFFICIAL)], OTHER, False),
        ([(small.CITED, Tier.OFFICIAL), (OTHER, Tier.OFFICIAL)], small.CITED, False),
        ([(OTHER, Tier.AUTHOR), (small.TARGET, Tier.AUTHOR)], small.TARGET, True),
        ([(OTHER, Tier.OFFICIAL), (small.TARGET, Tier.MENTIONED)], OTHER, False),
        ([(small.TARGET, Tier.MENTIONED)], small.TARGET, False),
        ([(small.TARGET, Tier.REIMPLEMENTATION)], small.TARGET, False),
        ([(OTHER, Tier.REIMPLEMENTATION), (small.CITED, Tier.REIMPLEMENTATION)], small.CITED, False),
    ],
)
def test_a_repository_belongs_to_the_paper_that_it_is_surest_of(links, paper, own):
    """Of equal links the target's, then that of the heavier reference; only its authors' code is the target's own."""
    for order in (links, links[::-1]):
        relation = linked(*order, references=[small.reference(0.9), replace(small.reference(0.2), cited=OTHER)])
        assert (relation.paper.id, relation.from_target, relation.tier) == (paper, own, dict(links)[paper])


def test_code_that_was_added_by_hand_needs_no_paper_that_mentions_it():
    by_hand = replace(small.reference(1.0), cited=small.REPO)
    relation = linked((OTHER, Tier.MENTIONED), references=[by_hand])
    assert (relation.paper, relation.tier, relation.reference) == (None, None, by_hand)
    assert linked((OTHER, Tier.OFFICIAL), references=[by_hand]).paper.id == OTHER


def test_code_that_is_linked_to_nothing_stands_by_the_edge_that_cites_it():
    cited = replace(small.reference(), cited=small.REPO)
    assert linked(references=[cited]) == WorkRelation(small.works()[2], None, cited, False, None)
    assert linked((OTHER, Tier.OFFICIAL), references=[cited]).reference == cited
    assert linked((small.CITED, Tier.OFFICIAL), references=[cited, small.reference()]).reference == small.reference()
    assert linked() == WorkRelation(small.works()[2])


def test_a_repository_that_is_official_of_two_works_is_the_cited_ones_unless_more_witnesses_name_the_target():
    both = [CodeLink(small.TARGET, small.REPO, Tier.OFFICIAL, ("latex",)), CodeLink(small.CITED, small.REPO, Tier.OFFICIAL, ("readme",))]
    relation = WorkRelations.read(Shelf(small.works(), (), both), small.TARGET).of(small.REPO)
    assert (relation.paper.id, relation.from_target) == (small.CITED, False)
    surer = [replace(both[0], said_by=("latex", "huggingface", "readme")), both[1]]
    assert WorkRelations.read(Shelf(small.works(), (), surer), small.TARGET).of(small.REPO).from_target


def test_the_nearest_of_several_edges_says_how_a_work_came_in():
    far = replace(small.reference(0.99), citing=OTHER, distance=2)
    relations = WorkRelations.read(Shelf(small.works(), [far, small.reference(0.3)]), small.TARGET)
    assert relations.of(small.CITED).reference == small.reference(0.3)


def test_a_prior_fades_with_distance_and_says_who_cites():
    far = replace(small.reference(0.8), citing=OTHER, distance=2, roles=())
    relations = WorkRelations.read(Shelf(small.works(), [far, replace(small.reference(0.0), cited=small.FORK)]), small.TARGET)
    assert prior(relations, small.CITED) == Reason(ReasonKind.LINEAGE, 0.2, ("reference", "arxiv:2105.00002", "0.80"))
    assert prior(relations, small.FORK) is None


@pytest.mark.parametrize(
    ("named", "work"),
    [
        ("ARXIV:2006.10726", small.CITED),
        ("S2:ABC", small.CITED),
        ("repo:github.com/dequanwang/tent", small.REPO),
        ("github.com/DequanWang/tent", small.REPO),
        ("DequanWang/TENT", small.REPO),
        ("tent", small.REPO),
        ("2006.10726", small.CITED),
        ("tent: fully", small.CITED),
        ("", None),
        ("x" * 10_000, None),
    ],
)
def test_a_work_goes_by_its_identifier_an_alias_or_owner_and_name_in_letters_of_either_size(named, work):
    relations = WorkRelations.read(Shelf(small.works()), small.TARGET)
    if work:
        assert relations.work(named) == work
        return
    with pytest.raises(NotFound, match="this lineage has no work") as error:
        relations.work(named)
    assert len(str(error.value)) < 130
