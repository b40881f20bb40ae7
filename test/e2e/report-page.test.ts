import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { effects } from '../../src/cli/effects.ts';
import { actionTexts } from '../../src/kernel/effect-type.ts';
import type { ReportStage } from '../../src/report/model.ts';
import { htmlText } from '../../src/report/report-html.ts';
import { reportOf } from '../support/big-report.ts';
import { testFolder } from '../support/folders.ts';
import { describeWhere } from '../support/needs.ts';
import { Browser, CONTRAST, findBrowser, NO_BROWSER } from './browser.ts';

const LONG = 'registry.example.org/a-very-long-name-without-any-place-to-break-it/'.repeat(4);

/** As long as reasons are. */
const REASON = 'not complete after 600 s: DaemonSet kube-system/netsvc-node: 3 of 4 pods have been updated (node-02: not ready, 44 s)';
const withReason = (stage: ReportStage): ReportStage => (stage.because === undefined ? stage : { ...stage, because: REASON });

/** Pictures of the page, for a person to look at; not committed. */
const PICTURES = join(import.meta.dirname, '..', '..', 'coverage', 'report-page');
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const WINDOWS = [
  { name: 'desktop', width: 1280, height: 900 },
  { name: 'phone', width: 375, height: 812 },
] as const;

/** Rules of axe-core that do not hold, each with the first elements that break it. */
const VIOLATIONS = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, help, nodes }) => id + ': ' + help + ' ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 120)).join(' ')))`;

interface Row {
  readonly id: string;
  readonly height: number;
  /** Width of the cell; 0 where it is empty. */
  readonly why: number;
}

/** The rows of the timeline as they are laid out. */
const STAGE_ROWS = `[...document.querySelectorAll('.timeline tbody tr')].map((row) => {
  const why = row.lastElementChild;
  return { id: row.firstElementChild.textContent, height: row.getBoundingClientRect().height, why: why.textContent === '' ? 0 : why.getBoundingClientRect().width };
})`;

