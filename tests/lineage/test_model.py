"""The closed lists: every status has one outcome, and only passing troubles are retryable."""

from lineage.records import Status


def test_every_status_counts_towards_exactly_one_of_the_four_sums():
    assert {status.outcome for status in Status} == {"ok", "degraded", "failed", "excluded"}
    assert [status for status in Status if status.outcome == "ok"] == [Status.OK]


def test_only_troubles_that_may_pass_are_retryable():
    assert Status.RATE_LIMITED.retryable
    assert Status.OFFLINE.retryable
    assert not Status.NOT_FOUND.retryable
    assert not Status.OK.retryable
