import { GpuError } from '../gpuError.js';
import type { DeviceProfile } from './deviceProfile.js';
import type { Figure, Source } from './figure.js';
import {
  INHERITANCE_IN_WORDS,
  inheritanceFactor,
  type BasicFigures,
  type FigureRule,
  type Inheritance,
} from './figureRule.js';
import { FIGURE_RULES } from './figureRules.js';

/** One figure of a profile with where it comes from. */
export interface SourcedFigure {
  /** Such as `timing.latency.l1`. */
  readonly path: string;
  readonly value: unknown;
  readonly source: Source;
  readonly note?: string;
}

/** A card as the simulator uses it, and figure by figure with sources. Plain data. */
export interface ResolvedCard {
  readonly profile: DeviceProfile;
  readonly figures: readonly SourcedFigure[];
}

type Tree = Readonly<Record<string, unknown>>;

/** Figures that others are worked out from, so they come first. */
const FIRST = [
  'sms',
  'clockHz',
  'memory.declaredBytesPerSecond',
  'memory.l2Bytes',
  'power.processNanometres',
  'timing.float32PerCycle',
  'power.limitWatts',
  'power.idleWatts',
];
const HEAD = ['name', 'productName', 'description', 'measured', 'base', 'sources'];
const KINDS = ['measured', 'fitted', 'document', 'derived', 'assumed'];

/**
 * Checks a card, whether it is one of ours or was read from a file, and takes what it leaves out from its base.
 * @param from who gives it, for messages and as the source of figures that name none
 * @throws GpuError `invalidProfile`: field, found, expected
 */
export function resolveCard(
  value: unknown,
  from: string,
  cardNamed: (name: string) => ResolvedCard,
): ResolvedCard {
  return new CardResolver(tree(value, 'card', from), from, cardNamed).resolve();
}

class CardResolver {
  private readonly sources: ReadonlyMap<string, Source>;
  private readonly base: ResolvedCard | undefined;
  private readonly found = new Map<string, SourcedFigure>();

  constructor(
    private readonly card: Tree,
    private readonly from: string,
    cardNamed: (name: string) => ResolvedCard,
  ) {
    const { base } = card;
    this.base = base === undefined ? undefined : cardNamed(this.text('base'));
    this.sources = this.sourceTable();
  }

  resolve(): ResolvedCard {
    this.refuseUnknown(this.card, FIGURE_RULES, '', HEAD);
    const rules = [...leaves(FIGURE_RULES, '')];
    const order = [
      ...FIRST.flatMap((first) => rules.filter(([path]) => path === first)),
      ...rules.filter(([path]) => !FIRST.includes(path)),
    ];
    for (const [path, rule] of order) this.found.set(path, this.figure(path, rule));
    const figures = rules.flatMap(([path]) => this.found.get(path) ?? []);
    const root: Record<string, unknown> = {
      name: this.text('name'),
      productName: this.text('productName'),
      description: this.text('description'),
      measured: this.measured(),
    };
    for (const { path, value } of figures) place(root, path.split('.'), value);
    // Every figure of the rules is there and has passed its rule, and the rules cover the type.
    const profile = root as unknown as DeviceProfile;
    this.checkTogether(profile);
    return { profile, figures };
  }

  private figure(path: string, rule: FigureRule<unknown>): SourcedFigure {
    const given = at(this.card, path);
    if (given === undefined) return this.inherited(path, rule.inherits);
    const isFigure = typeof given === 'object' && given !== null && !Array.isArray(given);
    const figure: Partial<Figure<unknown>> = isFigure ? given : { value: given };
    for (const key of Object.keys(figure)) {
      if (key !== 'value' && key !== 'source' && key !== 'note')
        throw this.error(`${path}.${key}`, 'an unknown field', 'value, source and note only');
    }
    if (!rule.isValid(figure.value)) throw this.error(path, show(figure.value), rule.expected);
    const { value, source: name, note } = figure;
    if (note !== undefined && typeof note !== 'string')
      throw this.error(`${path}.note`, show(note), 'a text');
    const source =
      name === undefined ? { kind: 'document' as const, text: this.from } : this.sources.get(String(name));
    if (source === undefined)
      throw this.error(
        `${path}.source`,
        show(name),
        `one of sources: ${[...this.sources.keys()].join(', ') || 'none'}`,
      );
    return { path, value, source, ...(note === undefined ? {} : { note }) };
  }

  private inherited(path: string, inherits: Inheritance): SourcedFigure {
    const { base } = this;
    const figure = base?.figures.find((each) => each.path === path);
    if (base === undefined || figure === undefined) {
      throw this.error(path, 'nothing', 'a value, or a "base" card to take it from');
    }
    const factor = inherits === 'same' ? 1 : inheritanceFactor(inherits, this.basics(), base.profile);
    const words = `${INHERITANCE_IN_WORDS[inherits]} ${base.profile.name}`;
    return { path, value: scaled(figure.value, factor), source: { kind: 'assumed', text: words } };
  }

