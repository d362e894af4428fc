"""Write `9909.00104.pdf`, the one cited paper of the demonstration that exists as a PDF only.

    python examples/demo/papers/make_pdf.py [OUT]

The text is below; the layout is two columns with numbered sections, a table, an equation, page numbers, links whose
destinations are named `cite.KEY` and `section.N` as hyperref names them, and an outline. Needs pymupdf. The same bytes
are written each time.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 595, 842
MARGIN, GAP, TOP, BOTTOM = 54, 18, 64, 780
COLUMN = (WIDTH - 2 * MARGIN - GAP) / 2
BODY, BOLD, ITALIC = "tiro", "tibo", "tiit"

TITLE = "SoftCrop: Gentle Augmentation for Reconstruction Pretraining"
AUTHORS = "Quentin Mori and Ada Feld"
ABSTRACT = (
    "Augmentation recipes for masked reconstruction are inherited from contrastive learning, where the augmentation defines "
    "the task. We measure each transformation on its own and find that most of them only add noise to the target. SoftCrop "
    "keeps a mild crop, a flip and gentle colour, and improves linear probes by 1.1 points for a small encoder."
)
TEXT: list[tuple[str, str]] = [
    ("section", "1 Introduction"),
    ("p", "In contrastive learning two views of one image are pulled together, and what the augmentation changes is what the "
          "features ignore. In masked reconstruction the mask defines the task. It is not obvious that an augmentation helps "
          "at all, and yet recipes are carried over as they are."),
    ("p", "We study which augmentations a masked autoencoder should see. The encoder is the plain small vision transformer of "
          "{satoreyes2023plain}; for what is known of representation learning in general see {marlow2019foundations}."),
    ("section", "2 Method"),
    ("subsection", "2.1 The soft crop"),
    ("p", "A random resized crop draws the share of the area uniformly, usually between 8 % and 100 %. For reconstruction, small "
          "crops are harmful: they enlarge textures. We draw the share a from a Beta distribution stretched over [0.4, 1],"),
    ("eq", "a = 0.4 + 0.6 u,   u ~ Beta(t, 1),   t = 2        (1)"),
    ("p", "so that large crops are preferred. The temper t = 1 gives the usual uniform draw. The aspect ratio is log-uniform "
          "between 3/4 and 4/3, and the crop is resized to 224 x 224 pixels with bicubic interpolation."),
    ("subsection", "2.2 Flip, colour and blur"),
    ("p", "After the crop, images are flipped horizontally with probability 0.5. Brightness, contrast and saturation are each "
          "changed with probability 0.5 by a factor within 0.2 of one. Gaussian blur with a radius between 0.1 and 0.8 pixels "
          "is applied with probability 0.1. There is no rotation, no solarisation and no conversion to grey."),
    ("section", "3 Experiments"),
    ("p", "We pre-train a masked autoencoder on SmallScenes-200 for 100 epochs with three settings and train a linear probe on "
          "the frozen encoder as {fenn2022probebench} propose, with five seeds."),
    ("caption", "Table 1: Linear probe after 100 epochs (top-1, per cent)."),
    ("row", "setting|small|base"),
    ("row", "crop and flip only|56.9|63.0"),
    ("row", "strong (contrastive)|54.2|62.7"),
    ("row", "gentle (SoftCrop)|58.0|63.4"),
    ("p", "Strong augmentation costs a small encoder 2.7 points and a larger one almost nothing: capacity is spent on noise in the "
          "target. The gentle setting is better than none for both. Leaving out the colour costs 0.3 points, leaving out the "
          "temper 0.6."),
    ("section", "4 Conclusion"),
    ("p", "For reconstruction, augment gently. Settings are given in full so that they can be copied: area [0.4, 1], temper 2, "
          "flip 0.5, colour strength 0.2 with probability 0.5, blur 0.1."),
    ("section", "5 Limitations"),
    ("p", "All measurements are on one data set of scenes, where the horizon is level and colour carries meaning. On aerial images "
          "rotation may well help, and on documents a flip certainly hurts. We also tried only two sizes of one architecture; "
          "how the optimum moves with the mask ratio we do not know."),
    ("section", "References"),
    ("bib", "fenn2022probebench|[1] L. Fenn and J. Ruhl. ProbeBench: Linear probes done with care. In Workshop on Measurement in "
            "Machine Learning, 2022."),
    ("bib", "marlow2019foundations|[2] E. Marlow and S. Iyer. Foundations of Representation Learning. Harbour Press, 2nd edition, "
            "2019."),
    ("bib", "satoreyes2023plain|[3] A. Sato-Reyes and H. Dahl. Plain small vision transformers. arXiv preprint arXiv:9910.00103, "
            "2023."),
    ("section", "A Settings"),
    ("p", "For each transformation we list what was tried; the value that we recommend stands first. All other hyper-parameters "
          "of pre-training are left as they were: 100 epochs, a batch of 1024, AdamW with a weight decay of 0.05 and a cosine "
          "decay after 20 epochs of warm-up."),
    ("caption", "Table 2: Values tried. Probe accuracy of the small encoder for the first and the last value."),
    ("row", "lowest area (0.4, 0.2, 0.08)|58.0|56.8"),
    ("row", "temper (2, 1, 4)|58.0|57.6"),
    ("row", "colour strength (0.2, 0.4, 0.8)|58.0|55.9"),
    ("row", "colour probability (0.5, 0.8)|58.0|57.8"),
    ("row", "blur probability (0.1, 0, 0.5)|58.0|57.1"),
    ("row", "grey-scale probability (0, 0.2)|58.0|57.0"),
    ("row", "solarisation probability (0, 0.2)|58.0|56.4"),
    ("subsection", "A.1 Order of the transformations"),
    ("p", "The order is crop, flip, colour, blur, normalisation. Colour before the crop is equivalent but slower. Blur after the "
          "resize is what makes its radius comparable between images of different size; blur before the crop, as some code does, "
          "makes it depend on the size of the photograph."),
    ("subsection", "A.2 What was discarded"),
    ("p", "RandAugment with two operations of magnitude 9 lost 2.2 points. Random erasing is a second mask whose value the decoder "
          "is asked to predict, and lost 1.4 points. Mixup has no meaning for reconstruction: the target is then an image that "
          "does not exist. Repeated augmentation of one image within a batch changed nothing and saves a third of the reading."),
    ("subsection", "A.3 Normalisation of the target"),
    ("p", "Pixels are normalised patch by patch before they become the target. A change of brightness therefore leaves the target as "
          "it is, and a change of contrast nearly so; it is the change of saturation that alters what has to be predicted. This "
          "explains why brightness may be varied freely and saturation may not. With unnormalised targets the gap between the gentle "
          "and the strong setting doubles."),
    ("section", "B Compute"),
    ("p", "A run of 100 epochs takes four and a half hours on four cards for the small encoder. Reading and augmenting images takes "
          "eight processes per card; the antialiased resize is the most expensive part and was rewritten in C++."),
]
NUMBERS = {"fenn2022probebench": "[1]", "marlow2019foundations": "[2]", "satoreyes2023plain": "[3]"}


@dataclass
class Sheet:
    """Where the pen is: page, column and height, with what was named on the way."""

    pymupdf: Any
    document: Any
    page: Any = None
    column: int = 0
    y: float = TOP
    places: dict[str, tuple[int, float, float]] = field(default_factory=dict)
    links: list[tuple[int, tuple[float, float, float, float], str]] = field(default_factory=list)
    outline: list[list[Any]] = field(default_factory=list)

    @property
    def left(self) -> float:
        return MARGIN + self.column * (COLUMN + GAP)

    def turn(self) -> None:
        """On to the next column, or the next page."""
        if self.page is not None and self.column == 0:
            self.column = 1
        else:
            self.page = self.document.new_page(width=WIDTH, height=HEIGHT)
            self.page.insert_text((WIDTH / 2 - 3, 812), str(self.page.number + 1), fontname=BODY, fontsize=9)
            self.column = 0
        self.y = TOP if self.page.number else 190

    def need(self, height: float) -> None:
        if self.page is None or self.y + height > BOTTOM:
            self.turn()

    def words(self, text: str, font: str, size: float, lead: float, indent: float = 0) -> None:
        """Running text, wrapped; a `{key}` becomes a linked number."""
        x, self.y = self.left + indent, self.y + lead
        space = self.pymupdf.get_text_length(" ", font, size)
        for word in text.split():
            key, _, tail = word[1:].partition("}") if word.startswith("{") else ("", "", "")
            shown = NUMBERS[key] + tail if key else word
            width = self.pymupdf.get_text_length(shown, font, size)
            if x + width > self.left + COLUMN:
                self.need(lead)
                x, self.y = self.left, self.y + lead
            self.page.insert_text((x, self.y), shown, fontname=font, fontsize=size)
            if key:
                self.links.append((self.page.number, (x, self.y - size, x + width, self.y + 2), f"cite.{key}"))
            x += width + space

    def name(self, place: str) -> None:
        self.places[place] = (self.page.number, self.left, HEIGHT - self.y)


def put(sheet: Sheet, kind: str, text: str) -> None:
    """One element of the text."""
    if kind in {"section", "subsection"}:
        sheet.need(46)
        sheet.y += 8
        number = text.split()[0]
        sheet.name(f"{kind}.{number}" if number[0].isdigit() else f"{kind}*.{number}")
        sheet.outline.append([1 if kind == "section" else 2, text, sheet.page.number + 1])
        sheet.words(text, BOLD, 12 if kind == "section" else 10.5, 14)
        sheet.y += 3
    elif kind == "row":
        sheet.need(12)
        sheet.y += 12
        for cell, offset in zip(text.split("|"), (0, 130, 180), strict=True):
            sheet.page.insert_text((sheet.left + offset, sheet.y), cell, fontname=BODY, fontsize=9.5)
    elif kind == "bib":
        key, _, entry = text.partition("|")
        sheet.need(26)
        sheet.name(f"cite.{key}")
        sheet.words(entry, BODY, 9, 11.5)
        sheet.y += 3
    else:
        sheet.need(26)
        font, size = {"eq": (ITALIC, 10), "caption": (ITALIC, 9)}.get(kind, (BODY, 10))
        sheet.y += 4 if kind != "p" else 0
        sheet.words(text, font, size, 12.2, 12 if kind == "eq" else 0)
        sheet.y += 4


def head(sheet: Sheet) -> None:
    """Title, authors and abstract over both columns of the first page."""
    sheet.turn()
    for text, font, size, y in ((TITLE, BOLD, 16, 80), (AUTHORS, BODY, 11, 102)):
        width = sheet.pymupdf.get_text_length(text, font, size)
        sheet.page.insert_text(((WIDTH - width) / 2, y), text, fontname=font, fontsize=size)
    sheet.page.insert_text((WIDTH / 2 - 22, 124), "Abstract", fontname=BOLD, fontsize=11)
    box = (MARGIN + 36, 128, WIDTH - MARGIN - 36, 190)
    sheet.page.insert_textbox(box, ABSTRACT, fontname=BODY, fontsize=9.5, align=0)


def name_places(sheet: Sheet) -> None:
    """The name tree of the catalogue, and link annotations that go by name."""
    document = sheet.document
    entries = []
    for place, (number, x, y) in sorted(sheet.places.items()):
        entries.append(f"({place})[{document[number].xref} 0 R/XYZ {x:.1f} {y + 14:.1f} null]")
    document.xref_set_key(document.pdf_catalog(), "Names", f"<</Dests<</Names[{''.join(entries)}]>>>>")
    for page in document:
        annotations = []
        for number, (x0, y0, x1, y1), place in sheet.links:
            if number == page.number:
                xref = document.get_new_xref()
                rect = f"[{x0:.1f} {HEIGHT - y1:.1f} {x1:.1f} {HEIGHT - y0:.1f}]"
                document.update_object(xref, f"<</Type/Annot/Subtype/Link/Border[0 0 0]/Rect{rect}/A<</S/GoTo/D({place})>>>>")
                annotations.append(f"{xref} 0 R")
        if annotations:
            document.xref_set_key(page.xref, "Annots", f"[{' '.join(annotations)}]")


def main(out: Path) -> None:
    """Write the PDF."""
    import pymupdf

    document = pymupdf.open()
    sheet = Sheet(pymupdf, document)
    head(sheet)
    for kind, text in TEXT:
        put(sheet, kind, text)
    document.set_toc(sheet.outline)
    name_places(sheet)
    date = "D:20231002122511Z"
    document.set_metadata({"title": TITLE, "author": AUTHORS, "creationDate": date, "modDate": date, "producer": "make_pdf.py"})
    for page in document:
        page.clean_contents()
    out.write_bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("9909.00104.pdf"))
