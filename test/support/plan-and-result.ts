import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OpenCluster, openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import type { PreviewedObject } from '../../src/features/install-manifest/outcome.ts';
import { previewDocuments } from '../../src/features/install-manifest/preview.ts';
import { applyWhole } from '../../src/features/install-manifest/target-crds.ts';
import type { Invocation } from '../../src/kernel/argv.ts';
import { type KubeObject, refOf, refText } from '../../src/kernel/object.ts';
import { ApiFailure, type Cluster, type ClusterReader } from '../../src/kernel/ports.ts';
import { LAST_APPLIED } from '../../src/kube/managed-fields.ts';
import { changedFields } from '../../src/manifest/definition-differences.ts';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { contextOf } from '../fixtures/facts.ts';

const UNSEEN = ['resourceVersion', 'generation', 'uid', 'creationTimestamp', 'managedFields'];
const COUNTERS = ['deployment.kubernetes.io/revision', 'deprecated.daemonset.template.generation'];

/** The whole object but for what counts writes and times; last-applied as JSON. */
export function seen(object: KubeObject | undefined): unknown {
  if (!object) return undefined;
  const { status: _, metadata, ...fields } = object;
  const { [LAST_APPLIED]: last, ...others } = metadata.annotations ?? {};
  const annotations = Object.fromEntries(Object.entries(others).filter(([name]) => !COUNTERS.includes(name)));
  const rest = Object.fromEntries(Object.entries(metadata).filter(([name]) => !UNSEEN.includes(name) && name !== 'annotations'));
  return { ...fields, metadata: rest, annotations, last: last === undefined ? undefined : JSON.parse(last) };
}

/** The same without kubectl's own note, which goes when ownership is handed over first. */
export function withoutNote(object: KubeObject | undefined): unknown {
  const all = seen(object);
  return all === undefined ? undefined : { ...(all as object), last: undefined };
}

export interface OpenPlane {
  readonly plane: ControlPlane;
  readonly cluster: OpenCluster;
  close(): Promise<void>;
}

export async function openPlane(): Promise<OpenPlane> {
  const plane = await startControlPlane();
  const cluster = openCluster(await readConnection({ kubeconfig: plane.kubeconfigPath }, process.env), { version: 'test' });
  return {
    plane,
    cluster,
    async close() {
      await cluster.close();
      await plane.stop();
    },
  };
}

export async function liveOf(cluster: ClusterReader, { apiVersion, kind, metadata }: KubeObject): Promise<KubeObject | undefined> {
  const resource = await cluster.resolve(apiVersion, kind);
  return resource && cluster.get(resource, metadata.name, metadata.namespace);
}

/** What is planned on, and performed on. */
interface Applying {
  readonly cluster: Cluster;
  write(file: string, content: string): unknown;
  /** Throws unless it ends well. */
  run(invocation: Invocation): Promise<unknown>;
}

/** Plans, and performs the actions as they stand: the files, the patches, the commands. What is refused is left out, where the tool would not begin. */
export async function plannedAndApplied({ cluster, write, run }: Applying, manifest: Manifest, workFolder: string) {
  const previews = await previewDocuments(cluster, manifest);
  const isRefused = ({ planned }: PreviewedObject) => planned.change === 'refused';
  const [refused, accepted] = [previews.filter(isRefused), previews.filter((one) => !isRefused(one))];
  const documents = manifest.documents.filter(({ object }) => !refused.some(({ document }) => document === object));
  const whole = { id: 'apply', file: 'upgrade.yaml', title: '', ref: '', manifest: { ...manifest, documents }, previews: accepted };
  for (const { effect } of applyWhole(whole, { ...contextOf({}), workFolder })) {
    if (effect.type === 'write') await write(join(workFolder, effect.file), effect.content);
    for (const { target, patch } of effect.type === 'patch-all' ? effect.patches : []) {
      const kind = (await cluster.resolve(target.apiVersion, target.kind)) ?? assert.fail(refText(target));
      await cluster.patch(kind, target, patch, 'kubectl');
    }
    if (effect.type === 'exec') await run(effect.run);
  }
  return { accepted, refused };
}

export interface Compared {
  readonly name: string;
  /** The plan says that its prediction is not certain for this object. */
  readonly uncertain: boolean;
  /** The plan says that the server refuses it. */
  readonly refused?: true;
  /** Why, in the plan's words. */
  readonly because?: string;
  /** Fields in which the object is not what was predicted. */
  readonly different: readonly string[];
}

/** A controller wrote between plan and patch this often: something else is wrong. */
const ATTEMPTS = 6;

/** Plans, performs, and compares each object with its prediction. A controller may write between plan and patch: then it plans again. */
export async function planAndApply(open: OpenPlane, manifest: Manifest): Promise<readonly Compared[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await planAndApplyOnce(open, manifest);
    } catch (thrown) {
      if (attempt === ATTEMPTS || !(thrown instanceof ApiFailure && thrown.status === 409)) throw thrown;
    }
  }
}

async function planAndApplyOnce(open: OpenPlane, manifest: Manifest): Promise<readonly Compared[]> {
  const { plane, cluster } = open;
  const run = async ({ args }: Invocation) => {
    const { exitCode, stderr } = await plane.kubectl([...args]);
    if (exitCode !== 0 || stderr.includes('failed to re-apply')) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  };
  const { accepted, refused } = await plannedAndApplied({ cluster, run, write: writeFile }, manifest, plane.dir);
  const results = await Promise.all(accepted.map((preview) => compared(cluster, preview)));
  for (const preview of refused) results.push(await comparedRefusal(open, preview));
  return results;
}

/** What the plan calls refused is refused to kubectl too, and stays as it was. The tool itself would not begin. */
async function comparedRefusal({ plane, cluster }: OpenPlane, { document, live, planned }: PreviewedObject): Promise<Compared> {
  const name = refText(refOf(document));
  const before = JSON.stringify(seen(live));
  const { exitCode } = await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify(document));
  const isSame = JSON.stringify(seen(await liveOf(cluster, document))) === before;
  const different = [
    ...(exitCode === 0 ? ['it was called refused, and kubectl applies it'] : []),
    ...(isSame ? [] : ['refused, and yet changed']),
  ];
  return { name, uncertain: false, refused: true, because: String(planned.note ?? ''), different };
}

/** What is created has no prediction where its namespace or kind comes with it. */
async function compared(cluster: OpenCluster, { document, result, planned }: PreviewedObject): Promise<Compared> {
  const name = refText({ ...refOf(document) });
  const real = await liveOf(cluster, document);
  const uncertain = String(planned.note).includes('cannot be predicted exactly');
  if (!real) return { name, uncertain, different: ['it is not there'] };
  const different = result ? changedFields(withoutNote(result), withoutNote(real)).map(({ path }) => path) : [];
  return { name, uncertain: uncertain || result === undefined, different };
}
