import assert from 'node:assert/strict';
import fc from 'fast-check';
import { effects } from '../../src/cli/effects.ts';
import { actionTexts } from '../../src/kernel/effect-type.ts';
import { dataBlock, html } from '../../src/report/html.ts';
import { rolloutData, rolloutsSection } from '../../src/report/html-heat-map.ts';
import { htmlText } from '../../src/report/report-html.ts';
import { manualReport, reportOf, rolloutOf } from '../support/big-report.ts';

const textOf = actionTexts(effects, (tool) => tool);

/** Every tag of a page with the values of its attributes taken out. */
function skeleton(page: string): string {
  return [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/"[^"]*"/g, '""')).join('\n');
}

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</style><b>',
  '</title></script><!--',
  '`alert(1)`',
  '&lt;b&gt;&#60;',
  'javascript:alert(1)',
  '\u202eevil\u0000\u001b[31m',
  '\ud800 half',
  ']]>',
] as const;

describe('html', () => {
  it('escapes what is put into text and attributes, and nothing twice', () => {
    const inner = html`<b title="${'"<&'}">${'a<b'}</b>`;
    assert.equal(html`<p>${inner}${[1, ' ', undefined]}</p>`.text, '<p><b title="&quot;&lt;&amp;">a&lt;b</b>1 </p>');
  });

  it('keeps data whole and without a way out of its element', () => {
    const data = ['</script><script>alert(1)</script>', '<!--', '&'];
    const { text } = dataBlock('d', data);
    assert.deepEqual(JSON.parse(text.replace(/^<script[^>]*>|<\/script>$/g, '')), data);
    assert.equal(skeleton(text), '<script type="" id="">\n</script>');
    assert.match(dataBlock('d', ['\u2028\u202e']).text, /\["\\\\u2028\\\\u202e"\]/, 'the page shows what nobody would see');
  });

  const benign = skeleton(htmlText(reportOf({ nodes: 51, word: () => 'x' }), textOf));

  for (const text of HOSTILE)
    it(`a page keeps its shape when every text is ${JSON.stringify(text)}`, () => {
      assert.equal(skeleton(htmlText(reportOf({ nodes: 51, word: () => `x${text}` }), textOf)), benign);
    });

  it('a page keeps its shape whatever the texts are', () => {
    const piece = fc.constantFrom(...HOSTILE, '<', '>', '"', "'", '=', '/', '&', '`', '\n', 'x');
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.array(piece, { maxLength: 4 }).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(text, (one) => assert.equal(skeleton(htmlText(reportOf({ nodes: 51, word: () => `x${one}` }), textOf)), benign)),
      { numRuns: 40 },
    );
  });
});

