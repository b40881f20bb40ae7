import assert from 'node:assert/strict';
import { apiVersionOf, type JsonPatchOp, type Kind, type KubeObject, refOf, refText } from '../../src/kernel/object.ts';
import { type AccessRequest, ApiFailure, type ClusterReader, type ListOptions } from '../../src/kernel/ports.ts';
import { findKind, resourceText } from '../../src/sandbox/store.ts';

interface ClusterParts {
  readonly kinds?: readonly Kind[];
  readonly failed?: readonly string[];
  /** Status that a list or get of `plural.group` (`pods` for the core group) is answered with. */
  readonly refuses?: Readonly<Record<string, number>>;
  readonly denies?: (request: AccessRequest) => boolean;
  /** Answers the dry-run apply of a document; the attempt counts from 1. Unless said: the document laid over the live object's top-level fields. */
  readonly apply?: (document: KubeObject, attempt: number) => KubeObject;
  /** Answers a dry-run patch; unless said there is none. */
  readonly patch?: (patch: readonly JsonPatchOp[], attempt: number) => KubeObject;
}

/** A read-only cluster of just these objects; every request is noted, dry runs answer by script. What no test uses throws. */
export function clusterOf(objects: readonly KubeObject[], parts: ClusterParts = {}) {
  const requests: string[] = [];
  const { kinds = [], failed = [], refuses = {}, denies = () => false } = parts;
  const attempts = { apply: 0, patch: 0 };
  const ask = (verb: string, kind: Kind, options: ListOptions = {}) => {
    const type = resourceText(kind);
    requests.push(`${verb} ${type}${options.metadataOnly ? ' (metadata)' : ''}`);
    const status = refuses[type];
    if (status !== undefined) throw new ApiFailure(status, status === 403 ? 'Forbidden' : 'NotFound', `${type} refused`);
    return objects.filter(
      (object) =>
        object.kind === kind.kind &&
        object.apiVersion === apiVersionOf(kind) &&
        (options.namespace === undefined || object.metadata.namespace === options.namespace),
    );
  };
  const cluster: Partial<ClusterReader> = {
    version: async () => ({ gitVersion: 'v1.35.1', major: '1', minor: '35' }),
    clockSkewMs: async () => 0,
    discover: async () => ({ kinds, failed }),
    resolve: async (apiVersion, kind) => findKind(kinds, apiVersion, kind),
    list: async (kind, options) => ask('list', kind, options),
    get: async (kind, name, namespace) => ask('get', kind, { namespace }).find(({ metadata }) => metadata.name === name),
    dryRunApply: async (_kind, document, fieldManager) => {
      requests.push(`apply ${document.metadata.name} as ${fieldManager}`);
      attempts.apply += 1;
      const live = objects.find((one) => refText(refOf(one)) === refText(refOf(document)));
      const laidOver = { ...live, ...document, metadata: { ...live?.metadata, ...document.metadata } };
      return parts.apply?.(document, attempts.apply) ?? laidOver;
    },
    dryRunPatch: async (_kind, ref, patch, fieldManager) => {
      requests.push(`patch ${ref.name} as ${fieldManager}`);
      attempts.patch += 1;
      return parts.patch?.(patch, attempts.patch) ?? assert.fail('no answer to a patch is scripted');
    },
    reviewAccess: async (asked) => {
      requests.push(`review ${asked.length}`);
      return asked.map((request) => !denies(request));
    },
  };
  return { cluster: cluster as ClusterReader, requests: requests as readonly string[] };
}
