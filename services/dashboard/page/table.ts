import { element, setText } from './dom.js';

/** `state` colours it, `share` fills it so far. */
export type Cell = Readonly<{ text: string; class?: string; title?: string; state?: string; share?: number }>;

/**
 * Rows are kept and their texts replaced: a selection or a reader's place in the table survives. Each cell knows its column's
 * head: narrow pages show rows as cards.
 */
export function fill(body: HTMLElement, rows: readonly (readonly Cell[])[], none: string): void {
  if (rows.length === 0) {
    body.replaceChildren(element('tr', {}, element('td', { class: 'note', text: none })));
    return;
  }
  const heads = Array.from(
    body.closest('table')?.querySelectorAll('th') ?? [],
    (head) => head.textContent ?? '',
  );
  while (body.children.length > rows.length) body.lastElementChild?.remove();
  rows.forEach((cells, at) => {
    const present = body.children[at];
    const row =
      present?.children.length === cells.length
        ? present
        : newRow(cells.map((_, column) => heads[column] ?? ''));
    if (present === undefined) body.append(row);
    else if (row !== present) present.replaceWith(row);
    cells.forEach((cell, column) => write(row.children[column], cell));
  });
}

/** With roles: a row that is shown as a card stays one of a table. */
export function newRow(heads: readonly string[], cells = heads.map(() => element('td'))): HTMLElement {
  cells.forEach((cell, at) => {
    cell.role = 'cell';
    cell.dataset.label = heads[at];
  });
  const row = element('tr', {}, ...cells);
  row.role = 'row';
  return row;
}

function write(to: Element, cell: Cell): void {
  setText(to, cell.text);
  if (!(to instanceof HTMLElement)) return;
  to.className = cell.class ?? '';
  to.title = cell.title ?? '';
  if (cell.share !== undefined) to.style.setProperty('--share', cell.share.toFixed(3));
  if (cell.state === undefined) delete to.dataset.state;
  else to.dataset.state = cell.state;
}
