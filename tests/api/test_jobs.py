"""Builds as jobs: joined, bounded, cancelled, resumed, and none the worse for a process that dies."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from api.server.jobs import Jobs
from api.server.journal import Journal
from indexer.plan import BuildReport, BuildRequest
from indexer.sources.local import is_path
from lineage.errors import BadIdentifier, NotFound, QueueFull, StoreBusy
from lineage.progress import Note, Stage
from lineage.records import Work, WorkId

REQUEST = BuildRequest("arxiv:2504.17192")
LONG = 20.0


class Builder:
    """Builds nothing; says what it is at, and ends when it is let go."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[BuildRequest] = []
        self.error = error
        self.under_way, self.go_on = threading.Event(), threading.Event()

    def __call__(self, request, watch):
        self.asked.append(request)
        watch(Note("begun"))
        self.under_way.set()
        while not self.go_on.wait(0.01):
            watch(Stage("papers", 1, 20, "a \u200btitle"))
        if self.error:
            raise self.error
        return BuildReport("arxiv-2504.17192", "000001-abcdef01", Work(WorkId("arxiv:2504.17192")), {}, 1, 2, 3, 4, {}, {}, "", {})


@pytest.fixture
def queue(tmp_path):
    """Makes queues over one store, and ends them."""
    made = []

    def make(builder=None, bound=16, start=True):
        jobs = Jobs(tmp_path, builder or Builder(), bound)
        made.append(jobs)
        if start:
            jobs.start()
        return jobs

    yield make
    for jobs in made:
        jobs.close()


def ended(jobs, id_):
    """The job, when it has ended."""
    waited = threading.Event()
    for _ in range(int(LONG / 0.02)):
        if jobs.get(id_).finished:
            return jobs.get(id_)
        waited.wait(0.02)
    raise AssertionError(jobs.get(id_))


def test_a_job_is_done_and_tells_how(queue):
    builder = Builder()
    jobs = queue(builder)
    job = jobs.submit(REQUEST)
    assert (job.state, job.lineage) == ("queued", "arxiv-2504.17192")
    assert builder.under_way.wait(LONG)
    assert jobs.get(job.id).state == "running"
    builder.go_on.set()
    done = ended(jobs, job.id)
    assert (done.state, done.attempts, done.error) == ("done", 1, None)
    assert done.report["chunks"] == 3
    events = jobs.events(job.id)
    assert [event.kind for event in events if event.kind != "stage"] == ["state", "state", "note", "state"]
    assert [event.data["state"] for event in events if event.kind == "state"] == ["queued", "running", "done"]


def test_events_are_read_on_from_where_one_was(queue):
    builder = Builder()
    jobs = queue(builder)
    builder.go_on.set()
    job = ended(jobs, jobs.submit(REQUEST).id)
    events = jobs.events(job.id)
    assert jobs.events(job.id, events[1].id) == events[2:]
    assert jobs.events(job.id, events[1].id - 1) == events[2:]
    assert jobs.events(job.id, events[-1].id) == ()
    assert jobs.events(job.id, 10**12) == ()


def test_two_requests_for_one_target_join_however_it_is_written(queue):
    jobs = queue(start=False)
    first = jobs.submit(REQUEST)
    assert jobs.submit(BuildRequest("https://arxiv.org/abs/2504.17192")).id == first.id
    assert jobs.submit(BuildRequest("2504.17192", papers=3)).id != first.id
    assert jobs.submit(BuildRequest("2504.17192v2")).id != first.id
    assert [job.id for job in jobs.all()][-1] == first.id


def test_what_waits_is_bounded(queue):
    jobs = queue(bound=2, start=False)
    jobs.submit(REQUEST)
    jobs.submit(BuildRequest("arxiv:2504.00001"))
    with pytest.raises(QueueFull, match="2 builds wait already"):
        jobs.submit(BuildRequest("arxiv:2504.00002"))
    assert jobs.submit(REQUEST).state == "queued"


def test_what_names_no_target_is_refused_at_once(queue):
    with pytest.raises(BadIdentifier):
        queue(start=False).submit(BuildRequest("adam"))


def test_a_job_that_waits_is_cancelled_at_once_and_can_be_resumed(queue):
    jobs = queue(start=False)
    job = jobs.submit(REQUEST)
    assert jobs.cancel(job.id).state == "cancelled"
    assert jobs.cancel(job.id).state == "cancelled"
    assert jobs.resume(job.id).state == "queued"


def test_a_job_that_runs_ends_at_its_next_step(queue):
    builder = Builder()
    jobs = queue(builder)
    job = jobs.submit(REQUEST)
    assert builder.under_way.wait(LONG)
    jobs.cancel(job.id)
    assert ended(jobs, job.id).state == "cancelled"
    builder.go_on.set()
    assert jobs.resume(job.id).cancelling is False
    assert ended(jobs, job.id).attempts == 2


