"""Values as sources write them, to one form (pure): numbers, lists, literal arithmetic.

Papers write 1×10⁻⁴, 10^{-4}, 4,096, 4k and 10 %; code writes 1e-4, 2**16 and (0.9, 0.95). All of one value become one
text, so that sources can be held against each other. Arithmetic is worked out where every operand is a literal and the
result is of bounded size; whatever else computes stays an expression, and nothing is ever run.
"""

from __future__ import annotations

import ast
import json
import math
import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal, InvalidOperation

Scalar = bool | int | float | str | None
Plain = Scalar | list[Scalar]

LONGEST = 400
MOST_ITEMS = 32
_EXPONENT = 400
_MINUS = str.maketrans({"−": "-", "–": "-", "‐": "-", "‑": "-", "\u2009": " ", "\u00a0": " ", "\u202f": " ", "×": "x", "·": "x", "⋅": "x", "∗": "*"})
_PLAIN = r"[+-]?(?:\d{1,3}(?:(?:,|\\,|\{,\})\d{3})+|\d[\d_]*)?(?:\.\d+)?\.?"
_NUMBER = re.compile(
    rf"(?P<base>{_PLAIN})(?:[eE](?P<exp>[+-]?\d{{1,3}}))?"
    r"(?:\s*(?:x|\*|\\times|\\cdot)\s*10\s*(?:\^|\*\*)?\s*(?P<brace>\{)?\s*(?P<power>[+-]?\d{1,3})\s*(?(brace)\}))?"
    r"\s*(?P<suffix>[kKMBG]|million|billion|thousand|\\?%|percent)?\Z"
)
_POWER = re.compile(r"(?P<sign>[+-]?)(?P<base>\d{1,4}|e)\s*(?:\^|\*\*)\s*(?P<brace>\{)?\s*(?P<power>[+-]?\d{1,3})\s*(?(brace)\})\Z")
_FLATTENED = re.compile(r"10\s?−(\d{1,2})\Z")  # a superscript that the text of a PDF has lost
_TEN_TO_THE = re.compile(r"(\d)([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_SUFFIXES = {"k": 3, "K": 3, "thousand": 3, "M": 6, "million": 6, "B": 9, "G": 9, "billion": 9, "%": -2, "\\%": -2, "percent": -2}
_WORDS: dict[str, Scalar] = {
    "true": True,
    "yes": True,
    "on": True,
    "false": False,
    "no": False,
    "off": False,
    "none": None,
    "null": None,
    "~": None,
    "": None,
}


class Expression(Exception):
    """The text computes its value; it is no literal."""


def number(text: str) -> int | float | None:
    """The number that a text is, in any of the forms of papers and code; None for what is no number."""
    if len(text) > 80 or not any(c.isdigit() for c in text):
        return None
    if flat := _FLATTENED.match(text.strip()):
        return _tidy(Decimal(1).scaleb(-int(flat[1])))
    text = _plain(text)
    if power := _POWER.match(text):
        base = math.e if power["base"] == "e" else int(power["base"])
        return _arithmetic(ast.Pow(), base, int(power["power"])) * (-1 if power["sign"] == "-" else 1)
    match = _NUMBER.match(text)
    if not match or not any(c.isdigit() for c in match["base"]):
        return None
    try:
        base10 = Decimal(re.sub(r"[,_\\{}]", "", match["base"]))
    except InvalidOperation:
        return None
    shift = int(match["exp"] or 0) + int(match["power"] or 0) + _SUFFIXES.get(match["suffix"] or "", 0)
    return _tidy(base10.scaleb(shift))


def _plain(text: str) -> str:
    """One way to write minus, times and powers."""
    text = _TEN_TO_THE.sub(lambda m: f"{m[1]}^{unicodedata.normalize('NFKC', m[2])}", text).translate(_MINUS)
    return text.strip().strip("$").strip()


def _tidy(value: Decimal) -> int | float:
    if abs(value.adjusted()) > _EXPONENT:
        raise Expression("a number out of all proportion")
    return int(value) if value == value.to_integral_value() and value.adjusted() < 21 else float(value)


def shown(value: Plain) -> str:
    """The one text of a value: 0.0001, 4096, 1e-7, [0.9, 0.95], true, none."""
    if isinstance(value, list):
        return "[" + ", ".join(json.dumps(item, ensure_ascii=False) if isinstance(item, str) else shown(item) for item in value) + "]"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else _numeral(value)


def _numeral(value: int | float) -> str:
    """As papers and configurations write numbers: decimals from 1e-4 up to 1e21, an exponent outside (5e-6)."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    exact = Decimal(value if isinstance(value, int) else format(value, ".12g")).normalize()
    if exact == 0:
        return "0"
    if -5 < exact.adjusted() < 21:
        return format(exact, "f")
    digits, _, exponent = format(exact, "e").partition("e")
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}e{int(exponent)}"


def read(text: str) -> Plain:
    """The literal that a text is: a number, boolean, None, list of such, or a string; raises `Expression` for what would have to be computed."""
    text = text.strip()
    if len(text) > LONGEST:
        raise Expression("too long for a literal")
    text = text.rstrip(",; ")
    if (parsed_number := number(text)) is not None:
        return parsed_number
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _loose(text)
    try:
        return literal(tree)
    except Expression:
        if _computes(tree):
            raise
        return _loose(text)


def _loose(text: str) -> Plain:
    """A scalar of a configuration or of prose: a list in brackets, else the words."""
    if text[:1] == "[" and text[-1:] == "]" and len(text) > 2:
        return [_scalar(part) for part in text[1:-1].split(",")[:MOST_ITEMS]]
    if any(sign in text for sign in ("${", "{{", "%(")):
        raise Expression("an interpolation")
    return text.strip("'\"")


def _scalar(text: str) -> Scalar:
    text = text.strip().strip("'\"")
    parsed_number = number(text)
    return parsed_number if parsed_number is not None else _WORDS.get(text.lower(), text)


def _computes(tree: ast.expr) -> bool:
    """Whether an expression does something: a call, or arithmetic that is not words joined by dashes and slashes."""
    nodes = list(ast.walk(tree))
    joined = any(isinstance(node, ast.Name) for node in nodes)
    operators = [node.op for node in nodes if isinstance(node, ast.BinOp)]
    return any(isinstance(node, ast.Call) for node in nodes) or any(not (joined and isinstance(op, ast.Sub | ast.Div)) for op in operators)


def literal(tree: ast.expr) -> Plain:
    """The value of a literal, or of arithmetic on literals; raises `Expression` for everything else."""
    if isinstance(tree, ast.List | ast.Tuple):
        if len(tree.elts) > MOST_ITEMS:
            raise Expression("a long list")
        return [_item(expr) for expr in tree.elts]
    return _item(tree)


def _item(tree: ast.expr) -> Scalar:
    if isinstance(tree, ast.Constant) and (tree.value is None or isinstance(tree.value, bool | int | float | str)):
        return tree.value
    return _worked(tree, 0)


def _worked(tree: ast.expr, depth: int) -> int | float:
    if depth > 12:
        raise Expression("nested too deeply")
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float) and not isinstance(tree.value, bool):
        return tree.value
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub | ast.UAdd):
        value = _worked(tree.operand, depth + 1)
        return -value if isinstance(tree.op, ast.USub) else value
    if isinstance(tree, ast.BinOp):
        return _arithmetic(tree.op, _worked(tree.left, depth + 1), _worked(tree.right, depth + 1))
    raise Expression("not a literal")


def _arithmetic(op: ast.operator, left: int | float, right: int | float) -> int | float:
    """+ - * / // % ** of two numbers, within bounds that no operand can leave."""
    if isinstance(op, ast.Pow) and (abs(right) > 128 or abs(left) > 1e6):
        raise Expression("a power out of all proportion")
    try:
        result = _operated(op, left, right)
    except (ArithmeticError, ValueError) as error:
        raise Expression(str(error)) from error
    if not isinstance(result, int | float) or not abs(result) < 1e300:
        raise Expression("a result out of all proportion")
    return result


def _operated(op: ast.operator, left: int | float, right: int | float) -> object:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.Pow():
            return left**right
        case _:
            raise Expression("an operator that is not arithmetic")


_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)(?:[eE][+-]?\d{1,3})?"
_TEN_TO = r"10(?:\s?(?:\^|\*\*)\s?\{?\s?[-+−]?\d{1,3}\s?\}?|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})"
_FIGURE = rf"{_TEN_TO}|{_DIGITS}(?:\s?(?:x|×|·|\*|\\times|\\cdot)\s?{_TEN_TO})?"
_CLAIMED = re.compile(rf"(?<![\w.−-])[+−-]?(?:{_FIGURE})(?![\w])")
_HELD = re.compile(rf"[+−-]?(?:{_FIGURE})")
_FIGURES = re.compile(r"\d+(?:\.\d+)?")
_SCALED = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)\s?(\\?%|[kK]\b)")
_COUNTED = dict(zip(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), range(2, 13), strict=True))
_LETTERS = re.compile(r"[a-z]+")
_LONGEST = 40


