import { createHash } from 'node:crypto';
import type { ProfileReport } from '../profileReport.js';
import { escapeMarkup } from '../../text/index.js';
import { kernelSection } from './kernelSection.js';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';

/**
 * The report as one HTML page that needs nothing else: its policy allows its own style and script by their digests and
 * no other resource, so that text of a profiled file can neither run nor fetch anything.
 */
export function profilePage({ kernels, listings }: ProfileReport): string {
  const names = [...new Set(kernels.map(({ kernel }) => kernel))];
  const title = escapeMarkup(`Profile of ${names.join(', ') || 'nothing'}`);
  const links = kernels.map(
    ({ kernel }, index) => `<li><a href="#k${index}">${escapeMarkup(kernel)}</a></li>`,
  );
  const sections = kernels.map((kernel, index) =>
    kernelSection(kernel, listings[index] ?? { ptx: [], sources: [] }, `k${index}`),
  );
  const policy = `default-src 'none'; style-src '${digest(STYLE)}'; script-src '${digest(SCRIPT)}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#k0">To the profile</a>
<header><h1>${title}</h1><button type="button" id="theme">Dark or light</button></header>
<main>
${kernels.length > 1 ? `<nav aria-label="Kernels"><ul>${links.join('')}</ul></nav>` : ''}
${sections.join('\n')}
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
