import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ROOMS = ['containers', 'deploy', 'docs', 'loadtest', 'selection', 'services', 'simulator'];

function filesUnder(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
    join(folder, name),
  );
}

const files = ROOMS.flatMap(filesUnder);
const pages = ['README.md', 'CONTRIBUTING.md', ...files.filter((file) => file.endsWith('.md'))];

/** Tables that an experiment has printed, which whoever runs one finds beside its page. */
const isTable = (page: string): boolean =>
  page.startsWith('docs/experiments/') && !page.endsWith('/README.md');

/** A page without its blocks of code. */
function proseOf(page: string): string {
  return readFileSync(join(root, page), 'utf8')
    .replace(/^(```+)[^\n]*\n[^]*?^\1$/gm, '')
    .replace(/^ {4}.*$/gm, '');
}

/** The anchors that GitHub gives a page's headings; of equal ones the second has `-1` behind it. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading] of proseOf(page).matchAll(/^#{1,6} +(.+?)\s*$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let anchor = slug;
    for (let again = 1; anchors.has(anchor); again++) anchor = `${slug}-${again}`;
    anchors.add(anchor);
  }
  return anchors;
}

interface Link {
  readonly page: string;
  readonly target: string;
  /** From the repository's root. */
  readonly path: string;
  readonly anchor: string | undefined;
}

function linksOf(page: string): readonly Link[] {
  const prose = proseOf(page).replace(/(`+)[^`]+\1/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path, anchor] = target.split('#') as [string, string?];
      const absolute = path === '' ? join(root, page) : resolve(root, dirname(page), path);
      return { page, target, path: relative(root, absolute), anchor };
    });
}

describe('the pages of documentation', () => {
  const links = pages.flatMap(linksOf);

  it('link to files and headings that are there', () => {
    const anchors = new Map(pages.map((page) => [page, anchorsOf(page)]));
    const leadsNowhere = ({ path, anchor }: Link): boolean =>
      !existsSync(join(root, path)) || (anchor !== undefined && anchors.get(path)?.has(anchor) !== true);
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter(leadsNowhere).map(({ page, target }) => `${page}: ${target}`)).toEqual([]);
  });

  it('can all be reached from README.md', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const link of links) if (link.page === page && link.path.endsWith('.md')) reached.add(link.path);
    }
    const unreached = pages.filter(
      (page) => page.startsWith('docs/') && !isTable(page) && !reached.has(page),
    );
    expect(unreached).toEqual([]);
  });

  it('are there where code and its messages name them', () => {
    const sources = files.filter((file) => file.endsWith('.ts'));
    const missing = sources.flatMap((source) =>
      [...readFileSync(join(root, source), 'utf8').matchAll(/\bdocs\/[\w/]+\.md\b/g)]
        .filter(([page]) => !existsSync(join(root, page)))
        .map(([page]) => `${source}: ${page}`),
    );
    expect(missing).toEqual([]);
  });
});
