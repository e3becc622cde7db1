// How strategies look: a hue for the family, dashes for the variant.

const FAMILIES = ["one-to-one", "many-to-one", "one-to-many", "same-id", "union"];

const DASHES = {
  "one-to-one/optimal": "",
  "one-to-one/greedy": "7 4",
  "many-to-one/merge/seed": "",
  "many-to-one/merge/edge": "7 4",
  "many-to-one/optimal/seed": "2 3",
  "many-to-one/optimal/edge": "9 3 2 3",
  "one-to-many/best": "",
  "one-to-many/optimal": "7 4",
};

export const family = (id) => FAMILIES.find((name) => id.startsWith(name)) ?? "union";

export const dashes = (id) => DASHES[id] ?? "";

/** Class that gives an element the colour of a strategy. */
export const hue = (id) => `hue-${family(id)}`;
