"""The arrays of a tree and its model as C declares them."""

import numpy as np

_WIDTH = 100


def model_arrays(data):
    """Return the arrays of the tree and the model as C declares them.

    Parameters
    ----------
    data : dict
        From :func:`keeptree.exporters.code.code_data`.
    """
    parts = [array_text("int", "tree_label", data["tree"]["label"])]
    n_classes = len(data["classes"])
    if data["shares"] or data["model"]["kind"] == "confdtree":
        parts += _tree_arrays(data)
    if data["shares"]:
        proportions = _node_values(data["tree"]["proportions"], n_classes)
        parts += [array_text("double", "tree_proportions", proportions)]
    for model in [data["model"], *data["model"].get("experts", ())]:
        parts += _MODEL_ARRAYS[model["kind"]](model, n_classes)
    return "\n".join(parts)


def array_text(kind, name, values, shape=""):
    """Declare a constant array; an empty one gets a 0, because C has no empty arrays."""
    if isinstance(values, np.ndarray):  # float32: the shortest digits that are read back exactly
        texts = [f"{text}f" if text != "nan" else "NAN" for text in values.astype(str).tolist()]
    else:
        texts = [repr(value) for value in values]
    texts = texts or ["0"]
    if shape:
        width = int(shape[1:-1])
        texts = [f"{{{', '.join(texts[k : k + width])}}}" for k in range(0, len(texts), width)]
    flat = f"static const {kind} {name}[]{shape} = {{{', '.join(texts)}}};"
    if len(flat) <= _WIDTH:
        return flat
    lines, line = [], "   "
    for text in texts:
        if len(line) + len(text) + 2 > _WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {text},"
    return "\n".join([f"static const {kind} {name}[]{shape} = {{", *lines, line, "};"])


def _tree_arrays(data):
    tree = data["tree"]
    nominal = {int(node): table for node, table in tree["table"].items()}
    start, table = _packed_tables(nominal, len(tree["children"]))
    return [
        *_children("tree", tree["children"]),
        array_text("int", "tree_attribute", [at or 0 for at in tree["attribute"]]),
        array_text("double", "tree_threshold", [at or 0.0 for at in tree["threshold"]]),
        array_text("int", "tree_table_start", start),
        array_text("int", "tree_table", table),
        array_text("int", "tree_missing", tree["missing"]),
        array_text("double", "tree_share", tree["share"]),
        array_text("int", "tree_declared", tree["declared"]),
    ]


def _tests_arrays(name, tests):
    nominal = {
        int(node): [share for row in table for share in row]
        for node, table in tests["table"].items()
    }
    start, table = _packed_tables(nominal, len(tests["children"]))
    fields = ("attribute", "child_start", "child", "table_start", "threshold", "missing", "table")
    return [
        *_children(name, tests["children"]),
        array_text("int", f"{name}_attribute", [at or 0 for at in tests["attribute"]]),
        array_text("double", f"{name}_threshold", [at or 0.0 for at in tests["threshold"]]),
        array_text("double", f"{name}_missing", tests["missing"]),
        array_text("int", f"{name}_table_start", start),
        array_text("double", f"{name}_table", table),
        f"#define {name.upper()}_TESTS {', '.join(f'{name}_{field}' for field in fields)}, "
        f"{len(tests['children']) - 1}",
    ]


def _leaves_arrays(model, n_classes):
    return [array_text("double", "leaf_values", _node_values(model["values"], n_classes))]


def _soft_arrays(model, n_classes):
    return [
        *_tests_arrays("soft", model["tests"]),
        array_text("double", "soft_steep", model["steep"]),
        array_text("double", "soft_values", _flat(model["values"])),
    ]


def _margin_arrays(model, n_classes):
    parts = [*_tests_arrays("margin", model["tests"])]
    parts.append(array_text("double", "margin_intercept", model["intercept"]))
    n = len(model["tests"]["children"])
    width = len(model["intercept"])
    for name, key, found in (
        ("margin_side", "scores", model["sides"]),
        ("margin_reach", "values", model["reach"]),
    ):
        steep = [value for part in found for value in part["steep"]]
        values = [value for part in found for value in _flat(part[key])]
        parts.append(array_text("double", f"{name}_steep", steep, f"[{n}]"))
        parts.append(array_text("double", f"{name}_{key}", values, f"[{n * width}]"))
    parts.append(
        f"enum {{ N_LOGITS = {width}, N_SIDES = {len(model['sides'])}, "
        f"N_REACH = {len(model['reach'])} }};"
    )
    return parts


