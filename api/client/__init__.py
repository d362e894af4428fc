"""A client of `lineage serve` for Python, sync and async, with the typed results that every door gives.

    from api.client import Lineage

    with Lineage() as lineage:
        job = lineage.wait(lineage.build("arxiv:2504.17192"))
        for hit in lineage.search("how is the encoder initialized?", lineage=job.lineage, k=5).hits:
            print(hit.citation, hit.license)

    async with AsyncLineage("https://lineage.example", token=...) as lineage:
        pack = await lineage.context("write the training loop", tokens=4000)

Why: it speaks to the user's own server, so a program needs neither the store nor the models. What the server refuses
is raised as the error of `lineage.errors` that it was, or as `Refused`; when it asks to be left alone for a while
(`Retry-After`), the client waits and asks again, for at most `patience` seconds.
"""

from __future__ import annotations

from api import notebook as notebook
from api.client.clients import AsyncLineage, Lineage
from api.client.connection import Event, Refused

__all__ = ["AsyncLineage", "Event", "Lineage", "Refused"]
