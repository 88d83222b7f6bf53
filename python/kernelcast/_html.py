"""A forecast as a notebook shows it."""
from html import escape

_units = ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (0, "ns"))


def seconds(value):
    """Three digits and a unit; "unknown" for None."""
    if value is None:
        return "unknown"
    for scale, unit in _units:
        if value >= scale:
            return f"{value / (scale or 1e-9):.3g} {unit}"
    return "unknown"


def _bar(value, most):
    """As in the report: a bar as long as the bound, of the one that decides."""
    if not value or not most:
        return ""
    return f'<div style="background:#4c78a8;height:0.8em;width:{max(1, round(160 * value / most))}px"></div>'


def _facts(f):
    """The answer's second line, as the report has it."""
    facts = []
    if f.floor_s is not None:
        share = f", of which the forecast reaches {100 * f.floor_s / f.time_s:.3g} %" if f.time_s else ""
        facts.append(f"floor {seconds(f.floor_s)}{share}")
    if f.occupancy is not None:
        facts.append(f"occupancy {100 * f.occupancy:.3g} %")
    if f.energy_j is not None:
        facts.append(f"energy {f.energy_j:.3g} J")
    return "; ".join(facts)


def forecast_html(f):
    """The report's answer, bounds with bars, and assumptions."""
    interval = f" ({seconds(f.interval_s[0])} to {seconds(f.interval_s[1])}, 90 %)" if f.interval_s else ""
    head = f"<b>{escape(f.kernel)}</b> on {escape(f.device)}: <b>{seconds(f.time_s)}</b>{interval}"
    if f.failure:
        return f"<p>{head}: {escape(f.failure)}</p>"
    launch = f"{' x '.join(map(str, f.grid))} blocks of {' x '.join(map(str, f.block))} threads"
    most = max((b.time_s for b in f.bounds if b.time_s is not None), default=None)
    rows = "".join(f"<tr><td>{escape(b.name)}</td><td>{seconds(b.time_s)}</td><td>{_bar(b.time_s, most)}</td><td>{escape(b.why)}</td></tr>"
                   for b in f.bounds)
    assumed = "".join(f"<li>{escape(a.what)}: {escape(a.value)}" + (f" (<code>{escape(a.replace)}</code>)" if a.replace else "") + "</li>"
                      for a in f.assumptions)
    return (f"<p>{head}, limited by {escape(f.limiter or '')}<br>{launch}; {_facts(f)}</p>"
            f"<table><tr><th>bound</th><th>time</th><th></th><th>why</th></tr>{rows}</table>"
            + (f"<details><summary>assumptions</summary><ul>{assumed}</ul></details>" if assumed else ""))
