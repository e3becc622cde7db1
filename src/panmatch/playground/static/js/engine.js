// What the page asks and hears, whoever computes: for each kind of question, at most one is under
// way and only the newest one waits. `ServerEngine` and `WorkerEngine` carry the messages.

export class Engine {
  /** `heard` is called with every message, `changed` with whether the engine can be reached,
   * `rested` with whether an answer is still to come, `loading` with how much has been loaded, and
   * `failed` with why the engine cannot start. */
  constructor({ heard, changed, rested, loading = () => {}, failed = () => {} }) {
    Object.assign(this, { heard, changed, rested, loading, failed });
    this.seq = 0;
    this.underway = new Map(); // kind -> {seq, sent}
    this.waiting = new Map(); // kind -> content
  }

  /** Whether a message can be sent now. */
  get there() {
    return false;
  }

  /** Say that the engine can be reached; what was under way before is lost. */
  arrive() {
    this.underway.clear();
    this.changed(true);
    this.flush();
  }

  /** Ask; a later question of the same kind replaces one that is still waiting. */
  ask(kind, content = {}) {
    this.waiting.set(kind, content);
    this.flush();
  }

  get busy() {
    return this.underway.size + this.waiting.size > 0;
  }

  flush() {
    this.rested(this.busy);
    if (!this.there) return;
    for (const [kind, content] of [...this.waiting]) {
      if (this.underway.has(kind)) continue;
      this.waiting.delete(kind);
      this.seq += 1;
      this.underway.set(kind, { seq: this.seq, sent: performance.now() });
      this.send(JSON.stringify({ ask: kind, seq: this.seq, ...content }));
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

const KIND_OF_ANSWER = { state: "link", opened: "open", closed: "close" };
for (const kind of ["hello", "numbers", "slice", "object", "code", "short"]) KIND_OF_ANSWER[kind] = kind;
