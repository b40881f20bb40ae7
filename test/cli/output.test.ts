import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { OutputDocument, OwnerReferenceList } from '../../src/cli/documents.ts';
import { documentHead } from '../../src/cli/documents.ts';
import { effects } from '../../src/cli/effects.ts';
import { preflightReport, runReport, shownOutcome } from '../../src/cli/ending/run.ts';
import { outputText } from '../../src/cli/output.ts';
import { planDocument } from '../../src/cli/plan/document.ts';
import { statusDocument } from '../../src/cli/status-command.ts';
import type { Finding } from '../../src/kernel/check.ts';
import { actionTexts } from '../../src/kernel/effect-type.ts';
import type { PlannedStage } from '../../src/kernel/plan.ts';
import { RECORD } from '../fixtures/stored-record.ts';
import { engineContext } from '../support/engine-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const findings: readonly Finding[] = [
  { id: 'NS-001', title: 'reachable', category: 'kubernetes', ref: '§1/1', outcome: 'ok', message: 'v1.35', evidence: [] },
  {
    id: 'NS-110',
    title: 'not managed',
    category: 'installation',
    ref: '§7/4',
    outcome: 'accepted',
    message: 'managed | by Flux <&>',
    hint: 'suspend it',
    evidence: [{ text: 'DaemonSet/kube-system/netsvc-node', object: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'netsvc-node' } }],
    was: 'warning',
  },
];

