"""What a question is about besides details, and who speaks of it."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Answer, Chunk, Fact, FileProfile, Hit, Query, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.answers.extract import is_heard_of
from retrieval.decisions.fact_index import FactIndex
from retrieval.decisions.subject_matcher import held_for, speaking
from retrieval.search.question_subject import subject_of

TARGET, OWN, OTHER = WorkId("arxiv:2503.10622"), WorkId("repo:github.com/a/DyT"), WorkId("repo:github.com/facebookresearch/DiT")


def held(name, value, path, text, *, work=OWN, line=1, kind="default", scope="", section=(), said="", role="function"):
    of = "paper" if work == TARGET else "code"
    place = Chunk("c" + path, work, path, of, role, text, "", 0, len(text), 1, 1 + text.count("\n"), section=section)
    experiment = path.rpartition("/")[0] if path.startswith("tasks/") else ""
    hit = Hit(1, 1.0, place, Work(work, of), from_target=work != OTHER, file=FileProfile(work, path, experiment=experiment))
    return FactOccurrence(Fact(name, value, "", work, place.id, kind, line, scope=scope, said=said), hit)


def asked(question, **facts):
    holders = FactIndex("l", "1", Work(TARGET, title="DyT: Transformers"), {name: tuple(some) for name, some in facts.items()})
    return [one.fact.value for one in held_for(question, holders, ontology())]


COMMAND = "python main.py --model vit_base_patch16 \\\n --lr 4e-3 \\\n --drop_path 0.1"
PROGRAM = held("epochs", "300", "main.py", "parser.add_argument('--epochs', default=300)", scope="get_args_parser")
LR = held("learning_rate", "0.004", "README.md", COMMAND, line=2, kind="command", scope="main.py")
RUNS = (("400", "DINO"), ("800", "MAE"), ("9", "X"))
TASKS = [held("epochs", n, f"tasks/{t}/README.md", f"python {t.lower()}.py --arch vit_base", kind="command") for n, t in RUNS]


@pytest.mark.parametrize(
    ("question", "names", "hints"),
    [
        ("how many epochs is ViT-B trained on ImageNet", (("ViT-B",), ("ImageNet",)), set()),
        ("What learning rate is used for LLaMA 34B?", (("LLaMA", "34B"),), set()),
        ("What AdamW betas and EMA decay are used?", (), set()),
        ("how is BERT's tokenizer trained?", (("BERT",),), set()),
        ("Which batch size for ImageNet 256×256?", (("ImageNet", "256x256"),), set()),
        ("how many epochs is the rationale selection trained?", (), {"rational", "selection"}),
    ],
)
def test_what_is_written_as_a_name_is_what_a_question_is_about(question, names, hints):
    about = subject_of(question, ontology())
    assert (about.names, set(about.hints)) == (names, hints)


def test_a_program_s_default_holds_for_what_its_commands_run_before_other_experiments():
    assert asked("how many epochs is ViT-B trained?", epochs=[*TASKS, PROGRAM], learning_rate=[LR]) == ["300"]
    assert asked("how many epochs is MAE trained?", epochs=[*TASKS, PROGRAM], learning_rate=[LR]) == ["800"]


def test_no_value_is_asserted_for_what_no_holder_speaks_of():
    assert asked("how many epochs is AlphaFold trained?", epochs=[*TASKS, PROGRAM]) == []
    assert asked("how many epochs is DiT trained?", epochs=[*TASKS, held("epochs", "1400", "train.py", "epochs=1400", work=OTHER)]) == ["1400"]
    assert asked("how many epochs are trained?", epochs=[PROGRAM]) == ["300"]


def test_what_is_asked_of_the_target_by_name_is_none_of_others():
    other = held("ema_decay", "0.9999", "train.py", "decay=0.9999", work=OTHER)
    assert asked("Which EMA decay does DyT use?", ema_decay=[other]) == []
    assert asked("Which EMA decay is used?", ema_decay=[other]) == ["0.9999"]


def test_of_several_values_in_a_sentence_that_of_the_name_is_taken():
    text = "We use a batch size of 2048 for ImageNet 64×64 and 1024 for ImageNet 256×256."
    first = held("batch_size", "2048", "main.tex", text, work=TARGET, kind="prose", said="batch size of 2048 for ImageNet 64×64 and")
    second = held("batch_size", "1024", "main.tex", text, work=TARGET, kind="prose", said="1024 for ImageNet 256×256")
    assert asked("What batch size is used for ImageNet 256x256?", batch_size=[first, second]) == ["1024"]
    assert asked("What batch size is used for ImageNet 64x64?", batch_size=[first, second]) == ["2048"]


def test_a_row_of_a_table_is_of_what_it_names():
    text = "model | width\nLLaMA 7B | 4096\nLLaMA 13B | 5120"
    rows = [held("hidden_size", v, "main.tex", text, work=TARGET, kind="table", line=n, role="table") for v, n in (("4096", 2), ("5120", 3))]
    assert asked("What is the hidden size of LLaMA 13B?", hidden_size=rows) == ["5120"]


def test_a_passage_that_never_says_the_name_does_not_answer_it():
    hit = Hit(1, 1.0, PROGRAM.evidence.chunk, Work(OWN, "code"))
    said = {
        q: is_heard_of(Answer(Query(q), "l", "1", (hit,)), ontology()) for q in ("how is BERT trained?", "how is DyT trained?", "how is it trained?")
    }
    assert list(said.values()) == [False, True, True]


def test_holders_that_a_question_does_not_speak_of_do_not_speak_for_it():
    tokenizer = held("tokenizer", "llama", "prepare.py", "tokenizer = llama")
    assert speaking("which tokenizer has the protein model?", [tokenizer], ontology()) == []
    assert speaking("which tokenizer is used?", [tokenizer], ontology()) == [tokenizer]
