"""The names that the lines of a hit read, whatever a repository is written like."""

from __future__ import annotations

import time

import pytest

from retrieval.search.definitions import names_read


def test_names_of_settings_and_of_several_words_are_read_and_calls_are_not():
    text = "x = self.args.lr * args['warm_up'] + MAX_LEN + grad_clip(a) + config.model.width + value"
    assert names_read(text) == ["lr", "warm_up", "MAX_LEN", "width"]


@pytest.mark.parametrize("hostile", ["a" + "_a" * 30_000 + "(", "args" + ".a" * 30_000 + "(", "args" + "['a']" * 20_000 + ".", "A" * 60_000 + "("])
def test_a_name_without_end_costs_no_time(hostile):
    started = time.process_time()
    names_read(hostile)
    assert time.process_time() - started < 2
