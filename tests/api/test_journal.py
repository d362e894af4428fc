"""What is known of builds on disk: written whole, read on by numbers, never out of its folder."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from api.server import journal
from api.server.journal import Job, Journal, new_id
from indexer.plan import BuildRequest
from lineage.errors import NotFound, StoreDamaged

REQUEST = BuildRequest("arxiv:2504.17192", papers=3, add=("doi:10.1/x",), no_target_code=True)


@pytest.fixture
def kept(tmp_path):
    return Journal(tmp_path)


def test_a_job_is_read_back_as_it_was_written(kept):
    job = Job(new_id(), REQUEST, "größe", "failed", "a", "b", "c", 2, {"chunks": 3}, {"type": "X", "message": "m", "hint": ""})
    assert kept.write(job) is job
    assert kept.get(job.id) == job
    assert [event.data for event in kept.events(job.id)] == [{"state": "failed", "lineage": "größe", "error": dict(job.error)}]


def test_a_job_is_being_cancelled_while_it_is_not_finished(kept):
    job = kept.write(Job(new_id(), REQUEST, state="running"))
    assert not kept.get(job.id).cancelling
    kept.ask_to_cancel(job.id)
    assert kept.get(job.id).cancelling
    kept.write(replace(job, state="done"))
    assert not kept.get(job.id).cancelling
    kept.forget_cancelling(job.id)
    kept.forget_cancelling(job.id)
    assert not kept.cancel_asked(job.id)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"request": {}}', '{"request": {"target": "x"}, "id": "j", "more": 1}', "\xff"])
def test_a_job_that_cannot_be_read_is_damaged_by_name_and_passed_over_among_others(kept, text):
    whole, torn = kept.write(Job(new_id(), REQUEST)), new_id()
    (kept.folder / f"{torn}.json").write_text(text, encoding="latin-1")
    with pytest.raises(StoreDamaged, match=f"{torn}.json cannot be read"):
        kept.get(torn)
    assert [job.id for job in kept.all()] == [whole.id]


@pytest.mark.parametrize("id_", ["", "x", "j_" + "0" * 23, "j_" + "0" * 25, "j_" + "G" * 24, "../j_" + "0" * 24, "j_" + "0" * 24 + "\n"])
def test_what_is_no_identifier_names_no_file(kept, id_):
    for call in (kept.get, kept.events, kept.ask_to_cancel, kept.cancel_asked, kept.forget_cancelling):
        with pytest.raises(NotFound, match="is not the id of a job"):
            call(id_)


def test_a_job_that_is_not_there_has_no_events(kept):
    for call in (kept.get, kept.events):
        with pytest.raises(NotFound, match="there is no job"):
            call("j_" + "0" * 24)
    assert list(kept.all()) == []


def test_reading_on_from_any_number_skips_nothing_and_repeats_nothing(kept):
    job = new_id()
    kept.folder.mkdir()
    for number in range(6):
        kept.tell(job, "note", {"number": number, "text": "é\n" * number})
    events = kept.events(job)
    assert [event.data["number"] for event in events] == list(range(6))
    for after in range(events[-1].id + 2):
        assert kept.events(job, after) == tuple(event for event in events if event.id > after)[-6:] or after not in {event.id for event in events}
        assert all(event in events for event in kept.events(job, after))
    for at, event in enumerate(events):
        assert kept.events(job, event.id) == events[at + 1 :]


def test_events_are_read_five_hundred_at_a_time(kept, monkeypatch):
    monkeypatch.setattr(journal, "_MOST", 2)
    job = new_id()
    kept.folder.mkdir()
    for number in range(5):
        kept.tell(job, "note", {"number": number})
    read, at = [], 0
    while some := kept.events(job, at):
        assert len(some) <= 2
        read += [event.data["number"] for event in some]
        at = some[-1].id
    assert read == [0, 1, 2, 3, 4]


def test_a_line_that_is_not_whole_is_not_there_yet_and_a_torn_one_inside_never(kept):
    job = new_id()
    kept.folder.mkdir()
    kept.tell(job, "note", {"n": 1})
    path = kept.folder / f"{job}.events"
    with path.open("ab") as file:
        file.write(b'{"at": "x", "ki\n[1]\n' + json.dumps({"at": "t", "kind": "note", "n": 2}).encode())
    assert [event.data for event in kept.events(job)] == [{"n": 1}]
    with path.open("ab") as file:
        file.write(b"\n")
    assert [event.data for event in kept.events(job)] == [{"n": 1}, {"n": 2}]
    assert kept.events(job)[-1].id == path.stat().st_size


def test_the_oldest_finished_jobs_go_and_those_at_work_stay(kept, monkeypatch):
    monkeypatch.setattr(journal, "_KEPT", 2)
    states = ["done", "running", "failed", "queued", "cancelled", "done"]
    ids = [f"j_{number:024x}" for number in range(len(states))]
    for id_, state in zip(ids, states, strict=True):
        kept.write(Job(id_, REQUEST, state=state))
    kept.ask_to_cancel(ids[0])
    kept.prune()
    assert [job.id for job in kept.all()] == [ids[1], *ids[3:]]
    assert not list(kept.folder.glob(f"{ids[0]}.*"))


def test_identifiers_sort_by_time_and_differ():
    ids = [new_id() for _ in range(50)]
    assert [id_[:18] for id_ in ids] == sorted(id_[:18] for id_ in ids)
    assert len(set(ids)) == 50
