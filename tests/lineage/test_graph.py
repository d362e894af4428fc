"""The lineage as a graph: what its nodes and edges say, and that a picture of it can be read."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import pytest

from lineage.graph.build import build, clean, layout, lines
from lineage.graph.legend import label, label_width, radius
from lineage.records import CodeLink, Mention, Reference, Role, RoleVerdict, Tier, Work, WorkId
from tests.lineage.drawing_samples import BASE, COMMIT, EVIL, FOLLOWS, LINKS, LOST, OLD, REFERENCES, REPO, TARGET, WORKS, hostile, large, small


def test_a_node_says_what_is_known_of_the_work():
    assert small().nodes[BASE] == {
        "kind": "paper",
        "title": "PatchMask: Learning by Predicting What the Neighbours Hide",
        "authors": "Rosa Lindqvist; Paul Imani",
        "venue": "",
        "score": 0.97,
        "role": "base",
        "roles": "base, setup",
        "licence": "custom",
        "url": "https://arxiv.org/abs/9911.00102",
        "target": False,
        "distance": 1,
        "order": 90,
        "year": 2024,
    }


def test_the_target_comes_first_with_all_the_weight():
    graph = small()
    assert list(graph) == [TARGET.id, BASE, OLD, LOST, REPO]
    assert (graph.nodes[TARGET.id]["target"], graph.nodes[TARGET.id]["score"], graph.nodes[TARGET.id]["distance"]) == (True, 1.0, 0)


def test_an_edge_runs_from_the_citing_work_with_roles_and_evidence_line_by_line():
    edge = small().edges[TARGET.id, BASE]
    assert [edge[name] for name in ("kind", "role", "roles", "score", "mentions", "influential")] == ["cites", "base", "base, setup", 0.97, 2, True]
    assert lines(edge["evidence"]) == ["Our work builds directly on PatchMask.", FOLLOWS, "They report gains."]
    assert lines(edge["evidence_roles"]) == ["base", "setup", "-"]
    assert lines(edge["sections"]) == ["1 Introduction", "3 Method › 3.2 Masking", "2 Related work"]
    assert lines(edge["why"]) == ["built upon: “builds directly on”", "cited 8 times"]


def test_a_repository_carries_what_its_paper_carries_and_its_commit():
    graph = small()
    assert graph.edges[BASE, REPO] == {
        "kind": "code",
        "tier": "official",
        "said_by": "latex",
        "evidence": "Code: https://github.com/northlake-vision/patchmask",
    }
    repository = graph.nodes[REPO]
    assert (repository["kind"], repository["score"], repository["distance"], repository["commit"]) == ("code", 0.97, 1, COMMIT)


def test_a_work_that_nobody_described_is_a_node_with_what_its_reference_says():
    node = small().nodes[LOST]
    assert node["title"] == "Marlow, E. Foundations. Harbour Press."
    assert "year" not in node


def test_two_references_between_the_same_works_are_one_edge_with_the_evidence_of_both():
    verdict = RoleVerdict(Role.BASELINE, 0.4, "Said again.")
    again = Reference(TARGET.id, BASE, mentions=(Mention("x", "Said again."),), roles=(verdict,), score=0.1, why=("also a baseline",))
    edge = build(TARGET, WORKS, (*REFERENCES, again), LINKS).edges[TARGET.id, BASE]
    assert (edge["score"], edge["roles"], edge["mentions"]) == (0.97, "base, setup, baseline", 3)
    assert "Said again." in lines(edge["evidence"])


def test_the_surest_of_two_links_is_kept():
    weak = CodeLink(BASE, REPO, Tier.MENTIONED, ("readme",))
    assert build(TARGET, WORKS, REFERENCES, (weak, *LINKS)).edges[BASE, REPO]["tier"] == "official"


def test_the_role_of_a_work_is_the_one_it_plays_nearest_to_the_target():
    far = Reference(BASE, OLD, roles=(RoleVerdict(Role.DATA, 1.0, "x"),), score=1.0, distance=2)
    assert build(TARGET, WORKS, (*REFERENCES[:3], far), LINKS).nodes[OLD]["role"] == "method"


def test_background_is_the_role_of_a_work_only_where_nothing_more_is_said():
    verdicts = (RoleVerdict(Role.BACKGROUND, 0.9, "x"), RoleVerdict(Role.SETUP, 0.3, "y"))
    edge = build(TARGET, WORKS, (replace(REFERENCES[0], roles=verdicts),), ()).edges[TARGET.id, BASE]
    assert (edge["role"], edge["roles"]) == ("setup", "setup, background")


@pytest.mark.parametrize(("score", "kept"), [(float("nan"), 0.0), (-1.0, 0.0), (7.0, 1.0), (0.5, 0.5)])
def test_a_weight_is_always_between_nought_and_one(score, kept):
    graph = build(TARGET, WORKS, (replace(REFERENCES[0], score=score),), ())
    assert graph.nodes[BASE]["score"] == graph.edges[TARGET.id, BASE]["score"] == kept


@pytest.mark.parametrize("graph", [small(), hostile()], ids=["small", "hostile"])
def test_attributes_are_plain_scalars_without_anything_that_xml_or_a_reader_trips_over(graph):
    values = [v for _, d in graph.nodes(data=True) for v in d.values()] + [v for *_, d in graph.edges(data=True) for v in d.values()]
    assert {type(v) for v in values} <= {str, int, float, bool}
    assert [v for v in values if isinstance(v, str) and re.search("[\x00-\x09\x0b-\x1f\x7f\u2028\u202e\ufeff\ud800-\udfff]", v)] == []


def test_a_commit_that_is_none_is_not_shown():
    assert "commit" not in hostile().nodes["repo:github.com/a/b"]
    assert hostile().nodes["repo:github.com/a/b"]["archived"] is True


def test_cleaning_makes_one_bounded_line():
    assert clean("a\n\tb\x00c\u202ed") == "a b c d"
    assert clean("x" * 1000, 10) == "x" * 9 + "…"
    assert "\n" not in clean(EVIL)
    assert clean("कर्म می‌خواهم") == "कर्म می‌خواهم"


def test_a_long_list_of_authors_says_how_many_are_left_out():
    many = Work(BASE, title="x", authors=tuple(f"A{i}" for i in range(200)))
    assert build(TARGET, {BASE: many}, REFERENCES[:1], ()).nodes[BASE]["authors"].endswith("A11; and 188 more")


def test_the_graph_does_not_depend_on_the_order_of_the_records():
    one, other = large(60), large(60, shuffled=3)
    assert list(one.nodes(data=True)) == list(other.nodes(data=True))
    assert list(one.edges(data=True)) == list(other.edges(data=True))


def test_newer_stands_further_right_and_every_column_holds_its_own_year():
    graph = large()
    placed = layout(graph)
    assert [c.year for c in placed.columns if c.year] == sorted({d["year"] for _, d in graph.nodes(data=True) if "year" in d})
    columns = {c.year: c for c in placed.columns}
    papers = [(n, d) for n, d in graph.nodes(data=True) if d["kind"] == "paper"]
    assert all(columns[d.get("year")].left < placed.positions[n][0] < columns[d.get("year")].right for n, d in papers)


def test_works_without_a_year_stand_in_a_marked_column_behind_the_last_year_and_a_gap():
    placed = layout(large())
    *_, last, unknown = placed.columns
    assert (unknown.year, unknown.name) == (None, "year unknown")
    assert last.right < unknown.left
    assert [c.left for c in placed.columns] == sorted(c.left for c in placed.columns)


def test_years_left_out_are_marked():
    graph = build(TARGET, {BASE: WORKS[BASE], OLD: WORKS[OLD]}, REFERENCES[:2], ())
    assert [(c.year, c.skipped) for c in layout(graph).columns] == [(2020, False), (2024, True), (2025, False)]


def boxes(graph, placed):
    """(name, left, top, right, bottom) of every mark and every label."""
    for node, known in graph.nodes(data=True):
        (x, y), r, width = placed.positions[node], radius(known), label_width(label(known))
        yield node, x - r, y - r, x + r, y + r
        if known["target"]:
            yield node, x + r - width, y - r - 18, x + r, y - r - 2
        else:
            yield node, x - r - 5 - width, y - 8, x - r - 5, y + 8


def overlaps(graph):
    pairs = combinations(boxes(graph, layout(graph)), 2)
    return [(a[0], b[0]) for a, b in pairs if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]]


@pytest.mark.parametrize("count", [12, 64, 300])
def test_no_mark_and_no_label_covers_another(count):
    assert overlaps(large(count)) == []


def test_a_repository_stands_under_its_paper():
    positions = layout(small()).positions
    assert positions[REPO][0] == positions[BASE][0]
    assert 0 < positions[REPO][1] - positions[BASE][1] < 40


def test_what_is_built_upon_stands_at_the_height_of_the_target():
    graph = large()
    placed = layout(graph)
    heights = [abs(placed.positions[n][1] - placed.positions[TARGET.id][1]) for n, d in graph.nodes(data=True) if d["role"] == "base"]
    assert max(heights) < (placed.bottom - placed.top) / 4


@pytest.mark.parametrize("graph", [build(TARGET, {}, (), ()), build(replace(TARGET, year=None), {}, (), ()), small(), hostile()])
def test_every_node_has_a_place_inside_the_box(graph):
    placed = layout(graph)
    assert set(placed.positions) == set(graph)
    assert all(placed.left <= x <= placed.right and placed.top <= y <= placed.bottom for x, y in placed.positions.values())


def test_cycles_and_a_paper_that_cites_itself_are_placed():
    loop = (Reference(TARGET.id, TARGET.id), Reference(TARGET.id, BASE), Reference(BASE, TARGET.id), Reference(BASE, OLD), Reference(OLD, BASE))
    graph = build(TARGET, WORKS, loop, ())
    assert len(layout(graph).positions) == 3
    assert graph.nodes[TARGET.id]["distance"] == 0


def test_a_repository_that_is_the_target_or_is_cited_as_such_is_placed():
    code = Work(WorkId("repo:github.com/a/b"), "code", "a/b")
    graph = build(code, WORKS, (Reference(code.id, BASE), Reference(code.id, REPO)), (CodeLink(BASE, code.id, Tier.OFFICIAL),))
    assert set(layout(graph).positions) == {code.id, BASE, REPO}
