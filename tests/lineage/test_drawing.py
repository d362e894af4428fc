"""Each form of the graph: that others can read it, and that no title can become anything but a title."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from xml.etree import ElementTree

import networkx as nx
import pytest

from lineage.errors import UsageError
from lineage.graph.exports import document, embedded, export, policy
from lineage.graph.legend import COLORS, ROLES, label
from lineage.registry import BUILT_IN
from tests.lineage.drawing_samples import BASE, COMMIT, FOLLOWS, LOST, OLD, PATCHMASK, REPO, TARGET, hostile, large, small

SVG = "{http://www.w3.org/2000/svg}"


def test_an_unknown_form_is_refused_with_the_known_ones():
    with pytest.raises(UsageError) as refused:
        export(small(), "png")
    assert "dot, graphml, html, json, svg" in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize("form", BUILT_IN["renderers"])
def test_the_same_lineage_gives_the_same_text_whatever_order_it_came_in(form):
    assert export(large(60), form) == export(large(60, shuffled=5), form)


@pytest.mark.parametrize("form", BUILT_IN["renderers"])
@pytest.mark.parametrize("graph", [nx.freeze(large()), nx.freeze(hostile())], ids=["large", "hostile"])
def test_every_form_takes_large_and_hostile_lineages_and_leaves_the_graph_as_it_was(form, graph):
    text = export(graph, form)
    text.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)


def test_json_has_nodes_heaviest_first_with_place_and_unknowns_as_null():
    nodes = json.loads(export(small(), "json"))["nodes"]
    assert [n["id"] for n in nodes] == [TARGET.id, BASE, REPO, OLD, LOST]
    base, lost = nodes[1], nodes[4]
    assert (base["title"], base["authors"], base["year"]) == (PATCHMASK, ["Rosa Lindqvist", "Paul Imani"], 2024)
    assert (base["roles"], base["score"], base["licence"], base["url"]) == (["base", "setup"], 0.97, "custom", "https://arxiv.org/abs/9911.00102")
    assert (lost["year"], lost["licence"], lost["commit"], lost["url"], lost["roles"]) == (None, None, None, "", [])
    assert nodes[2]["commit"] == COMMIT
    assert {type(n[axis]) for n in nodes for axis in "xy"} == {float}


def test_json_has_edges_with_role_evidence_section_and_reasons():
    edges = {(e["source"], e["target"]): e for e in document(small())["edges"]}
    edge = edges[TARGET.id, BASE]
    assert (edge["role"], edge["score"], edge["why"]) == ("base", 0.97, ["built upon: “builds directly on”", "cited 8 times"])
    assert edge["evidence"][1:] == [
        {"role": "setup", "sentence": FOLLOWS, "section": "3 Method › 3.2 Masking"},
        {"role": None, "sentence": "They report gains.", "section": "2 Related work"},
    ]
    assert edges[BASE, REPO]["tier"] == "official"


def test_graphml_comes_back_through_networkx_with_types_and_texts():
    graph = small()
    back = nx.read_graphml(io.BytesIO(export(graph, "graphml").encode()))
    assert set(back) == set(graph)
    assert set(back.edges) == set(graph.edges)
    assert back.nodes[BASE]["year"] == 2024
    assert back.nodes[BASE]["score"] == pytest.approx(0.97)
    assert back.nodes[TARGET.id]["target"] is True
    assert {**back.edges[TARGET.id, BASE]}.items() >= {**graph.edges[TARGET.id, BASE]}.items()
    assert (back.nodes[BASE]["label"], "year" in back.nodes[LOST]) == ("PatchMask", False)


@pytest.mark.parametrize("graph", [small(), hostile(), large()], ids=["small", "hostile", "large"])
def test_graphml_declares_each_attribute_once_with_one_type_as_gephi_needs_it(graph):
    root = ElementTree.fromstring(export(graph, "graphml"))
    keys = [(k.get("for"), k.get("attr.name")) for k in root if k.tag.endswith("key")]
    assert len(keys) == len(set(keys))
    assert {k.get("attr.type") for k in root if k.tag.endswith("key")} <= {"string", "long", "int", "double", "float", "boolean"}


def test_hostile_texts_come_back_from_graphml_as_they_were():
    graph = hostile()
    back = nx.read_graphml(io.BytesIO(export(graph, "graphml").encode()))
    assert {n: d["title"] for n, d in back.nodes(data=True)} == {n: d["title"] for n, d in graph.nodes(data=True)}


# A strict reading of what `_dot` writes: names and values are quoted strings with escapes, nothing else.
DOT_STRING = r'"(?:[^"\\\n]|\\["\\])*"'
DOT_LIST = rf"\[(?:[a-zA-Z]+={DOT_STRING}(?:, )?)+\]"


@pytest.mark.parametrize("graph", [small(), hostile(), large()], ids=["small", "hostile", "large"])
def test_dot_is_one_statement_a_line_of_quoted_strings(graph):
    first, *body, last = export(graph, "dot").splitlines()
    assert (first, last) == ("digraph lineage {", "}")
    statements = [line for line in body if not line.startswith(("  node [", "  edge [", "  rankdir"))]
    assert len(statements) == graph.number_of_nodes() + graph.number_of_edges()
    assert [s for s in statements if not re.fullmatch(rf"  {DOT_STRING}(?: -> {DOT_STRING})? {DOT_LIST};", s)] == []


def test_dot_names_shape_and_color():
    text = export(small(), "dot")
    assert '"arxiv:9911.00102" [label="PatchMask (2024)"' in text
    assert '"arxiv:9912.00001" -> "arxiv:9911.00102" [penwidth=' in text
    assert 'shape="box", fillcolor="#4b5360"' in text


@pytest.mark.parametrize("graph", [small(), hostile(), large()], ids=["small", "hostile", "large"])
def test_svg_is_well_formed_and_has_neither_script_nor_link_nor_anything_from_outside(graph):
    root = ElementTree.fromstring(export(graph, "svg"))
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {"svg", "title", "desc", "rect", "g", "path", "circle", "text"}
    assert [n for e in root.iter() for n in e.attrib if n.startswith("on") or "href" in n or n == "style"] == []


def test_svg_names_every_mark_every_year_and_every_color():
    root = ElementTree.fromstring(export(small(), "svg"))
    titles = [e.text for e in root.iter(f"{SVG}title")]
    assert "PatchMask: Learning by Predicting What the Neighbours Hide (2024): built upon, settings followed" in titles
    texts = [e.text for e in root.iter(f"{SVG}text")]
    assert {"2020", "2024", "2025", "year unknown", "PatchMask", "TinyMask"} <= set(texts)
    assert {"target", "built upon", "method used", "role not known", "code repository"} <= set(texts)
    assert len([e for e in root.iter(f"{SVG}text") if e.text == "PatchMask"]) == 1


class Page(HTMLParser):
    """The elements of a page and the raw text of its style and scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.raw, self._open = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.raw.append([tag, dict(attrs), ""])
            self._open = tag

    def handle_endtag(self, tag):
        self._open = None if tag == self._open else self._open

    def handle_data(self, data):
        if self._open:
            self.raw[-1][2] += data


