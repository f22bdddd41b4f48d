import type { TermsPart } from './encodingSchema.js';
import { murmur3OfText } from './murmur3.js';

/** What a text has of each place that is known. */
type Counts = Map<number, number>;

/** So many terms are counted between two rests: a fraction of a millisecond. */
const STEP = 256;
/** Terms of a text, each as often as it is there: more would take a second. */
const MOST_COUNTED = 2 ** 18;
/** Characters that are made lower case, taken apart and so on at once, up to the next space. */
const PIECE = 4096;

/** Python's \w: letters and numbers of every script, and the underscore. */
const WORD = '[\\p{L}\\p{N}_]';
/** Python's \s, which is not quite JavaScript's. */
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const SPACES = new RegExp(`${SPACE}{2,}`, 'g');
const NO_SPACE = new RegExp(`[^${SPACE.slice(1, -1)}]+`, 'g');
const BEFORE_SPACE = new RegExp(`[^${SPACE.slice(1, -1)}](?=${SPACE})`, 'g');

/** Terms of texts by scikit-learn's rules: CountVectorizer, TfidfVectorizer and HashingVectorizer. */
export class TermCounter {
  private readonly words: RegExp;
  private readonly stopWords: ReadonlySet<string>;
  private readonly placeOf: (term: string) => number;
  /** Of the term that was placed last. */
  private sign = 1;
  /** Terms since the last rest, of whatever text. */
  private sinceRest = 0;

  constructor(private readonly part: TermsPart) {
    this.words = new RegExp(`${WORD}{${part.shortest},}`, 'gu');
    this.stopWords = new Set(part.stopWords);
    const { space } = part;
    if ('vocabulary' in space) {
      const places = new Map(space.vocabulary.map((term, place) => [term, place]));
      this.placeOf = (term) => places.get(term) ?? -1;
      return;
    }
    const { hashed, alternates, chosen } = space;
    const places = chosen && new Map(chosen.hashes.map((hash, place) => [hash, place]));
    this.placeOf = (term) => {
      const signed = murmur3OfText(term);
      if (alternates) this.sign = signed >= 0 ? 1 : -1;
      const hash = hashPlace(signed, hashed);
      return places === undefined ? hash : (places.get(hash) ?? hashed + hash);
    };
  }

  /**
   * Writes the text's terms as pairs of place and value; rests at every yield.
   * @param target of 2 * most numbers
   * @returns what is wrong with the text, or undefined
   */
  *write(text: string, target: Float64Array): Generator<void, string | undefined> {
    const { most, longest, norm, space } = this.part;
    if (text.length > longest) return `has ${text.length} characters, at most ${longest} are taken`;
    const counts: Counts = new Map();
    let counted = 0;
    // Of the piece before, for terms that begin in it.
    const last: string[] = [];
    for (const piece of piecesOf(text)) {
      const prepared = yield* this.prepared(piece);
      for (const term of this.terms(prepared, last)) {
        if (++this.sinceRest >= STEP) {
          this.sinceRest = 0;
          yield;
        }
        if (term === undefined) continue;
        if (++counted > MOST_COUNTED) return `has more than ${MOST_COUNTED} terms: ask with a shorter text`;
        const place = this.placeOf(term);
        if (place >= 0) counts.set(place, (counts.get(place) ?? 0) + this.sign);
      }
      if (piece.length >= PIECE) yield;
    }
    this.weigh(counts);
    if (norm !== 'none') normalize(counts, norm);
    // Hashes without a place of their own count for the norm, and together for the rest.
    const chosen = 'hashed' in space ? space.chosen : undefined;
    const known =
      chosen === undefined || !('hashed' in space) ? counts : merged(counts, space.hashed, chosen.rest);
    if (known.size > most) {
      return `has ${known.size} different terms that the model knows, at most ${most} are taken: export the model with a larger max_terms`;
    }
    let at = 0;
    for (const [place, value] of known) {
      target[at++] = place;
      target[at++] = value;
    }
    target.fill(-1, at);
    return undefined;
  }

  private *prepared(given: string): Generator<void, string> {
    const { lowercase, accents } = this.part;
    const text = lowercase ? given.toLowerCase() : given;
    if (accents === 'keep') return text;
    let result = '';
    // In any parts: what marks stand in which order does not matter where they go.
    for (let at = 0; at < text.length;) {
      const end = at + PIECE + (isLowSurrogate(text, at + PIECE) ? 1 : 0);
      const apart = text.slice(at, end).normalize('NFKD');
      result +=
        accents === 'ascii'
          ? apart.replace(/\P{ASCII}+/gu, '')
          : apart.replace(/\p{M}/gu, (mark) => (isCombining(mark) ? '' : mark));
      at = end;
      if (at < text.length) yield;
    }
    return result;
  }

