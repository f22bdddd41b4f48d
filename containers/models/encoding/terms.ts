import type { TermsPart } from './encodingSchema.js';
import { murmur3 } from './murmur3.js';

/** What a text has of each place that is known. */
type Counts = Map<number, number>;

/** So many terms, or characters that are looked at, between two rests. */
const STEP = 2048;
const UTF8 = new TextEncoder();

/** Python's \w: letters and numbers of every script, and the underscore. */
const WORD = '[\\p{L}\\p{N}_]';
/** Python's \s, which is not quite JavaScript's. */
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const SPACES = new RegExp(`${SPACE}{2,}`, 'g');
const NO_SPACE = new RegExp(`[^${SPACE.slice(1, -1)}]+`, 'g');

/** Terms of texts by scikit-learn's rules: CountVectorizer, TfidfVectorizer and HashingVectorizer. */
export class TermCounter {
  private readonly words: RegExp;
  private readonly stopWords: ReadonlySet<string>;
  private readonly placeOf: (term: string) => number;
  /** Of the term that was placed last. */
  private sign = 1;

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
      const signed = murmur3(UTF8.encode(term));
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
    const counts = yield* this.counts(text);
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

  private *counts(given: string): Generator<void, Counts> {
    const counts: Counts = new Map();
    let seen = 0;
    for (const term of this.terms(this.prepared(given))) {
      if (++seen % STEP === 0) yield;
      if (term === undefined) continue;
      const place = this.placeOf(term);
      if (place < 0) continue;
      counts.set(place, (counts.get(place) ?? 0) + this.sign);
    }
    return counts;
  }

  private prepared(given: string): string {
    const text = this.part.lowercase ? given.toLowerCase() : given;
    if (this.part.accents === 'keep') return text;
    const apart = text.normalize('NFKD');
    return apart.replace(/[^\p{ASCII}]/gu, (sign) =>
      this.part.accents === 'ascii' || isCombining(sign) ? '' : sign,
    );
  }

  /** undefined: nothing but a step. */
  private terms(text: string): Generator<string | undefined> {
    switch (this.part.analyzer) {
      case 'word':
        return this.wordTerms(text);
      case 'char':
        return this.characterTerms(text);
      case 'charInWords':
        return this.charactersInWords(text);
    }
  }

  private *wordTerms(text: string): Generator<string | undefined> {
    const [least, most] = this.part.grams;
    // The last words, of which terms of several words are made.
    const last: string[] = [];
    for (const [word] of text.matchAll(this.words)) {
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

  private *characterTerms(text: string): Generator<string | undefined> {
    const [least, most] = this.part.grams;
    const last: string[] = [];
    for (const character of text.replace(SPACES, ' ')) {
      last.push(character);
      if (last.length > most) last.shift();
      for (let count = least; count <= last.length; count++) yield last.slice(-count).join('');
    }
  }

  private *charactersInWords(text: string): Generator<string | undefined> {
    const [least, most] = this.part.grams;
    for (const [bare] of text.matchAll(NO_SPACE)) {
      const word = [' ', ...bare, ' '];
      for (let count = least; count <= most; count++) {
        for (let at = 0; at === 0 || at + count <= word.length; at++) {
          yield word.slice(at, at + count).join('');
        }
        // A word that is shorter counts once.
        if (word.length <= count) break;
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

/** Signs of decomposed text that go before U+0345, whose combining class is the highest: Python's `unicodedata.combining`. */
function isCombining(sign: string): boolean {
  const pair = `\u0345${sign}`;
  return sign === '\u0345' || pair.normalize('NFD') !== pair;
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
