import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { patient } from '../support/patience.ts';

type Answer = Readonly<Record<string, unknown>>;

/** The browser that is there: `CHROMIUM`, else that of the distribution; undefined without one. */
export function findBrowser(): string | undefined {
  const names = [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'].filter((name) => name !== undefined);
  return names.find((name) => spawnSync(name, ['--version'], { timeout: patient(20_000) }).status === 0);
}

/** Why tests of pages cannot run; undefined where they can. */
export const NO_BROWSER = findBrowser() === undefined ? 'there is no Chromium on PATH (name one in CHROMIUM)' : undefined;

/** Contrast of every kind of text with the page behind it, the least first. */
export const CONTRAST = `(() => {
  const numbers = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (text) => { const [r, g, b] = numbers(text).map((n) => (n / 255 <= 0.03928 ? n / 255 / 12.92 : ((n / 255 + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (one) => { for (let at = one; at; at = at.parentElement) { const colour = getComputedStyle(at).backgroundColor; if (!/, 0\\)$/.test(colour)) return colour; } return 'rgb(255,255,255)'; };
  return [...document.querySelectorAll('body *')].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '') && one.checkVisibility())
    .map((one) => { const [a, b] = [light(getComputedStyle(one).color), light(behind(one))]; return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), one.outerHTML.slice(0, 80)]; })
    .sort(([a], [b]) => a - b)[0];
})()`;

/** One page in a browser without a window, driven over a pipe: no port is opened and no package is needed. */
export class Browser {
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, { readonly done: (answer: Answer) => void; readonly failed: (reason: Error) => void }>();
  #session = '';
  #loaded = () => {};
  #count = 0;
  #rest = '';

  /** What the page said on its console, and scripts that failed. */
  readonly complaints: string[] = [];
  /** Addresses that were asked for. */
  readonly requests: string[] = [];

  constructor(program: string) {
    this.#profile = mkdtempSync(join(tmpdir(), 'browser-'));
    const flags = ['--headless', '--disable-gpu', '--no-first-run', '--remote-debugging-pipe', `--user-data-dir=${this.#profile}`];
    // Chromium refuses its sandbox to root; the page is our own.
    const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    this.#process = spawn(program, [...flags, ...asRoot, 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    const output = this.#process.stdio[4] as Readable;
    output.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#process.on('exit', () => {
      for (const { failed } of this.#waiting.values()) failed(new Error('the browser ended'));
    });
  }

  async open(address: string): Promise<void> {
    const { targetId } = await this.#send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.#send('Target.attachToTarget', { targetId, flatten: true });
    this.#session = String(sessionId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.call(`${domain}.enable`);
    const loaded = new Promise<void>((done) => {
      this.#loaded = done;
    });
    await this.call('Page.navigate', { url: address });
    await loaded;
  }

  async call(method: string, params: Answer = {}): Promise<Answer> {
    return this.#send(method, params, this.#session);
  }

  /** The value of an expression in the page, a promise's too; the page's own policy does not hold for it. */
  async value<T>(expression: string): Promise<T> {
    const answer = await this.call('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (answer.exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(answer.exceptionDetails)}`);
    return (answer.result as { readonly value: T }).value;
  }

  async size(width: number, height: number): Promise<void> {
    await this.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
  }

  /** Writes what a person sees who scrolls through the page, its first 20 windows at most, as a PNG. */
  async picture(file: string, width: number): Promise<void> {
    const height = await this.value<number>('Math.min(document.documentElement.scrollHeight, innerHeight * 20)');
    const clip = { x: 0, y: 0, width, height, scale: 1 };
    const { data } = await this.call('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
    writeFileSync(file, String(data), 'base64');
  }

  async type(text: string): Promise<void> {
    for (const key of text) {
      await this.call('Input.dispatchKeyEvent', { type: 'keyDown', key, text: key });
      await this.call('Input.dispatchKeyEvent', { type: 'keyUp', key });
    }
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.#process.once('exit', done));
    if (this.#process.exitCode === null) {
      this.#send('Browser.close', {}).catch(() => undefined);
      await ended;
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #note(method: string, params: Answer): void {
    if (method === 'Page.loadEventFired') this.#loaded();
    if (method === 'Log.entryAdded' || method === 'Runtime.exceptionThrown' || method === 'Runtime.consoleAPICalled')
      this.complaints.push(JSON.stringify(params));
    if (method === 'Network.requestWillBeSent') this.requests.push((params.request as { readonly url: string }).url);
  }

  #send(method: string, params: Answer, sessionId?: string): Promise<Answer> {
    this.#count += 1;
    const id = this.#count;
    const message = { id, method, params, ...(sessionId ? { sessionId } : {}) };
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed });
      (this.#process.stdio[3] as Writable).write(`${JSON.stringify(message)}\0`);
    });
  }

  #read(text: string): void {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop() ?? '';
    for (const message of messages) {
      const { id, result, error, method, params } = JSON.parse(message);
      if (method) this.#note(method, params ?? {});
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiting?.failed(new Error(`${error.message} (${error.code})`));
      else waiting?.done(result);
    }
  }
}
