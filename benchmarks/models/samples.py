"""Texts whose vectors lie beside a model, so that the embedder can check itself where it runs."""

SELF_TEST = (
    "how are the weights of the encoder initialised?",
    "def _init_weights(module):\n    if isinstance(module, nn.Linear):\n        nn.init.trunc_normal_(module.weight, std=0.02)\n",
    "We train with AdamW, a peak learning rate of 1e-4 and a linear warm-up over the first 10,000 steps.",
)
