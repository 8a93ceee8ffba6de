# Shares of a tile's memory that operations may use.
from ._options_base import requireInstance


def checkedProportion(what, value):
    """The share that `what` may use, as a float."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    assert is_number and 0 <= value <= 1, (
        f"The available memory proportion of {what} is {value!r}; it must be "
        "a number between 0 and 1"
    )
    return float(value)


def proportionsByIpu(given):
    """{"IPU0": 0.2} as {0: 0.2}."""
    requireInstance("setAvailableMemoryProportion", given, dict)
    proportions = {}
    for key, value in given.items():
        is_ipu = isinstance(key, str) and key.startswith("IPU")
        assert is_ipu and key[3:].isdecimal(), (
            "Available memory proportions are given per IPU, for example "
            f'{{"IPU0": 0.2}}; {key!r} is not an IPU'
        )
        proportions[int(key[3:])] = checkedProportion(key, value)
    return proportions
