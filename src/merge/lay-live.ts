import { type KubeObject, refOf } from '../core/object.ts';
import { ownersOf } from './field-owners.ts';
import { ImageMap } from './images.ts';
import { isRecord } from './json.ts';
import { KUBECTL } from './managed-fields.ts';
import { mergeField } from './merge-fields.ts';
import type { LiveState } from './merge-input.ts';
import { identityOf, prepared, recordsIn } from './prepare.ts';

/** A field that was changed in the cluster, and by whom. */
export interface LiveChange {
  /** Identity of the object. */
  readonly object: string;
  readonly path: string;
  readonly manager?: string;
}

type Objects = ReadonlyMap<string, KubeObject>;

/** Managers behind which no person's single change stands. */
const OWN = new Set([KUBECTL, 'kubectl-client-side-apply']);

/** What was applied, with what was changed in the cluster since laid over it; nothing of it is lost to the file. */
export function layLive(
  base: Objects,
  applied: Objects,
  live: readonly LiveState[],
): { readonly objects: Objects; readonly changes: readonly LiveChange[] } {
  const objects = new Map(applied);
  const changes: LiveChange[] = [];
  for (const { before, now } of live) {
    const object = identityOf(now);
    const file = applied.get(object) ?? base.get(object);
    if (!file) continue;
    const add = ({ path }: { readonly path: string }) => {
      const owner = ownersOf(now.metadata.managedFields, path).find(({ manager }) => !OWN.has(manager))?.manager;
      changes.push({ object, path, ...(owner === undefined ? {} : { manager: owner }) });
    };
    const three = { base: unallocated(before), mine: unallocated(now), theirs: file };
    const walk = { ref: refOf(now), mode: 'mine', images: new ImageMap(), commaLists: new Set<string>(), add, note: () => {} } as const;
    const merged = mergeField(
      { ...walk, forced: () => undefined, resolution: () => undefined },
      { path: '', name: '', gone: false, json: false },
      three,
    );
    objects.set(object, {
      ...file,
      ...(isRecord(merged) ? merged : {}),
      apiVersion: file.apiVersion,
      kind: file.kind,
      metadata: metadataOf(merged, file),
    });
  }
  return { objects, changes };
}

function metadataOf(merged: unknown, file: KubeObject): KubeObject['metadata'] {
  const metadata = isRecord(merged) && isRecord(merged.metadata) ? merged.metadata : {};
  return { ...metadata, name: file.metadata.name };
}

const ALLOCATED = new Set(['clusterIP', 'clusterIPs', 'healthCheckNodePort']);

/** Without the API version a request was answered in, and without the numbers that the server hands out to each Service. */
function unallocated(object: KubeObject): Readonly<Record<string, unknown>> {
  const { apiVersion: _, ...fields } = prepared(object);
  if (object.kind !== 'Service' || !isRecord(object.spec)) return fields;
  const spec = Object.fromEntries(Object.entries(object.spec).filter(([name]) => !ALLOCATED.has(name)));
  const ports = recordsIn(spec.ports).map(({ nodePort: _nodePort, ...port }) => port);
  return { ...fields, spec: { ...spec, ports } };
}
