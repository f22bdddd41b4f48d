/** Of one piece: for it memory is found and written in well below a millisecond. */
const PIECE_BYTES = 64 * 1024;

/** The content of an answer: a text, bytes, or bytes in several parts. */
export type Content = string | Uint8Array | readonly Uint8Array[];

export function contentBytes(content: Content): number {
  if (typeof content === 'string' || content instanceof Uint8Array) return Buffer.byteLength(content);
  let bytes = 0;
  for (const part of content) bytes += part.length;
  return bytes;
}

/** The bytes of a content one piece after the other, each made when it is asked for. */
export function* piecesOf(content: Content): Generator<Uint8Array, void> {
  if (typeof content === 'string') yield* piecesOfText(content);
  else if (content instanceof Uint8Array) yield* piecesOfBytes(content);
  else for (const part of content) yield* piecesOfBytes(part);
}

function* piecesOfBytes(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

function* piecesOfText(text: string): Generator<Uint8Array, void> {
  let at = 0;
  while (at < text.length) {
    let to = Math.min(text.length, at + PIECE_BYTES);
    // Not between the halves of a character.
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to -= 1;
    yield Buffer.from(text.slice(at, to));
    at = to;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}
