import { isRecord } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { stepInto } from '../kube/field-paths.ts';
import { keyOfItem } from '../kube/list-keys.ts';

/** From the namespace that a release's manifest names to the one that the user put in its place. */
export interface Move {
  readonly from: string;
  readonly to: string;
}

export interface Moved {
  readonly object: KubeObject;
  /** Paths of the fields that name the other namespace now, by the names that the object has then. */
  readonly places: readonly string[];
  /** The first field that mentions the namespace in a text of unknown meaning; undefined if there is none. */
  readonly unclear?: string;
}

/** Fields whose whole value is the name of a namespace; the label is the server's own, on every Namespace. */
const NAMING = new Set(['namespace', 'kubernetes.io/metadata.name']);
/** Variables that tell a program a namespace. */
const NAMING_VARIABLE = /(?:^|_)NAMESPACE$/;

/**
 * A release's document for an installation in another namespace: where it lives, the accounts it binds, the services it calls. Resource
 * definitions name no namespace, and names that only look like one stay.
 */
export function moveNamespace(document: KubeObject, move: Move): Moved {
  if (document.kind === 'CustomResourceDefinition') return { object: document, places: [] };
  const walk = new NamespaceWalk(move);
  const inside = walk.into(document, '', '') as KubeObject;
  const object = document.kind === 'Namespace' && document.metadata.name === move.from ? walk.named(inside) : inside;
  const [unclear] = walk.unclear;
  return { object: walk.places.length > 0 ? object : document, places: walk.places, ...(unclear === undefined ? {} : { unclear }) };
}

class NamespaceWalk {
  readonly places: string[] = [];
  readonly unclear: string[] = [];
  readonly #move: Move;
  readonly #spoken: RegExp;

  constructor(move: Move) {
    this.#move = move;
    const name = move.from.replaceAll('.', '\\.');
    // `service.NAMESPACE.svc`, `NAMESPACE/name`, `--namespace=NAMESPACE`
    this.#spoken = new RegExp(`\\.${name}\\.svc|^${name}/|namespaces?[=:]\\s*${name}\\b`);
  }

  into(value: unknown, path: string, name: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#item(item, path, name));
    if (isRecord(value)) return this.#fields(value, path);
    if (typeof value === 'string' && (this.#spoken.test(value) || (name === 'namespaces' && value === this.#move.from)))
      this.unclear.push(path);
    return value;
  }

  /** A Namespace under the other name. */
  named(object: KubeObject): KubeObject {
    this.places.push('metadata.name');
    return { ...object, metadata: { ...object.metadata, name: this.#move.to } };
  }

  #item(item: unknown, path: string, list: string): unknown {
    if (!isRecord(item)) return this.into(item, path, list);
    const { from, to } = this.#move;
    const key = keyOfItem(list, item.namespace === from ? { ...item, namespace: to } : item) ?? String(item.name ?? '');
    const at = stepInto(path, key, true);
    if (list !== 'env' || item.value !== from || !NAMING_VARIABLE.test(String(item.name))) return this.#fields(item, at);
    this.places.push(stepInto(at, 'value'));
    return { ...item, value: to };
  }

  #fields(value: Readonly<Record<string, unknown>>, path: string): unknown {
    const fields = Object.entries(value).map(([field, inner]) => {
      const at = stepInto(path, field);
      if (!NAMING.has(field) || inner !== this.#move.from) return [field, this.into(inner, at, field)];
      this.places.push(at);
      return [field, this.#move.to];
    });
    return Object.fromEntries(fields);
  }
}
