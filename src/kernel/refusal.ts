import type { FieldTest } from './defect.ts';

/**
 * A test of one field. A path that begins with `/` is of the whole settings, any other of the item of the list that is looked at (`''`: the item
 * itself). Keys are written as in a JSON pointer; lists on the way are searched.
 */
export interface FieldRule extends FieldTest {
  readonly field: string;
  /** Regular expressions; a field that is not set is neither. */
  readonly like?: string;
  readonly unlike?: string;
  /** The same of `key=value` of a map, of which one is not so. */
  readonly entryUnlike?: string;
  readonly below?: number;
  readonly above?: number;
  /** What kind of network it names; a field that is not set is none of them. */
  readonly network?: 'v4' | 'v6' | 'invalid';
  /** Its network is smaller than the number of bits that another field has. */
  readonly smallerThan?: string;
  /** Both are set, and not alike. */
  readonly differsFrom?: string;
  /** An earlier item of the list has the same value. */
  readonly repeated?: true;
  /** A list has no items, or is not set; an empty text is an item, and something. No list on the way. */
  readonly empty?: boolean;
  /** More than one of these fields below it is set. */
  readonly several?: readonly string[];
}

/** Settings that an operator refuses. All rules of one must hold. */
export interface Refusal {
  /** Release of the service whose operator refused it first. */
  readonly since: string;
  /** The first release whose operator takes it again. */
  readonly before?: string;
  /** The operator's own words; `{field}` is the value there. */
  readonly says: string;
  /** Of each item of this list. */
  readonly items?: string;
  readonly when: readonly FieldRule[];
}

/** A value that the operator gives to a field that is not set, before it looks whether it takes the settings. The first one that fits counts. */
export interface DefaultValue {
  readonly field: string;
  readonly value: unknown;
  readonly items?: string;
  readonly when?: readonly FieldRule[];
}

/** What an operator finds out by itself and compares with its settings, below `/found` of them. */
export type Finding =
  /** The value of a key of a ConfigMap in one of the service's namespaces. */
  | { readonly name: string; readonly configMap: string; readonly namespace: string; readonly key: string }
  /** The value itself, where there is such a CRD, ConfigMap, workload or Service (with this label, if one is named). */
  | { readonly name: string; readonly value: string; readonly crd: string }
  | { readonly name: string; readonly value: string; readonly configMap: string; readonly namespace: string }
  | { readonly name: string; readonly value: string; readonly workload: string }
  | { readonly name: string; readonly value: string; readonly service: string; readonly namespace: string; readonly label?: string }
  /** Where there is a CRD of this group, and a label of a node begins so; each if it is named. `beside`: another label of that node. */
  | { readonly name: string; readonly value: string; readonly crdGroup?: string; readonly nodeLabel?: string; readonly beside?: string };
