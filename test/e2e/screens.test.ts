import assert from 'node:assert/strict';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { STATE_TYPE } from '../../src/adapters/state/ledger.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { RECORD, upgradeTo } from '../fixtures/stored-record.ts';
import { describeWhere, NO_TERMINAL } from '../support/needs.ts';
import { inPipe, inPty, type SeenCluster, seenCluster, steadied } from '../support/pty.ts';
import { ownReleases } from '../support/releases.ts';
import { writeCniVersion } from '../support/sandbox-ports.ts';

const WIDTHS = [60, 80, 120, 200] as const;
/** The width whose texts are held word for word. */
const KEPT_WIDTH = 80;
const KEPT = join(import.meta.dirname, '..', 'fixtures', 'screens.txt');

/** A path of a length that is the same on every machine: where a line is broken hangs on it. */
const releases = `/tmp/nu-${String(process.pid).padStart(8, '0')}`;
const source = ['--manifest-url', releases];
const yes = [{ when: /\[y\/N\]/, type: 'y\r' }];

interface Screen {
  readonly args: readonly string[];
  readonly answers?: typeof yes;
  /** Of the conflict, or of the cluster without one; absent for the cluster of the demo. */
  readonly cluster?: 'edited' | 'clean';
  readonly exit: number;
  /** All unless said. */
  readonly widths?: readonly number[];
  /** The first line of what is held word for word. */
  readonly from?: RegExp;
}

const SCREENS: Readonly<Record<string, Screen>> = {
  preflight: { args: ['preflight', ...source], cluster: 'clean', exit: 0 },
  'plan with a conflict': { args: ['plan', ...source], cluster: 'edited', exit: 8 },
  'the question': { args: ['run', ...source], cluster: 'clean', answers: [{ when: /\[y\/N\]/, type: 'n\r' }], exit: 5, widths: [60, 80] },
  success: { args: ['demo', '--fast'], answers: yes, exit: 0, from: /^✔ preflight/, widths: [80, 120] },
  failure: { args: ['demo', '--fast', '--scenario', 'crash-loop'], answers: yes, exit: 5, from: /^✔ preflight/, widths: [60, 80, 200] },
  rollback: { args: ['demo', '--fast', '--scenario', 'rollback'], answers: yes, exit: 0, from: /^✔ rollback-check/, widths: [60, 80, 120] },
  status: { args: ['status'], cluster: 'clean', exit: 0 },
};

/** A run that was interrupted two hours ago, with a manual step behind it. */
function recorded({ cluster, clusterUid }: Scenario): void {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const record: RunRecord = {
    ...{ ...RECORD, runId: 'r-1', clusterUid, variant: 'netsvc', intent: upgradeTo('v3.32.2', 'v3.26.4'), nodes: 2 },
    ...{ startedAt: at(140), startedBy: 'anna@host-1', toolVersion: '0.1.0' },
    stages: [
      {
        id: 'crds',
        state: 'skipped',
        startedAt: at(140),
        endedAt: at(139),
        because: 'the full manifest holds the CRDs: apply installs them first',
      },
      { id: 'apply', state: 'done', startedAt: at(139), endedAt: at(130) },
      { id: 'cli', state: 'done', startedAt: at(130), endedAt: at(129), manual: 1 },
      { id: 'verify', state: 'interrupted', startedAt: at(129), endedAt: at(125) },
    ],
    wrote: ['apply'],
    ...{ backup: '/backups/1', progress: { stage: 'apply', step: 21, of: 25, noReturn: { step: 23, point: 'tables' } } },
    outcome: 'interrupted',
  };
  const data = { 'record.json': Buffer.from(JSON.stringify(record)).toString('base64') };
  const metadata = { name: 'netsvc-upgrade-run', namespace: 'kube-system' };
  cluster.registry.create(K.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, type: STATE_TYPE, data } as never, { manager: 'test' });
}

