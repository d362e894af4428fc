"""Which references the target's other references cite too."""

from lineage.model import BibEntry, Reference, Work
from lineage.position import signals
from lineage.ranking import rank

TARGET = "arxiv:9912.00001"
WORKS = {
    "arxiv:9901.00001": Work("arxiv:9901.00001", title="A Common Ground of the Whole Field"),
    "doi:10.1/a": Work("doi:10.1/a", title="Something Nobody Else Has Read"),
    "arxiv:9901.00003": Work("arxiv:9901.00003", title="One That Cites the Ground"),
}
REFERENCES = [Reference(TARGET, cited) for cited in WORKS]
LISTS = {
    "arxiv:9901.00003": [BibEntry("x", "", title="A common ground of the whole field."), BibEntry("self", "", arxiv="9901.00003")],
    "arxiv:9901.00004": [BibEntry("y", "", arxiv="9901.00001"), BibEntry("z", "", title="Short")],
}


def test_a_work_that_others_cite_by_title_or_identifier_has_the_signal_and_none_counts_for_itself():
    found = signals(REFERENCES, WORKS, LISTS)
    assert {cited: (one[0].name, one[0].value, one[0].words) for cited, one in found.items()} == {
        "arxiv:9901.00001": ("cocited", 0.4, "cited by 2 of the 2 fetched papers too")
    }


def test_it_raises_the_rank_a_little_and_says_so():
    plain = {r.cited: r.score for r in rank(REFERENCES, works=WORKS)}
    ranked = {r.cited: r for r in rank(REFERENCES, works=WORKS, more=signals(REFERENCES, WORKS, LISTS))}
    assert plain["arxiv:9901.00001"] < ranked["arxiv:9901.00001"].score < plain["arxiv:9901.00001"] + 0.1
    assert "cited by 2 of the 2 fetched papers too" in ranked["arxiv:9901.00001"].why
    assert ranked["doi:10.1/a"].score == plain["doi:10.1/a"]
