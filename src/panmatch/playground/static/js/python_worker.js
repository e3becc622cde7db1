// Runs panmatch in a worker: Pyodide, numpy, our Python, and our native code as WebAssembly.

import { loadNative } from "./native.js";

const QUIET_MILLISECONDS = 120; // without new numbers, before the slower metrics are computed
const REPORT_BYTES = 200_000;
const at = (path) => new URL(`../../engine/${path}`, import.meta.url).href;

let loaded = 0;
let reported = 0;
let pyodide = null;
let python = null;
let readers = null; // of files, loaded with the first of them
let quiet = 0;

/** Fetch, and count what has arrived. */
const plainFetch = self.fetch.bind(self);
self.fetch = async (...asked) => {
  const response = await plainFetch(...asked);
  if (!response.body) return response;
  const count = new TransformStream({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      if (loaded - reported >= REPORT_BYTES) self.postMessage({ loaded: (reported = loaded) });
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(count), { status, statusText, headers });
};

async function bytes(path) {
  const response = await self.fetch(at(path));
  if (!response.ok) throw new Error(`${path} cannot be loaded (${response.status})`);
  return response.arrayBuffer();
}

async function start() {
  const { loadPyodide } = await import(at("pyodide/pyodide.mjs"));
  const [interpreter, backtrace, numpy, ours, native] = await Promise.all([
    loadPyodide({ indexURL: at("pyodide/") }),
    bytes("backtrace.wasm"),
    bytes("numpy.zip"),
    bytes("panmatch.zip"),
    bytes("core.wasm").then(loadNative),
  ]);
  pyodide = interpreter;
  pyodide.FS.writeFile("/lib/backtrace.so", new Uint8Array(backtrace));
  pyodide.runPython("import ctypes; ctypes.CDLL('/lib/backtrace.so', ctypes.RTLD_GLOBAL)");
  for (const archive of [numpy, ours]) unpack(archive);
  pyodide.registerJsModule("panmatch_wasm", native);
  python = pyodide.pyimport("panmatch.playground._request_handler").RequestHandler();
  self.postMessage({ ready: true });
}

function unpack(archive) {
  const folder = pyodide.runPython("import site; site.getsitepackages()[0]");
  pyodide.unpackArchive(archive, "zip", { extractDir: folder });
}

/** Open files whose bytes the page has sent: [role, name, bytes]. */
async function openFiles({ files, ignoreHeaders }) {
  readers ??= bytes("readers.zip").then(unpack);
  await readers;
  const named = pyodide.pyimport("panmatch.playground._dropped_files").NamedBytes;
  const given = new Map(files.map(([role, name, content]) => [role, named(name, pyodide.toPy(content).tobytes())]));
  const text = python.open_bytes.callKwargs(pyodide.toPy(given), { allow_header_mismatch: ignoreHeaders });
  self.postMessage({ text });
}

/** The slower metrics, once the scene has come to rest. */
function sendRelated(text) {
  const more = python.related_text(text);
  if (more) self.postMessage({ text: more });
}

self.onmessage = ({ data: text }) => {
  if (text.files) return openFiles(text).catch(fail);
  self.postMessage({ text: python.answer_text(text) });
  if (!text.startsWith('{"ask":"numbers"')) return;
  clearTimeout(quiet);
  quiet = setTimeout(() => sendRelated(text), QUIET_MILLISECONDS);
};

/** The last line of an error: what Python writes before it is for developers, on the console. */
function fail(error) {
  console.error(error);
  self.postMessage({ failed: String(error.message ?? error).trim().split("\n").at(-1) });
}

start().catch(fail);
