import { escapeMarkup } from '../../simulator/text/index.js';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';

/** One HTML document: its style, pictures and script are in it, and nothing is fetched. */
export function document(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}</title><style>${STYLE}</style></head>
<body><main>
<h1>${escapeMarkup(title)}</h1>
${body}
</main><script>${SCRIPT}</script></body></html>
`;
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th scope="col">${escapeMarkup(text)}</th>`).join('');
  const body = rows
    .map((cells) => `<tr>${cells.map((text) => `<td>${escapeMarkup(text)}</td>`).join('')}</tr>`)
    .join('\n');
  return `<div class="card scroll"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}