def _kernel_arrays(model, n_classes):
    width = len(model["attribute"])
    bends, tables = model["bends"], [table or [] for table in model["table"]]
    return [
        f"enum {{ N_COORDINATES = {width}, KERNEL_LAPLACE = {int(model['laplace'])} }};",
        array_text("int", "kernel_attribute", model["attribute"]),
        *(
            array_text("double", f"kernel_{key}", model[key])
            for key in ("center", "factor", "slope")
        ),
        array_text("int", "kernel_bend_start", np.cumsum([0, *map(len, bends)]).tolist()),
        array_text(
            "double", "kernel_bends", [v for bend in bends for pair in bend for v in pair], "[2]"
        ),
        array_text("int", "kernel_table_start", np.cumsum([0, *map(len, tables)]).tolist()),
        array_text("double", "kernel_table", _flat(tables)),
        array_text("float", "kernel_landmarks", model["landmarks"].ravel(), f"[{max(width, 1)}]"),
        array_text("float", "kernel_sharpness", model["sharpness"]),
        array_text("float", "kernel_mass", model["mass"]),
        array_text("int", "kernel_start", model["start"]),
        array_text("double", "kernel_prior", model["prior"]),
        f"static const double kernel_pseudo = {model['pseudo']!r};",
    ]


def _pool_arrays(model, n_classes):
    parts = [
        f"enum {{ N_EXPERTS = {len(model['experts'])} }};",
        array_text("double", "pool_weights", model["weights"]),
        array_text("double", "pool_prior", model["prior"]),
        f"static const double pool_share = {model['share']!r};",
    ]
    if model["softness"] is not None:
        parts.append(f"static const double softness = {model['softness']!r};")
    return parts


def _confdtree_arrays(model, n_classes):
    n, checks = len(model["values"]), model["checks"]
    number = {int(node): k for k, node in enumerate(checks)}
    rules = list(checks.values())
    usual = [[bit for row in rule["usual"] or () for bit in row] for rule in rules]
    intervals = [pair for rule in rules for pair in rule["interval"]]
    return [
        array_text("double", "leaf_values", _node_values(model["values"], n_classes)),
        array_text("int", "check_of", [number.get(node, -1) for node in range(n)]),
        array_text("int", "has_interval", [int(pair is not None) for pair in intervals]),
        *(
            array_text("double", f"{name}_bounds", _bounds(rules, name), "[2]")
            for name in ("interval", "other")
        ),
        array_text("int", "usual_start", np.cumsum([0, *map(len, usual)]).tolist()),
        array_text("int", "usual", _flat(usual)),
        array_text("int", "weight_start", np.cumsum([0, *_route_sizes(rules)]).tolist()),
        array_text("double", "route_weight", [v for r in rules for v in _flat(r["weight"])]),
        array_text("double", "receives", [v for rule in rules for v in rule["receives"]]),
        array_text("double", "fine", model["fine"]),
        f"enum {{ TO_ALL = {int(model['to_all'])} }};",
    ]


def _bounds(rules, name):
    """Return pairs of bounds; a class without an interval gets an empty one."""
    return [v for rule in rules for pair in rule[name] for v in (pair or (1.0, 0.0))]


def _route_sizes(rules):
    return [len(_flat(rule["weight"])) for rule in rules]


def _distance_arrays(model, n_classes):
    program, width = model["steps"], len(model["steps"]["attribute"])
    singles = {key: np.array(program[key], dtype=np.float32) for key in ("bound", "growth")}
    return [
        f"enum {{ N_USED = {width}, N_STEPS = {len(program['step'])}, "
        f"N_SLOTS = {program['slots']}, N_ESTIMATED = {len(model['estimated'])}, "
        f"N_CURVES = {len(model['axis']) // len(model['estimated'])} }};",
        array_text("int", "used_attribute", program["attribute"]),
        array_text("int", "used_codes", program["codes"]),
        array_text("int", "used_rounded", [int(value) for value in program["rounded"]]),
        *(
            array_text("double", f"used_{key}", program[key])
            for key in ("center", "factor", "reach")
        ),
        array_text("int", "step_codes", _flat(program["step"]), "[6]"),
        array_text("float", "step_bounds", singles["bound"].ravel(), "[3]"),
        array_text("float", "step_growth", singles["growth"]),
        *(_grid_arrays(model["grid"]) if model["grid"] is not None else []),
        array_text("double", "curve_axis", _flat(model["axis"]), "[8]"),
        array_text("int", "curve_cell", model["cell"]),
        array_text("int", "curve_piece", model["piece"]),
        array_text("float", "curve_coefficient", model["coefficient"].ravel(), "[4]"),
        *([array_text("int", "leaf_curve", model["curve"])] if model["curve"] else []),
        *(
            [
                array_text("int", "estimated", model["estimated"]),
                array_text("double", "prior", model["prior"]),
            ]
            if n_classes != 2
            else []
        ),
    ]


