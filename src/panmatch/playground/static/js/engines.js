// Which engine the page has: `make site` writes a meta element for the one in the browser.

import { find } from "./dom.js";
import { ServerEngine } from "./server_engine.js";
import { WorkerEngine } from "./worker_engine.js";

const inBrowser = document.querySelector("meta[name=engine][content=browser]");

/** Whether the page computes in the browser, without a server. */
export const withoutServer = Boolean(inBrowser);

export const openEngine = (callbacks) =>
  inBrowser ? new WorkerEngine(callbacks, Number(inBrowser.dataset.bytes)) : new ServerEngine(callbacks);

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** Say how much has been loaded; null once everything has. */
export function showLoading(progress) {
  find("#loading").hidden = progress === null;
  find("main").inert = progress !== null;
  if (progress === null) return;
  const { loaded, bytes } = progress;
  find("#loading-progress").value = Math.min(loaded / bytes, 1);
  find("#loading-bytes").textContent = loaded < bytes
    ? `Python, NumPy and panmatch: ${megabytes(loaded)} of ${megabytes(bytes)} MB.`
    : `Starting Python (${megabytes(bytes)} MB loaded).`;
}

export function showFailure(reason) {
  find("#loading").hidden = true;
  find("#trouble").hidden = false;
  find("#trouble").textContent = `panmatch could not start in this browser: ${reason}. Reload the page to try again, or run panmatch play on your computer.`;
}
