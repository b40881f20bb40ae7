import assert from 'node:assert/strict';
import type { Side } from '../../src/kernel/edit.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { type BaseCandidate, mergeByBase } from '../../src/manifest/choose-base.ts';
import { agents, container, env } from '../support/merge-cases.ts';

const candidate = (release: string, ...documents: readonly KubeObject[]): BaseCandidate => ({ release, documents });
const definition = (scope: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'pools.example.org' },
  spec: { scope },
});

const older = candidate('v3.26.9', env({ A: '1', TIMEOUT: '10', NEW: '1' }));
const middle = candidate('v3.27.2', env({ A: '1', TIMEOUT: '10' }));
const next = candidate('v3.27.3', env({ A: '1', TIMEOUT: '20' }));

interface Case {
  readonly mine: readonly KubeObject[];
  readonly theirs?: readonly KubeObject[];
  readonly installed: string | undefined;
  readonly first: BaseCandidate;
  readonly others?: readonly BaseCandidate[];
  readonly given?: boolean;
  readonly resolutions?: Readonly<Record<string, Side>>;
  readonly apart?: readonly KubeObject[];
}

function told({ mine, theirs = [env({ A: '1', TIMEOUT: '30' })], resolutions, apart, ...candidates }: Case) {
  const input = { mine, theirs, ...(resolutions ? { resolutions } : {}) };
  const { base, doubt, result, ...rest } = mergeByBase(input, { others: [], ...candidates }, apart);
  const outcomes = result.edits.map(({ outcome, path }) => `${outcome} ${path}`);
  return { base: base.release, doubt, outcomes, result, ...rest };
}

