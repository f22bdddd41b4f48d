import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { BOARDS } from './dashboards/index.js';
import { monitoringFiles } from './files.js';
import { alerts, JOB, RUNBOOK } from './rules/index.js';

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly {
    readonly id: number;
    readonly gridPos: { readonly x: number; readonly w: number };
  }[];
}

describe('dashboards and rules', () => {
  const files = monitoringFiles();

  it('are what is committed', () => {
    for (const [path, text] of files) expect(readFileSync(path, 'utf8'), path).toBe(text);
    const made = readdirSync('deploy/grafana/dashboards').map((name) => `deploy/grafana/dashboards/${name}`);
    for (const path of made) expect([...files.keys()]).toContain(path);
  });

  it('have addresses and numbers of their own, and fit Grafana', () => {
    const boards = BOARDS.map(({ name }) => {
      return JSON.parse(files.get(`deploy/grafana/dashboards/${name}.json`) ?? '') as Dashboard;
    });
    expect(new Set(boards.map(({ uid }) => uid)).size).toBe(BOARDS.length);
    for (const { panels } of boards) {
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
      for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    }
  });

  it('have every alert in the runbook, in their order, with what users see, where to look and what to do', () => {
    const sections = readFileSync(RUNBOOK, 'utf8').split(/^## /m).slice(1);
    const names = alerts().map(({ name }) => name);
    expect(sections.map((section) => section.split('\n')[0]).filter((name) => /^W\w+$/.test(name))).toEqual(
      names,
    );
    for (const section of sections.filter((each) => names.includes(each.split('\n')[0]))) {
      for (const part of ['**Users see**', '**Look**', '**Do**']) expect(section).toContain(part);
    }
  });

  it('lead from each alert to its heading', () => {
    const anchors = [...readFileSync(RUNBOOK, 'utf8').matchAll(/^## (\w+)$/gm)].map(([, name]) =>
      name.toLowerCase(),
    );
    const { groups } = parse(files.get('deploy/prometheus/alerts.rules.yml') ?? '') as {
      readonly groups: readonly {
        readonly rules: readonly { readonly annotations: { readonly runbook_url: string } }[];
      }[];
    };
    const links = groups.flatMap(({ rules }) => rules.map(({ annotations }) => annotations.runbook_url));
    expect(links).toEqual(alerts().map(({ name }) => `${RUNBOOK}#${name.toLowerCase()}`));
    for (const link of links) expect(anchors).toContain(link.split('#')[1]);
  });

  it('ask for the servers under the name that the example of a configuration gives them', () => {
    const { scrape_configs: scraped } = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8')) as {
      readonly scrape_configs: readonly { readonly job_name: string }[];
    };
    expect(scraped.map(({ job_name }) => job_name)).toEqual([JOB]);
  });
});
