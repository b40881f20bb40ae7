import assert from 'node:assert/strict';
import { command } from '../../src/kernel/argv.ts';
import type { Finding } from '../../src/kernel/check.ts';
import { plain } from '../../src/report/colour.ts';
import { findingsLines } from '../../src/report/findings.ts';

const base = { title: 't', category: 'kubernetes', ref: '§1/1', evidence: [] } as const;
const node = (name: string) => ({ text: `Node/${name}` });
const findings: readonly Finding[] = [
  { ...base, id: 'NS-001', outcome: 'ok', message: 'server reachable, Kubernetes v1.35.1' },
  {
    ...base,
    id: 'NS-701',
    category: 'follow-up',
    outcome: 'error',
    message: '37 objects in 6 namespaces have a v3 owner',
    hint: 'the upgrade crosses v3.28:\nthey would be collected',
    next: command`kubectl netsvc-upgrade ownerrefs strip`,
    evidence: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(node),
  },
  {
    ...base,
    id: 'NS-006',
    outcome: 'warning',
    message: 'clocks differ by 4 s',
    hint: 'fix the clock',
    evidence: [{ text: 'here', detail: '+4 s' }],
  },
  { ...base, id: 'NS-008', outcome: 'not-applicable', message: 'no aggregated API' },
  { ...base, id: 'NS-009', outcome: 'accepted', was: 'error', message: 'cannot patch nodes' },
  { ...base, id: 'NS-107', outcome: 'expected', message: 'two releases' },
  { ...base, id: 'NS-802', category: 'tools', outcome: 'cured', message: '1 older CLI on PATH', next: command`kubectl netsvc-upgrade cli` },
];

describe('the list of findings', () => {
  it('tells a long detail in brief, and in whole where everything is asked for', () => {
    const finding = {
      ...base,
      id: 'NS-713',
      outcome: 'error',
      message: 'm',
      evidence: [{ text: 'n1', detail: 'a, b, c, d', brief: 'a and 3 more' }],
    } as const;
    const line = (wide: boolean) => findingsLines([finding], { palette: plain, wide })[2];
    assert.deepEqual([line(false), line(true)], ['    - n1: a and 3 more', '    - n1: a, b, c, d']);
  });

  it('folds checks that could not be evaluated under the one that says why', () => {
    const root = { ...base, id: 'NS-601', outcome: 'error', message: 'm', hint: 'h', neededBy: ['NS-501', 'NS-602'] } as const;
    const folded = {
      ...base,
      id: 'NS-501',
      outcome: 'not-applicable',
      aside: 'not-evaluated',
      message: 'not evaluated: needs NS-601',
    } as const;
    const lines = (wide: boolean) => findingsLines([root, folded], { palette: plain, wide });
    assert.deepEqual(lines(false), ['kubernetes', '× NS-601 m', '    2 checks not evaluated: need NS-601', '    h', '0 ok, 1 error']);
    assert.ok(lines(true).includes('    2 checks not evaluated: need NS-601 (NS-501, NS-602)'));
    assert.ok(lines(true).includes('- NS-501 not evaluated: needs NS-601'));
  });

  it('groups by category and ends with the tally', () => {
    assert.deepEqual(findingsLines(findings, { palette: plain, wide: false }), [
      'kubernetes',
      '√ NS-001 server reachable, Kubernetes v1.35.1',
      '‼ NS-006 clocks differ by 4 s',
      '    - here: +4 s',
      '    fix the clock',
      '~ NS-009 accepted with --accept (was: error) cannot patch nodes',
      '  NS-107 expected during this run: two releases',
      'follow-up',
      '× NS-701 37 objects in 6 namespaces have a v3 owner',
      '    - Node/a',
      '    - Node/b',
      '    - Node/c',
      '    - Node/d',
      '    - Node/e',
      '    … and 2 more, with -o wide',
      '    the upgrade crosses v3.28:',
      '    they would be collected',
      '    next: kubectl netsvc-upgrade ownerrefs strip',
      'tools',
      '√ NS-802 settled by this run (was: 1 older CLI on PATH)',
      '2 ok, 1 warning, 1 error, 1 accepted, 1 expected during this run',
    ]);
  });

  it('shows everything when wide', () => {
    const lines = findingsLines(findings, { palette: plain, wide: true });
    assert.ok(lines.includes('    - Node/g'));
    assert.ok(lines.includes('- NS-008 does not apply: no aggregated API'));
  });

  it('folds what passed, by the group, and shows what is open and what is recommended', () => {
    const [passed] = findings;
    assert.ok(passed);
    const nodes = { ...passed, category: 'nodes' as const };
    const open = { ...passed, category: 'tools' as const, id: 'NS-005', outcome: 'warning' as const, message: 'four minors apart' };
    const more = [
      { ...nodes, id: 'NS-401' },
      nodes,
      open,
      { ...open, outcome: 'ok' as const },
      { ...passed, aside: 'advice' as const, message: 'advice: move' },
    ];
    assert.deepEqual(findingsLines(more, { palette: plain, wide: false, folded: true }), [
      ...['√ nodes: 2 checks', 'tools', '‼ NS-005 four minors apart', '√ 1 other check', 'kubernetes', 'i NS-001 advice: move'],
      '3 ok, 1 advice, 1 warning',
    ]);
    assert.equal(findingsLines(more, { palette: plain, wide: true, folded: true }).length, 9);
  });

  it('leaves out what passed when only the open ones are wanted, and still counts it', () => {
    const lines = findingsLines(findings.slice(0, 1), { palette: plain, wide: false, openOnly: true });
    assert.deepEqual(lines, ['1 ok']);
  });

  it('shows what recommends something where that is wanted, though it passed', () => {
    const [passed] = findings;
    assert.ok(passed);
    const both = [passed, { ...passed, id: 'NS-901', aside: 'advice' as const, message: 'advice: move the data' }];
    const lines = findingsLines(both, { palette: plain, wide: false, openOnly: true, advice: true });
    assert.deepEqual(lines.slice(1), ['i NS-901 advice: move the data', '1 ok, 1 advice']);
  });
});
