import type { FieldConflict, Trial } from '../../checks/chart-facts.ts';
import type { Reading } from '../../core/check.ts';
import { Fault, messageOf } from '../../core/fault.ts';
import { type HelmUpgrade, helmUpgrade } from '../../core/helm-argv.ts';
import type { HelmRecord } from '../../core/helm-record.ts';
import { textAt } from '../../core/json-map.ts';
import { type KubeObject, refOf, refText } from '../../core/object.ts';
import { ApiFailure, type ClusterReader, type Tools } from '../../core/ports.ts';
import { ownersOf } from '../../merge/field-owners.ts';
import { changedFields } from '../../merge/fields.ts';
import { parseManifest } from '../../merge/manifest.ts';
import { comparable } from '../../merge/normalise.ts';
import { eachOf } from '../reading.ts';
import { type HelmAnswer, runHelm } from './run-helm.ts';
import { reading } from './source.ts';

/** Under this name the chart tool writes, in all its versions. */
const HELM = 'helm';
const WIDTH = 6;
/** What the server cannot judge before it has the new CRDs. */
const NEEDS_CRDS = /no matches for kind|ensure CRDs are installed first|unknown field|field not declared in schema|no kind "/i;

/** Has the upgrade rendered and validated by the server. While CRDs are still to come, what they explain is no refusal. */
export async function tryUpgrade(tools: Tools, upgrade: HelmUpgrade, crdsPending: boolean, answer: HelmAnswer): Promise<Reading<Trial>> {
  const trial = await reading(async () => {
    const printed = parsed(await runHelm(tools, helmUpgrade(upgrade, true), answer));
    const manifest = parseManifest(textAt(printed, 'manifest') ?? '', 'the rendered chart');
    return { type: 'accepted', documents: manifest.documents.map(({ object }) => object) } as const;
  });
  if ('value' in trial) return trial;
  if (crdsPending && NEEDS_CRDS.test(trial.unread)) {
    return {
      value: { type: 'untold', because: 'the server cannot say before it has the new CRDs; it is asked again right before the upgrade' },
    };
  }
  return { value: { type: 'refused', because: trial.unread } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault('failed', `helm does not print the upgrade as JSON: ${text.trim().slice(0, 100)}`, [
      'use helm 3.14 or newer, without plugins that change its output',
    ]);
  }
}

/**
 * Fields that another manager has set and the chart would set otherwise. helm 4 stops at those of a server-side release; all others are
 * written over without a word, but for custom resources of a client-side release, which keep them (operator facts §3).
 */
export async function readConflicts(
  cluster: ClusterReader,
  documents: readonly KubeObject[],
  record: HelmRecord,
): Promise<Reading<readonly FieldConflict[]>> {
  try {
    const conflicts = await eachOf(documents, WIDTH, (document) => conflictsOf(cluster, document, record));
    return { value: conflicts.flat() };
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure)) throw thrown;
    return { unread: `whose fields helm would take could not be found out: ${messageOf(thrown)}` };
  }
}

async function conflictsOf(cluster: ClusterReader, document: KubeObject, record: HelmRecord): Promise<readonly FieldConflict[]> {
  const kind = await cluster.resolve(document.apiVersion, document.kind);
  if (!kind || (record.applyMethod === 'client-side' && isCustom(document.apiVersion))) return [];
  const namespace = kind.namespaced ? (document.metadata.namespace ?? record.namespace) : undefined;
  const live = await cluster.get(kind, document.metadata.name, namespace);
  if (!live) return [];
  const placed = namespace === undefined ? document : { ...document, metadata: { ...document.metadata, namespace } };
  const after = await cluster.dryRunApply(kind, placed, HELM);
  return changedFields(comparable(live), comparable(after)).flatMap(({ path }) =>
    ownersOf(live.metadata.managedFields, path)
      .filter(({ manager }) => manager !== HELM)
      .map(({ manager }) => ({ object: refText(refOf(live)), path, manager })),
  );
}

/** Groups of custom resources have a dot and are not Kubernetes' own. */
function isCustom(apiVersion: string): boolean {
  const [group = ''] = apiVersion.split('/');
  return apiVersion.includes('/') && group.includes('.') && !group.endsWith('.k8s.io');
}