describe('a report as a page', () => {
  const page = htmlText(reportOf({ nodes: 120, stuck: [7] }), textOf);

  it('needs nothing from anywhere: no address in any attribute, and a policy that forbids it', () => {
    const addresses = [...page.matchAll(/ (?:src|href|action|data|poster|srcset)="([^"]*)"/g)].map(([, address]) => address);
    assert.ok(
      addresses.every((address) => address?.startsWith('#')),
      addresses.join(),
    );
    assert.doesNotMatch(page, /@import|url\(/);
    assert.match(page, /Content-Security-Policy" content="default-src &#39;none&#39;;/);
  });

  it('leads to parts that are there, and uses no id twice', () => {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    assert.deepEqual([...new Set(ids)], ids);
    for (const [, target] of page.matchAll(/ href="#([^"]*)"/g)) assert.ok(ids.includes(target), target);
  });

  it('has one block for the search, whatever the number of sections with rollouts', () => {
    const two = [1, 2].map((at) => ({ kind: 'rollouts', id: `r-${at}`, name: '', title: '', rollouts: [rolloutOf(at)] }) as const);
    const data = / id="rollout-data">(.*)<\/script>/;
    assert.doesNotMatch(two.map((one) => rolloutsSection(one).text).join(''), data);
    const [, found = ''] = data.exec(rolloutData(two).text) ?? [];
    assert.equal((JSON.parse(found) as readonly unknown[]).length, 2);
  });

  it('tells how it ended, why and what is next, and every part by a heading', () => {
    assert.match(page, /stopped, exit code 5/);
    assert.match(page, /a manual step is needed/);
    const headings = [...page.matchAll(/<h2>([^<]*)/g)].map(([, text]) => text);
    assert.deepEqual(headings, [
      'What happened when',
      'Rolling update, node by node',
      'What was found',
      'What was planned for each object',
      'Your changes, carried into the target',
      'Differences that no base explains',
      'Ownership taken over',
      'Owner references moved',
      'Host endpoints, node by node',
      'Commands as they were run',
      'Next',
    ]);
  });

  it('has manual steps first, and no internal references', () => {
    const report = reportOf();
    const effect = { type: 'ask', instruction: 'replace the CLI elsewhere' } as const;
    const by = {
      id: 'cli',
      title: 't',
      ref: '§1/4',
      objects: [],
      notes: [],
      actions: [{ id: 'a', title: 't', ref: '§1/4', undo: 'full', effect } as const],
    };
    const text = htmlText({ ...report, plans: [...report.plans, by] }, textOf);
    assert.ok(text.indexOf('<li>replace the CLI elsewhere</li>') < text.indexOf('What happened when'));
    assert.doesNotMatch(text.replace(/<(?:code|pre)>[^<]*/g, ''), /§\d/);
  });

  it('does not call done what is left to a person', () => {
    const text = htmlText(manualReport(), textOf);
    assert.match(text, /<td class="s-left">manual step</);
    assert.doesNotMatch(text.slice(text.indexOf('id="steps"')), /s-done/);
  });

  it('names the node that failed and why, before those that only took long', () => {
    const listed = [...page.matchAll(/<tr><th scope="row">(node-\d+)<\/th><td class="c-(\w+)">/g)].map(([, node, phase]) => [node, phase]);
    assert.deepEqual(listed[0], ['node-00008', 'failed']);
    assert.equal(listed.length, 50);
  });

  it('never paints a failed node over, however many others of its group are new', () => {
    const svg = /<svg class="heat"[\s\S]*?<\/svg>/.exec(htmlText(reportOf({ nodes: 5000, stuck: [4320] }), textOf))?.[0] ?? '';
    const last = svg.slice(svg.lastIndexOf('<g><title>'));
    assert.match(last, /: failed \(cannot pull image[\s\S]*class="f-failed"/);
    assert.doesNotMatch(last, /f-new/);
  });

  it('fills no square to the top while one of its nodes is not new', () => {
    const svg = /<svg class="heat"[\s\S]*?<\/svg>/.exec(htmlText(reportOf({ nodes: 5000 }), textOf))?.[0] ?? '';
    const filled = [...svg.matchAll(/class="f-(?:old|updating)"[^>]*\/><rect class="f-new"[^>]*height="([\d.]+)"/g)];
    assert.ok(filled.length > 50);
    for (const [, height] of filled) assert.ok(Number(height) < 10, height);
  });

  it('shows what a plan would do where nothing was run', () => {
    const { history: _, ...report } = reportOf();
    assert.match(htmlText(report, textOf), /<h2>Commands of the plan<\/h2>/);
  });

  it('stays readable and small at 5,000 nodes and as many pieces of evidence', () => {
    const large = htmlText(reportOf({ nodes: 5000, evidence: 5000 }), textOf);
    assert.ok(large.length < 1_500_000, String(large.length));
    assert.ok([...large.matchAll(/<rect/g)].length < 4000);
    assert.ok([...large.matchAll(/<li>/g)].length < 1000);
    assert.ok(large.includes('node-04321'), 'every node is there for the search');
  });
});
