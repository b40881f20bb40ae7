import { apiVersionOf, type JsonPatchOp, type Kind, type KubeObject } from '../../src/kernel/object.ts';
import type { ClusterReader } from '../../src/kernel/ports.ts';

export interface FakeAnswers {
  readonly kinds?: readonly Kind[];
  /** Answers the dry-run apply of a document; the attempt counts from 1. Unless said: the document laid over the live object's top-level fields. */
  readonly apply?: (document: KubeObject, attempt: number) => KubeObject;
  /** Answers a dry-run patch. */
  readonly patch?: (patch: readonly JsonPatchOp[], attempt: number) => KubeObject;
}

/** An in-memory cluster of these objects whose dry runs answer by script. What no test uses throws. */
export function fakeCluster(objects: readonly KubeObject[], answers: FakeAnswers = {}): { cluster: ClusterReader; requests: string[] } {
  const requests: string[] = [];
  const attempts = { apply: 0, patch: 0 };
  const find = (kind: Kind, name: string, namespace?: string) =>
    objects.find(
      (one) =>
        one.kind === kind.kind &&
        one.apiVersion === apiVersionOf(kind) &&
        one.metadata.name === name &&
        (!kind.namespaced || (one.metadata.namespace ?? 'default') === (namespace ?? 'default')),
    );
  const cluster: Partial<ClusterReader> = {
    resolve: async (apiVersion, kind) => answers.kinds?.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind),
    get: async (kind, name, namespace) => {
      requests.push(`get ${name}`);
      return find(kind, name, namespace);
    },
    dryRunApply: async (kind, document, fieldManager) => {
      requests.push(`apply ${document.metadata.name} as ${fieldManager}`);
      attempts.apply += 1;
      if (answers.apply) return answers.apply(document, attempts.apply);
      const live = find(kind, document.metadata.name, document.metadata.namespace);
      return { ...live, ...document, metadata: { ...live?.metadata, ...document.metadata } };
    },
    dryRunPatch: async (_kind, ref, patch, fieldManager) => {
      requests.push(`patch ${ref.name} as ${fieldManager}`);
      attempts.patch += 1;
      if (!answers.patch) throw new Error('no answer to a patch is scripted');
      return answers.patch(patch, attempts.patch);
    },
  };
  return { cluster: cluster as ClusterReader, requests };
}