def claimed(sentence: str) -> set[str]:
    """The values of the numbers that a sentence claims, those written out included; the figures inside of names are the names'."""
    return {*_values(_CLAIMED.finditer(sentence)), *_counted(sentence)}


def stated_numbers(text: str) -> set[str]:
    """The values of the numbers that a text states, 10 % as 0.1 too and 4k as 4000; the figures inside of names are the names'."""
    return claimed(text) | {_shown(float(match[1]) * (1000 if match[2] in "kK" else 0.01)) for match in _SCALED.finditer(text)}


def held(text: str) -> set[str]:
    """Every value that a text may be said to hold: its numbers, the bare figures inside of names, shares as percents and
    percents as shares, 4k as 4000.
    """
    figures = (float(match[0]) for match in _FIGURES.finditer(text) if len(match[0]) < _LONGEST)
    plain = {*_values(_HELD.finditer(text)), *stated_numbers(text), *map(_shown, figures)}
    return plain | {_shown(100 * float(value)) for value in plain if 0 < float(value) < 1}


def _values(matches: Iterable[re.Match[str]]) -> Iterator[str]:
    for match in matches:
        try:
            value = number(match[0].strip()) if len(match[0]) < _LONGEST else None
        except Expression:  # a power out of all proportion
            continue
        if value is not None:
            yield _shown(float(value))


def _counted(text: str) -> Iterator[str]:
    return (_shown(float(_COUNTED[word])) for word in _LETTERS.findall(text.lower()) if word in _COUNTED)


def _shown(value: float) -> str:
    return f"{value:.10g}"


def worded(value: str, unit: str = "") -> str:
    """A normalized value with its unit, as people read it: a schedule is its kind, with what is known of it behind."""
    if value.startswith('{"kind"'):
        with suppress(ValueError, AttributeError, KeyError):
            known = json.loads(value)
            kind, more = known.pop("kind"), ", ".join(f"{name} {amount}" for name, amount in known.items())
            value = f"{kind} ({more})" if more else str(kind)
    return f"{value} {unit}".rstrip()
