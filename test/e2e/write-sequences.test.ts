import assert from 'node:assert/strict';
import fc from 'fast-check';
import { K } from '../../src/kernel/kinds.ts';
import { type JsonPatchOp, type KubeObject, refOf } from '../../src/kernel/object.ts';
import { adoptedOwnership } from '../../src/kube/managed-fields.ts';
import { openControlPlane } from '../spec/open-control-plane.ts';
import { openSandbox } from '../spec/open-sandbox.ts';
import { configMap, read, type SpecCluster, statusOf } from '../spec/spec-cluster.ts';

type Data = Readonly<Record<string, string>>;

const value = fc.constantFrom('1', '2', '3');
const key = fc.constantFrom('a', 'b', 'c', 'd');
const data = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true });
const labels = fc.dictionary(fc.constantFrom('x', 'y'), value, { maxKeys: 2, noNullPrototype: true });
const manager = fc.constantFrom('somebody', 'controller');

const does = <T extends string>(what: T) => fc.constant(what);
const applied = { data, labels };
const merged = fc.option(fc.dictionary(key, fc.option(value), { maxKeys: 3, noNullPrototype: true }));

/** What persons and controllers do to one ConfigMap, one after the other. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: does('apply'), ...applied }) },
  { weight: 4, arbitrary: fc.record({ does: does('patch'), manager, op: fc.constantFrom('add', 'remove'), key, value }) },
  // Another tool that applies, with force.
  { weight: 3, arbitrary: fc.record({ does: does('apply-as'), manager, ...applied }) },
  // `null` removes.
  { weight: 3, arbitrary: fc.record({ does: does('merge'), manager, data: merged }) },
  { weight: 1, arbitrary: fc.record({ does: does('replace'), data }) },
  // Client-side ownership becomes kubectl's own, as the apply stage does it.
  { weight: 1, arbitrary: fc.record({ does: does('adopt') }) },
);

const sequences = fc.record({
  /** How the object came to be. */
  first: fc.record({ by: fc.constantFrom('client-side', 'server-side', 'create'), ...applied }),
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
});

type Sequence = typeof sequences extends fc.Arbitrary<infer T> ? T : never;

const RUNS = 25;

/** Whoever applied an empty map loses it by force when another one fills it: the map itself changed, though no document names it alone. */
const EMPTY_MAP: Sequence = {
  first: { by: 'create', data: {}, labels: {} },
  steps: [
    { does: 'apply-as', manager: 'somebody', data: {}, labels: { x: '1' } },
    { does: 'apply-as', manager: 'controller', data: { a: '1' }, labels: {} },
  ],
};

describe('any sequence of writes', function () {
  this.timeout(120_000);
  const clusters: SpecCluster[] = [];
  before(async function () {
    this.timeout(600_000); // a real control plane may have to be built
    clusters.push(await openControlPlane(), await openSandbox());
  });
  after(() => Promise.all(clusters.map((one) => one.close())));

  it('leaves in the sandbox what it leaves on the real server', async () => {
    for (const [index, sequence] of [EMPTY_MAP, ...fc.sample(sequences, { numRuns: RUNS, seed: 1 })].entries()) {
      const [real, ours] = await Promise.all(clusters.map((one) => historyOf(one, `sequence-${index}`, sequence)));
      assert.deepEqual(ours, real, JSON.stringify(sequence));
    }
  });
});

async function historyOf(spec: SpecCluster, name: string, { first, steps }: Sequence) {
  await begin(spec, name, first);
  const state = async () => stateOf(await read(spec, configMap(name, {})));
  const history: unknown[] = [await state()];
  for (const one of steps) history.push([await take(spec, name, one), await state()]);
  return history;
}

function documentOf(name: string, said: Pick<Sequence['first'], 'data' | 'labels'>): KubeObject {
  const object = configMap(name, said.data);
  return { ...object, metadata: { ...object.metadata, labels: said.labels } };
}

async function begin(spec: SpecCluster, name: string, { by, ...said }: Sequence['first']): Promise<void> {
  const document = documentOf(name, said);
  if (by === 'client-side') await spec.installClientSide(document);
  else if (by === 'server-side') await spec.serverSideApply([document]);
  else await spec.cluster.create(K.ConfigMap, document);
}

/** Exit code of kubectl, or status of the request. */
async function take(spec: SpecCluster, name: string, one: Sequence['steps'][number]): Promise<number | undefined> {
  if (one.does === 'apply') return (await spec.serverSideApply([documentOf(name, one)])).exitCode;
  if (one.does === 'apply-as') return statusOf(spec.applyConfigMapAs(one.manager, documentOf(name, one)));
  if (one.does === 'merge') return statusOf(spec.mergePatchConfigMapAs(one.manager, name, { data: one.data }));
  const live = await read(spec, configMap(name, {}));
  if (one.does === 'replace') return statusOf(spec.cluster.replace(K.ConfigMap, { ...live, data: one.data }));
  if (one.does === 'patch') {
    const path = `/data/${one.key}`;
    const op: JsonPatchOp = one.op === 'add' ? { op: 'add', path, value: one.value } : { op: 'remove', path };
    return statusOf(spec.cluster.patch(K.ConfigMap, refOf(live), [op], one.manager));
  }
  const managedFields = adoptedOwnership(live);
  if (!managedFields) return undefined;
  const ops = [{ op: 'replace', path: '/metadata/managedFields', value: managedFields }] as const;
  return statusOf(spec.cluster.patch(K.ConfigMap, refOf(live), ops, 'kubectl'));
}

/** What two clusters must agree on. */
function stateOf({ data: said = {}, metadata }: KubeObject) {
  const { annotations = {}, labels: marks = {}, managedFields = [] } = metadata;
  const managers = managedFields.map(({ manager: name, operation, fieldsV1 }) => ({ name, operation, fieldsV1 }));
  return { data: said, annotations: readable(annotations), labels: marks, managers: managers.sort(byText) };
}

/** An annotation that is JSON, as its value: the order of its fields says nothing. */
function readable(annotations: Data): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, JSON.parse(text)]));
}

const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
