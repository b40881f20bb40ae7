import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Edit } from '../../src/kernel/edit.ts';
import { isRecord } from '../../src/kernel/json.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { alike } from '../../src/manifest/alike.ts';
import { changedFields, fieldAt } from '../../src/manifest/definition-differences.ts';
import { canonicalRepository, repositoryAndTag } from '../../src/manifest/images.ts';
import { readJson } from '../../src/manifest/json-text.ts';
import { manifestText, parseManifest } from '../../src/manifest/manifest.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import type { MergeResult } from '../../src/manifest/merge-input.ts';
import { prepared } from '../../src/manifest/prepare.ts';
import { upgradeText } from '../../src/manifest/upgrade-text.ts';
import { knowledge } from '../support/merge-cases.ts';

/** Many more in the nightly run. */
const RUNS = process.env.NIGHTLY ? 10_000 : 500;

const value = fc.constantFrom('1', '2', '3');
/** In a map of one's own keys an empty text is a value too. */
const entry = fc.oneof(value, fc.constant(''));
const content = fc.oneof(
  value.map((text) => ({ value: text })),
  fc.constantFrom('spec.nodeName', 'status.podIP').map((fieldPath) => ({ valueFrom: { fieldRef: { fieldPath } } })),
);
const variables = fc
  .dictionary(fc.constantFrom('A', 'B', 'C', 'D'), content)
  .map((entries) => Object.entries(entries).map(([name, one]) => ({ name, ...one })));
const controllers = fc.subarray(['node', 'policy', 'loadbalancer', 'namespace'], { minLength: 1 });
const some = <T>(items: readonly T[]) => fc.subarray([...items]);
const image = fc
  .tuple(fc.constantFrom('docker.io/calico', 'quay.io/calico', 'calico', 'm.example:5000/p'), fc.constantFrom('v3.27.2', 'v3.32.1'))
  .map(([folder, tag]) => `${folder}/node:${tag}`);
const handler = fc.constantFrom({ httpGet: { port: 1 } }, { httpGet: { port: 2 } }, { exec: { command: ['x'] } });
const volumes = fc.dictionary(
  fc.constantFrom('v', 'w', 'x'),
  fc.constantFrom({ hostPath: { path: '/a' } }, { hostPath: { path: '/b', type: 'Directory' } }, { emptyDir: {} }),
);
const network = fc.record({
  mtu: fc.constantFrom('__CNI_MTU__', '1400', '"1400"'),
  plugins: fc.subarray(['calico', 'portmap', 'bandwidth', 'tuning']),
});

const rules = [
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list'] },
  { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['watch'] },
  { apiGroups: ['apps'], resources: ['*'], verbs: ['*'] },
];

const tolerations = [
  { operator: 'Exists', effect: 'NoSchedule' },
  { key: 'a', effect: 'NoExecute' },
  { key: 'b', value: '1', effect: 'NoExecute' },
];

const agents = fc
  .record({
    env: variables,
    controllers,
    image,
    args: some(['a', 'b', 'c', 'd']),
    probe: fc.record({ handler, periodSeconds: fc.constantFrom(5, 10) }),
    tolerations: some(tolerations),
    volumes,
    labels: fc.dictionary(fc.constantFrom('x', 'example.org/y'), entry),
    nodeSelector: fc.dictionary(fc.constantFrom('kubernetes.io/os', 'node-role.kubernetes.io/control-plane'), entry),
  })
  .map((parts): KubeObject => {
    const container = {
      name: 'c',
      image: parts.image,
      args: parts.args,
      env: [...parts.env, { name: 'ENABLED_CONTROLLERS', value: parts.controllers.join() }],
      livenessProbe: { ...parts.probe.handler, periodSeconds: parts.probe.periodSeconds },
      volumeMounts: Object.keys(parts.volumes).map((name) => ({ name, mountPath: `/${name}` })),
    };
    const pod = {
      containers: [container],
      tolerations: parts.tolerations,
      nodeSelector: parts.nodeSelector,
      volumes: Object.entries(parts.volumes).map(([name, source]) => ({ name, ...source })),
    };
    const metadata = { name: 'node', namespace: 'kube-system', labels: parts.labels };
    return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { template: { spec: pod } } };
  });

const config = fc.tuple(value, network).map(([mtu, { mtu: inside, plugins }]): KubeObject => {
  const json = `{"mtu": ${inside}, "plugins": [${plugins.map((type) => `{"type": "${type}"}`).join(', ')}]}`;
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'config', namespace: 'kube-system' }, data: { mtu, json } };
});

const role = some(rules).map(
  (list): KubeObject => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'node' }, rules: list }),
);
const extra = fc.constant<KubeObject>({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'own', namespace: 'kube-system' },
  spec: { maxUnavailable: 1 },
});

/** Generated records have no prototype, read ones do. */
const structuredCopy = (objects: readonly KubeObject[]): readonly KubeObject[] => JSON.parse(JSON.stringify(objects));

/** A manifest that a release, or a person, could have. */
const manifest = fc
  .tuple(agents, config, role, fc.option(extra))
  .map(([first, second, third, fourth]): readonly KubeObject[] => structuredCopy([first, second, third, ...(fourth ? [fourth] : [])]));

type Manifest = readonly KubeObject[];

const merge = (base: Manifest, mine: Manifest, theirs: Manifest): MergeResult => mergeManifest({ base, mine, theirs, knowledge });
const named = (objects: Manifest) => new Map(objects.map((object) => [object.kind, object]));
const ready = (objects: Manifest) => objects.map((object) => prepared(object));

function holds(property: (base: Manifest, mine: Manifest, theirs: Manifest) => void, numRuns = RUNS): void {
  fc.assert(fc.property(manifest, manifest, manifest, property), { numRuns });
}

