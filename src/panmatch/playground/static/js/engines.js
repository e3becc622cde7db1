// Which engine the page has: `make site` writes a meta element for the one in the browser.

import { ServerEngine } from "./server_engine.js";
import { WorkerEngine } from "./worker_engine.js";

const inBrowser = document.querySelector("meta[name=engine][content=browser]");

/** Whether the page computes in the browser, without a server. */
export const withoutServer = Boolean(inBrowser);

export const openEngine = (callbacks) =>
  inBrowser ? new WorkerEngine(callbacks, Number(inBrowser.dataset.bytes)) : new ServerEngine(callbacks);
