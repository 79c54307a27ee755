"""The columns of the table as the tests and formulas read them."""

from keeptree.data.columns import REFUSED
from keeptree.exporters.sql.spelling import label_kind

_LARGEST_SINGLE = 3.4028234663852886e38
_HALF_LEAST_SINGLE = 2.0**-150  # what is not above it rounds to 0
_FAR = 4e18  # a difference times a slope beyond which every coordinate is constant
_LARGEST = 1e308


class Inputs:
    """Texts for the values of a model's columns.

    ``raw`` is the column as it stands, for trees that compare it and nothing else; ``known`` is a
    column of a step, NULL where the value is NaN or NULL; ``single`` is that rounded to float32.
    The weighted sums of an oblique tree follow the columns.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.exporters.plain.plain_dict`.
    steps : Steps
        The query.
    """

    def __init__(self, data, steps):
        self.steps, self.spell = steps, steps.spell
        sums = [{"categories": None, **part} for part in data["sums"]]
        self.columns = [*data["columns"], *sums]
        self.compares_single = data["tree"]["float32"]
        self.kinds = [
            None if c["categories"] is None else label_kind(c["categories"]) for c in self.columns
        ]
        self._bound = [_bound(uses) for uses in _uses(data)]

    def raw(self, at):
        """The column, converted only where a comparison needs it."""
        name = self.spell.name(self.columns[at]["name"])
        if self.kinds[at] is None:
            # SQLite compares a column that was declared as text as text.
            return self.spell.cast(name, "double") if self.spell.key == "sqlite" else name
        if self.kinds[at] == "text":
            return self.spell.cast(name, "text")
        return self.spell.cast(name, "double") if self.kinds[at] == "float" else name

    def known(self, at):
        """A number in 64 bits, NULL if it is NaN; a category as it is."""
        if self.kinds[at] is not None:
            return self.steps.add(f"x{at}", self.raw(at))
        if "terms" in self.columns[at]:
            number = self.steps.add(f"sum{at}", self._sum(self.columns[at]["terms"], f"sum{at}"))
        else:
            number = self.spell.cast(self.spell.name(self.columns[at]["name"]), "double")
        nan = self.spell.is_nan(number)
        text = number if nan is None else f"CASE WHEN {nan} THEN NULL ELSE {number} END"
        return self.steps.add(f"x{at}", text)

    def _sum(self, terms, name):
        """A weighted sum, added in order; in float32 with every product and sum rounded."""
        single, total = self.compares_single, None
        largest = _LARGEST_SINGLE if single else _LARGEST
        bound = largest / (len(terms) * max(1.0, *(abs(weight) for _, weight in terms)))
        for k, (at, weight) in enumerate(terms):
            x = self.known(at)
            if single or self.spell.dialect.fails_on_overflow:
                clipped = self.spell.clipped(x, -bound, bound)
                vanishing = 0.0 if single else 2.0**-1000 / abs(weight) * 2.0**-75
                if vanishing and self.spell.key == "postgres":  # where an underflow is an error
                    zero, least = self.spell.value(0.0), self.spell.number(vanishing)
                    clipped = f"CASE WHEN ABS({x}) <= {least} THEN {zero} ELSE {clipped} END"
                x = self.steps.add(f"{name}_x{k}", clipped)
            if single:
                x = self._as_single(f"{name}_r{k}", x)
            product = f"{x} * {self.spell.exact(weight)}"
            # 64 bits hold a product of float32 numbers exactly, and a sum with bits to spare.
            product = self._as_single(f"{name}_p{k}", product) if single else product
            total = product if total is None else f"{total} + {product}"
            total = self._as_single(f"{name}_t{k}", total) if single and k else total
        return total

    def _as_single(self, name, text):
        """A number rounded to float32, in 64 bits again."""
        return self.spell.cast(self.rounded(name, self.steps.add(f"{name}d", text)), "double")

    def bounded(self, at):
        """Limit a number to where coordinates are constant, so that no product overflows."""
        bound = self._bound[at]
        return self.steps.add(f"b{at}", self.spell.clipped(self.known(at), -bound, bound))

    def single(self, at):
        """A number rounded to float32: to the nearest, ties to even."""
        x = self.spell.clipped(self.known(at), -_LARGEST_SINGLE, _LARGEST_SINGLE)
        x = self.steps.add(f"c{at}", x)
        return self.rounded(f"r{at}", x)

    def rounded(self, name, x):
        """Round a 64-bit number, not above the largest float32, to float32."""
        spell = self.spell
        if spell.dialect.single:
            text = spell.cast(x, "float")
            if spell.key == "postgres":  # where an underflow is an error
                zero = spell.cast("0", "float")
                least = spell.number(_HALF_LEAST_SINGLE)
                text = f"CASE WHEN ABS({x}) <= {least} THEN {zero} ELSE {text} END"
            return self.steps.add(name, text)
        return self._round_by_hand(name, x)

    def _round_by_hand(self, name, x):
        """Round without a 32-bit type: Veltkamp's splitting, with ties corrected.

        x (2^k + 1) - (x (2^k + 1) - x) is x rounded to 53 - k bits. A tie has 25 bits; then the
        neighbour that fits in 23 bits is the even one. Below 2^-126 all numbers have the same
        spacing, and adding a large number rounds to it.
        """
        number, exact = self.spell.number, self.spell.exact

        def split(value, bits):
            big = f"{value} * {number(2.0**bits + 1)}"
            return f"({big} - ({big} - {value}))"

        near = self.steps.add(f"{name}n", split(x, 29))
        is_tie = f"{near} <> {x} AND {split(x, 28)} = {x} AND {split(near, 30)} <> {near}"
        least, shift = exact(2.0**-126), exact(1.5 * 2.0**-97)
        return self.steps.add(
            name,
            f"CASE WHEN ABS({x}) < {least} THEN ({x} + {shift}) - {shift} "
            f"WHEN {is_tie} THEN {near} + 2 * ({x} - {near}) ELSE {near} END",
        )

    def labels(self, at, codes):
        """Constants of some categories, as a list in brackets."""
        categories = self.columns[at]["categories"]
        texts = [self.spell.label(categories[code], self.kinds[at]) for code in codes]
        return f"({', '.join(texts)})"

    def by_category(self, at, texts, missing):
        """Return a CASE with the text of each category; unseen ones are treated as in the model."""
        x, unknown, groups = self.known(at), self.columns[at]["unknown"], {}
        for code, text in enumerate(texts):
            if code != unknown:
                groups.setdefault(text, []).append(code)
        cases = [f"WHEN {x} IN {self.labels(at, codes)} THEN {t}" for t, codes in groups.items()]
        if unknown >= 0:
            cases.append(f"WHEN {x} IS NOT NULL THEN {texts[unknown]}")
        return f"(CASE {' '.join(cases)} ELSE {missing} END)"

    def refused(self, value):
        """Return the condition that a label is refused; None if the model refuses none."""
        conditions = [
            f"{value(at)} NOT IN {self.labels(at, range(len(column['categories'])))}"
            for at, column in enumerate(self.columns)
            if column["categories"] is not None and column["unknown"] == REFUSED
        ]
        return " OR ".join(conditions) or None


def _uses(data):
    """Return, for each column, place and slope of the kernel coordinates that read it."""
    uses = [[] for _ in (*data["columns"], *data["sums"])]
    for model in data["model"].get("experts", ()):
        if model["kind"] == "kernel":
            for k, at in enumerate(model["attribute"]):
                bends = [(place, model["slope"][k]) for place, _ in model["bends"][k]]
                uses[at] += [(model["center"][k], model["factor"][k]), *bends]
    return uses


def _bound(uses):
    """A number beyond which no coordinate changes: about _FAR over the least slope."""
    bounds = [abs(place) + (_FAR / abs(slope) if slope else 0.0) for place, slope in uses]
    return max([1.0, *(2 * bound for bound in bounds)])