/** One of the paths lies within the other, or they are one. */
function related(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short === '' || (long.startsWith(short) && /^($|[.[])/.test(long.slice(short.length)));
}

const covers = (edits: readonly Edit[], kind: string, path: string): boolean =>
  edits.some((one) => one.ref.kind === kind && related(one.path, path));

/** In a map of one's own keys nothing is noise. */
const isEntry = (path: string): boolean => /^(metadata\.labels|spec\.template\.spec\.nodeSelector)[.[]/.test(path);

function isNoise(path: string, before: unknown, after: unknown): boolean {
  if (isEntry(path)) return before === after;
  const name = /([A-Za-z]+)$/.exec(path)?.[1] ?? '';
  if (name !== 'image') return alike(before, after, { name });
  return (
    canonicalRepository(repositoryAndTag(String(before)).repository) === canonicalRepository(repositoryAndTag(String(after)).repository)
  );
}

/** Rules grouped otherwise, or covered by wider ones, are no edits: permissions are compared elsewhere. */
const isRule = (path: string): boolean => path === 'rules';

/** Every leaf with its path: scalars, lists without keys, empty maps and lists. */
function leaves(object: unknown): ReadonlyMap<string, unknown> {
  return new Map(changedFields(undefined, object).map(({ path, after }) => [path, after]));
}

describe('mergeManifest, whatever the three manifests are', function () {
  this.timeout(600_000);

  it('gives the target where nothing was edited', () => {
    holds((base, _, theirs) => {
      const { documents, edits, conflicts } = merge(base, base, theirs);
      assert.deepEqual([documents, edits, conflicts], [ready(theirs), [], []]);
    });
  });

  it('gives what the person has where the target is the installed release', () => {
    holds((base, mine) => {
      const { documents, conflicts } = merge(base, mine, base);
      const result = named(documents);
      assert.deepEqual(conflicts, []);
      for (const object of ready(mine)) {
        if (object.kind !== 'ClusterRole')
          assert.ok(alike(sorted(result.get(object.kind)), sorted(object), { apartFromImages: true }), object.kind);
        const entries = (one: KubeObject | undefined) => [...leaves(one)].filter(([path]) => isEntry(path)).sort();
        assert.deepEqual(entries(result.get(object.kind)), entries(object));
      }
    });
  });

  it('changes nothing when it is done a second time', () => {
    holds((base, mine, theirs) => {
      const { documents } = merge(base, mine, theirs);
      const again = merge(theirs, documents, theirs);
      assert.deepEqual([again.documents, again.conflicts], [documents, []]);
    });
  });

  it('loses no edit in silence', () => {
    holds((base, mine, theirs) => {
      const { edits } = merge(base, mine, theirs);
      const [was, is] = [named(ready(base)), named(ready(mine))];
      for (const kind of new Set([...was.keys(), ...is.keys()])) {
        for (const { path, before, after } of changedFields(was.get(kind), is.get(kind))) {
          assert.ok(isNoise(path, before, after) || isRule(path) || covers(edits, kind, path), `${kind} ${path}`);
        }
      }
    });
  });

  it('invents no edit', () => {
    holds((base, mine, theirs) => {
      const [was, is] = [named(ready(base)), named(ready(mine))];
      for (const { ref, path } of merge(base, mine, theirs).edits) {
        const changes = changedFields(was.get(ref.kind), is.get(ref.kind));
        assert.ok(
          changes.some((change) => related(change.path, path)),
          `${ref.kind} ${path}`,
        );
      }
    });
  });

  it('has every kept value in the result', () => {
    holds((base, mine, theirs) => {
      const { documents, edits } = merge(base, mine, theirs);
      const result = named(documents);
      for (const { ref, path, outcome, mine: own } of edits) {
        const place = fieldAt(result.get(ref.kind), path);
        if (outcome === 'kept' && !/^data\.json|image$|args$|ENABLED_CONTROLLERS|tolerations|^rules|^$/.test(path))
          assert.ok(includes(place, own), path);
      }
    });
  });

  it('loses no field of the target but those that the person removed or replaced', () => {
    holds((base, mine, theirs) => {
      const { documents, edits } = merge(base, mine, theirs);
      const result = named(documents);
      const kept = edits.filter(({ outcome }) => outcome === 'kept');
      for (const object of ready(theirs)) {
        const there = leaves(result.get(object.kind));
        for (const path of leaves(object).keys()) assert.ok(there.has(path) || covers(kept, object.kind, path), `${object.kind} ${path}`);
      }
    });
  });

  it('writes a text that reads back to the result', () => {
    holds((base, mine, theirs) => {
      const result = merge(base, mine, theirs);
      const text = upgradeText(manifestText(theirs), result);
      assert.deepEqual(ready(parseManifest(text, 'upgrade.yaml').documents.map(({ object }) => object)), result.documents);
    }, RUNS / 5);
  });
});

/** JSON text as its value, so that white space and order do not count. */
function sorted(object: KubeObject | undefined): unknown {
  const words = (text: string) => text.split(',').toSorted().join();
  const json = fieldAt(object, 'data.json');
  if (object?.kind === 'DaemonSet') {
    return JSON.parse(JSON.stringify(object).replace(/(?<="ENABLED_CONTROLLERS","value":")[^"]*/, words));
  }
  return typeof json === 'string' ? { ...object, data: { mtu: fieldAt(object, 'data.mtu'), json: readJson(json)?.value } } : object;
}

/** Every field of the edit is there; beside a choice of one there may be more. */
function includes(place: unknown, own: unknown): boolean {
  if (!isRecord(own)) return alike(place, own);
  return isRecord(place) && Object.entries(own).every(([name, field]) => alike(place[name], field, { name }));
}