  /** The figures that factors are worked out from; they come before all others. */
  private basics(): BasicFigures {
    const root: Record<string, unknown> = {};
    for (const path of FIRST) place(root, path.split('.'), this.found.get(path)?.value);
    return root as unknown as BasicFigures;
  }

  private checkTogether({ sms, smsPerTpc, gpcTpcs, clockHz, clocks, limits, power }: DeviceProfile): void {
    const tpcs = gpcTpcs.reduce((sum, count) => sum + count, 0);
    if (tpcs * smsPerTpc !== sms)
      throw this.error('gpcTpcs', `${tpcs} TPCs of ${smsPerTpc} SMs`, `as many as there are SMs: ${sms}`);
    if (clocks.minimumHz > clocks.baseHz || clocks.baseHz > clockHz)
      throw this.error(
        'clocks.baseHz',
        show(clocks.baseHz),
        `a clock from minimumHz (${clocks.minimumHz}) to clockHz (${clockHz})`,
      );
    if (clocks.memoryMinimumHz > clocks.memoryHz)
      throw this.error(
        'clocks.memoryMinimumHz',
        show(clocks.memoryMinimumHz),
        `at most memoryHz (${clocks.memoryHz})`,
      );
    if (limits.sharedPerBlockBytes > limits.sharedPerSmBytes)
      throw this.error(
        'limits.sharedPerBlockBytes',
        show(limits.sharedPerBlockBytes),
        `at most sharedPerSmBytes (${limits.sharedPerSmBytes})`,
      );
    if (power.idleWatts >= power.limitWatts)
      throw this.error('power.idleWatts', show(power.idleWatts), `below limitWatts (${power.limitWatts})`);
  }

  private refuseUnknown(found: Tree, known: object, prefix: string, also: readonly string[] = []): void {
    for (const [key, value] of Object.entries(found)) {
      const path = `${prefix}${key}`;
      if (also.includes(key)) continue;
      const rule = (known as Tree)[key];
      if (rule === undefined)
        throw this.error(path, 'an unknown field', `one of ${[...also, ...Object.keys(known)].join(', ')}`);
      if (!isRule(rule)) this.refuseUnknown(tree(value, path, this.from), rule as object, `${path}.`);
    }
  }

  private sourceTable(): Map<string, Source> {
    const table = new Map<string, Source>();
    for (const [name, value] of Object.entries(tree(this.card['sources'] ?? {}, 'sources', this.from))) {
      const { kind, text, url, ...rest } = tree(value, `sources.${name}`, this.from);
      const path = `sources.${name}`;
      if (typeof kind !== 'string' || !KINDS.includes(kind))
        throw this.error(`${path}.kind`, show(kind), `one of ${KINDS.join(', ')}`);
      if (typeof text !== 'string' || text === '') throw this.error(`${path}.text`, show(text), 'a text');
      if (url !== undefined && typeof url !== 'string') throw this.error(`${path}.url`, show(url), 'a text');
      const unknown = Object.keys(rest)[0];
      if (unknown !== undefined)
        throw this.error(`${path}.${unknown}`, 'an unknown field', 'kind, text and url only');
      table.set(name, { kind: kind as Source['kind'], text, ...(url === undefined ? {} : { url }) });
    }
    return table;
  }

  private measured(): boolean {
    const { measured } = this.card;
    if (typeof measured !== 'boolean') throw this.error('measured', show(measured), 'true or false');
    return measured;
  }

  private text(field: string): string {
    const value = this.card[field];
    if (typeof value !== 'string' || value === '') throw this.error(field, show(value), 'a text');
    return value;
  }

  private error(field: string, found: string, expected: string): GpuError {
    return invalid(this.from, field, found, expected);
  }
}

function invalid(from: string, field: string, found: string, expected: string): GpuError {
  return new GpuError('invalidProfile', `${from}: ${field}: found ${found}; expected ${expected}`, field);
}

function tree(value: unknown, path: string, from: string): Tree {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Tree;
  throw invalid(from, path, show(value), 'an object');
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 80);
}

function isRule(value: unknown): value is FigureRule<unknown> {
  return typeof value === 'object' && value !== null && 'isValid' in value;
}

function* leaves(rules: object, prefix: string): Generator<[string, FigureRule<unknown>]> {
  for (const [key, rule] of Object.entries(rules) as [string, unknown][]) {
    if (isRule(rule)) yield [`${prefix}${key}`, rule];
    else yield* leaves(rule as object, `${prefix}${key}.`);
  }
}

function at(root: Tree, path: string): unknown {
  let value: unknown = root;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Tree)[key];
  }
  return value;
}

function place(root: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [key, ...rest] = keys;
  if (rest.length === 0) {
    root[key] = value;
    return;
  }
  place((root[key] ??= {}) as Record<string, unknown>, rest, value);
}

/** A number, or the bytes of a curve's points, times a factor. */
function scaled(value: unknown, factor: number): unknown {
  if (factor === 1) return value;
  if (typeof value === 'number') return rounded(value * factor);
  return (value as readonly (readonly [number, number])[]).map(([bytes, share]) => [
    rounded(bytes * factor),
    share,
  ]);
}

/** To four significant digits: more would look like knowledge. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
