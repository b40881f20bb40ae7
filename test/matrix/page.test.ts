import assert from 'node:assert/strict';
import { compatibilityPage, type Result, WANTED } from './page.ts';

const one: Result = { server: 'v1.36.1', kubectl: 'v1.27.16', node: 'v24.21.0', notes: ['NS-005 warning'] };

/** The columns of the wanted servers that were not there. */
const NOT = 'not run | not run | not run |';

describe('the page of compatibility', () => {
  const page = compatibilityPage({
    date: '2026-11-21',
    charts: [
      { server: 'v1.36.1', helm: 'v3.19.5' },
      { server: 'v1.36.1', helm: 'v3.20.0', problem: 'run exits 7: a|b' },
    ],
    results: [one, { ...one, kubectl: 'v1.33.1', notes: [] }, { ...one, kubectl: 'v1.9.1', problem: 'run exits 1: a|b' }],
  });

  it('has a row per kubectl in the order of versions, with what went wrong', () => {
    assert.deepEqual(
      page.split('\n').filter((line) => line.startsWith('| v1.')),
      [
        `| v1.9.1 | v24.21.0 | ${NOT} **fails**: run exits 1: a\\|b; NS-005 warning |`,
        `| v1.27.16 | v24.21.0 | ${NOT} upgrades; NS-005 warning |`,
        `| v1.33.1 | v24.21.0 | ${NOT} upgrades |`,
      ],
    );
  });

  it('has a row per helm', () => {
    assert.deepEqual(
      page.split('\n').filter((line) => line.startsWith('| v3')),
      [`| v3.19.5 | ${NOT} upgrades |`, `| v3.20.0 | ${NOT} **fails**: run exits 7: a\\|b |`],
    );
  });

  it('has a row or a column that says “not run” for every wanted version that was not there', () => {
    const lines = page.split('\n');
    const never = `${NOT} not run |`;
    assert.deepEqual(
      lines.filter((line) => line.endsWith(`| ${never}`)),
      [
        ...['1.28', '1.29', '1.30', '1.31', '1.32', '1.34', '1.35', '1.36'].map((kubectl) => `| ${kubectl} | – | ${never}`),
        `| – | 22 | ${never}`,
        `| 4 | ${never}`,
      ],
    );
    const columns = 'Kubernetes 1.31 | Kubernetes 1.33 | Kubernetes 1.34 | Kubernetes v1.36.1 |';
    assert.deepEqual(
      lines.filter((line) => line.includes('| Kubernetes')),
      [`| kubectl | Node | ${columns}`, `| helm | ${columns}`],
    );
    assert.match(page, /\*\*Not the whole of what is wanted\*\*/);
  });

  it('is whole only where everything wanted was tried', () => {
    const [node = ''] = WANTED.nodes;
    const results = WANTED.servers.flatMap((server) => [
      ...WANTED.kubectls.map((kubectl) => ({ ...one, server, kubectl, node })),
      ...WANTED.nodes.slice(1).map((other) => ({ ...one, server, kubectl: WANTED.kubectls[0], node: other })),
    ]);
    const charts = WANTED.servers.flatMap((server) => WANTED.helms.map((helm) => ({ server, helm })));
    assert.doesNotMatch(compatibilityPage({ date: '2026-11-21', results, charts }), /not run|Not /i);
  });

  it('names every wanted version that was not there, and none that was', () => {
    const missing = page.split('\n').filter((line) => line.startsWith('- '));
    assert.deepEqual(
      missing.map((line) => /^- (?:\w+ [\d.]+|helm)/.exec(line)?.[0]),
      [
        ...['1.31', '1.33', '1.34'].map((version) => `- Kubernetes ${version}`),
        ...['1.28', '1.29', '1.30', '1.31', '1.32', '1.34', '1.35', '1.36'].map((version) => `- kubectl ${version}`),
        '- Node 22',
        '- helm 4',
      ],
    );
  });
});