/** Without what differs from run to run. */
function same(text: string): string {
  return steadied(text)
    .replaceAll(releases, '/releases')
    .replaceAll(/(plan|backup-)( ?)[0-9a-f]{8}(?:…|T\d{6}Z)/g, '$1$2ID')
    .replaceAll(/netsvc-pty-\w{6}/g, 'netsvc-pty-ID')
    .replaceAll(/(netsvc-node-)[a-z0-9]{5}\b/g, '$1POD')
    .replaceAll(/\b\d+ ?s\b/g, 'Ns')
    .replaceAll(/\b\d+m ago\b/g, 'Nm ago');
}

/** Stored texts by the name of their screen; written anew where asked, to be read in the diff. */
const kept = new Map(
  readFileSync(KEPT, 'utf8')
    .split(/^#### /m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1).trimEnd()]),
);

describeWhere(NO_TERMINAL, 'the screens', function () {
  this.timeout(120_000);
  const clusters: Partial<Record<'edited' | 'clean', SeenCluster>> = {};
  before(async () => {
    symlinkSync(ownReleases, releases);
    clusters.edited = await seenCluster(2, (scenario) => writeCniVersion(scenario, '0.4.0'));
    clusters.clean = await seenCluster(2, recorded);
  });
  after(async () => {
    rmSync(releases, { force: true });
    await Promise.all(Object.values(clusters).map((one) => one.close()));
    if (!process.env.WRITE_SCREENS) return;
    writeFileSync(KEPT, [...kept].map(([name, text]) => `#### ${name}\n${text}\n`).join('\n'));
  });

  const shown = async ({ args, answers = [], cluster }: Screen, columns: number, env = {}) =>
    inPty(args, { columns, rows: 40, answers, env }, cluster && clusters[cluster]);

  for (const [name, screen] of Object.entries(SCREENS))
    it(`${name}: no word is cut and no column is too narrow, however wide the terminal is`, async () => {
      const all = await Promise.all((screen.widths ?? WIDTHS).map(async (columns) => ({ columns, ...(await shown(screen, columns)) })));
      for (const { columns, exit, text, tooLong } of all) {
        assert.equal(exit, screen.exit, text);
        // A command is pasted as one line; a sum is one word, as the path of a field is.
        assert.deepEqual(
          tooLong.filter((line) => !/kubectl |[0-9a-f]{64}|^ *\S+$/.test(line)),
          [],
          `${columns} columns`,
        );
        const indents = text.split('\n').map((line) => line.length - line.trimStart().length);
        assert.ok(Math.max(...indents) <= columns - 8, `${columns} columns: ${Math.max(...indents)}`);
        assert.match(text, /^Next:(?: |\n {2})\S/m);
      }
      const text = same(all.find(({ columns }) => columns === KEPT_WIDTH)?.text ?? '');
      const from = screen.from === undefined ? 0 : text.split('\n').findIndex((line) => screen.from?.test(line));
      const part = text.split('\n').slice(from).join('\n');
      if (process.env.WRITE_SCREENS) kept.set(name, part);
      assert.equal(part, kept.get(name), 'read the difference; WRITE_SCREENS=1 stores it');
    });

  it('says the same without colour, and with TERM=dumb has no live view', async () => {
    const success = SCREENS.success ?? assert.fail();
    const [plain, dumb] = await Promise.all([shown(success, KEPT_WIDTH, { NO_COLOR: '1' }), shown(success, KEPT_WIDTH, { TERM: 'dumb' })]);
    assert.ok(same(plain.text).endsWith(kept.get('success') ?? '-'));
    assert.deepEqual([plain.styles, dumb.styles], [[], []]);
    assert.match(dumb.text, /^\S+ apply: step 2 of \d+: /m);
    assert.deepEqual(dumb.frames, []);
  });

  it('leads from a manual step to the command that shows whether it is done', async () => {
    const { exit, stdout, stderr } = await inPipe(['cli', ...source], clusters.clean);
    assert.equal(exit, 5, stderr);
    assert.match(stdout, new RegExp(`^Next: kubectl netsvc-upgrade verify --manifest-url=${releases}$`, 'm'));
  });

  it('breaks no line in a pipe', async () => {
    const { exit, stdout, stderr } = await inPipe(['demo', '--fast']);
    assert.equal(exit, 0, stderr);
    assert.ok(stdout.split('\n').some((line) => line.length > 120));
    assert.ok(!`${stdout}${stderr}`.includes('\u001b'));
  });
});
