"""The ratio of kernel sums agrees with the naive sum over cases at every position."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keeptree.probability.density import KERNELS, choose_bandwidth, kernel_tables
from keeptree.probability.density_window import WINDOWS
from tests.reference import density as reference

ALL = sorted(KERNELS)
# The tables are accurate to 1e-4; prefix sums are exact up to rounding.
TOLERANCE = {"gaussian": 1e-4} | dict.fromkeys(WINDOWS, 1e-9)

quick = settings(max_examples=60, deadline=None)
kernels = st.sampled_from(ALL)


def kernel_ratio(h, in_class, weight, bandwidth, kernel="gaussian"):
    """Return one curve as a function of an array of positions."""
    tables = kernel_tables(h, in_class, weight, [0, len(h)], bandwidth, kernel)

    def ratio(x):
        x = np.asarray(x)
        return tables.lookup(np.zeros(x.size, np.int64), x.ravel()).reshape(x.shape)

    return ratio


@st.composite
def samples(draw, weights=(0.0, 0.25, 1.0, 3.0, 1e3)):
    """Return distances with ties and close pairs, class weights, weights and a bandwidth."""
    steps = draw(st.lists(st.integers(-1000, 1000), min_size=1, max_size=30))
    unit = draw(st.sampled_from([1e-3, 0.1, 7.0]))
    nudge = draw(st.lists(st.sampled_from([0.0, 0.0, 1e-9, 0.3]), min_size=30, max_size=30))
    h = (np.array(steps) + nudge[: len(steps)]) * unit
    weight = np.array([draw(st.sampled_from(weights)) for _ in steps])
    weight[0] = max(weight[0], 1.0)
    in_class = weight * [draw(st.booleans()) for _ in steps]
    bandwidth = draw(st.floats(0.001, 0.5)) * (np.abs(h).max() or 1.0)
    return h, in_class, weight, bandwidth


def places(h, bandwidth):
    """Return positions on the cases, across each gap, at its middle, and far outside."""
    h = np.unique(h)
    gap = np.maximum(np.diff(h), 1e-12 * bandwidth)[:, None]
    middle = (h[:-1, None] + h[1:, None]) / 2
    switch = middle + np.linspace(-9, 9, 31) * np.minimum(bandwidth**2 / gap, gap)
    between = h[:-1, None] + gap * np.linspace(0, 1, 23)
    out = bandwidth * np.geomspace(1e-3, 1e25, 60)
    ends = [1e300, -1e300, np.inf, -np.inf]
    return np.concatenate([h, switch.ravel(), between.ravel(), h[0] - out, h[-1] + out, ends])


def assert_close_to_reference(h, in_class, weight, bandwidth, kernel="gaussian"):
    h, in_class, weight = (np.asarray(a, float) for a in (h, in_class, weight))
    x = places(h[weight > 0], bandwidth)
    found = kernel_ratio(h, in_class, weight, bandwidth, kernel)(x)
    expected = reference.ratio(x, h, in_class, weight, bandwidth, kernel)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE[kernel])


@quick
@given(samples(), kernels)
def test_the_ratio_equals_the_naive_sum_everywhere(sample, kernel):
    assert_close_to_reference(*sample, kernel)


@quick
@given(samples(), kernels)
def test_the_ratio_is_a_probability_even_where_every_term_underflows(sample, kernel):
    share = kernel_ratio(*sample, kernel)(places(sample[0], sample[3]))
    assert ((share >= 0) & (share <= 1)).all()


@quick
@given(samples(), kernels, st.randoms(use_true_random=False))
def test_the_order_of_cases_does_not_matter(sample, kernel, random):
    h, in_class, weight, bandwidth = sample
    order = random.sample(range(len(h)), len(h))
    x = places(h, bandwidth)
    shuffled = kernel_ratio(h[order], in_class[order], weight[order], bandwidth, kernel)
    np.testing.assert_allclose(shuffled(x), kernel_ratio(*sample, kernel)(x), rtol=0, atol=1e-12)


@quick
@given(samples(), kernels, st.sampled_from([2.0**-30, 0.5, 2.0**40]))
def test_the_unit_of_distance_does_not_matter(sample, kernel, unit):
    h, in_class, weight, bandwidth = sample
    x = places(h, bandwidth)[:-4]
    scaled = kernel_ratio(h * unit, in_class, weight, bandwidth * unit, kernel)
    np.testing.assert_allclose(
        scaled(x * unit), kernel_ratio(*sample, kernel)(x), rtol=0, atol=1e-12
    )


@quick
@given(samples(weights=(0.0, 1.0, 2.0, 5.0)), kernels)
def test_an_integer_weight_equals_repeated_cases(sample, kernel):
    h, in_class, weight, bandwidth = sample
    times, x = weight.astype(int), places(h, bandwidth)
    is_class, ones = np.repeat(in_class > 0, times), np.ones(times.sum())
    repeated = kernel_ratio(np.repeat(h, times), is_class, ones, bandwidth, kernel)
    np.testing.assert_allclose(repeated(x), kernel_ratio(*sample, kernel)(x), rtol=0, atol=1e-9)


@quick
@given(samples(), kernels)
def test_complementary_classes_sum_to_one(sample, kernel):
    h, in_class, weight, bandwidth = sample
    x = places(h, bandwidth)
    share = kernel_ratio(h, in_class, weight, bandwidth, kernel)(x)
    others = kernel_ratio(h, weight - in_class, weight, bandwidth, kernel)(x)
    np.testing.assert_allclose(share + others, 1, rtol=0, atol=1e-4)


@pytest.mark.parametrize("gap", [3, 5, 5.5, 6.25, 10, 10.5, 37.3, 100, 999.9, 1000, 1000.5])
@pytest.mark.parametrize("left_weight", [1, 1e-6, 1e6])
def test_the_ratio_switches_in_the_middle_of_a_gap_of_any_width(gap, left_weight):
    # At 10.5 bandwidths the jump lies at a quarter of a cell, where a single value would miss it.
    assert_close_to_reference([0, gap], [left_weight, 0], [left_weight, 1], 1.0)


def test_a_gap_of_a_thousand_bandwidths_gives_a_sigmoid():
    ratio = kernel_ratio([0.0, 1.0], [0, 1], [1, 1], 0.001)
    x = 0.5 + 1e-6 * np.linspace(-5, 5, 101)
    np.testing.assert_allclose(ratio(x), 1 / (1 + np.exp((0.5 - x) * 1e6)), rtol=0, atol=1e-4)


@pytest.mark.parametrize("kernel", ALL)
def test_a_single_case_decides_everywhere(kernel):
    x = [-np.inf, -1e300, 2.0, 3.0, np.inf]
    assert (kernel_ratio([2.0], [1], [1], 0.1, kernel)(x) == 1).all()
    assert (kernel_ratio([2.0], [0], [1], 0.1, kernel)(x) == 0).all()


@pytest.mark.parametrize("kernel", ALL)
def test_tied_cases_share_the_ratio_by_weight(kernel):
    ratio = kernel_ratio([2.0, 2.0, 2.0], [1, 0, 0], [1, 1, 2], 0.1, kernel)
    np.testing.assert_allclose(ratio([-np.inf, 2.0, 50.0]), 0.25, rtol=0, atol=1e-7)


@pytest.mark.parametrize("kernel", ALL)
def test_equally_near_cases_out_of_reach_share_the_ratio_by_weight(kernel):
    ratio = kernel_ratio([-1.0, 1.0, 1.0], [1, 0, 0], [1, 1, 2], 0.01, kernel)
    assert ratio([0.0])[0] == pytest.approx(0.25, abs=1e-4)


def test_a_window_is_closed_and_its_half_width_is_the_bandwidth():
    ratio = kernel_ratio([0.0, 1.0], [1, 0], [1, 1], 0.75, "uniform")
    np.testing.assert_array_equal(ratio([0.0, 0.25, 0.5, 0.75, 0.76]), [1, 0.5, 0.5, 0.5, 0])


def test_the_tail_goes_from_the_mixture_to_the_extreme_case():
    # The two left cases are 1e-6 apart, so their weights become equal only 1e5 bandwidths away.
    assert_close_to_reference([0, 1e-6, 1], [1, 0, 0], [1, 1, 1], 0.1)
    ratio = kernel_ratio([0, 1e-6, 1], [1, 0, 0], [1, 1, 1], 0.1)
    assert ratio([-10.0])[0] == pytest.approx(0.5, abs=1e-3)
    assert ratio([-np.inf])[0] == 1


@pytest.mark.parametrize("n", [300, 20_000])
def test_the_ratio_is_accurate_around_a_distant_outlier(n):
    rng = np.random.default_rng(0)
    h = np.append(rng.random(n), 50.0)
    x = np.concatenate([25 + np.linspace(-2, 2, 300), np.linspace(-40, 90, 300)])
    in_class = np.append(rng.random(n) < 0.5, 0).astype(float)
    found = kernel_ratio(h, in_class, np.ones(n + 1), 0.05)(x)
    expected = reference.ratio(x, h, in_class, np.ones(n + 1), 0.05)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("depth", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("width", [1 / 60, 1 / 15])
def test_many_cases_behind_a_single_extreme_case_count_far_outside(depth, width):
    # Far outside, the many cases outweigh the single one, and their order matters.
    rng = np.random.default_rng(7)
    crowd = depth * (1 + width * rng.random(25_000))
    h = np.concatenate([[0.0], crowd, np.linspace(depth, depth + 5, 50)])
    in_class = np.where((h > 0) & (h < depth * (1 + width / 2)), 1.0, 0.0)
    x = -np.concatenate([[0.0], np.geomspace(0.01, 40, 80) / depth])
    found = kernel_ratio(h, in_class, np.ones(len(h)), 1.0)(x)
    expected = reference.ratio(x, h, in_class, np.ones(len(h)), 1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("share_of_range", [0.001, 0.02, 0.5])
@pytest.mark.parametrize("shape", ["normal", "cauchy", "rounded", "islands"])
def test_bucketing_large_samples_does_not_reduce_the_accuracy(share_of_range, shape):
    rng = np.random.default_rng(1)
    n = 40_000
    h = {
        "normal": rng.normal(size=n),
        "cauchy": np.clip(rng.standard_cauchy(n), -300, 300),
        "rounded": np.round(rng.normal(size=n), 2),
        "islands": rng.random(n) + 3 * rng.integers(0, 4, n),
    }[shape]
    weight = rng.exponential(size=n)
    in_class = weight * (rng.random(n) < 1 / (1 + np.exp(5 * np.sin(4 * h))))
    bandwidth = share_of_range * np.ptp(h)
    x = np.concatenate([rng.uniform(h.min(), h.max(), 80), places(h[[h.argmin(), h.argmax()]], 1)])
    found = kernel_ratio(h, in_class, weight, bandwidth)(x)
    expected = reference.ratio(x, h, in_class, weight, bandwidth)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("kernel", sorted(WINDOWS))
def test_window_sums_are_exact_over_many_cases(kernel):
    rng = np.random.default_rng(2)
    h, weight = rng.normal(size=20_000) + 1e3, rng.exponential(size=20_000)
    in_class = weight * (rng.random(20_000) < 0.3)
    x = rng.normal(size=200) * 3 + 1e3
    found = kernel_ratio(h, in_class, weight, 0.4, kernel)(x)
    expected = reference.ratio(x, h, in_class, weight, 0.4, kernel)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kernel", ALL)
def test_float32_distances_give_the_ratio_at_the_rounded_distance(kernel):
    rng = np.random.default_rng(3)
    h = np.append(rng.normal(size=500), 40.0)
    in_class = (rng.random(501) < 0.4).astype(float)
    x = np.concatenate([rng.normal(size=300), np.linspace(-50, 90, 500)]).astype(np.float32)
    found = kernel_ratio(h, in_class, np.ones(501), 0.1, kernel)(x)
    expected = reference.ratio(x.astype(float), h, in_class, np.ones(501), 0.1, kernel)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("kernel", ALL)
def test_several_curves_in_one_table_equal_separate_curves(kernel):
    rng = np.random.default_rng(4)
    starts = np.array([0, 1, 3, 60, 560])
    h, weight = rng.normal(size=560), rng.integers(1, 4, 560).astype(float)
    in_class, bandwidth = weight * (rng.random(560) < 0.5), np.array([0.1, 0.2, 0.3, 0.05])
    tables = kernel_tables(h, in_class, weight, starts, bandwidth, kernel)
    curve, x = rng.integers(0, 4, 1000), rng.normal(size=1000) * 2
    found = tables.lookup(curve, x)
    for k in range(4):
        cases, rows = slice(starts[k], starts[k + 1]), curve == k
        alone = kernel_ratio(h[cases], in_class[cases], weight[cases], bandwidth[k], kernel)
        np.testing.assert_array_equal(found[rows], alone(x[rows]))


@pytest.mark.parametrize("kernel", ALL)
def test_a_missing_distance_stays_missing_and_the_shape_is_kept(kernel):
    share = kernel_ratio([0.0, 1.0], [0, 1], [1, 1], 0.5, kernel)([[np.nan, 0.5]])
    assert share.shape == (1, 2)
    assert np.isnan(share[0, 0])
    assert share[0, 1] == pytest.approx(0.5, abs=1e-6)


@quick
@given(samples(weights=(0.25, 1.0, 3.0)), kernels)
def test_leaving_a_case_out_equals_estimating_without_it(sample, kernel):
    h, in_class, weight, bandwidth = (np.append(a, a) if np.ndim(a) else a for a in sample)
    order = np.argsort(h, kind="stable")[1:]
    if len(order) < 2:
        return
    sample = (h[order], in_class[order], weight[order], bandwidth)
    expected = reference.leave_one_out(*sample, kernel)
    found = KERNELS[kernel].leave_out(*sample)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("kernel", ALL)
def test_the_chosen_bandwidth_has_the_least_log_loss(kernel):
    rng = np.random.default_rng(5)
    candidates = [0.001, 0.02, 0.1, 0.3, 1.0, 5.0]
    h = rng.normal(size=150)
    y = (rng.random(150) < 1 / (1 + np.exp(4 * np.sin(3 * h)))).astype(float)
    losses = []
    for candidate in candidates:
        share = reference.leave_one_out(h, y, np.ones(150), candidate, kernel)
        share = np.clip(share, 1e-6, 1 - 1e-6)
        losses.append(-np.log(np.where(y > 0, share, 1 - share)).sum())
    best = candidates[int(np.argmin(losses))]
    assert choose_bandwidth(h, y, np.ones(150), [0, 150], candidates, kernel) == best
    assert best not in (0.001, 5.0)


def test_the_bandwidth_of_a_large_sample_does_not_depend_on_the_order_of_cases():
    rng = np.random.default_rng(6)
    h = rng.normal(size=30_000)
    y = (rng.random(30_000) < 1 / (1 + np.exp(4 * np.sin(3 * h)))).astype(float)
    candidates, order = np.geomspace(0.001, 10, 9), rng.permutation(30_000)
    best = choose_bandwidth(h, y, np.ones(30_000), [0, 30_000], candidates)
    assert 0.01 < best < 1
    assert choose_bandwidth(h[order], y[order], np.ones(30_000), [0, 30_000], candidates) == best


def test_a_single_case_gets_the_first_bandwidth():
    assert choose_bandwidth([1.0, 2.0], [1, 0], [1, 0], [0, 2], [0.3, 0.1]) == 0.3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0], [0], [0], 1.0), "no case with a positive weight"),
        (([0.0, np.nan], [0, 0], [1, 1], 1.0), "finite"),
        (([0.0], [2], [1], 1.0), "in_class"),
        (([0.0], [0], [-1], 1.0), "in_class"),
        (([0.0], [0], [1], 0.0), "bandwidth must be positive"),
        (([0.0, 1.0], [0, 1], [1, 1], 1e-9), "choose a larger one"),
        (([0.0], [0], [1], 1.0, "cosine"), "kernel must be one of"),
    ],
)
def test_invalid_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        kernel_ratio(*arguments)


def test_an_unknown_curve_is_refused():
    with pytest.raises(ValueError, match="curve must lie"):
        kernel_tables([0.0], [0], [1], [0, 1], 1.0).lookup([1], [0.0])
