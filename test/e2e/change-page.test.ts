import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { testFolder } from '../support/folders.ts';
import { describeWhere } from '../support/needs.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { Browser, CONTRAST, findBrowser, NO_BROWSER } from './browser.ts';

const PARTS = ['Risk', 'Impact', 'Order', 'Duration', 'Backout', 'Questions'];
/** Pictures of the page, for a person to look at; not committed. */
const PICTURES = join(import.meta.dirname, '..', '..', 'coverage', 'report-page');
/** Headings that are seen, from top to bottom, with where they begin and end. */
const HEADINGS = `[...document.querySelectorAll('h2')].filter((one) => one.checkVisibility()).map((one) => {
  const { left, right } = one.getBoundingClientRect();
  return { text: one.textContent, left, right };
})`;
/** The smallest letters that are seen, in pixels. */
const SMALLEST = `Math.min(...[...document.querySelectorAll('main *, header *')].filter((one) => one.checkVisibility() && one.textContent.trim() !== '')
  .map((one) => parseFloat(getComputedStyle(one).fontSize)))`;

describeWhere(NO_BROWSER, 'the page of plan --report-file, which a change board reads, in a browser', function () {
  this.timeout(120_000);
  let browser: Browser;
  const file = join(testFolder('change-'), 'change.html');

  before(async () => {
    mkdirSync(PICTURES, { recursive: true });
    assert.equal(await sandboxCommand(await installedSandbox()).run('plan', '--report-file', file), 0);
    browser = new Browser(findBrowser() ?? '');
    await browser.open(pathToFileURL(file).href);
  });

  after(async () => {
    await browser?.close();
  });

  for (const [width, media] of [
    [360, ''],
    [900, ''],
    [1440, ''],
    [718, 'print'],
  ] as const)
    it(`has risk, impact, order, duration, backout and questions first, at ${width} pixels${media === '' ? '' : ' on A4 paper'}, and all of it can be read`, async () => {
      await browser.size(width, 900);
      await browser.call('Emulation.setEmulatedMedia', { media });
      const headings = await browser.value<{ text: string; left: number; right: number }[]>(HEADINGS);
      assert.deepEqual(
        headings.slice(0, PARTS.length).map(({ text }) => text),
        PARTS,
      );
      for (const { text, left, right } of headings) assert.ok(left >= 0 && right <= width, `${text}: ${left} to ${right}`);
      const wide = await browser.value<number>('document.documentElement.scrollWidth');
      assert.ok(wide <= width, `${wide} > ${width}`);
      const [least, text] = await browser.value<[number, string]>(CONTRAST);
      assert.ok(least >= 4.5, `${least} ${text}`);
      assert.ok((await browser.value<number>(SMALLEST)) >= (media === 'print' ? 9 : 11));
      await browser.picture(join(PICTURES, `change-${width}.png`), width);
      await browser.call('Emulation.setEmulatedMedia', { media: '' });
    });

  it('is printed without its links and its search, the answers on the first page', async () => {
    await browser.size(718, 1000);
    await browser.call('Emulation.setEmulatedMedia', { media: 'print' });
    assert.deepEqual(await browser.value('[...document.querySelectorAll("nav, .search, .skip")].map((one) => one.checkVisibility())'), [
      false,
      false,
      false,
    ]);
    // A4 with margins of 1 cm, in pixels of 1/96 inch.
    const end = await browser.value<number>('document.getElementById("questions").getBoundingClientRect().bottom + scrollY');
    assert.ok(end <= 1047, `the last answer ends at ${end}`);
    await browser.call('Emulation.setEmulatedMedia', { media: '' });
  });

  it('has asked for nothing but itself and complained about nothing', () => {
    assert.equal(browser.requests.length, 1);
    assert.deepEqual(browser.complaints, []);
  });
});
