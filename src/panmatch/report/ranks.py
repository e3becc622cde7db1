"""How the ranking of models changes over strategies and thresholds, for people to see."""

from __future__ import annotations

from typing import Any

from panmatch.datasets.comparing import MEAN, Comparison
from panmatch.evaluation.groups import WAY
from panmatch.evaluation.wording import way_title

NARROW = 0.004  # of a strip; narrower parts are drawn without text


def rank_section(found: Comparison) -> dict[str, Any]:
    """Return rankings, paired differences and the strips of leaders over the threshold."""
    rankings, differences = found.rankings(), found.differences()
    classes = list(dict.fromkeys(rankings["class"]))
    shown = MEAN if MEAN in classes else classes[0]
    stable = found.stability(found.measures[0])
    return {
        "shown": shown,
        "rankings": _rankings(rankings, shown),
        "differences": _differences(differences, shown),
        "orders": stable[shown].distinct_orders,
        "settings": len(stable[shown].rankings),
        "spread": stable[shown].spread,
        "strips": _strips(found),
        "models": found.models,
        "answer": _answer(rankings, shown),
        "left_out": {model: cases for model, cases in found.left_out.items() if cases},
    }


def _differences(differences: Any, shown: str) -> list[dict[str, Any]]:
    """Return the paired differences, with those of the first strategy and threshold marked."""
    rows: list[dict[str, Any]] = differences[differences["class"] == shown].to_dict("records")
    for row in rows:
        row["way"] = way_title(tuple(row[name] for name in WAY))
        same_way = row["way"] == rows[0]["way"]
        is_area = row["threshold"] != row["threshold"]
        row["is_first"] = same_way and (is_area or row["threshold"] == rows[0]["threshold"])
    return rows


def _rankings(rankings: Any, shown: str) -> list[dict[str, Any]]:
    rows = rankings[(rankings["class"] == shown) & (rankings["measure"] == "pq")]
    found: dict[Any, dict[str, Any]] = {}
    for row in rows.to_dict("records"):
        way = tuple(row[name] for name in WAY)
        key = (way, row["threshold"])
        entry = {"way": way_title(way), "threshold": f"{row['threshold']:g}", "models": []}
        found.setdefault(key, entry)["models"].append(row)
    return list(found.values())


def _strips(found: Comparison) -> list[dict[str, Any]]:
    """Return for every class and way the stretches of thresholds with one ranking."""
    strips: dict[Any, dict[str, Any]] = {}
    for row in found.over_threshold().to_dict("records"):
        way = tuple(row[name] for name in WAY)
        strip = {"class": way[0], "way": way_title(way), "parts": []}
        leaders = row["order"].split(" > ")[0].split(" = ")
        strips.setdefault(way, strip)["parts"].append(
            {
                "start": row["start"],
                "stop": row["stop"],
                "order": row["order"],
                "width": row["stop"] - row["start"],
                "leader": leaders[0] if len(leaders) == 1 else "",
                "text": row["stop"] - row["start"] > NARROW,
            }
        )
    return list(strips.values())


def _answer(rankings: Any, shown: str) -> str:
    """Return in one or two sentences who is best, and under which strategy that changes."""
    rows = rankings[(rankings["class"] == shown) & (rankings["measure"] == "pq")]
    leaders: dict[str, list[str]] = {}
    for row in rows[rows["rank"] < 2].to_dict("records"):
        if row["rank"] == 1:
            way = tuple(row[name] for name in WAY)
            leaders.setdefault(row["model"], []).append(
                f"{way_title(way)} at τ = {row['threshold']:g}"
            )
    first = rows.iloc[0]
    text = f"{first['model']} has the highest mean PQ of cases ({shown}: {first['value']:.3f}"
    if first["low"] == first["low"]:
        text += f", 95 % interval {first['low']:.3f} to {first['high']:.3f}"
    title = way_title(tuple(first[name] for name in WAY))
    text += f") under {title} at τ = {first['threshold']:g}."
    others = {model: ways for model, ways in leaders.items() if model != first["model"]}
    if not others:
        return f"{text} It leads in every setting of the spec."
    flips = "; ".join(f"{model} leads under {', '.join(ways)}" for model, ways in others.items())
    return f"{text} But {flips}."
