import type { Context } from '../../kernel/context.ts';
import type { Edit } from '../../kernel/edit.ts';
import { type ExitName, Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { AddOn, Variant } from '../../kernel/profile.ts';
import { imageRelease, sameMinor, sameRelease } from '../../kernel/release.ts';
import type { RolloutTarget, WorkloadName } from '../../kernel/rollout.ts';
import { hasContainer } from '../../kube/workload.ts';
import type { CarriedEdits } from '../../manifest/carried-file.ts';
import { type Manifest, objectsIn } from '../../manifest/manifest.ts';
import { rolloutTarget } from '../rollout/index.ts';
import { operatorRelease } from '../survey/index.ts';
import { finishedFile } from './finished.ts';

/**
 * Refuses a manifest that is not the target: a workload of the variant is missing (another variant, or incomplete),
 * or the agents' image is of another release. The user's own file must name the release exactly;
 * the release's own file may lag in its patch number, because some published ones do (domain §3).
 */
export function assertIsTarget(manifest: Manifest, variant: Variant, release: string, own: string | undefined): void {
  const code = own === undefined ? 'failed' : 'usage';
  const next =
    own === undefined
      ? 'look at the artifact source (--manifest-url): its file is incomplete or not the release’s'
      : `start from ${variant.file} of ${release} and make your changes there`;
  const documents = objectsIn(manifest);
  for (const workload of [variant.agent, variant.typha, variant.controllers])
    if (workload && !documents.some((one) => isWorkload(one, workload))) throw notWhole(manifest, variant, workload, code, next);
  assertContainers(manifest, documents, variant, code, next);
  const image = rolloutTarget(variant.agent, { documents })?.image ?? '';
  const found = imageRelease(image);
  const fits = found !== undefined && (own === undefined ? sameMinor(found, release) : sameRelease(found, release));
  if (fits) return;
  throw new Fault(code, `${manifest.name} is of ${found ?? 'an unknown release'} (image ${image || 'missing'}), not of ${release}`, [next]);
}

/**
 * Refuses an operator's manifest that would start a second operator beside the one that runs, or one of another release.
 * Throws Fault('conflicts') where the running one has a name or namespace of its own that only the user's file can carry.
 */
export function assertIsOperator(manifest: Manifest, variant: Variant, context: Context, installation: Installation): void {
  const { profile, goal } = context;
  const own = finishedFile(context);
  const { namespace, name } = installation.operator ?? variant.agent;
  const found = objectsIn(manifest).find((one) => isWorkload(one, { ...variant.agent, namespace, name }));
  if (!found) {
    const fact = `the operator runs as Deployment ${namespace}/${name}, which ${manifest.name} does not have: it would start a second one`;
    const steps = [`put your name and namespace everywhere into a copy of the target's file, and give it with --upgrade-file`];
    throw new Fault(own === undefined ? 'conflicts' : 'usage', fact, steps);
  }
  const release = operatorRelease(found, profile);
  const tells = release?.release ?? (release?.line === undefined ? undefined : `${release.line}.0`);
  if (tells === undefined || sameMinor(tells, goal.release)) return;
  const next =
    own === undefined
      ? 'look at the artifact source (--manifest-url)'
      : `start from ${variant.file} of ${goal.release} and make your changes there`;
  const fact = `${manifest.name} has the operator ${release?.tag} of ${tells}, not of ${goal.release}`;
  throw new Fault(own === undefined ? 'failed' : 'usage', fact, [next]);
}

/** Refuses a `--base` without the variant's agents, as it would show no edits. Its release is not checked. */
export function assertIsBase(manifest: Pick<Manifest, 'name'>, documents: readonly KubeObject[], variant: Variant): void {
  const next = `give the unedited ${variant.file} of the installed release with --base`;
  if (!documents.some((one) => isWorkload(one, variant.agent))) throw notWhole(manifest, variant, variant.agent, 'usage', next);
  assertContainers(manifest, documents, variant, 'usage', next);
}

/** Variants whose agents have one name differ by a container of theirs: another variant's file would take the cluster's network away. */
function assertContainers(
  { name }: Pick<Manifest, 'name'>,
  documents: readonly KubeObject[],
  { id, agent, signs }: Variant,
  code: ExitName,
  next: string,
): void {
  const found = documents.find((one) => isWorkload(one, agent));
  for (const sign of signs) {
    if (!found || sign.type !== 'container' || hasContainer(found, sign.name) !== (sign.absent ?? false)) continue;
    const fact = `its ${agent.kind} ${agent.namespace}/${agent.name} has ${sign.absent ? 'a' : 'no'} container ${sign.name}`;
    throw new Fault(code, `${name} is of another variant than ${id}: ${fact}`, [next]);
  }
}

function notWhole(
  manifest: Pick<Manifest, 'name'>,
  variant: Variant,
  { kind, namespace, name }: WorkloadName,
  code: ExitName,
  next: string,
): Fault {
  return new Fault(code, `${manifest.name} is not a whole ${variant.id} manifest: it has no ${kind} ${namespace}/${name}`, [next]);
}

/** A document may leave the namespace out. */
export function isWorkload({ kind, metadata }: KubeObject, wanted: Pick<RolloutTarget, 'kind' | 'namespace' | 'name'>): boolean {
  return kind === wanted.kind && metadata.name === wanted.name && (metadata.namespace ?? wanted.namespace) === wanted.namespace;
}

/** One file of the target. */
export interface TargetFile {
  /** The name that it gets in the work folder; `upgrade.yaml` is the procedure's own. */
  readonly file: string;
  readonly url: string;
  /** Of the file as it was fetched, before any edit is carried into it. */
  readonly sha256: string;
  readonly text: string;
  readonly manifest: Manifest;
}

/** What the cluster becomes: the full manifest of its variant, and the manifests of what is installed beside it (§4.1). */
export interface Target extends TargetFile {
  readonly release: string;
  readonly addOns: readonly (TargetFile & Pick<AddOn, 'id'>)[];
  /** What names the namespace of the operator instead of the release's. */
  readonly moved?: readonly Edit[];
  /** The edits that its files carry. */
  readonly carried?: CarriedEdits;
}
