"""A small language for ONNX graphs: values with arithmetic, loops and branches.

Only operators of opset 13 and ai.onnx.ml 2 are used, old enough for any onnxruntime in use; graphs
were run with 1.15 and 1.31.
"""

from itertools import count

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET, ML_OPSET, IR_VERSION = 13, 2, 7
_TYPES = {
    np.dtype(np.float64): TensorProto.DOUBLE,
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(bool): TensorProto.BOOL,
    np.dtype(object): TensorProto.STRING,
}


class Graph:
    """Collects the nodes and constants of a graph.

    Parameters
    ----------
    taken : iterable of str
        Names of inputs and outputs, which no other value may have.
    """

    def __init__(self, taken=()):
        prefix = "kt"
        while any(name.startswith(prefix) for name in taken):
            prefix += "_"
        self._names = (f"{prefix}{number}" for number in count())
        self._scopes = [[]]
        self._constants = {}
        self._inputs, self._outputs = [], []

    def input(self, name, dtype, width):
        """Add an input with any number of rows."""
        self._inputs.append(_tensor(name, dtype, (None, width)))
        return Value(self, name, dtype)

    def output(self, name, value, *width):
        """Make a value an output: a vector, or a matrix of ``width`` columns."""
        self._outputs.append(_tensor(name, value.dtype, (None, *width)))
        self._add("Identity", [value], [Value(self, name, value.dtype)])

    def constant(self, values, dtype=None):
        """Add a constant; equal ones are stored once."""
        values = np.asarray(values, dtype=dtype)
        content = tuple(values.ravel()) if values.dtype == object else values.tobytes()
        key = values.dtype, values.shape, content
        if key not in self._constants:
            self._constants[key] = numpy_helper.from_array(values, next(self._names))
        return Value(self, self._constants[key].name, values.dtype)

    def op(self, kind, *inputs, dtype=None, domain="", **attributes):
        """Apply an operator; by default the result has the type of the first input."""
        values = [self._value(value, inputs[0]) for value in inputs]
        out = Value(self, next(self._names), dtype or values[0].dtype)
        self._add(kind, values, [out], domain=domain, **attributes)
        return out

    def smallest(self, value, number):
        """Return the smallest values of each row, sorted: (rows, number)."""
        out, place = (Value(self, next(self._names), t) for t in (value.dtype, np.int64))
        self._add("TopK", [value, self.constant([number])], [out, place], largest=0)
        return out

    def where(self, condition, chosen, other):
        """Choose values where a condition holds, and others elsewhere."""
        known = chosen if isinstance(chosen, Value) else other
        chosen, other = self._value(chosen, known), self._value(other, known)
        return self.op("Where", condition, chosen, other, dtype=chosen.dtype)

    def concat(self, values, axis=1):
        """Concatenate values as columns, or as rows with ``axis=0``."""
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=axis)

    def fill(self, rows, value, dtype, *width):
        """Repeat a value for each row; ``rows`` holds their number."""
        shape = rows
        if width:
            shape = self.concat([rows, self.constant(width, np.int64)], axis=0)
        tensor = numpy_helper.from_array(np.array([value], dtype=dtype))
        return self.op("ConstantOfShape", shape, dtype=np.dtype(dtype), value=tensor)

    def repeat(self, times, state, step):
        """``state`` after ``step(state)`` was applied a number of times."""
        if times <= 1:
            return step(state) if times else state
        number, holds, before, out = (
            Value(self, next(self._names), dtype)
            for dtype in (np.int64, bool, state.dtype, state.dtype)
        )
        inputs = [_tensor(number.name, np.int64, ()), _tensor(holds.name, bool, ()), _any(before)]
        body = self._scope(lambda: step(before), inputs, [holds])
        always = Value(self, "", bool)
        self._add("Loop", [self.constant(times, np.int64), always, state], [out], body=body)
        return out

    def branch(self, condition, chosen, other):
        """Return the values of ``chosen()`` if a condition holds for the batch, or ``other()``.

        Both return as many values.
        """
        branches, kinds = {}, []
        for name, build in (("then_branch", chosen), ("else_branch", other)):
            branches[name] = self._scope(build, [], [], kinds)
        outs = [Value(self, next(self._names), dtype) for dtype in kinds]
        self._add("If", [condition], outs, **branches)
        return outs

    def model(self, name, **about):
        """The finished model."""
        graph = helper.make_graph(
            self._scopes[0], name, self._inputs, self._outputs, list(self._constants.values())
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, **about)

    def _add(self, kind, values, outs, **attributes):
        names = ([value.name for value in part] for part in (values, outs))
        self._scopes[-1].append(helper.make_node(kind, *names, **attributes))

    def _scope(self, build, inputs, passed, kinds=None):
        """Return the subgraph that ``build`` adds; its outputs are ``passed`` and its results.

        It reads whatever has been computed around it.
        """
        self._scopes.append([])
        built = build()
        built = [built] if isinstance(built, Value) else built
        outputs = []
        for value in (*passed, *built):  # an output must be computed inside
            outputs.append(_any(self.op("Identity", value)))
        if kinds is not None:
            kinds[:] = [value.dtype for value in built]
        return helper.make_graph(self._scopes.pop(), next(self._names), inputs, outputs)

    def _value(self, value, like):
        if isinstance(value, Value):
            return value
        return self.constant(value, like.dtype if isinstance(like, Value) else None)