const stages: readonly PlannedStage[] = [
  { id: 'crds', title: 'CRDs', ref: '§4.3/2', skip: 'in the manifest', actions: [], objects: [], notes: [] },
  {
    id: 'apply',
    title: 'Apply',
    ref: '§4.4/2',
    notes: ['one conflict'],
    actions: [
      {
        id: 'wave-1',
        title: 'first wave',
        ref: '§4.4/2',
        undo: 'partial',
        keep: { changes: [{ ref: { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' }, before: { '/data/password': 'geheim' }, after: {} }] },
        effect: { type: 'exec', run: { tool: 'kubectl', args: ['apply', '-f', '-'], stdin: 'password: geheim' } },
      },
      {
        id: 'many',
        title: 'copy labels',
        ref: '§4.7/1',
        undo: 'full',
        effect: {
          type: 'patch-all',
          patches: [{ target: { apiVersion: 'v1', kind: 'Node', name: 'n' }, patch: [], uid: 'u' }],
          what: 'labels',
        },
      },
      {
        id: 'old',
        title: 'delete',
        ref: '§4.7/3',
        undo: 'full',
        effect: { type: 'delete', target: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' } },
      },
      { id: 'file', title: 'write', ref: '§4.1', undo: 'full', effect: { type: 'write', file: 'upgrade.yaml', content: 'geheim' } },
    ],
    objects: [
      {
        ref: { apiVersion: 'v1', kind: 'Secret', namespace: 'kube-system', name: 's' },
        change: 'update',
        fields: [{ path: 'data.key', before: 'geheim', after: 'geheim' }],
        hidden: [],
        taken: [],
      },
      {
        ref: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'n' },
        change: 'update',
        fields: [],
        hidden: [],
        taken: [],
      },
    ],
  },
];

const context = engineContext();
const head = {
  release: NETSVC_TARGET,
  source: 'v3.26.4',
  path: 'manifest',
  datastore: 'api',
  variant: 'full',
  clusterUid: 'u',
  digest: 'a'.repeat(64),
};
const outcome = {
  exit: 'done',
  findings,
  plans: stages,
  stages: [{ id: 'apply', state: 'done', startedAt: 't' }],
  steps: [],
  writes: 1,
  history: {
    startedAt: 't',
    endedAt: 't',
    actions: [{ stage: 'apply', id: 'a', title: 'b', ref: 'c', startedAt: 't', durationMs: 1, outcome: 'done', detail: 'd' }],
    rollouts: [
      {
        ...{ stage: 'wait', workload: 'DaemonSet/a/b', image: 'i', startedAt: 't', seconds: 1, desired: 1, done: true },
        rows: [{ node: 'n', marks: [{ at: 0, phase: 'old', why: 'next' }] }],
      },
    ],
    notes: [{ at: 't', stage: 'wait', level: 'info', text: 'x' }],
  },
} as const;
const owner = { apiVersion: 'netsvc.io/v3', kind: 'NetworkSet', name: 'o', uid: 'u', controller: true, blockOwnerDeletion: false };
const owned = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'd', uid: 'v' };
const ownerList: OwnerReferenceList = {
  ...documentHead(context, 'blocked', 'next'),
  kind: 'OwnerReferenceList',
  source: null,
  references: [
    { object: owned, owner, exists: true, uidCurrent: true, removal: 'uid-change' },
    { object: owned, owner, exists: null, uidCurrent: null, removal: null },
  ],
  unread: [{ kind: 'secrets', because: 'forbidden (403)' }],
};

const documents: readonly OutputDocument[] = [
  preflightReport(context, 'blocked', findings, 'next'),
  planDocument(context, 'done', { stages, findings, writes: true, effects }, head, 'next', { typed: 'plan', carried: [], commands: [] }),
  runReport(context, 'apply', shownOutcome(effects, { ...outcome, message: 'm' }, { typed: 'apply', carried: [], commands: [] }), 'next'),
  statusDocument(
    context,
    {
      lock: { identity: 'a', acquiredAt: 'b', renewedAt: 'c' },
      record: { ...RECORD, digests: { 'upgrade.yaml': 'x' } },
      held: { object: { apiVersion: 'apps/v1', kind: 'Deployment', name: 't', namespace: 'n' }, run: 'r' },
      strategy: { object: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'a', namespace: 'n' }, is: 'OnDelete', held: true },
    },
    'next',
  ),
  statusDocument(context, { lock: undefined, record: undefined, held: null, strategy: null }, 'next'),
  ownerList,
];

const textOf = async () => actionTexts(effects, (tool) => tool);
const human = (wide: boolean) => [wide ? 'everything' : 'short'];

/** `tsc` asks for a new kind here, and the test below for a document of it. */
const KINDS: Readonly<Record<OutputDocument['kind'], true>> = {
  PreflightReport: true,
  Plan: true,
  RunReport: true,
  Status: true,
  OwnerReferenceList: true,
};

describe('output documents', () => {
  it('are of every kind', () => assert.deepEqual([...new Set(documents.map(({ kind }) => kind))].sort(), Object.keys(KINDS).sort()));

  it('are in the table of docs/reference/output.md', () => {
    const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference', 'output.md'), 'utf8');
    for (const kind of Object.keys(KINDS)) assert.match(page, new RegExp(`^\\| \`${kind}\` \\| .`, 'm'));
  });

  for (const document of documents) {
    it(`${document.kind} is the same document as JSON and as YAML`, async () => {
      const json: unknown = JSON.parse(await outputText(document, 'json', human, textOf));
      assert.deepEqual(parse(await outputText(document, 'yaml', human, textOf)), json);
    });

    it(`${document.kind} carries no secret in any format`, async () => {
      for (const format of ['table', 'wide', 'json', 'yaml', 'markdown', 'html'] as const) {
        assert.doesNotMatch(await outputText(document, format, human, textOf), /geheim/, format);
      }
    });
  }
});

describe('output formats', () => {
  const [preflight, plan] = documents;
  if (!preflight || !plan) throw new Error('no documents');

  it('end the human form with the next command', async () => {
    assert.equal(await outputText(plan, 'table', human, textOf), 'short\nNext: next\n');
    assert.equal(await outputText(plan, 'wide', human, textOf), 'everything\nNext: next\n');
  });

  it('escape cells of markdown', async () => {
    assert.match(
      await outputText(preflight, 'markdown', human, textOf),
      /\| accepted \(was: warning\) \| NS-110 \(not managed\) \| managed \\\| by Flux &lt;&amp;> \|/,
    );
  });
});
