let scratch = new Uint8Array(256);

/** MurmurHash3 of a text's UTF-8; texts are short, and an encoder's call costs more than all of it. */
export function murmur3OfText(text: string): number {
  if (scratch.length < 3 * text.length) scratch = new Uint8Array(6 * text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at);
    if (code < 0x80) {
      scratch[length++] = code;
      continue;
    }
    if (code < 0x800) scratch[length++] = 0xc0 | (code >> 6);
    else {
      if ((code & 0xfc00) === 0xd800 && at + 1 < text.length) {
        code = 0x10000 + ((code & 0x3ff) << 10) + (text.charCodeAt(++at) & 0x3ff);
        scratch[length++] = 0xf0 | (code >> 18);
        scratch[length++] = 0x80 | ((code >> 12) & 0x3f);
      } else scratch[length++] = 0xe0 | (code >> 12);
      scratch[length++] = 0x80 | ((code >> 6) & 0x3f);
    }
    scratch[length++] = 0x80 | (code & 0x3f);
  }
  return murmur3(scratch, 0, length);
}

/** MurmurHash3 (x86, 32 bits) of bytes, as a signed number: what scikit-learn places words by. */
export function murmur3(bytes: Uint8Array, seed = 0, length = bytes.length): number {
  let hash = seed | 0;
  const whole = length & ~3;
  for (let at = 0; at < whole; at += 4) {
    const word = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    hash ^= scrambled(word);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let at = length - 1; at >= whole; at--) rest = (rest << 8) | bytes[at];
  if (whole < length) hash ^= scrambled(rest);
  hash ^= length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}

function scrambled(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
