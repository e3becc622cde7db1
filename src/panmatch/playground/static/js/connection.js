// One WebSocket. For each kind of request, at most one is under way and only the newest one waits.

import { upload } from "./upload.js";

const RETRY_MILLISECONDS = 1500;

export class Connection {
  /** `heard` is called with every message, `changed` with whether the server can be reached, and
   * `rested` with whether an answer is still to come. */
  constructor({ heard, changed, rested }) {
    Object.assign(this, { heard, changed, rested });
    this.seq = 0;
    this.underway = new Map(); // kind -> {seq, sent}
    this.waiting = new Map(); // kind -> content
    this.open();
  }

  open() {
    this.socket = new WebSocket(`ws://${location.host}/ws`);
    this.socket.onopen = () => {
      this.underway.clear();
      this.changed(true);
      this.flush();
    };
    this.socket.onmessage = (event) => this.receive(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.changed(false);
      setTimeout(() => this.open(), RETRY_MILLISECONDS);
    };
  }

  /** Ask; a later question of the same kind replaces one that is still waiting. */
  ask(kind, content = {}) {
    this.waiting.set(kind, content);
    this.flush();
  }

  /** Open two label files, and an image if there is one: {reference, prediction, image?}. */
  async openFiles(files, { ignoreHeaders = false } = {}) {
    const keys = {};
    for (const [role, file] of Object.entries(files)) keys[role] = await upload(file);
    this.ask("open", { ...keys, allow_header_mismatch: ignoreHeaders });
  }

  get busy() {
    return this.underway.size + this.waiting.size > 0;
  }

  flush() {
    this.rested(this.busy);
    if (this.socket.readyState !== WebSocket.OPEN) return;
    for (const [kind, content] of [...this.waiting]) {
      if (this.underway.has(kind)) continue;
      this.waiting.delete(kind);
      this.seq += 1;
      this.underway.set(kind, { seq: this.seq, sent: performance.now() });
      this.socket.send(JSON.stringify({ ask: kind, seq: this.seq, ...content }));
    }
  }

  receive(message) {
    const kind = KIND_OF_ANSWER[message.is] ?? message.about;
    const asked = this.underway.get(kind);
    if (asked && (message.seq === asked.seq || message.is === "hello")) {
      this.underway.delete(kind);
      message.sent = asked.sent;
    }
    this.heard(message);
    this.flush();
    this.rested(this.busy);
  }
}

const KIND_OF_ANSWER = {
  hello: "hello",
  state: "link",
  numbers: "numbers",
  opened: "open",
  closed: "close",
  slice: "slice",
  object: "object",
  code: "code",
};
