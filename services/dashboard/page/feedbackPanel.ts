import type { QueueView } from '../feedFrame.js';
import { byId, element } from './dom.js';
import { formatMs, formatNumber } from './format.js';

/** Feedback on its way through Redis, where it goes that way. */
export class FeedbackPanel {
  private readonly panel = byId('feedback', HTMLElement);
  private readonly list = byId('queue', HTMLElement);
  private drawn = '';

  show(queue: QueueView | null): void {
    this.panel.hidden = queue === null;
    if (queue === null) return;
    const words = wordsOf(queue);
    const present = words.flat().join();
    if (present === this.drawn) return;
    this.drawn = present;
    this.list.replaceChildren(
      ...words.map(([figure, text]) => {
        const item = element('li', {}, element('b', { text: figure }), document.createTextNode(` ${text}`));
        if (text === 'failed' && queue.failed > 0) item.className = 'bad';
        return item;
      }),
    );
  }
}

function wordsOf(of: QueueView): readonly (readonly [figure: string, text: string])[] {
  const figures: (readonly [string, string])[] = [
    [formatNumber(of.waiting), 'waiting'],
    [formatNumber(of.active), 'being learned'],
    [formatNumber(of.delayed), 'tried again later'],
    [formatNumber(of.failed), 'failed'],
  ];
  if (of.lagSeconds > 0) figures.push([formatMs(of.lagSeconds * 1000), 'for which the oldest waits']);
  if (of.spooled > 0) figures.push([formatNumber(of.spooled), 'kept here until Redis is back']);
  return figures;
}
