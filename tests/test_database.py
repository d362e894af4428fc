"""The same lineages in a real PostgreSQL with pgvector: the same answers, builds that commit whole, and every way in which a database fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from api.bootstrap import Parts
from api.client import Lineage
from api.operations import Service
from indexer.plan import BuildRequest
from indexer.store.migration import migrate
from indexer.vectors import checked_vectors
from indexer.vectors.pgvector import create
from lineage import registry, settings
from lineage.errors import EmbedderMismatch, NotFound, SettingsError, StoreBusy, StoreDamaged, StoreError, StoreUnreachable
from lineage.generation import open_generation
from lineage.testing import VectorIndexContract, unit_rows
from tests.demo import DEMO, NAME, TARGET, Demo
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.postgres import Postgres, binaries
from tests.serving import Serving

ROOT = Path(__file__).resolve().parent.parent
psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.skipif(not binaries(), reason="no PostgreSQL with pgvector on this machine")
from lineage.catalog import database as shelf  # noqa: E402 - after the skip
from lineage.catalog import postgres  # noqa: E402
from lineage.catalog.database import Database  # noqa: E402
from lineage.catalog.postgres import Session  # noqa: E402

QUESTIONS = [json.loads(line)["query"] for line in (DEMO / "questions.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def server():
    with Postgres(binaries()) as running:
        yield running


@pytest.fixture
def address(server):
    return server.database()


@pytest.fixture(scope="module")
def filled(server, built, tmp_path_factory):
    """A database with the demonstration in it; tests only read it."""
    address = server.database()
    list(migrate(built.home, Database(address), (), tmp_path_factory.mktemp("drafts")))
    return address


@pytest.fixture
def own(server, built, tmp_path):
    """The same for tests that spoil it."""
    address = server.database()
    list(migrate(built.home, Database(address), (), tmp_path))
    return address


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(postgres, "_WAITS", (0.05, 0.1))


def _service(address: str, home: Path) -> Service:
    return Service(Parts(settings.load(home=home, store=address)))


def _sql(address: str, *statements: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def test_every_question_has_the_answer_that_files_give(built, filled, tmp_path):
    service = _service(filled, tmp_path)
    for question in QUESTIONS:
        for more in ({}, {"kind": "code"}, {"no_target_code": True}):
            mine, theirs = service.query(question, k=10, **more), built.service.query(question, k=10, **more)
            assert [hit.chunk for hit in mine.hits] == [hit.chunk for hit in theirs.hits]
            assert [hit.score for hit in mine.hits] == pytest.approx([hit.score for hit in theirs.hits], abs=1e-5)
            assert mine.notes == theirs.notes


def test_what_the_retrievers_put_forward_is_the_same_to_a_hundred_thousandth(built, filled):
    with open_generation(built.home, NAME) as files, Database(filled).open(NAME) as rows:
        asked = [('"weight" OR "init" OR "encoder"', 1.0), ('"learning rate"', 0.5)]
        for more in ({}, {"kinds": ("code",)}, {"without": (files.catalog.documents()[-1].work,)}):
            mine, theirs = rows.catalog.lexical(asked, 300, **more), files.catalog.lexical(asked, 300, **more)
            assert [row for row, _ in mine] == [row for row, _ in theirs]
            assert [score for _, score in mine] == pytest.approx([score for _, score in theirs], abs=1e-5)
        vectors = np.asarray(files.vectors)
        query = vectors[:1]
        allowed = np.arange(0, len(vectors), 3)
        for some in (None, allowed):
            mine, theirs = create(rows.vectors).search(query, 50, some), registry.load("vectors", "faiss")(vectors).search(query, 50, some)
            assert mine[1] == pytest.approx(theirs[1], abs=1e-5)
        assert np.array_equal(rows.vectors[allowed], vectors[allowed])


def test_every_reading_method_gives_what_the_file_gives(built, filled):
    with open_generation(built.home, NAME) as files, Database(filled).open(NAME) as rows:
        mine, theirs = rows.catalog, files.catalog
        for name in ("meta", "counts", "works", "references", "links", "ledger", "sums", "facts", "mechanisms", "documents", "content_hash"):
            assert getattr(mine, name)() == getattr(theirs, name)(), name
        assert list(mine.damage()) == []
        for work in theirs.works():
            assert mine.work(work.id) == theirs.work(work.id)
            assert mine.settings(work.id) == theirs.settings(work.id)
            assert mine.files(work.id) == theirs.files(work.id)
        for document in theirs.documents():
            assert mine.document_text(document.work, document.path) == theirs.document_text(document.work, document.path)
            assert mine.neighbours(document.work, document.path) == theirs.neighbours(document.work, document.path)
        every = range(files.manifest.counts["chunks"])
        assert mine.chunks(every) == theirs.chunks(every)
        assert mine.homes(every) == theirs.homes(every)
        for wanted in ({"literal": "Lr", "any_case": True}, {"literal": "%"}, {"words": ("weight", "decay")}, {"words": ("absent",)}):
            assert mine.texts(**wanted) == theirs.texts(**wanted)
        assert mine.frequencies(["weight", "absent"]) == theirs.frequencies(["weight", "absent"])


def test_there_and_back_every_hash_is_the_same(built, filled, tmp_path):
    service = _service(filled, tmp_path / "home")
    back = tmp_path / "back"
    assert [moved.unchanged for moved in service.migrate(filled, str(back))] == [False]
    assert [moved.unchanged for moved in service.migrate(filled, str(back))] == [True]
    with open_generation(back, NAME) as mine, open_generation(built.home, NAME) as theirs:
        assert mine.catalog.content_hash() == theirs.catalog.content_hash() == mine.manifest.content_hash
        for name in theirs.manifest.files.keys() - {"catalog.db"}:
            assert mine.file(name) == theirs.file(name)
        assert mine.catalog.lexical([('"weight decay"', 1.0)], 9) == theirs.catalog.lexical([('"weight decay"', 1.0)], 9)
    assert Service(Parts(settings.load(home=back))).check() == ()
    assert service.check() == ()
    with pytest.raises(NotFound, match="no lineage other"):
        service.migrate(filled, str(back), "other")


def test_a_build_into_a_database_makes_the_content_of_a_build_into_files(upstream, address, tmp_path):
    files, rows = Demo(tmp_path / "files", upstream.url), Demo(tmp_path / "rows", upstream.url, store=address)
    made, other = rows.build(), files.build()
    assert (made.content_hash, made.chunks, made.tier) == (other.content_hash, other.chunks, "dense")
    assert rows.build().unchanged
    assert not (tmp_path / "rows" / "lineages" / NAME / "CURRENT").exists()
    assert rows.service.gaps().notes == files.service.gaps().notes
    assert rows.service.query("how is the encoder initialized?").hits[0].chunk == files.service.query("how is the encoder initialized?").hits[0].chunk
    assert [one.lineage for one in rows.service.lineages()] == [NAME]


def test_the_first_tier_is_taken_over(upstream, address, tmp_path):
    rows = Demo(tmp_path / "rows", upstream.url, store=address)
    first = rows.service.build(BuildRequest(TARGET), tier="first")
    full = rows.build()
    assert (first.tier, full.tier, full.unchanged, full.requests) == ("static", "dense", False, {})
    assert full.content_hash == first.content_hash


def test_two_servers_answer_while_a_third_process_builds(own, upstream, tmp_path):
    env = {**os.environ, "LINEAGE_STORE": own, "LINEAGE_MIRROR": upstream.url, "LINEAGE_EMBEDDER": "static", "PYTHONPATH": str(ROOT)}
    with Serving(tmp_path / "one", store=own) as one, Serving(tmp_path / "two", store=own) as two:
        clients = [Lineage(one.url), Lineage(two.url)]
        before = [client.search("how is the encoder initialized?", lineage=NAME) for client in clients]
        command = [
            sys.executable,
            "-c",
            "from api.cli.app import main; main()",
            "build",
            TARGET,
            "--name",
            "other",
            "--home",
            str(tmp_path / "three"),
        ]
        building = subprocess.Popen([*command, "--quiet"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        answered = 0
        while building.poll() is None:
            for client in clients:
                assert client.search("how is the encoder initialized?", lineage=NAME).hits == before[0].hits
                answered += 1
        assert building.returncode == 0, building.stderr.read()
        assert answered
        assert before[0].hits == before[1].hits
        for client in clients:
            assert {lineage.lineage for lineage in client.lineages()} == {NAME, "other"}
            assert client.search("how is the encoder initialized?", lineage="other").hits


def test_a_lost_connection_is_made_again_in_mid_question(own, tmp_path):
    with Database(own).open(NAME) as generation:
        works = generation.catalog.works()
        _sql(own, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lineage %'")
        assert generation.catalog.works() == works
        stop = threading.Event()

        def cut() -> None:
            while not stop.wait(0.01):
                _sql(own, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lineage %'")

        cutting = threading.Thread(target=cut)
        cutting.start()
        try:
            for _ in range(20):
                assert generation.catalog.works() == works
        finally:
            stop.set()
            cutting.join()


def test_a_database_that_goes_away_is_an_error_and_one_that_comes_back_answers(server, own, tmp_path, impatient):
    service = _service(own, tmp_path)
    with Serving(tmp_path / "served", store=own) as served:
        client = Lineage(served.url, patience=0)
        hits = client.search("how is the encoder initialized?").hits
        server.stop()
        try:
            with pytest.raises(StoreUnreachable, match="cannot be reached") as away:
                service.query("how is the encoder initialized?")
            assert away.value.exit_code == 4
            with pytest.raises(StoreUnreachable):
                client.search("how is the encoder initialized?")
        finally:
            server.start()
        assert client.search("how is the encoder initialized?").hits == hits
    assert [hit.chunk.id for hit in service.query("how is the encoder initialized?").hits] == [hit.chunk for hit in hits]


def test_a_writer_that_loses_its_database_leaves_the_former_generation(built, own, tmp_path, monkeypatch):
    with open_generation(built.home, NAME) as generation:
        manifest = replace(generation.manifest, id="000009-" + generation.manifest.id[7:])
        monkeypatch.setattr(shelf, "create_vectors", lambda *_: _sql(own, _END_WRITERS))
        with pytest.raises(StoreError), Database(own).hold(NAME) as hold:
            hold.publish(manifest, generation.folder)
        assert Database(own).current(NAME) == generation.manifest.id
        monkeypatch.undo()
        with Database(own).hold(NAME) as hold:
            assert hold.newest() == int(generation.manifest.id[:6])
            hold.publish(manifest, generation.folder)
        assert Database(own).current(NAME) == manifest.id


_END_WRITERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'"


def test_one_writer_at_a_time_and_what_is_read_is_not_swept(built, own):
    database = Database(own)
    with open_generation(built.home, NAME) as files, database.hold(NAME) as hold:
        with pytest.raises(StoreBusy, match="is being written by lineage "), Database(own).hold(NAME):
            pass
        old = database.open(NAME)
        for number in (7, 8, 9):
            hold.publish(replace(files.manifest, id=f"{number:06d}-{files.manifest.id[7:]}"), files.folder)
        assert [name[:6] for name in hold.sweep()] == ["000007"]
        assert old.catalog.works() == files.catalog.works()
        old.close()
        assert list(hold.sweep()) == [files.manifest.id]
        with pytest.raises(NotFound):
            database.open(NAME, files.manifest.id)


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        ("DELETE FROM {place}.chunks WHERE row > 5", StoreDamaged),
        ("DELETE FROM {place}.vectors WHERE row = 3", StoreDamaged),
        ("DROP TABLE {place}.works", StoreDamaged),
        ("TRUNCATE {place}.lengths", StoreDamaged),
        ("UPDATE {place}.chunks SET text = 'altered' WHERE row < 500", StoreDamaged),
        ("ALTER TABLE {place}.vectors ALTER embedding TYPE vector(3) USING '[1,0,0]'::vector(3)", EmbedderMismatch),
        ("UPDATE lineage.generations SET manifest = 'x'", StoreDamaged),
        ("UPDATE lineage.generations SET format = 99", StoreDamaged),
    ],
)
def test_what_is_damaged_is_refused_and_named_by_a_check(own, tmp_path, spoil, error):
    _sql(own, spoil.format(place="gen_1"))
    service = _service(own, tmp_path)
    with pytest.raises(error):
        service.query("how is the encoder initialized?", lineage=NAME)
    assert service.check(NAME)


def test_vectors_of_another_embedder_are_not_mixed(own, tmp_path):
    service = _service(own, tmp_path)
    service._parts.__dict__["embedder"] = HashingEmbedder()
    with pytest.raises(EmbedderMismatch, match="were made by"):
        service.query("how is the encoder initialized?")


def test_altered_vectors_are_found_by_a_check(own, tmp_path):
    _sql(own, "UPDATE gen_1.vectors SET embedding = (SELECT embedding FROM gen_1.vectors WHERE row = 2) WHERE row = 1")
    assert "vectors.npy" in _service(own, tmp_path).check()[0].problem


def test_an_address_that_is_none_is_a_setting_that_cannot_be_used(server, tmp_path, impatient):
    with pytest.raises(SettingsError):
        settings.load(store="mysql://x")
    with pytest.raises(StoreUnreachable):
        _service("postgresql://lineage@/none?host=/nowhere", tmp_path).lineages()
    with pytest.raises(SettingsError, match="refuses"):
        _service(f"postgresql://lineage@/absent?host={server.home}", tmp_path).lineages()
    assert str(Database("postgresql://me:secret@db.example/x")) == "postgresql://db.example/x"


def test_an_index_above_a_size_finds_what_exact_search_finds(address):
    vectors, queries = unit_rows(3000, dim=32), unit_rows(50, seed=9, dim=32)
    rows = _rows(address, vectors, indexed_from=1000)
    _, exact = registry.load("vectors", "flat")(vectors).search(queries, 10)
    _, found = create(rows).search(queries, 10)
    assert np.isclose(found, exact, atol=1e-5).mean() >= 0.98
    some = np.arange(0, 3000, 7)
    assert create(rows).search(queries, 10, some)[1] == pytest.approx(
        registry.load("vectors", "flat")(vectors).search(queries, 10, some)[1], abs=1e-5
    )


def _rows(address: str, vectors: np.ndarray, indexed_from: int = postgres.INDEXED_FROM) -> postgres.StoredRows:
    session = Session(address, (f"SET hnsw.ef_search = {postgres.LOOKED_AT}",))
    with session.transaction() as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector; DROP TABLE IF EXISTS vectors")
        postgres.create_vectors(connection, vectors, indexed_from)
    return postgres.StoredRows(session, *vectors.shape)


class TestPgvector(VectorIndexContract):
    @pytest.fixture(autouse=True)
    def _database(self, address):
        self._address = address

    def make(self, vectors):
        return create(_rows(self._address, checked_vectors(vectors)))
