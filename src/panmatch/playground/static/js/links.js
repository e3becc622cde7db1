// The address of the page describes everything that it shows.

export const encode = (state) => `#${encodeURIComponent(JSON.stringify(state))}`;

/** What the address of the moment says, for the server to read; empty if it says nothing. */
export const current = () => location.search + location.hash;

/** Make the address say what is shown, as a new step of the browser's history. */
export function push(state) {
  const link = encode(state);
  if (location.search || location.hash !== link) history.pushState(null, "", `${location.pathname}${link}`);
}
