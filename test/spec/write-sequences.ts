import fc from 'fast-check';
import { K } from '../../src/kernel/kinds.ts';
import { type JsonPatchOp, type KubeObject, type ManagedFieldsEntry, refOf } from '../../src/kernel/object.ts';
import { adoptedOwnership } from '../../src/kube/managed-fields.ts';
import { configMap, read, type SpecCluster, statusOf } from './spec-cluster.ts';

type Data = Readonly<Record<string, string>>;

/** What persons and controllers do to one ConfigMap, one after the other. */
export type Step =
  | { readonly does: 'apply'; readonly data: Data; readonly labels: Data }
  | { readonly does: 'patch'; readonly manager: string; readonly op: 'add' | 'remove'; readonly key: string; readonly value: string }
  /** Another tool that applies, with force. */
  | { readonly does: 'apply-as'; readonly manager: string; readonly data: Data; readonly labels: Data }
  /** `null` removes. */
  | { readonly does: 'merge'; readonly manager: string; readonly data: Readonly<Record<string, string | null>> | null }
  | { readonly does: 'replace'; readonly data: Data }
  /** Client-side ownership becomes kubectl's own, as the apply stage does it. */
  | { readonly does: 'adopt' };

export interface Sequence {
  /** How the object came to be. */
  readonly first: { readonly by: 'client-side' | 'server-side' | 'create'; readonly data: Data; readonly labels: Data };
  readonly steps: readonly Step[];
}

const value = fc.constantFrom('1', '2', '3');
const key = fc.constantFrom('a', 'b', 'c', 'd');
const data = fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true });
const labels = fc.dictionary(fc.constantFrom('x', 'y'), value, { maxKeys: 2, noNullPrototype: true });
const manager = fc.constantFrom('somebody', 'controller');

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('apply' as const), data, labels }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('patch' as const),
      manager,
      op: fc.constantFrom('add' as const, 'remove' as const),
      key,
      value,
    }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('apply-as' as const), manager, data, labels }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('merge' as const),
      manager,
      data: fc.option(fc.dictionary(key, fc.option(value), { maxKeys: 3, noNullPrototype: true })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('replace' as const), data }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('adopt' as const) }) },
);

export const sequences: fc.Arbitrary<Sequence> = fc.record({
  first: fc.record({ by: fc.constantFrom('client-side' as const, 'server-side' as const, 'create' as const), data, labels }),
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
});

export function documentOf(name: string, said: { readonly data: Data; readonly labels: Data }): KubeObject {
  const object = configMap(name, said.data);
  return { ...object, metadata: { ...object.metadata, labels: said.labels } };
}

export async function begin(spec: SpecCluster, name: string, { by, ...said }: Sequence['first']): Promise<void> {
  const document = documentOf(name, said);
  if (by === 'client-side') await spec.installClientSide(document);
  else if (by === 'server-side') await spec.serverSideApply([document]);
  else await spec.cluster.create(K.ConfigMap, document);
}

/** Exit code of kubectl, or status of the request. */
export async function take(spec: SpecCluster, name: string, one: Step): Promise<number | undefined> {
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
export function stateOf({ data: said = {}, metadata }: KubeObject) {
  const { annotations = {}, labels: marks = {}, managedFields = [] } = metadata;
  return { data: said, annotations: readable(annotations), labels: marks, managers: managedFields.map(managerOf).sort(byText) };
}

/** An annotation that is JSON, as its value: the order of its fields says nothing. */
function readable(annotations: Data): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, JSON.parse(text)]));
}

function managerOf({ manager: name, operation, fieldsV1 }: ManagedFieldsEntry) {
  return { name, operation, fieldsV1 };
}

const byText = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
