"""The names that the lines of a hit read, whatever a repository is written like."""

from __future__ import annotations

import time

import pytest

from lineage.records import Focus, Hit, Setting, Work
from retrieval.search.definitions import definitions, names_read
from tests.fakes.small_lineage import REPO, chunk


def test_names_of_settings_and_of_several_words_are_read_and_calls_are_not():
    text = "x = self.args.lr * args['warm_up'] + MAX_LEN + grad_clip(a) + config.model.width + value"
    assert names_read(text) == ["lr", "warm_up", "MAX_LEN", "width"]


@pytest.mark.parametrize("hostile", ["a" + "_a" * 30_000 + "(", "args" + ".a" * 30_000 + "(", "args" + "['a']" * 20_000 + ".", "A" * 60_000 + "("])
def test_a_name_without_end_costs_no_time(hostile):
    started = time.process_time()
    names_read(hostile)
    assert time.process_time() - started < 2


class Catalog:
    def settings(self, work, names):
        return [one for one in SETTINGS if one.name in names]

    def files(self, work):
        return {}


SETTINGS = (Setting("warm_up", "5", "default", REPO, "options.py", "c", 9), Setting("embed_dim", "512", "default", REPO, "other.py", "c", 3))


def test_lines_around_those_that_answer_count_and_a_plain_name_is_set_by_its_own_file_alone():
    text = "x = args.warm_up\na = 1\nb = embed_dim\nc = 2"
    found = Hit(1, 1.0, chunk(REPO, "a.py", text, kind="code", first=1), Work(REPO, "code", "tent"), focus=Focus(2, 2))
    assert {name: one.value for (_, _, name), one in definitions([found], Catalog()).items()} == {"warm_up": "5"}
