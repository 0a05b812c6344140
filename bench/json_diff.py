"""Structural comparison of two JSON documents: every value of the old one must be in the new one."""

MOST = 20  # maximum number of printed differences of one document


class Number(str):
    """A number as written: 1.0 is not 1."""


def compare(old, new):
    """Returns the paths of differences, and the set of paths of added fields (with `[]` for any element)."""
    differences, added = [], set()
    walk(old, new, "$", "$", differences, added)
    if len(differences) > MOST:
        differences[MOST:] = [f"… and {len(differences) - MOST} more"]
    return differences, added


def walk(old, new, path, shape, differences, added):
    if type(old) is not type(new):
        differences.append(f"{path}: {show(old)} became {show(new)}")
    elif isinstance(old, dict):
        walk_object(old, new, path, shape, differences, added)
    elif isinstance(old, list):
        if len(old) != len(new):
            differences.append(f"{path}: {len(old)} elements became {len(new)}")
        for at, (one, other) in enumerate(zip(old, new)):
            walk(one, other, f"{path}[{at}]", f"{shape}[]", differences, added)
    elif old != new:
        differences.append(f"{path}: {show(old)} became {show(new)}")


def walk_object(old, new, path, shape, differences, added):
    for key, value in old.items():
        if key in new:
            walk(value, new[key], f"{path}.{key}", f"{shape}.{key}", differences, added)
        else:
            differences.append(f"{path}.{key}: {show(value)} is missing")
    added.update(f"{shape}.{key}" for key in new if key not in old)
    if [key for key in new if key in old] != [key for key in old if key in new]:
        differences.append(f"{path}: fields are in another order")


def show(value):
    text = repr(str(value)) if isinstance(value, str) and not isinstance(value, Number) else str(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
