"""What both machines with several CPUs are asked: which CPUs a width gets, and what ironlaw calls them."""

SWEEP = "ironlaw -q sweep --headless --no-off-cpu -r 1 -F 97 -d 300ms --format json"


def placed(sweep):
    """Each width's CPUs and region."""
    return {run["n"]: (run["cpus"], region(run["region"])) for run in sweep["sweep"]["runs"]}


def region(name):
    """A region in words: its own name, or `nodes 2`."""
    return name if isinstance(name, str) else " ".join(f"{key} {value}" for key, value in name.items())


def check_places(checks, name, sweep, expected):
    """Every width's CPUs and region against a table of them."""
    found = placed(sweep)
    checks.same(f"{name}: widths", sorted(found), sorted(expected))
    for width, (cpus, where) in expected.items():
        checks.same(f"{name}: {width} on", found.get(width), (cpus, where))
