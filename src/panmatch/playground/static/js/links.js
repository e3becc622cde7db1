// The address of the page describes everything that it shows.

export const encode = (state) => `#${encodeURIComponent(JSON.stringify(state))}`;

/** What the address of the moment says, for the server to read; empty if it says nothing. */
export const current = () => location.search + location.hash;

/** Make the address say what is shown, as a new step of the browser's history or as the last one.
 * The step also knows which preset the scene was made from. */
export function push(state, preset = null, { joined = false } = {}) {
  const link = encode(state);
  if (!location.search && location.hash === link) return;
  history[joined ? "replaceState" : "pushState"]({ preset }, "", `${location.pathname}${link}`);
}

/** The preset that the scene of this address was made from, where the browser knows it. */
export const preset = () => history.state?.preset ?? null;
