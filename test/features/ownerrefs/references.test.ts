import assert from 'node:assert/strict';
import { readOwnersJudged, sourceOf } from '../../../src/features/ownerrefs/references.ts';
import { changesUids, convertsUids } from '../../../src/features/ownerrefs/uid-change.ts';
import { rememberOf } from '../../../src/features/survey/path-stage.ts';
import type { ComponentVersion, Installation } from '../../../src/kernel/installation.ts';
import type { Kind } from '../../../src/kernel/object.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { begunRecord } from '../../../src/kernel/run-record-steps.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, installation, object, type Wanted } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const context = contextOf({ release: 'v3.31.7' });
const server = (release?: string): ComponentVersion => ({
  ...{ component: 'apiserver', workload: 'Deployment/calico-apiserver', container: 'calico-apiserver', image: 'x' },
  ...(release === undefined ? {} : { release }),
});

/** Agents and API server, which are upgraded apart. */
const installed = (release: string, ...servers: readonly ComponentVersion[]): Installation => ({
  ...{ ...installation, release, hasApiServer: servers.length > 0 },
  components: [...installation.components, ...servers],
});

/** The record that the first write of a run on this installation makes. */
const begunOn = (found: Installation): RunRecord =>
  begunRecord(undefined, rememberOf(found), { context, operator: 'alice@here', toolVersion: '1.2.3' });
const continued = (more: Partial<RunRecord>): RunRecord =>
  runRecord({ intent: upgradeTo(context.goal.release), clusterUid: context.clusterUid, ...more });

describe('the release that references were made under', () => {
  const mixed = installed('v3.29.0', server('v3.27.2'));
  const halfway = installed('v3.31.7', server('v3.27.2'));
  const over = installed('v3.31.7', server('v3.31.7'));

  for (const [title, found, record, wanted] of [
    ['is that of the API server where it is older than the agents', mixed, undefined, 'v3.27.2'],
    ['is that of the agents where they are older', installed('v3.26.4', server('v3.29.0')), undefined, 'v3.26.4'],
    ['is not known where the API server’s is not', installed('v3.29.0', server()), undefined, undefined],
    ['is still that of the API server once a run has begun', mixed, begunOn(mixed), 'v3.27.2'],
    ['is still that of the API server once the agents run the target', halfway, begunOn(mixed), 'v3.27.2'],
    ['is still that of the API server once everything runs the target', over, begunOn(mixed), 'v3.27.2'],
    ['stays unknown where it was when the run began', over, begunOn(installed('v3.29.0', server())), undefined],
    ['is what is there where the record names none and apply wrote nothing', mixed, continued({ wrote: ['policy'] }), 'v3.27.2'],
    ['is not known where the record names none and apply may have written', over, continued({ wrote: ['policy', 'apply'] }), undefined],
    ['is what is there where the record is of another run', over, { ...begunOn(mixed), intent: upgradeTo(CALICO_TARGET) }, 'v3.31.7'],
  ] satisfies readonly (readonly [string, Installation, RunRecord | undefined, string | undefined])[])
    it(title, () => assert.equal(sourceOf(found, record, context), wanted));

  it('is never told after the first write of a run', () => {
    const beginner = { context, operator: 'alice@here', toolVersion: '1.2.3' };
    const again = begunRecord(begunOn(mixed), rememberOf(over), beginner);
    assert.deepEqual([again.intent.from, again.oldest], ['v3.29.0', 'v3.27.2']);
    assert.equal(begunRecord(continued({ intent: upgradeTo('v3.32.2', 'v3.29.0') }), rememberOf(over), beginner).oldest, undefined);
  });

  describe('where nothing changes UIDs any more', () => {
    const policies: Kind = {
      ...{ group: 'crd.projectcalico.org', version: 'v1', kind: 'GlobalNetworkPolicy', plural: 'globalnetworkpolicies', namespaced: false },
    };
    const kept = { annotations: { 'projectcalico.org/metadata': '{}' } };
    const over32 = installed(CALICO_TARGET, server(CALICO_TARGET));
    const canal: Installation = {
      ...over32,
      agent: { kind: 'DaemonSet', namespace: 'kube-system', name: 'canal', container: 'calico-node' },
    };
    const isSearched = async (stored: string, found: Installation, options: Wanted = {}, isAskedFor = false) => {
      const { cluster } = clusterOf([object('crd.projectcalico.org/v1', `GlobalNetworkPolicy/${stored}`, { metadata: kept })], {
        kinds: [policies],
      });
      const sources = { cluster, records: { load: async () => undefined }, journal: { load: async () => undefined } };
      const { references } = await readOwnersJudged(sources as unknown as Sources, contextOf(options), found, isAskedFor);
      return references !== undefined;
    };

    it('the cluster is searched as long as a policy is not found by its name, whether the renaming is held, or never comes', async () => {
      assert.ok(await isSearched('default.web', over32));
      assert.ok(await isSearched('default.web', over32, { holdPolicyMigration: true }));
      assert.ok(await isSearched('default.web', canal));
      assert.ok(!(await isSearched('web', canal)));
      assert.ok(!(await isSearched('default.web', installed('v3.31.7', server('v3.31.7')), { release: 'v3.31.7' })));
    });

    it('it is searched otherwise only where a person asks for it', async () => {
      assert.ok(await isSearched('web', over32, {}, true));
    });
  });

  for (const [what, found] of [
    ['begun', mixed],
    ['rolled the agents', halfway],
  ] as const)
    it(`has the cluster searched though a run has ${what} and nothing is recorded as off`, async () => {
      const { cluster } = clusterOf([], { kinds: [] });
      const record = begunOn(mixed);
      const sources = { cluster, records: { load: async () => record }, journal: { load: async () => undefined } };
      const { references } = await readOwnersJudged(sources as unknown as Sources, context, found);
      assert.deepEqual(references?.objects, []);
    });
});

describe('the change of UIDs', () => {
  for (const [release, converts] of [
    ['v3.26.5', false],
    ['v3.27.4', false],
    ['v3.27.5', true],
    ['v3.27.9', true],
    ['v3.28.0', true],
    [CALICO_TARGET, true],
  ] as const)
    it(`${converts ? 'is there' : 'is not there'} in ${release} of Calico`, () => {
      assert.equal(convertsUids(release, calico), converts);
    });

  it('is where the document has it for a service without the line that got it later', () => {
    assert.equal(convertsUids('v3.27.5', netsvc), false);
  });

  for (const [source, target, changes] of [
    ['v3.26.5', CALICO_TARGET, true],
    ['v3.27.5', 'v3.28.0', true],
    ['v3.28.0', 'v3.31.7', false],
    ['v3.28.0', CALICO_TARGET, true],
    ['v3.26.5', 'v3.27.4', false],
    ['v3.26.5', 'v3.27.5', true],
    ['v3.32.1', 'v3.32.2', false],
    [undefined, CALICO_TARGET, true],
    ['master', 'v3.31.7', true],
  ] as const)
    it(`or of names is ${changes ? '' : 'not '}between ${source} and ${target}`, () => {
      assert.equal(changesUids(source, contextOf({ release: target }, calico)), changes);
    });
});
