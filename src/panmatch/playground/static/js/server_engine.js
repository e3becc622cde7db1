// The engine of `panmatch play`: Python behind a WebSocket, which may go and come back.

import { Engine } from "./engine.js";
import { upload } from "./upload.js";

const RETRY_MILLISECONDS = 1500;

export class ServerEngine extends Engine {
  constructor(callbacks) {
    super(callbacks);
    this.open();
  }

  open() {
    this.socket = new WebSocket(`ws://${location.host}/ws`);
    this.socket.onopen = () => this.arrive();
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.changed(false);
      setTimeout(() => this.open(), RETRY_MILLISECONDS);
    };
  }

  get there() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  send(text) {
    this.socket.send(text);
  }

  /** Open two label files, and what there is beside: {reference, prediction, image?, scores?}. */
  async openFiles(files, { ignoreHeaders = false } = {}) {
    const keys = {};
    for (const [role, file] of Object.entries(files)) keys[role] = await upload(file);
    this.ask("open", { ...keys, allow_header_mismatch: ignoreHeaders });
  }
}
