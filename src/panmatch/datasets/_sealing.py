"""A result as a line of JSON that ends with its own digest."""

from __future__ import annotations

import hashlib
import json

from panmatch.evaluation import CaseResult, Json

SEAL = b',"digest":"'  # comes last in a line, and protects everything before it
END = b'"}\n'


def seal(job: str, key: str, seconds: float, result: CaseResult) -> bytes:
    """Return a result as a line with its digest.

    Parameters
    ----------
    job, key
        Fingerprint of the job, and what identifies the job together with the files of the case.
    seconds
        How long it took.
    """
    content = {"job": job, "key": key, "seconds": seconds, **result.to_dict()}
    body = json.dumps(
        content, allow_nan=False, check_circular=False, separators=(",", ":")
    ).encode()[:-1]
    return b"".join((body, SEAL, _digest(body), END))


def unseal(text: bytes) -> Json | None:
    """Return the content of a line; None if it was damaged or changed."""
    body, found, rest = text.rpartition(SEAL)
    if not found or rest != _digest(body) + END:
        return None
    line: Json = json.loads(body + b"}")
    return line


def digest_of(line: bytes) -> bytes:
    """Return the digest at the end of a line."""
    return line.rpartition(SEAL)[2].removesuffix(END)


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:16].encode()
