// Send one file to the local server, which answers with a key to open it by.

export async function upload(file) {
  const response = await fetch("files", {
    method: "POST",
    headers: { "X-File-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" },
    body: file,
  }).catch(() => {
    throw new Error(`“${file.name}” could not be sent. If the server has stopped, start it again; if the file was moved, choose it again.`);
  });
  const { key, problem } = await response.json().catch(() => ({ problem: `the server answered ${response.status}.` }));
  if (!key) throw new Error(problem);
  return key;
}