class Value:
    """A tensor of a graph: arithmetic on it adds nodes.

    Numbers and arrays beside it become constants of its type.
    """

    __array_ufunc__ = None  # NumPy leaves ``array + value`` to the value

    def __init__(self, graph, name, dtype):
        self.graph, self.name, self.dtype = graph, name, np.dtype(dtype)

    def __add__(self, other):
        return self._op("Add", other)

    def __sub__(self, other):
        return self._op("Sub", other)

    def __mul__(self, other):
        return self._op("Mul", other)

    def __truediv__(self, other):
        return self._op("Div", other)

    def __matmul__(self, other):
        return self._op("MatMul", other)

    def __rsub__(self, other):
        return self.graph.constant(other, self.dtype) - self

    def __rtruediv__(self, other):
        return self.graph.constant(other, self.dtype) / self

    __radd__, __rmul__ = __add__, __mul__

    def __gt__(self, other):
        return self._op("Greater", other, dtype=bool)

    def __lt__(self, other):
        return self._op("Less", other, dtype=bool)

    def __or__(self, other):
        return self._op("Or", other)

    def __and__(self, other):
        return self._op("And", other)

    def __invert__(self):
        return self._op("Not")

    def __neg__(self):
        return self._op("Neg")

    def __abs__(self):
        return self._op("Abs")

    def equals(self, other):
        """Whether two values are the same."""
        return self._op("Equal", other, dtype=bool)

    def is_nan(self):
        """Whether a number is missing."""
        return self._op("IsNaN", dtype=bool)

    def exp(self):
        """Exponential."""
        return self._op("Exp")

    def log(self):
        """Natural logarithm."""
        return self._op("Log")

    def sqrt(self):
        """Square root."""
        return self._op("Sqrt")

    def floor(self):
        """Round down."""
        return self._op("Floor")

    def cast(self, dtype):
        """The value in another type."""
        number = _TYPES[np.dtype(dtype)]
        return self if self.dtype == dtype else self._op("Cast", dtype=dtype, to=number)

    def rounded(self):
        """A number rounded to float32, as float64."""
        # onnxruntime 1.15 would leave out two casts in a row.
        single = self.cast(np.float32).at_most(np.inf).cast(np.float64)
        return self.graph.where(self.is_nan(), self, single)

    def at_most(self, limit):
        """The smaller of a value and a limit."""
        return self._op("Min", limit)

    def at_least(self, limit):
        """The larger of a value and a limit."""
        return self._op("Max", limit)

    def take(self, places, axis=1):
        """Select columns, or entries with ``axis=0``."""
        places = places if isinstance(places, Value) else self.graph.constant(places, np.int64)
        return self.graph.op("Gather", self, places, axis=axis)

    def pick(self, places):
        """Select columns row by row, by a matrix of places."""
        return self.graph.op("GatherElements", self, places, axis=1)

    def column(self, place):
        """One column, as a vector."""
        return self.take(place)

    def upright(self):
        """A vector as a matrix of one column."""
        return self.graph.op("Unsqueeze", self, self.graph.constant([1]))

    def flat(self):
        """A matrix of one column as a vector."""
        return self.graph.op("Squeeze", self, self.graph.constant([1]))

    def sum(self):
        """Sum of each row, as a matrix of one column."""
        return self.graph.op("ReduceSum", self, self.graph.constant([1]), keepdims=1)

    def max(self):
        """Largest value of each row, as a matrix of one column."""
        return self._op("ReduceMax", axes=[1], keepdims=1)

    def min(self):
        """Smallest value of each row, as a matrix of one column."""
        return self._op("ReduceMin", axes=[1], keepdims=1)

    def running_total(self, axis):
        """Return cumulative sums, added in order."""
        return self.graph.op("CumSum", self, self.graph.constant(axis, np.int64))

    def rows(self):
        """Number of rows."""
        shape = self.graph.op("Shape", self, dtype=np.int64)
        return shape.take([0], axis=0)

    def _op(self, kind, *others, **attributes):
        return self.graph.op(kind, self, *others, **attributes)


def _tensor(name, dtype, shape):
    return helper.make_tensor_value_info(name, _TYPES[np.dtype(dtype)], shape)


def _any(value):
    """Declare an input or output of a subgraph, without its shape."""
    return helper.make_tensor_value_info(value.name, _TYPES[value.dtype], None)
