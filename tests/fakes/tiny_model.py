"""Models of random weights as sentence-transformers saves them, small enough to be made in a test."""

from __future__ import annotations

from pathlib import Path


def tiny_model(folder: Path) -> Path:
    """A two-layer BERT with characters for tokens, saved under `folder` as sentence-transformers saves models."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    letters = [chr(code) for code in range(33, 127)]
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + c for c in letters)]))
    config = BertConfig(vocab_size=5 + 2 * len(letters), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
    BertModel(config).save_pretrained(folder / "bert")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    encoder = Transformer(str(folder / "bert"), max_seq_length=128)
    model = SentenceTransformer(modules=[encoder, Pooling(32)], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"


def tiny_cross_encoder(folder: Path) -> Path:
    """A two-layer BERT with one output, characters for tokens, saved under `folder`."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(0)
    letters = [chr(code) for code in range(33, 127)]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + c for c in letters)]))
    size = 5 + 2 * len(letters)
    config = BertConfig(vocab_size=size, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=1)
    BertForSequenceClassification(config).save_pretrained(folder / "model")
    BertTokenizerFast(str(vocabulary), model_max_length=128).save_pretrained(folder / "model")
    return folder / "model"
