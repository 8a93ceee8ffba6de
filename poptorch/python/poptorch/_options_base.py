# The storage behind Options and its groups: declared values, checked setters,
# freezing.
import copy
import enum

from . import enums


def _described(kind):
    if isinstance(kind, tuple):
        return " or ".join(f"a {k.__name__}" for k in kind)
    if issubclass(kind, enum.Enum):
        members = ", ".join(member.name for member in kind)
        return f"a poptorch.{kind.__name__} ({members})"
    return f"a value of type {kind.__name__}"


def _suggestion(value, kind):
    """For a member of an enumeration that was given by its name."""
    if isinstance(kind, tuple) or not issubclass(kind, enum.Enum):
        return ""
    name = str(value).rsplit(".", 1)[-1].lower()
    meant = [member for member in kind if member.name.lower() == name]
    return f": use poptorch.{kind.__name__}.{meant[0].name}" if meant else ""


def enumFromText(value):
    """"OutputMode.All" as the member; everything else as it is."""
    if isinstance(value, str) and value.count(".") == 1:
        kind, member = value.split(".")
        if hasattr(enums, kind):
            return getattr(getattr(enums, kind), member)
    return value


def requireInstance(setter, value, kind):
    """`setter` was given a value of the type that it takes."""
    assert isinstance(value, kind), (
        f"{setter} takes {_described(kind)}, not {value!r}"
        f"{_suggestion(value, kind)}"
    )


def requirePeriod(period):
    assert isinstance(period, int) and period > 0, (
        "OutputMode.EveryN must have a positive output_return_period, not "
        f"{period!r}"
    )


def requirePositive(setter, value):
    """Counts start at 1; set() sees to their type."""
    assert not isinstance(value, int) or value >= 1, (
        f"{setter} must be at least 1, not {value}"
    )


class Freezable:
    """What may not change any more once a loader or a wrapper has it."""

    def checkIsFrozen(self, option=None):
        if self._is_frozen:
            raise AttributeError("Can't modify frozen Options")

    def _freeze(self, is_frozen=True):
        self.__dict__["_is_frozen"] = is_frozen

    def __deepcopy__(self, memo):
        """A copy is nobody's yet and may be changed."""
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        copied.__dict__["_is_frozen"] = False
        return copied



class OptionsDict(Freezable):
    """Named values, readable as attributes and by call.

    Only declared names may be set, to a value of the type that is there; names
    declared later (optional ones) appear when they are first set.
    """

    def __init__(self, **declared):
        self.__dict__["_values"] = declared
        self.__dict__["_warnings"] = {}
        self.__dict__["_warnings_disabled"] = set()
        self.__dict__["_is_frozen"] = False

    def __call__(self, option):
        return self._values[option]

    def __getattr__(self, name):
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        raise AttributeError(f"Invalid attribute {name}.")

    def __setattr__(self, name, value):
        if isinstance(getattr(type(self), name, None), property):
            raise AttributeError(f"Attribute {name} cannot be assigned.")
        if name.startswith("_") and name not in self._values:
            if name not in self.__dict__:
                raise AttributeError(f"Invalid private attribute {name}.")
            self.__dict__[name] = value
            return
        self.set(**{name: value})

    def _declarePrivate(self, **attributes):
        """Attributes that are not options; in constructors only."""
        self.__dict__.update(attributes)

    def set(self, **values):
        """Sets declared options after checking their types."""
        self.checkIsFrozen()
        for option, value in values.items():
            assert option in self._values, (
                f"Invalid option {option}, valid options are "
                f"{list(self._values)}"
            )
            current = self._values[option]
            assert isinstance(value, type(current)), (
                f"Unexpected type {type(value)} for option {option}. "
                f"Expected {type(current)}"
            )
            self._values[option] = value
        return self

    def createOrSet(self, **values):
        """Sets options, declaring those that are not there yet."""
        self.checkIsFrozen()
        for option, value in values.items():
            if option in self._values:
                self.set(**{option: value})
            else:
                self._values[option] = value
        return self

    def exists(self, option):
        return option in self._values

    def deleteIfExists(self, option):
        self.checkIsFrozen()
        self._values.pop(option, None)

    def _extraRepr(self):
        """Private attributes shown by repr(), as name and value."""
        names = ("_warnings", "_warnings_disabled", "_is_frozen")
        return [(name, self.__dict__[name]) for name in names]

    def __repr__(self):
        values = ", ".join(f"{k}={v!r}" for k, v in self._values.items())
        extra = ", ".join(f"{k}={v!r}" for k, v in self._extraRepr())
        return f"{type(self).__name__}({values}, {extra})"

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__.update(state)