describeWhere(NO_BROWSER, 'the page of a report in a browser', function () {
  this.timeout(120_000);
  let browser: Browser;
  const folder = testFolder('page-');

  before(async () => {
    mkdirSync(PICTURES, { recursive: true });
    const report = reportOf({ nodes: 5000, stuck: [4320], evidence: 30, hosts: 5000 });
    const page = htmlText(
      { ...report, stages: report.stages.map(withReason), facts: [...report.facts, ['image', LONG]], message: LONG },
      actionTexts(effects, (tool) => tool),
    );
    writeFileSync(join(folder, 'report.html'), page);
    browser = new Browser(findBrowser() ?? '');
    await browser.open(pathToFileURL(join(folder, 'report.html')).href);
  });

  after(async () => {
    await browser?.close();
  });

  for (const width of [1440, 1280, 900, 768, 375, 360, 320])
    it(`is not wider than a window of ${width} pixels`, async () => {
      await browser.size(width, 800);
      const widths = await browser.value<number[]>('[document.documentElement.scrollWidth, innerWidth]');
      assert.ok((widths[0] ?? 0) <= (widths[1] ?? 0), widths.join(' > '));
      assert.equal(widths[1], width);
    });

  for (const scheme of ['light', 'dark'])
    it(`can be read in ${scheme}: every text stands out from what is behind it`, async () => {
      await browser.size(1280, 900);
      await browser.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
      const dark = await browser.value<boolean>('/^rgb\\((\\d|[1-9]\\d),/.test(getComputedStyle(document.body).backgroundColor)');
      assert.equal(dark, scheme === 'dark');
      const [least, text] = await browser.value<[number, string]>(CONTRAST);
      assert.ok(least >= 4.5, `${least} ${text}`);
    });

  for (const [what, width, media] of [
    ['a desktop', 1280, ''],
    ['a tablet', 800, ''],
    ['a phone', 360, ''],
    ['A4 paper', 718, 'print'],
  ] as const)
    it(`tells on ${what} when and why each stage ended, in rows that a person can read`, async () => {
      await browser.size(width, 800);
      await browser.call('Emulation.setEmulatedMedia', { media });
      const rows = await browser.value<readonly Row[]>(STAGE_ROWS);
      await browser.call('Emulation.setEmulatedMedia', { media: '' });
      assert.ok(
        rows.some(({ why }) => why > 0),
        'some stage has a reason',
      );
      for (const { id, height, why } of rows) {
        assert.ok(why === 0 || why >= 200, `${id}: the reason is ${why} pixels wide`);
        assert.ok(height <= 200, `${id}: the row is ${height} pixels high`);
      }
    });

  for (const { name, width, height } of WINDOWS)
    for (const scheme of ['light', 'dark'])
      it(`breaks no rule of axe-core in ${scheme} on a ${name}, all folds open (picture: coverage/report-page/${name}-${scheme}.png)`, async () => {
        await browser.size(width, height);
        await browser.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
        await browser.picture(join(PICTURES, `${name}-${scheme}.png`), width);
        await browser.value('for (const fold of document.querySelectorAll("details")) fold.open = true');
        await browser.value(`${AXE};0`);
        assert.deepEqual(await browser.value<string[]>(VIOLATIONS), []);
        await browser.value('for (const fold of document.querySelectorAll("details")) fold.open = false');
      });

  it('finds one node of 5,000 by the keyboard alone, and Escape shows everything again', async () => {
    await browser.value('document.activeElement.blur()');
    await browser.type('/');
    assert.equal(await browser.value('document.activeElement.id'), 'search');
    await browser.type('node-04321');
    const shown = 'document.querySelector("#search-found:not([hidden])")';
    // On a busy machine the page may search for the beginning of the word first.
    await browser.value(
      `new Promise((done) => { const look = () => ${shown}?.querySelectorAll('tbody tr').length === 1 ? done(1) : requestAnimationFrame(look); look(); })`,
    );
    assert.match(await browser.value(`${shown}.querySelector("tbody").innerText`), /^node-04321\tfailed\t.*ImagePullBackOff/);
    assert.equal(await browser.value('document.querySelectorAll("#search-found tbody tr").length'), 1);
    await browser.call('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Escape' });
    assert.deepEqual(
      await browser.value('[document.querySelector("#search-found").hidden, document.querySelectorAll("tbody tr[hidden]").length]'),
      [true, 0],
    );
  });

  it('names everything that a screen reader stops at, and skips no level of headings', async () => {
    const { nodes } = (await browser.call('Accessibility.getFullAXTree')) as { readonly nodes: readonly AxNode[] };
    const there = nodes.filter((node) => !node.ignored);
    const roles = new Set(there.map((node) => node.role?.value));
    for (const role of ['main', 'navigation', 'heading', 'searchbox', 'table', 'image', 'region']) assert.ok(roles.has(role), role);
    const stops = ['link', 'searchbox', 'button', 'image', 'region', 'DisclosureTriangle', 'columnheader'];
    const unnamed = there.filter((node) => stops.includes(node.role?.value ?? '') && (node.name?.value ?? '') === '');
    assert.deepEqual(
      unnamed.map((node) => node.role?.value),
      [],
    );
    const levels = await browser.value<number[]>('[...document.querySelectorAll("h1,h2,h3,h4")].map((one) => Number(one.tagName[1]))');
    assert.equal(levels.filter((level) => level === 1).length, 1);
    for (const [index, level] of levels.entries()) assert.ok(level <= (levels[index - 1] ?? 0) + 1, levels.join());
  });

  it('opens every fold on paper', async () => {
    await browser.call('Page.printToPDF', { landscape: true });
    assert.equal(await browser.value('document.querySelectorAll("details:not([open])").length'), 0);
  });

  it('has asked for nothing but itself and complained about nothing', () => {
    assert.deepEqual(
      browser.requests.map((address) => address.replace(/.*\//, '')),
      ['report.html'],
    );
    assert.deepEqual(browser.complaints, []);
  });
});

interface AxNode {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
}
