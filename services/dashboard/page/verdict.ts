import { element } from './dom.js';
import { formatShare } from './format.js';
import type { Prediction, Vote } from './predictions.js';

const MISSING: Readonly<Record<string, string>> = {
  deadline: 'no answer in time',
  no_replica: 'no replica is up',
  model_error: 'failed on this input',
  overload: 'its queue is full',
};

/** The answer in words. */
export function answerNodes(prediction: Prediction): Node[] {
  const { output, confidence, models } = prediction;
  const who = models.map(({ name, version }) => `${name} v${version}`).join(', ');
  const words = prediction.default
    ? `Default output: ${prediction.default_explanation ?? 'no prediction'}`
    : `Confidence ${formatShare(confidence)}, answered by ${who}.`;
  return [
    element('output', { class: prediction.default ? 'output bad' : 'output', text: textOf(output) }),
    element('p', { text: words }),
  ];
}

export function errorNodes(message: string): Node[] {
  return [element('p', { class: 'bad', text: message })];
}

/** One model's line: its name, its answer, and a bar for each of its scores. */
export function voteNode(vote: Vote): HTMLElement {
  const name = element('span', { class: 'name', text: `${vote.name} v${vote.version}` });
  if (vote.missing !== undefined) {
    const why = MISSING[vote.missing] ?? vote.missing;
    return element('li', { class: 'vote' }, name, element('span', { class: 'missing', text: why }));
  }
  const parts: Node[] = [name, element('span', { class: 'mine', text: textOf(vote.output) })];
  if (vote.scores !== undefined) parts.push(scoresNode(vote.scores));
  return element('li', { class: 'vote' }, ...parts);
}

/** Bars reach from the lowest score to the highest: scores of different models have different scales. */
function scoresNode(scores: readonly (number | null)[]): HTMLElement {
  const known = scores.filter((score) => score !== null);
  const least = Math.min(0, ...known);
  const most = Math.max(...known);
  const words = scores.map((score, at) => `${at}: ${shown(score)}`).join(', ');
  const bars = scores.map((score, at) => {
    const isTop = score !== null && score === most;
    const bar = element('span', { class: isTop ? 'score top' : 'score', text: String(at) });
    const level = score === null || most === least ? 0 : (score - least) / (most - least);
    bar.style.setProperty('--level', level.toFixed(3));
    bar.title = `${at}: ${shown(score)}`;
    return bar;
  });
  const node = element('div', { class: 'scores' }, ...bars);
  node.setAttribute('role', 'img');
  node.setAttribute('aria-label', `Scores ${words}`);
  return node;
}

function shown(score: number | null): string {
  return score === null ? 'not a number' : String(Number(score.toPrecision(3)));
}

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
