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


def forecast_html(f):
    """A table: time with interval, then each bound with its reason and, last, what was assumed."""
    interval = f" ({seconds(f.interval_s[0])} to {seconds(f.interval_s[1])}, 90 %)" if f.interval_s else ""
    head = f"<b>{escape(f.kernel)}</b> on {escape(f.device)}: <b>{seconds(f.time_s)}</b>{interval}"
    if f.failure:
        return f"<p>{head}: {escape(f.failure)}</p>"
    rows = "".join(f"<tr><td>{escape(b.name)}</td><td>{seconds(b.time_s)}</td><td>{escape(b.why)}</td></tr>" for b in f.bounds)
    assumed = "".join(f"<li>{escape(a.what)}: {escape(a.value)}" + (f" (<code>{escape(a.replace)}</code>)" if a.replace else "") + "</li>"
                      for a in f.assumptions)
    return (f"<p>{head}, limited by {escape(f.limiter or '')}</p><table><tr><th>bound</th><th>time</th><th>why</th></tr>{rows}</table>"
            + (f"<details><summary>assumptions</summary><ul>{assumed}</ul></details>" if assumed else ""))
