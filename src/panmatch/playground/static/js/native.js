// Our native code as WebAssembly: a call is a block of bytes, and so is its answer.

/** What C++ expects of a system: a clock, and nowhere to write to. */
function system(memory) {
  const known = {
    clock_time_get(_clock, _precision, result) {
      new DataView(memory().buffer).setBigUint64(result, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
  };
  return new Proxy(known, { get: (functions, name) => functions[name] ?? (() => 0) });
}

function textAt(memory, from) {
  const bytes = new Uint8Array(memory.buffer, from);
  return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
}

/** Compile the module, and return what Python calls. */
export async function loadNative(binary) {
  const module = await WebAssembly.compile(binary);
  let exports;
  const start = () => {
    ({ exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: system(() => exports.memory) }));
    exports._initialize();
  };
  start();
  return {
    signatures: () => textAt(exports.memory, exports.signatures()),
    call(block) {
      try {
        const place = exports.reserve(block.length);
        new Uint8Array(exports.memory.buffer).set(block, place);
        const answer = exports.call(place);
        return new Uint8Array(exports.memory.buffer, answer, exports.answer_bytes()).slice();
      } catch (error) {
        const reason = textAt(exports.memory, exports.last_error()) || error.message;
        start(); // a call that was cut short may have left anything behind
        throw new Error(reason);
      }
    },
  };
}
