"""Text from a data set is cleaned, measured and shortened."""

import pytest

from keeptree.text import clean, plain_number, shorten, shorten_title, text_width


def test_cleaning_leaves_ordinary_names_alone():
    assert clean("worst concave points") == "worst concave points"
    assert clean("größe (µm²)") == "größe (µm²)"


def test_right_to_left_names_are_isolated_so_that_numbers_after_them_stay_in_place():
    assert clean("العمر") == "\u2068العمر\u2069"


def test_characters_that_reorder_text_are_removed():
    assert clean("a\u202eb\u2066c") == "abc"


def test_cleaned_text_is_one_line_that_can_be_encoded_in_utf8(hostile):
    cleaned = clean(hostile)
    cleaned.encode("utf-8")
    assert "\n" not in cleaned
    assert "\x00" not in cleaned


@pytest.mark.parametrize("width", [20, 60, 200])
def test_shortened_text_fits(hostile, width):
    text = clean(hostile)
    short = shorten(text, width, 13)
    assert text_width(short, 13) <= width
    assert short == text or "…" in short


def test_a_shortened_right_to_left_name_stays_isolated():
    short = shorten(clean("العمر بالسنوات الكاملة"), 60, 13)
    assert short.startswith("\u2068")
    assert short.endswith("\u2069")


def test_wide_characters_count_twice():
    assert text_width("年齢", 10) == 20


def test_titles_are_shortened_to_a_readable_length():
    assert len(shorten_title("x" * 10_000)) == 300


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (5.0, "5"), (0.04892, "0.04892"), (957.45, "957.5"), (1e20, "1e20"), (-2.5, "−2.5")],
)
def test_numbers_are_written_with_few_digits(value, text):
    assert plain_number(value) == text