def test_an_error_is_kept_with_its_hint_and_the_queue_goes_on(queue):
    builder = Builder(StoreBusy("lineage 'x' is being written by process 7", hint="wait"))
    builder.go_on.set()
    jobs = queue(builder)
    failed = ended(jobs, jobs.submit(REQUEST).id)
    assert (failed.state, failed.error) == ("failed", {"type": "StoreBusy", "message": "lineage 'x' is being written by process 7", "hint": "wait"})
    builder.error = None
    assert ended(jobs, jobs.submit(REQUEST).id).state == "done"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_ends_its_job_and_not_the_queue(queue):
    builder = Builder(ZeroDivisionError("by nought"))
    builder.go_on.set()
    jobs = queue(builder)
    failed = ended(jobs, jobs.submit(REQUEST).id)
    assert (failed.state, failed.error["message"]) == ("failed", "a bug in lineage")
    assert jobs.alive()


def test_what_a_server_leaves_is_resumed_by_the_next(queue):
    builder = Builder()
    first = queue(builder)
    job = first.submit(REQUEST)
    assert builder.under_way.wait(LONG)
    first.close()
    assert first.get(job.id).state == "queued"
    builder.go_on.set()
    done = ended(queue(builder), job.id)
    assert (done.state, done.attempts) == ("done", 2)
    assert builder.asked == [REQUEST, REQUEST]


def test_a_build_that_does_not_stop_in_time_keeps_the_lock_while_it_writes(queue, monkeypatch):
    monkeypatch.setattr("api.server.jobs._GRACE", 0.01)
    deaf, go_on = threading.Event(), threading.Event()

    def build(request, watch):
        deaf.set()
        go_on.wait(LONG)
        raise StoreBusy("at last")

    first = queue(build)
    first.submit(REQUEST)
    assert deaf.wait(LONG)
    first.close()
    second = queue(Builder(), start=False)
    assert second._take() is False
    go_on.set()


def test_what_a_killed_server_left_running_is_resumed(queue, tmp_path):
    journal = Journal(tmp_path)
    job = queue(start=False).submit(REQUEST)
    journal.write(type(job)(**{**vars(job), "state": "running", "attempts": 1}))
    builder = Builder()
    builder.go_on.set()
    assert ended(queue(builder), job.id).attempts == 2


def test_of_two_servers_one_works_and_both_tell(queue):
    builder, idle = Builder(), Builder()
    first = queue(builder)
    job = first.submit(REQUEST)
    assert builder.under_way.wait(LONG)
    second = queue(idle)
    assert second.submit(REQUEST).id == job.id
    assert second.holder().startswith("process ")
    assert second.events(job.id) == first.events(job.id)[: len(second.events(job.id))]
    second.cancel(job.id)
    assert ended(second, job.id).state == "cancelled"
    assert idle.asked == []


@pytest.mark.parametrize("id_", ["", "j_", "../../etc/passwd", "j_" + "0" * 24, "j_" + "0" * 24 + "\n", "j_%2e%2e"])
def test_an_identifier_is_a_key_and_never_a_path(queue, id_):
    jobs = queue(start=False)
    for ask in (jobs.get, jobs.events, jobs.cancel, jobs.resume):
        with pytest.raises(NotFound):
            ask(id_)


def test_torn_lines_of_a_journal_are_skipped(queue, tmp_path):
    jobs = queue(start=False)
    job = jobs.submit(REQUEST)
    with (tmp_path / "jobs" / f"{job.id}.events").open("ab") as file:
        file.write(b'{"at": "2026\n[]\n{"at": "x", "kind": "note", "text": "whole"}\n{"at": "to')
    assert [event.kind for event in jobs.events(job.id)] == ["state", "note"]


def test_the_last_finished_jobs_are_kept(queue, tmp_path, monkeypatch):
    monkeypatch.setattr("api.server.journal._KEPT", 2)
    jobs = queue(start=False)
    old = [jobs.cancel(jobs.submit(BuildRequest(f"arxiv:2504.0000{n}")).id).id for n in range(4)]
    new = jobs.submit(REQUEST).id
    assert [job.id for job in jobs.all()] == [new, old[3], old[2]]
    assert sorted(path.name for path in (tmp_path / "jobs").glob(f"{old[0]}*")) == []


def test_who_has_stopped_working_holds_the_queue_no_longer(queue):
    jobs = queue(start=False)
    assert jobs._take()
    assert queue(start=False).holder().startswith("process ")
    jobs.close()
    assert (jobs.holder(), queue(start=False).holder()) == ("", "")


@pytest.mark.parametrize("target", ["private/notes", "My Notes/../../private", '"My Notes/../../private"', "paper.pdf"])
def test_a_job_never_means_a_file_of_the_folder_it_is_worked_in(tmp_path, queue, monkeypatch, target):
    builder = Builder()
    builder.go_on.set()
    jobs = queue(builder, start=False)
    try:
        job = jobs.submit(BuildRequest(target, add=("https://github.com/a/b",)))
    except BadIdentifier:
        return
    here = tmp_path / "here"
    (here / "My Notes" / "deep").mkdir(parents=True)
    (tmp_path / "private").mkdir()
    monkeypatch.chdir(here / "My Notes")
    jobs.start()
    ended(jobs, job.id)
    assert [is_path(text) for text in (builder.asked[0].target, *builder.asked[0].add)] == [False, False]


def test_a_job_that_waited_with_a_path_since_before_fails(queue):
    jobs = queue(start=False)
    job = jobs.submit(REQUEST)
    jobs._journal.write(replace(job, request=BuildRequest("./private")))
    jobs.start()
    assert ended(jobs, job.id).error["type"] == "BadIdentifier"
