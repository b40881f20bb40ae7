import { messageOf } from '../kernel/fault.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import { refOf } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { LAST_APPLIED } from '../kube/applied-owners.ts';
import { adoptedOwnership, KUBECTL } from '../kube/managed-fields.ts';
import { parseManifest } from '../manifest/manifest.ts';
import { findKind } from './kinds.ts';
import type { SandboxCluster } from './sandbox-cluster.ts';

interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `kubectl apply --server-side --force-conflicts -f FILE`: document after document, continuing after a failing one (plan notes 1, 5). */
export function kubectlApply(cluster: SandboxCluster, text: string, file: string, dryRun: boolean): Outcome {
  const [out, err]: [string[], string[]] = [[], []];
  for (const { object } of parseManifest(text, file).documents) {
    try {
      out.push(applyOne(cluster, object, dryRun, (warning) => err.push(`Warning: ${warning}`)));
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure)) throw thrown;
      err.push(failureText(thrown, object));
    }
  }
  const failed = err.some((line) => !line.startsWith('Warning: '));
  return { exitCode: failed ? 1 : 0, stdout: lines(out), stderr: lines(err) };
}

function applyOne(cluster: SandboxCluster, document: KubeObject, dryRun: boolean, warn: (text: string) => void): string {
  const kind = findKind(cluster.kinds(), document.apiVersion, document.kind);
  if (!kind) {
    const why = `no matches for kind "${document.kind}" in version "${document.apiVersion}"\nensure CRDs are installed first`;
    throw new ApiFailure(404, 'NotFound', why);
  }
  const apply = () => cluster.registry.apply(kind, document, { manager: KUBECTL, dryRun });
  const applied = apply();
  if (!dryRun && adoptedOwnership(applied)) {
    migrate(cluster, kind, applied);
    try {
      apply();
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure)) throw thrown;
      // kubectl takes this lightly: the object stays half changed and the exit code is 0.
      warn(
        `failed to re-apply configuration after performing Server-Side Apply migration. This is non-fatal and will be retried: ${thrown.message}`,
      );
    }
  }
  const name = `${kind.kind.toLowerCase()}${kind.group === '' ? '' : `.${kind.group}`}/${document.metadata.name}`;
  return `${name} serverside-applied${dryRun ? ' (server dry run)' : ''}`;
}

/** What client-side apply owned becomes kubectl's own; its annotation gets an owner of its own. */
function migrate({ registry }: SandboxCluster, kind: Kind, applied: KubeObject): void {
  const { name, namespace, annotations } = applied.metadata;
  const { apiVersion } = applied;
  const only = { name, ...(namespace ? { namespace } : {}), annotations: { [LAST_APPLIED]: annotations?.[LAST_APPLIED] ?? '' } };
  const live = registry.apply(kind, { apiVersion, kind: kind.kind, metadata: only }, { manager: 'kubectl-last-applied' });
  const patch = [
    { op: 'replace', path: '/metadata/managedFields', value: adoptedOwnership(live) },
    { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
  ] as const;
  registry.jsonPatch(kind, refOf(live), patch, { manager: KUBECTL });
}

function failureText(failure: ApiFailure, { kind, metadata }: KubeObject): string {
  if (failure.status === 422) return `The ${kind} "${metadata.name}" is invalid: ${messageOf(failure)}`;
  return `Error from server (${failure.reason}): ${messageOf(failure)}`;
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
