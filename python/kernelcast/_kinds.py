"""Arguments of the wrong kind: a TypeError that says what is taken. What most callers give is told by its type alone: tests against abstract
classes take longer than the rest of a call."""
import numbers
import os
from collections.abc import Iterable, Mapping


def refuse(name, value, expected):
    raise TypeError(f"{name} is {value!r} ({type(value).__name__}): expected {expected}")


def text(name, value):
    """A str."""
    return value if isinstance(value, str) else refuse(name, value, "text")


def names(name, value):
    """A name or several, as a list."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)):
        several = list(value)
        if all(isinstance(v, str) for v in several):
            return several
    return refuse(name, value, "a name or several")


def paths(name, value):
    """Folders, as a list of str."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)):
        several = list(value)
        if all(isinstance(v, (str, os.PathLike)) for v in several):
            return [os.fspath(v) for v in several]
    return refuse(name, value, "a list of folders")


def mapping(name, value, example):
    """A dict; None is an empty one."""
    if value is None:
        return {}
    if type(value) is dict:
        return value
    return value if isinstance(value, Mapping) else refuse(name, value, f"a dict such as {example}")


def whole(name, value, least=0):
    """An integer of at least `least`, within 63 bits."""
    if type(value) is int and least <= value < 2**63:
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        refuse(name, value, "a whole number")
    if not least <= value < 2**63:
        from ._errors import UsageError
        raise UsageError(f"{name} is {value}: expected {least} to {2**63 - 1}")
    return int(value)


def real(name, value):
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        refuse(name, value, "a number")
    return float(value)


def truth(name, value):
    return value if isinstance(value, bool) else refuse(name, value, "True or False")


def reals(name, value, example):
    """A dict of numbers by name."""
    return {text(f"a name in {name}", key): real(f"{name}[{key!r}]", v) for key, v in mapping(name, value, example).items()}


def sizes(name, value):
    """A number or up to three, as a list of three."""
    if type(value) is int and 0 < value < 2**63:
        return [value, 1, 1]
    several = (value,) if isinstance(value, numbers.Integral) else value
    if isinstance(several, (str, bytes, Mapping)) or not isinstance(several, Iterable):
        refuse(name, value, "a number or up to three of them")
    several = tuple(several)
    if not 1 <= len(several) <= 3 or not all(isinstance(s, numbers.Integral) and not isinstance(s, bool) for s in several):
        refuse(name, value, "a number or up to three of them")
    if min(several) < 1:
        from ._errors import UsageError
        raise UsageError(f"{name} is {value!r}: sizes are positive")
    return [whole(name, s, 1) for s in several] + [1] * (3 - len(several))
