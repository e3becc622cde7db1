"""The strategies under test, by the names that the oracles use."""

from panmatch import ManyToOne, OneToMany, OneToOne, Strategy

BY_NAME: dict[str, Strategy] = {
    "one-to-one/optimal": OneToOne(),
    "one-to-one/greedy": OneToOne(solver="greedy"),
    "many-to-one/merge/seed": ManyToOne(),
    "many-to-one/merge/edge": ManyToOne(gate="edge"),
    "one-to-many/best": OneToMany(),
}

OPTIMAL: dict[str, Strategy] = {
    "one-to-one/optimal": OneToOne(),
    "many-to-one/optimal/seed": ManyToOne(solver="optimal"),
    "many-to-one/optimal/edge": ManyToOne(solver="optimal", gate="edge"),
    "one-to-many/optimal": OneToMany(solver="optimal"),
}
