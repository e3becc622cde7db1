// The engine of the page without a server: the same Python, in a worker of the browser.

import { Engine } from "./engine.js";

export class WorkerEngine extends Engine {
  /** `bytes` is how much there is to load. */
  constructor(callbacks, bytes) {
    super(callbacks);
    this.ready = false;
    this.worker = new Worker(new URL("./python_worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.take(data);
    this.worker.onerror = (event) => this.failed(event.message || "the browser could not start it");
    this.loading({ loaded: 0, bytes });
    this.bytes = bytes;
  }

  take({ text, loaded, ready, failed }) {
    if (text !== undefined) this.receive(JSON.parse(text));
    else if (loaded !== undefined) this.loading({ loaded, bytes: this.bytes });
    else if (failed !== undefined) this.failed(failed);
    else if (ready) {
      this.ready = true;
      this.loading(null);
      this.arrive();
    }
  }

  get there() {
    return this.ready;
  }

  /** Open two label files, and what there is beside: {reference, prediction, image?, scores?}. They go no
   * further than the worker. */
  async openFiles(files, { ignoreHeaders = false } = {}) {
    const read = async ([role, file]) => [role, file.name, new Uint8Array(await file.arrayBuffer())];
    const contents = await Promise.all(Object.entries(files).map(read));
    this.worker.postMessage({ files: contents, ignoreHeaders }, contents.map(([, , bytes]) => bytes.buffer));
  }

  send(text) {
    this.worker.postMessage(text);
  }
}