def _separator_arrays(model, n_classes):
    found, parts = model["separator"], _distance_arrays(model, n_classes)
    program = found["program"]
    costs, tests = [], []
    regions = {"region": found, "off_grid": found["off_grid"] or {"boxes": [], "label": []}}
    parts += [
        _SIDE,
        f"enum {{ N_NODES = {len(model['curve']) - 1}, N_REGIONS = {len(found['label'])}, "
        f"N_REGION_STEPS = {len(program['step'])}, N_REGION_SLOTS = {program['slots']}, "
        f"REGION_BITS = {found['bits']}, N_OFF_GRID = {len(regions['off_grid']['label'])} }};",
        array_text("double", "region_reach", program["reach"]),
        array_text("int", "region_steps", _flat(program["step"]), "[8]"),
        array_text("double", "region_bounds", _flat(program["bound"]), "[4]"),
        array_text("double", "region_growth", program["growth"]),
    ]
    for name, boxes in regions.items():
        if not boxes["boxes"]:
            continue
        sides = [_side_text(side, costs, tests) for box in boxes["boxes"] for side in box]
        starts = np.cumsum([0, *map(len, boxes["boxes"])]).tolist()
        lines = ",\n".join(f"    {text}" for text in sides or ["{0}"])
        parts += [
            array_text("int", f"{name}_label", boxes["label"]),
            array_text("int", f"{name}_start", starts),
            f"static const side {name}_sides[] = {{\n{lines}\n}};",
        ]
    return [
        *parts,
        array_text("double", "category_cost", costs),
        array_text("int", "category_test", tests),
    ]


_SIDE = """typedef struct {
    int attribute, rounded, lower_test, upper_test, missing_test, first, n_codes;
    double lower, upper, factor, low, high, rises_to, falls_to;
} side;"""


def _side_text(side, costs, tests):
    """Return a side as C declares it; append costs and tests of categories to the lists."""
    if side["cost"] is not None:
        first = len(costs)
        costs += side["cost"]
        tests += side["test"]
        numbers = ", ".join(["0.0"] * 7)
        return f"{{{side['attribute']}, 0, -1, -1, -1, {first}, {len(side['cost'])}, {numbers}}}"
    moves = ["NAN" if to is None else repr(to) for to in side.get("moves", (None, None))]
    whole = [side["attribute"], int(side["rounded"]), *side["test"], 0, 0]
    numbers = [*side["bounds"], *side.get("inside", (0.0, 0.0))]
    return f"{{{', '.join([*map(repr, (*whole, *numbers)), *moves])}}}"


def _rank_arrays(model, n_classes):
    parts = _box_arrays(model)
    if model["values"] is not None:
        parts.append(array_text("double", "leaf_values", _node_values(model["values"], n_classes)))
        parts.append(array_text("double", "leaf_gaps", _node_values(model["half_gap"], n_classes)))
    return parts


def _grid_arrays(grid):
    return [
        f"enum {{ N_GRIDDED = {len(grid['attribute'])} }};",
        array_text("int", "grid_attribute", grid["attribute"]),
        array_text("double", "grid_step", grid["step"]),
        array_text("double", "grid_inverse", grid["inverse"]),
        *_box_arrays(grid),
    ]


def _box_arrays(found):
    sides, boxes = found["sides"], found["boxes"]
    costs = [side["cost"] or [] for side in sides]
    bounds = [side["bounds"] or [0.0] * 5 for side in sides]
    return [
        f"enum {{ N_SIDES_OF_BOXES = {len(sides)}, N_BOXES = {len(boxes)} }};",
        array_text("int", "side_attribute", [side["attribute"] for side in sides]),
        array_text("int", "side_rounded", [int(side["rounded"]) for side in sides]),
        array_text("double", "side_bounds", _flat(bounds), "[5]"),
        array_text("int", "side_cost_start", np.cumsum([0, *map(len, costs)]).tolist()),
        array_text("double", "side_cost", _flat(costs)),
        array_text("int", "box_start", np.cumsum([0, *map(len, boxes)]).tolist()),
        array_text("int", "box_side", _flat(boxes)),
        array_text("int", "box_label", found["label"]),
    ]


_MODEL_ARRAYS = {
    "confdtree": _confdtree_arrays,
    "distance": _distance_arrays,
    "leaves": _leaves_arrays,
    "soft": _soft_arrays,
    "margin": _margin_arrays,
    "kernel": _kernel_arrays,
    "pool": _pool_arrays,
    "rank": _rank_arrays,
    "separator": _separator_arrays,
}


def _children(name, children):
    return [
        array_text("int", f"{name}_child_start", np.cumsum([0, *map(len, children)]).tolist()),
        array_text("int", f"{name}_child", _flat(children)),
    ]


def _packed_tables(tables, n):
    """Return where the table of each node starts (-1: no table), and all entries."""
    start, entries = [-1] * n, []
    for node, table in tables.items():
        start[node] = len(entries)
        entries += table
    return start, entries


def _node_values(values, n_classes):
    return [v for row in values for v in (row or [0.0] * n_classes)]


def _flat(rows):
    return [value for row in rows for value in row]
