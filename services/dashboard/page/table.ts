import { element, setText } from './dom.js';

/** `state` colours it. */
export type Cell = Readonly<{ text: string; class?: string; title?: string; state?: string }>;

/** Rows are kept and their texts replaced: a selection or a reader's place in the table survives. */
export function fill(body: HTMLElement, rows: readonly (readonly Cell[])[], none: string): void {
  if (rows.length === 0) {
    body.replaceChildren(element('tr', {}, element('td', { class: 'note', text: none })));
    return;
  }
  while (body.children.length > rows.length) body.lastElementChild?.remove();
  rows.forEach((cells, at) => {
    const present = body.children[at];
    const row =
      present?.children.length === cells.length ? present : element('tr', {}, ...cells.map(newCell));
    if (present === undefined) body.append(row);
    else if (row !== present) present.replaceWith(row);
    cells.forEach((cell, column) => write(row.children[column], cell));
  });
}

function newCell(): HTMLElement {
  return element('td');
}

function write(to: Element, cell: Cell): void {
  setText(to, cell.text);
  if (!(to instanceof HTMLElement)) return;
  to.className = cell.class ?? '';
  to.title = cell.title ?? '';
  if (cell.state === undefined) delete to.dataset.state;
  else to.dataset.state = cell.state;
}
