import type { Change } from '../feedFrame.js';
import { byId, element } from './dom.js';
import { timeOfDay } from './format.js';

/** Further ones are in the recording, and on the charts. */
const MOST_LISTED = 12;

interface Kind {
  readonly word: string;
  readonly symbol: string;
  /** The custom property with its colour. */
  readonly colour: string;
}

const KINDS: Readonly<Record<string, Kind | undefined>> = {
  deploy: { word: 'deployed', symbol: '▲', colour: '--good' },
  switch: { word: 'switched', symbol: '◆', colour: '--accent' },
  rollback: { word: 'rolled back', symbol: '◀', colour: '--warn' },
  remove: { word: 'removed', symbol: '✕', colour: '--quiet' },
  scale: { word: 'scaled', symbol: '↕', colour: '--accent' },
  application: { word: 'application', symbol: '●', colour: '--quiet' },
  lost: { word: 'lost', symbol: '✖', colour: '--bad' },
  alert: { word: 'alert', symbol: '▼', colour: '--bad' },
  resolved: { word: 'resolved', symbol: '✓', colour: '--good' },
};

/** A kind that a later server may have. */
const OTHER: Kind = { word: 'changed', symbol: '●', colour: '--quiet' };

export function kindOf({ kind }: Change): Kind {
  return Object.hasOwn(KINDS, kind) ? (KINDS[kind] ?? OTHER) : OTHER;
}

/** What changed, newest first, in words: the charts have marks at the same times. */
export class ChangeList {
  private readonly list = byId('changes', HTMLElement);
  private drawn: readonly Change[] | undefined;

  show(changes: readonly Change[]): void {
    const { drawn } = this;
    if (drawn?.length === changes.length && drawn.every((change, at) => change === changes[at])) return;
    this.drawn = changes;
    if (changes.length === 0) {
      const text = 'Nothing has changed in the last ten minutes.';
      this.list.replaceChildren(element('li', { class: 'note', text }));
      return;
    }
    const newest = [...changes].reverse();
    const items = newest.slice(0, MOST_LISTED).map((change) => {
      const { word, symbol, colour } = kindOf(change);
      const mark = element('span', { class: 'mark', text: symbol });
      mark.ariaHidden = 'true';
      mark.style.setProperty('--colour', `var(${colour})`);
      const time = element('time', { class: 'number', text: timeOfDay(change.at / 1000) });
      const what = element('b', { text: change.what });
      const text = element('span', { class: 'text' }, what, document.createTextNode(` ${change.text}`));
      return element('li', {}, mark, time, element('span', { class: 'note', text: word }), text);
    });
    if (newest.length > MOST_LISTED) {
      const text = `${newest.length - MOST_LISTED} earlier ones are marks on the charts.`;
      items.push(element('li', { class: 'note', text }));
    }
    this.list.replaceChildren(...items);
  }
}