describe('the base of edits', () => {
  it('is the release that the images tell, however many edits there are', () => {
    const many = env({ ...Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`V${index}`, '1'])), TIMEOUT: '10' });
    const { base, doubt } = told({ mine: [many], installed: 'v3.27.2', first: middle, others: [older, next] });
    assert.deepEqual([base, doubt], ['v3.27.2', undefined]);
  });

  it('is not another whose registry is the one that a person chose, in either direction', () => {
    const at = (registry: string, release: string, more: Readonly<Record<string, string>> = {}) => {
      const image = `${registry}/calico/node:${release}`;
      return container({ image, env: Object.entries({ A: '1', ...more }).map(([name, value]) => ({ name, value })) });
    };
    const [old, young] = [candidate('v3.30.4', at('docker.io', 'v3.30.4', { OLD: '1' })), candidate('v3.31.2', at('quay.io', 'v3.31.2'))];
    const theirs = [at('quay.io', 'v3.32.1')];
    const back = told({ mine: [at('docker.io', 'v3.31.2')], theirs, installed: 'v3.31.2', first: young, others: [old] });
    assert.deepEqual([back.base, back.doubt, back.result.documents], ['v3.31.2', undefined, [at('docker.io', 'v3.32.1')]]);
    const forth = told({ mine: [at('quay.io', 'v3.30.4', { OLD: '1' })], theirs, installed: 'v3.30.4', first: old, others: [young] });
    assert.deepEqual([forth.base, forth.doubt, forth.result.documents], ['v3.30.4', undefined, theirs]);
    assert.ok(
      forth.outcomes.every((one) => one.startsWith('already')),
      forth.outcomes.join(),
    );
  });

  it('is asked for once where the text is another release’s, as where images were moved on by hand', () => {
    const { base, doubt, result } = told({
      mine: [env({ A: '2', TIMEOUT: '20' })],
      installed: 'v3.27.2',
      first: middle,
      others: [older, next],
    });
    assert.deepEqual([base, doubt?.choices, result.conflicts.length], ['v3.27.2', ['v3.27.2', 'v3.27.3'], 1]);
    assert.match(
      doubt?.because ?? '',
      /^the images say v3\.27\.2, but the rest is nearer to v3\.27\.3 \(1 difference instead of 2\); .*TIMEOUT/,
    );
  });

  it('is asked for where one carries what the other takes for its own', () => {
    const theirs = [env({ A: '1', TIMEOUT: '10' })];
    const { doubt } = told({ mine: [env({ A: '1', TIMEOUT: '20' })], theirs, installed: 'v3.27.2', first: middle, others: [next] });
    assert.deepEqual(doubt?.choices, ['v3.27.2', 'v3.27.3']);
  });

  it('is not asked for where both lead to the same', () => {
    const theirs = [env({ A: '1', TIMEOUT: '20' })];
    const { doubt, alike } = told({ mine: [env({ A: '2', TIMEOUT: '20' })], theirs, installed: 'v3.27.2', first: middle, others: [next] });
    assert.deepEqual([doubt, alike], [undefined, 'v3.27.3']);
  });

  it('is the one whose manifest was published with the tag, where the text says so', () => {
    const [image, env] = ['docker.io/calico/node:v3.24.5', [{ name: 'A', value: '1' }]];
    const five = candidate('v3.24.5', container({ image }));
    const six = candidate('v3.24.6', container({ image, env }));
    const of = (mine: KubeObject) => told({ mine: [mine], theirs: [container({})], installed: 'v3.24.5', first: five, others: [six] });
    assert.deepEqual([of(container({ image })).base, of(container({ image, env })).base], ['v3.24.5', 'v3.24.6']);
    assert.equal(of(container({ image, env })).doubt, undefined);
  });

  describe('of a release that is not at hand', () => {
    const lone = { mine: [env({ A: '2', TIMEOUT: '10' })], theirs: [env({ A: '1', TIMEOUT: '10' })], installed: 'v3.27.9', first: middle };
    const field = 'DaemonSet/kube-system/node:spec.template.spec.containers[c].env[A].value';

    it('is a neighbour of which no row is an edit: each is a question, and the base one as well', () => {
      const { doubt, outcomes, result } = told(lone);
      assert.deepEqual(outcomes, ['conflict spec.template.spec.containers[c].env[A].value']);
      assert.deepEqual(doubt?.choices, []);
      assert.match(
        doubt?.because ?? '',
        /the manifest of v3\.27\.9 is not at hand: what differs from v3\.27\.2 \(1 difference\) may be yours/,
      );
      assert.match(result.conflicts[0]?.because ?? '', /It may be yours or the release's own: it differs from v3\.27\.2/);
      assert.deepEqual([result.conflicts[0]?.field, result.documents], [field, lone.theirs]);
    });

    it('asks for the registry of its images too, once for all of them', () => {
      const at = (registry: string, release: string) => container({ image: `${registry}/calico/node:${release}` });
      const given = { ...lone, first: candidate('v3.27.2', at('docker.io', 'v3.27.2')), mine: [at('reg.corp', 'v3.27.9')] };
      const theirs = [at('quay.io', 'v3.32.1')];
      const { outcomes, result } = told({ ...given, theirs });
      assert.deepEqual(outcomes, ['conflict spec.template.spec.containers[c].image']);
      assert.deepEqual([result.conflicts.map(({ field: asked }) => asked), result.documents], [['images:reg.corp/calico'], theirs]);
      const { documents } = told({ ...given, theirs, resolutions: { 'images:reg.corp/calico': 'mine' } }).result;
      assert.deepEqual(documents, [at('reg.corp', 'v3.32.1')]);
    });

    it('takes no registry from a container that the release dropped', () => {
      const pod = (name: string, image: string) => agents({ containers: [{ name: 'c' }], initContainers: [{ name, image }] });
      const theirs = [pod('new', 'quay.io/calico/cni:v3.32.1')];
      const first = candidate('v3.27.2', pod('driver', 'docker.io/calico/driver:v3.27.2'));
      const { outcomes, result } = told({ ...lone, first, mine: [pod('driver', 'reg.corp/calico/driver:v3.27.9')], theirs });
      assert.deepEqual([outcomes, result.documents], [['obsolete spec.template.spec.initContainers[driver].image'], theirs]);
    });

    it('asks for a whole object that was removed, or that only the person’s file has', () => {
      const named = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'kube-system' } });
      const first = candidate('v3.27.2', env({ A: '1' }), named('removed'));
      const given = { ...lone, first, mine: [env({ A: '1' }), named('added')], theirs: [env({ A: '1' }), named('removed')] };
      const asked = ['ConfigMap/kube-system/removed', 'ConfigMap/kube-system/added'];
      assert.deepEqual(
        told(given).result.conflicts.map(({ field: one }) => one),
        asked,
      );
      const names = (side: Side) =>
        told({ ...given, resolutions: Object.fromEntries(asked.map((one) => [one, side])) }).result.documents.map(
          ({ metadata: { name } }) => name,
        );
      assert.deepEqual(
        [names('mine'), names('theirs')],
        [
          ['node', 'added'],
          ['node', 'removed'],
        ],
      );
    });

    it('leaves each row to the person', () => {
      assert.deepEqual(told({ ...lone, resolutions: { [field]: 'mine' } }).result.documents, [env({ A: '2', TIMEOUT: '10' })]);
      assert.deepEqual(told({ ...lone, resolutions: { [field]: 'theirs' } }).result.documents, lone.theirs);
    });
  });

  describe('where no image tells a release', () => {
    it('is the nearest by its text, and asked for', () => {
      const { base, doubt, outcomes } = told({
        mine: [env({ A: '2', TIMEOUT: '20' })],
        installed: undefined,
        first: older,
        others: [middle, next],
      });
      assert.deepEqual([base, doubt?.choices, outcomes.length], ['v3.27.3', ['v3.27.3'], 1]);
      assert.ok(outcomes.every((one) => one.startsWith('conflict')));
    });

    it('is told by definitions where nothing else does, in the cluster or in the person’s file', () => {
      const one = (release: string, scope: string) => candidate(release, env({ A: '1' }), definition(scope));
      const [first, others] = [one('v3.27.1', 'Cluster'), [one('v3.27.2', 'Namespaced')]];
      const mine = [env({ A: '2' })];
      assert.equal(told({ mine, installed: undefined, first, others, apart: [definition('Namespaced')] }).base, 'v3.27.2');
      assert.equal(told({ mine: [...mine, definition('Namespaced')], installed: undefined, first, others }).base, 'v3.27.2');
      assert.equal(told({ mine: [...mine, definition('Cluster')], installed: undefined, first, others }).base, 'v3.27.1');
    });
  });

  describe('that a person names', () => {
    const mine = [env({ A: '2', TIMEOUT: '20' })];
    const given = (first: BaseCandidate, others: readonly BaseCandidate[], installed: string | undefined) =>
      told({ mine, installed, first, others, given: true });

    it('counts: the one of the images, and the one whose text is nearer', () => {
      assert.deepEqual([given(middle, [next], 'v3.27.2').doubt, given(next, [middle], 'v3.27.2').doubt], [undefined, undefined]);
      assert.equal(given(next, [middle], undefined).doubt, undefined);
    });

    it('is no base where images and text say another: then its rows are questions', () => {
      const { doubt, outcomes } = given(older, [middle, next], 'v3.27.2');
      assert.match(
        doubt?.because ?? '',
        /^--base is of v3\.26\.9; the images say v3\.27\.2, and the text is nearer to v3\.27\.2 \(2 differences instead of 3\)$/,
      );
      assert.ok(
        outcomes.every((one) => !one.startsWith('kept')),
        outcomes.join(),
      );
      assert.match(given(older, [], 'v3.27.2').doubt?.because ?? '', /^--base is of v3\.26\.9, but the images say v3\.27\.2$/);
    });

    it('counts where its images name no release and nothing at hand is nearer', () => {
      assert.equal(given(candidate('vendor.yaml', env({ A: '1', TIMEOUT: '20' })), [middle], 'v3.27.2').doubt, undefined);
    });
  });
});