def sha(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.parametrize("graph", [small(), hostile()], ids=["small", "hostile"])
def test_the_page_holds_one_style_one_data_block_and_one_script_and_its_policy_allows_just_these(graph):
    page = Page(export(graph, "html"))
    assert [(tag, attrs.get("type")) for tag, attrs, _ in page.raw] == [("style", None), ("script", "application/json"), ("script", None)]
    allowed = next(a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    assert allowed == policy()
    style, script = page.raw[0][2], page.raw[2][2]
    assert allowed == f"default-src 'none'; style-src '{sha(style)}'; script-src '{sha(script)}'; img-src data:; base-uri 'none'; form-action 'none'"


@pytest.mark.parametrize("graph", [small(), hostile()], ids=["small", "hostile"])
def test_the_page_refers_to_nothing_outside_and_has_no_handler_in_its_markup(graph):
    elements = Page(export(graph, "html")).elements
    addresses = [v for _, a in elements for n, v in a.items() if n in {"src", "href", "srcset", "action"}]
    assert [a for a in addresses if not a.startswith(("#", "data:image/svg+xml"))] == []
    assert [(t, n) for t, a in elements for n in a if n.startswith("on") or n == "style"] == []
    assert "img" not in {t for t, _ in elements}


def test_hostile_texts_reach_the_page_unchanged_inside_the_data():
    graph = hostile()
    data = json.loads(Page(export(graph, "html")).raw[1][2])
    assert data["nodes"] == json.loads(json.dumps(document(graph)["nodes"]))


def test_embedded_json_has_no_character_that_could_end_its_block():
    text = embedded(["</script>", "<!--", "]]>", "&", "\u2028", "\ud800"])
    assert not re.search("[<>&\u2028\u2029\ud800-\udfff]", text)
    assert json.loads(text) == ["</script>", "<!--", "]]>", "&", "\u2028", "\ud800"]


def test_the_scripts_never_make_markup_or_code_out_of_text():
    texts = [(files("lineage") / "data" / f"graph_{name}.js").read_text() for name in ("picture", "panel", "page")]
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|fetch\(|XMLHttpRequest|import\("
    assert re.findall(forbidden, "".join(texts)) == []


def test_every_role_has_a_colour_in_the_style_sheet_of_light_and_dark():
    style = (files("lineage") / "data" / "graph.css").read_text()
    names = {role or "none" for role in COLORS}
    assert {role or "none" for role in ROLES} <= names
    assert [r for r in COLORS if not re.search(rf"--{r or 'none'}: light-dark\({COLORS[r]}, #\w{{6}}\);", style)] == []
    assert [n for n in names if f".role-{n} " not in style] == []


@pytest.mark.parametrize(
    ("title", "kind", "short"),
    [
        ("PatchMask: Learning by Predicting What the Neighbours Hide", "paper", "PatchMask"),
        ("Attention is all you need", "paper", "Attention is all you need"),
        ("Program synthesis with large language models", "paper", "Program synthesis with large…"),
        ("1,500 scientists lift the lid on reproducibility", "paper", "1,500 scientists lift the lid…"),
        ("Dream of the Red Chamber in an age of machines: notes", "paper", "Dream of the Red Chamber…"),
        ("x" * 500, "paper", "x" * 30 + "…"),
        ("大规模语言模型的代码生成能力评估与分析研究", "paper", "大规模语言模型的代码生成能力评…"),
        ("github.com/openai/human-eval", "code", "openai/human-eval"),
    ],
)
def test_the_short_name_is_the_name_before_a_colon_or_whole_words(title, kind, short):
    assert label({"title": title, "kind": kind, "score": 0.5, "target": False}) == short
