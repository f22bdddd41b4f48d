import type { QueueAnswer } from '../../client/clientModule.js';
import { byId, element, setText } from './dom.js';
import { newRow } from './table.js';
import { callVerb } from './verbs.js';

type QueueEntry = QueueAnswer['feedback'][number];

const HEADS = ['Id', 'Application', 'Context', 'Attempts', 'Accepted', 'Reason', ''];

/** The table of feedback that has failed: each may be shown, tried again, or dropped. */
export class Failures {
  private readonly body = byId('failures', HTMLElement);
  private readonly done = byId('done', HTMLElement);
  private readonly shown = byId('shown', HTMLElement);
  private readonly all = [byId('retry-all', HTMLButtonElement), byId('drop-all', HTMLButtonElement)] as const;
  private drawn = '';

  /** @param onChange something was retried or dropped */
  constructor(private readonly onChange: () => void) {
    const [retry, drop] = this.all;
    retry.addEventListener('click', () => void this.act('retry_feedback', { all: true }));
    drop.addEventListener('click', () => {
      if (confirm('Drop all that has failed? It is never learned.'))
        void this.act('drop_feedback', { all: true });
    });
  }

  /** @param isQueued whether feedback goes by a queue at all */
  show(failures: readonly QueueEntry[], isQueued: boolean): void {
    const present = JSON.stringify([failures, isQueued]);
    if (present === this.drawn) return;
    this.drawn = present;
    for (const button of this.all) button.disabled = failures.length === 0;
    if (failures.length > 0) {
      this.body.replaceChildren(...failures.map((one) => this.row(one)));
      return;
    }
    const text = isQueued
      ? 'Nothing has failed.'
      : 'This server has no queue: it learns from feedback at once.';
    const cell = element('td', { class: 'note', text });
    cell.colSpan = HEADS.length;
    this.body.replaceChildren(element('tr', {}, cell));
  }

  private row(of: QueueEntry): HTMLElement {
    const { id } = of;
    const button = (text: string, act: () => void): HTMLElement => {
      const made = element('button', { text });
      made.type = 'button';
      made.setAttribute('aria-label', `${text} ${id}`);
      made.addEventListener('click', act);
      return made;
    };
    return newRow(HEADS, [
      element('td', { class: 'name', text: id }),
      element('td', { class: 'name', text: of.app_name }),
      element('td', { class: 'name', text: of.uid }),
      element('td', { class: 'number', text: String(of.attempts) }),
      element('td', { text: of.accepted_at }),
      element('td', { class: 'long', text: of.reason ?? '' }),
      element(
        'td',
        { class: 'actions' },
        button('Show', () => void this.details(id)),
        button('Retry', () => void this.act('retry_feedback', { id })),
        button('Drop', () => void this.act('drop_feedback', { id })),
      ),
    ]);
  }

  private async details(id: string): Promise<void> {
    try {
      setText(this.shown, JSON.stringify(await callVerb('show_feedback', { id }), null, 2));
      this.shown.hidden = false;
    } catch (error) {
      setText(this.done, wordsOf(error));
    }
  }

  private async act(verb: 'retry_feedback' | 'drop_feedback', which: object): Promise<void> {
    try {
      setText(this.done, String(await callVerb(verb, which)));
      this.shown.hidden = true;
    } catch (error) {
      setText(this.done, wordsOf(error));
    }
    this.onChange();
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
