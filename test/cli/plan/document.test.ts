import assert from 'node:assert/strict';
import { effects } from '../../../src/cli/effects.ts';
import { planDigest } from '../../../src/cli/plan/document.ts';
import type { Effect } from '../../../src/kernel/action.ts';
import type { PlannedStage } from '../../../src/kernel/plan.ts';
import { engineContext } from '../../support/engine-ports.ts';

const context = engineContext();

function planOf(effect: Effect): readonly PlannedStage[] {
  return [
    { id: 'apply', title: 't', ref: 'r', objects: [], notes: [], actions: [{ id: 'a', title: 't', ref: 'r', undo: 'full', effect }] },
  ];
}

const exec = (file: string): Effect => ({ type: 'exec', run: { tool: 'kubectl', args: ['apply', '-f', file] } });
const until = { type: 'apiservice-available', names: [] } as const;
const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' };
const patch = (value: string, resourceVersion: string): Effect => ({
  type: 'patch-all',
  what: 'w',
  patches: [
    {
      target,
      uid: 'u',
      patch: [
        { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
        { op: 'replace', path: '/data/a', value },
      ],
    },
  ],
});

describe('the digest of a plan', () => {
  const same: readonly (readonly [string, string, string])[] = [
    [
      'work folders',
      planDigest(effects, { ...context, workFolder: '/a' }, planOf(exec('/a/upgrade.yaml'))),
      planDigest(effects, { ...context, workFolder: '/b' }, planOf(exec('/b/upgrade.yaml'))),
    ],
    ['resourceVersions', planDigest(effects, context, planOf(patch('x', '1'))), planDigest(effects, context, planOf(patch('x', '2')))],
    [
      'limits of waits, which follow the number of nodes',
      ...([1, 2].map((timeoutMs) => planDigest(effects, context, planOf({ type: 'wait', until, timeoutMs }))) as [string, string]),
    ],
    [
      'names of backups',
      ...(['d1', 'd2'].map((folder) => planDigest(effects, context, planOf({ type: 'backup', folder, files: [] }))) as [string, string]),
    ],
    [
      'starts',
      planDigest(effects, context, planOf(exec('x'))),
      planDigest(effects, { ...context, startedAt: new Date(0) }, planOf(exec('x'))),
    ],
  ];
  for (const [title, a, b] of same) it(`does not depend on ${title}`, () => assert.equal(a, b));

  const other: readonly (readonly [string, string, string])[] = [
    ['a command', planDigest(effects, context, planOf(exec('x'))), planDigest(effects, context, planOf(exec('y')))],
    ['a value of a patch', planDigest(effects, context, planOf(patch('x', '1'))), planDigest(effects, context, planOf(patch('y', '1')))],
    [
      'the content of a file',
      ...(['1', '2'].map((content) => planDigest(effects, context, planOf({ type: 'write', file: 'f', content }))) as [string, string]),
    ],
    ['the cluster', planDigest(effects, context, []), planDigest(effects, { ...context, clusterUid: 'other' }, [])],
    ['the release', planDigest(effects, context, []), planDigest(effects, { ...context, goal: { release: 'v3.31.0' } }, [])],
  ];
  for (const [title, a, b] of other) it(`changes with ${title}`, () => assert.notEqual(a, b));
});
