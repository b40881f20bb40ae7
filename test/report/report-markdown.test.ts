import assert from 'node:assert/strict';
import fc from 'fast-check';
import { effects } from '../../src/cli/effects.ts';
import { actionTexts } from '../../src/kernel/effect-type.ts';
import { cell, code, MARKDOWN_BYTES, markdownTable, markdownText } from '../../src/report/report-markdown.ts';
import { manualReport, reportOf } from '../support/big-report.ts';

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
    assert.match(text, /^## .+\n\n### Rollout of /m, 'below the title of their section');
    assert.match(text, /Next: `kubectl netsvc-upgrade run`\n$/);
  });

  it('does not call done what is left to a person', () => {
    const text = markdownText(manualReport(), textOf);
    assert.match(text, /^\| cli \| a — manual step: look \| manual step \(t\) \|$/m);
  });

  it('has a section each for edits, differences, ownership, owner references and hosts', () => {
    const text = markdownText(reportOf({ hosts: 100 }), textOf);
    assert.match(text, /^- versions: v3\.27\.5 before, v3\.32\.2 after$/m);
    assert.match(
      text,
      /^## Your changes, carried into the target\n(.*\n){3}\| ConfigMap\/kube-system\/netsvc-config data\.mtu \| to be decided \| 9000 \| /m,
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
    assert.match(
      text,
      /^## Host endpoints, node by node\n\n2 OPEN, 98 same\n(.*\n){3}\| node-0 \| OPEN \| once host endpoint old is deleted/m,
    );
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

const room = { rows: 10, text: 10_000 };
const HOSTILE = [
  '![x](https://evil.example/beacon)',
  '[log in](https://evil.example)',
  'https://evil.example/a|b',
  'www.evil.example',
  '<https://evil.example>',
  '<img src=x>',
  '\\|',
  '\\\\|',
  'a\\https://e.example\\|b',
  '`x` | ``y``',
  '@org/team #1',
  '[ref]: https://evil.example',
  '# heading',
  '- item',
  '**bold** _it_ ~~no~~',
  'x\n| forged | row |',
  '&#91;x&#93;(y)',
  '$\\color{red}$',
];

/** Text outside code, as a reader of Markdown finds it: code spans are read from the left, escapes before them. */
function outsideCode(line: string): string {
  let [rest, outside] = [line, ''];
  while (rest !== '') {
    const fence = /^`+/.exec(rest)?.[0];
    const end = fence && new RegExp(`(?<!\`)${fence}(?!\`)`).exec(rest.slice(fence.length));
    if (rest.startsWith('\\')) [outside, rest] = [outside + rest.slice(0, 2), rest.slice(2)];
    else if (fence && end) rest = rest.slice(fence.length + end.index + fence.length);
    else [outside, rest] = [outside + rest[0], rest.slice(1)];
  }
  return outside;
}

/** Cells of a row as the tables of GFM divide it: at each pipe that no backslash takes the meaning from. */
const cells = (row: string) => row.replace(/\\./g, '..').split('|').length - 2;

/** What would be a link, a picture, a mention, markup or an entity. */
const LIVE = /(?<!\\)(?:\\\\)*[[\]*`~$]|:\/\/|www\.|@|#\d|<|&(?!(amp|lt);)/i;

describe('foreign text in Markdown', () => {
  const text = fc.oneof(
    fc.constantFrom(...HOSTILE),
    fc.array(fc.constantFrom(...HOSTILE, '\\', '|', '`', ' ', 'x'), { maxLength: 6 }).map((all) => all.join('')),
  );

  it('has no link, no picture and no markup', () => {
    fc.assert(
      fc.property(text, (one) => assert.doesNotMatch(outsideCode(cell(`x${one}`, room)), LIVE)),
      { numRuns: 500 },
    );
    for (const one of HOSTILE) assert.doesNotMatch(cell(one, room), /^(#|-|\+|>|\d+[.)]) /, one);
  });

  it('has no sign of the sentence around it in its code', () => {
    const whole = { rows: 1, text: 1000 };
    assert.equal(
      cell('by: demo@sandbox, with (see "https://a.example/x"): #12.', whole),
      'by: `demo@sandbox`, with (see "`https://a.example/x`"): `#12`.',
    );
    assert.equal(cell('www. @', whole), '`www.` `@`');
  });

  it('stays in its cell', () => {
    fc.assert(
      fc.property(text, (one) => {
        const rows = markdownTable(['A', 'B'], [[one, one]], room).split('\n');
        assert.equal(rows.length, 3);
        assert.deepEqual(rows.map(cells), [2, 2, 2]);
      }),
      { numRuns: 500 },
    );
  });

  it('is shown with what nobody sees', () => {
    assert.equal(cell('a\u202eb', room), 'a\\\\u202eb');
    assert.equal(code('\u001b]52;c;x\u0007', room), '`\\u001b]52;c;x\\u0007`');
  });

  for (const one of HOSTILE)
    it(`leaves the shape of a report as it is: ${JSON.stringify(one)}`, () => {
      const shape = (word: string) =>
        markdownText(
          reportOf({ word: () => word }),
          actionTexts(effects, (tool) => tool),
        )
          .split('\n')
          .map((line) => (line.startsWith('|') ? cells(line) : (/^(#+ |\d+\. |- |\*\*)?/.exec(line)?.[0] ?? '')));
      assert.deepEqual(shape(`x${one}`), shape('x'));
    });
});