  /**
   * Terms of a piece; undefined: nothing but a step.
   * @param last words or characters of the piece before, which are replaced by this one's
   */
  private terms(piece: string, last: string[]): Generator<string | undefined> {
    switch (this.part.analyzer) {
      case 'word':
        return this.wordTerms(piece, last);
      case 'char':
        return this.characterTerms(piece.replace(SPACES, ' '), last);
      case 'charInWords':
        return this.charactersInWords(piece);
    }
  }

  private *wordTerms(piece: string, last: string[]): Generator<string | undefined> {
    const [least, most] = this.part.grams;
    for (const [word] of piece.matchAll(this.words)) {
      if (this.stopWords.has(word)) {
        yield undefined;
        continue;
      }
      last.push(word);
      if (last.length > most) last.shift();
      for (let count = least; count <= last.length; count++) {
        yield count === 1 ? word : last.slice(-count).join(' ');
      }
    }
  }

  private *characterTerms(piece: string, last: string[]): Generator<string | undefined> {
    const [least, most] = this.part.grams;
    const text = last.join('') + piece;
    // Where the characters begin; those of the piece before have had their terms.
    const starts = startsOf(text);
    for (let at = last.length; at < starts.length - 1; at++) {
      for (let count = least; count <= most && count <= at + 1; count++) {
        yield text.slice(starts[at + 1 - count], starts[at + 1]);
      }
    }
    last.splice(0, last.length, ...Array.from(text.slice(starts[Math.max(0, starts.length - most)])));
  }

  private *charactersInWords(piece: string): Generator<string | undefined> {
    const [least, most] = this.part.grams;
    for (const [bare] of piece.matchAll(NO_SPACE)) {
      const word = ` ${bare} `;
      const starts = startsOf(word);
      const length = starts.length - 1;
      for (let count = least; count <= most; count++) {
        for (let at = 0; at === 0 || at + count <= length; at++) {
          yield word.slice(starts[at], starts[Math.min(at + count, length)]);
        }
        // A word that is shorter counts once.
        if (length <= count) break;
      }
    }
  }

  private weigh(counts: Counts): void {
    const { binary, sublinear, weights } = this.part;
    if (!binary && !sublinear && weights === undefined) return;
    for (const [place, count] of counts) {
      const once = binary ? 1 : count;
      const value = sublinear ? 1 + Math.log(once) : once;
      counts.set(place, weights === undefined ? value : value * (weights[place] ?? 1));
    }
  }
}

/** A text in pieces that end before a space: what is made of them is made of the whole. */
function* piecesOf(text: string): Generator<string> {
  let start = 0;
  while (text.length - start > PIECE) {
    BEFORE_SPACE.lastIndex = start + PIECE;
    const found = BEFORE_SPACE.exec(text);
    if (found === null) break;
    yield text.slice(start, found.index + 1);
    start = found.index + 1;
  }
  yield text.slice(start);
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

/** Where a text's characters begin, and its end. */
function startsOf(text: string): number[] {
  const starts: number[] = [];
  for (let at = 0; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) starts.push(at);
  starts.push(text.length);
  return starts;
}

const combining = new Map<string, boolean>();

/** Signs of decomposed text that go before U+0345, whose combining class is the highest: Python's `unicodedata.combining`. */
function isCombining(sign: string): boolean {
  let known = combining.get(sign);
  if (known === undefined) {
    const pair = `\u0345${sign}`;
    known = sign === '\u0345' || pair.normalize('NFD') !== pair;
    combining.set(sign, known);
  }
  return known;
}

function hashPlace(hash: number, features: number): number {
  return hash === -(2 ** 31) ? (2 ** 31 - 1 - (features - 1)) % features : Math.abs(hash) % features;
}

function normalize(counts: Counts, norm: 'l1' | 'l2'): void {
  let sum = 0;
  for (const value of counts.values()) sum += norm === 'l1' ? Math.abs(value) : value * value;
  const size = norm === 'l1' ? sum : Math.sqrt(sum);
  if (size === 0) return;
  for (const [place, value] of counts) counts.set(place, value / size);
}

/** @param features places from there on are of hashes that have none of their own */
function merged(counts: Counts, features: number, rest: number): Counts {
  const known: Counts = new Map();
  for (const [place, value] of counts) {
    const own = place < features ? place : rest;
    if (own >= 0) known.set(own, (known.get(own) ?? 0) + value);
  }
  return known;
}
