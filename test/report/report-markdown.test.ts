import assert from 'node:assert/strict';
import fc from 'fast-check';
import { effects } from '../../src/cli/effects.ts';
import { actionTexts } from '../../src/kernel/effect-type.ts';
import { MARKDOWN_BYTES, markdownText } from '../../src/report/report-markdown.ts';
import { reportOf } from '../support/big-report.ts';

const textOf = actionTexts(effects, (tool) => tool);

describe('a report as Markdown', () => {
  it('tells how it ended, each stage with its time, and the nodes that took longest', () => {
    const text = markdownText(reportOf({ nodes: 25, stuck: [3] }), textOf);
    assert.match(text, /^\*\*a manual step is needed\*\*\n- do it$/m);
    assert.match(text, /^\| preflight \| done \| \S+ \| 00:04 \| {2}\|$/m);
    assert.match(
      text,
      /^24 of 25 new after 01:15, not done; those that took longest:\n\n.*\n.*\n\| node-00004 \| failed \| {2}\| cannot pull image/m,
    );
    assert.match(text, /Next: `kubectl netsvc-upgrade run`\n$/);
  });

  it('does not call done what is left to a person', () => {
    const report = reportOf();
    const step = {
      stage: 'cli',
      id: 'a',
      title: 'a',
      ref: '§1/4',
      command: 'manual step: look',
      startedAt: 't',
      outcome: 'left-to-person',
    } as const;
    assert.ok(report.history);
    const text = markdownText({ ...report, history: { ...report.history, actions: [step] } }, textOf);
    assert.match(text, /^\| cli \| a — manual step: look \| manual step \(t\) \|$/m);
  });

  it('has a section each for edits, differences, ownership, owner references and hosts', () => {
    const text = markdownText(reportOf({ hosts: 100 }), textOf);
    assert.match(text, /^- versions: v3\.27\.5 before, v3\.32\.2 after$/m);
    assert.match(
      text,
      /^## Edits carried into the target\n(.*\n){3}\| ConfigMap\/kube-system\/netsvc-config data\.mtu \| to be decided \| 9000 \| /m,
    );
    assert.match(
      text,
      /^## Ownership taken over\n(.*\n){3}\| DaemonSet\/kube-system\/netsvc-node \| spec\.replicas \| HorizontalPodAutoscaler nodes \(kube-controller-manager\) \| Change/m,
    );
    assert.match(
      text,
      /^## Differences that no base explains\n(.*\n){3}\| ConfigMap\/kube-system\/netsvc-config data\.level \| debug \| info \| boris/m,
    );
    assert.match(text, /^## Owner references moved\n(.*\n){3}\| ConfigMap\/shop\/owned \| removed \| IPPool\/blue \|$/m);
    assert.match(text, /^## Host endpoints, node by node\n\n2 OPEN, 98 same\n(.*\n){3}\| node-0 \| OPEN \| once the old endpoint/m);
  });

  for (const [what, facts] of [
    ['thousands of findings with long texts', large(3000, 'e'.repeat(900))],
    ['texts of many bytes', large(200, '雪'.repeat(3000))],
    ['one endless text', large(1, 'x'.repeat(500_000))],
    ['a thousand stages', { ...reportOf(), stages: Array.from({ length: 5000 }, (_, i) => ({ id: `s${i}`, state: 'done' })) }],
    ['as many hosts that open', openHosts(20_000)],
    ['endless suggestions', { ...reportOf(), suggestions: Array.from({ length: 2000 }, () => 'do '.repeat(50)) }],
  ] as const)
    it(`stays below 60 kB with ${what}, and says that there is more`, () => {
      const text = markdownText(facts, textOf);
      assert.ok(Buffer.byteLength(text) < MARKDOWN_BYTES, String(Buffer.byteLength(text)));
      assert.match(text, /in the JSON report|…/);
    });

  it('drops what passed before what needs somebody', () => {
    const facts = large(3000, 'e'.repeat(900));
    const [first, ...rest] = facts.findings;
    assert.ok(first);
    const text = markdownText({ ...facts, findings: [...rest, { ...first, id: 'NS-999', outcome: 'error' }] }, textOf);
    assert.match(text, /^\| error \| NS-999 /m);
  });

  it('has one line per row of a table whatever the texts are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (one) => {
        const lines = markdownText(reportOf({ word: () => `x${one.replace(/[\v\f\r\u0085\u2028\u2029]/g, '')}` }), textOf).split('\n');
        const table = lines.filter((line) => /^\| (error|warning|ok) \|/.test(line));
        assert.equal(table.length, 3);
        for (const row of table) assert.equal(row.replaceAll(/\\\\|\\\|/g, '').split('|').length, 6, row);
      }),
    );
  });
});

function openHosts(count: number) {
  const hosts = Array.from({ length: count }, (_, i) => ({ node: `node-${i}`, verdict: 'OPEN', detail: 'd'.repeat(300) }) as const);
  const report = reportOf();
  return { ...report, plans: report.plans.map((plan) => ({ ...plan, hosts })) };
}

function large(findings: number, text: string) {
  const report = reportOf();
  const one = { id: 'NS-001', title: 't', category: 'nodes', ref: '§1', outcome: 'ok', message: text, evidence: [] } as const;
  return { ...report, findings: Array.from({ length: findings }, () => one) };
}
