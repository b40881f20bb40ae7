import type { Evidence } from '../../kernel/check.ts';
import { canonicalNetwork, isWithin } from '../../kernel/ip-text.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { OperatorCrossings } from '../../kernel/operator-names.ts';
import { storedMetadata } from '../../kube/stored-metadata.ts';
import { hasOwnCni } from '../ipam/index.ts';
import { evidenceOf, specOf } from '../survey/index.ts';

/** What the operator does about a pool that is not as its list says. */
export type Fate = 'kept' | 'created' | 'returns' | 'changed' | 'deleted' | 'replaced' | 'stuck' | 'unwritable';

export interface PoolDrift {
  readonly evidence: Evidence;
  readonly fate: Fate;
  /** What makes the list of the Installation say what the cluster has. */
  readonly patch: readonly ({ readonly path: string } & ({ readonly op: 'add'; readonly value: unknown } | { readonly op: 'remove' }))[];
}

export interface PoolsGiven {
  readonly installation: KubeObject;
  readonly names: OperatorCrossings['pools'];
  readonly live: readonly KubeObject[];
  /** There is an API server of the service: only through it the operator changes pools. */
  readonly hasApi: boolean;
  /** The installed operator creates no pool of the list where there are pools; that of the target does. */
  readonly beginsToCreate: boolean;
  readonly apiGroup: string;
}

type Values = Readonly<Record<string, unknown>>;

/** Compares the pools as the operator does (domain §11.3): one of the list and one of the cluster are the same pool by their network alone. */
export function poolDrift(given: PoolsGiven): readonly PoolDrift[] {
  const { installation, names, live } = given;
  const listed = jsonAt(specOf(installation), ...names.field);
  const entries = (Array.isArray(listed) ? listed : []).map((entry, index) => ({ entry: entryOf(entry, installation, live), index }));
  const missing = entries.filter(({ entry }) => !live.some((pool) => networkOf(pool) === canonical(entry.cidr)));
  return [
    ...live.flatMap((pool) => {
      const found = entries.find(({ entry }) => canonical(entry.cidr) === networkOf(pool));
      return found ? comparedTo(found.entry, found.index, pool, given) : unlisted(pool, given);
    }),
    ...(live.length === 0 ? [] : missing).map(({ entry, index }) => notThere(String(entry.cidr), index, given)),
  ];
}

function unlisted(pool: KubeObject, given: PoolsGiven): readonly PoolDrift[] {
  const { installation, names, hasApi } = given;
  if (!isOwned(pool, given)) return [];
  const fate = hasApi ? 'deleted' : 'stuck';
  const hasList = Array.isArray(jsonAt(specOf(installation), ...names.field));
  const value = Object.fromEntries(['cidr', ...FIELDS].map((field) => [field, poolValues(pool)[field]]));
  const detail = `${cidrOf(pool)} is not in the list of the Installation: ${DOES[fate]}`;
  const patch = hasList ? [{ op: 'add', path: `/spec/${names.field.join('/')}/-`, value } as const] : [];
  return [{ evidence: evidenceOf(pool, detail), fate, patch }];
}

/** A pool that somebody deleted comes back: the API refuses it where its network overlaps another. */
function notThere(cidr: string, index: number, { installation, names, hasApi, live, beginsToCreate }: PoolsGiven): PoolDrift {
  const other = live.find((pool) => isWithin(cidr, cidrOf(pool)) || isWithin(cidrOf(pool), cidr));
  const made = beginsToCreate ? 'returns' : 'created';
  const fate = hasApi && !other ? made : 'stuck';
  const overlaps = other ? `, and overlaps ${other.metadata.name} ${cidrOf(other)}` : '';
  const patch = fate === 'created' ? [] : [{ op: 'remove', path: `/spec/${names.field.join('/')}/${index}` } as const];
  return { evidence: evidenceOf(installation, `${cidr} is no pool in the cluster${overlaps}: ${DOES[fate]}`), fate, patch };
}

function comparedTo(entry: Values, index: number, pool: KubeObject, given: PoolsGiven): readonly PoolDrift[] {
  const { names, hasApi } = given;
  const owned = isOwned(pool, given);
  const written = String(entry.cidr);
  const path = `/spec/${names.field.join('/')}/${index}`;
  if (written !== cidrOf(pool)) {
    const fate = owned && hasApi ? 'replaced' : 'stuck';
    const detail = `is ${cidrOf(pool)}, and ${written} in the Installation: one network written in two ways. ${DOES[fate]}`;
    return [{ evidence: evidenceOf(pool, detail), fate, patch: [{ op: 'add', path: `${path}/cidr`, value: cidrOf(pool) }] }];
  }
  const found = poolValues(pool);
  const fields = FIELDS.filter((field) => !isSame(found[field], entry[field]));
  if (fields.length === 0) return hasApi ? [] : writtenOtherwise(entry, pool, owned);
  const fate = fateOf(fields, owned, hasApi);
  if (fate === undefined) return writtenOtherwise(entry, pool, owned);
  const label = fate === 'kept' ? ` ${names.label.key}=${names.label.value}` : '';
  const differences = fields.map((field) => `${field} is ${shown(field, pool, found)}, and ${textOf(entry[field])} in the Installation`);
  return [
    {
      evidence: evidenceOf(pool, `${differences.join('; ')}: ${DOES[fate]}${label}`),
      fate,
      patch: fields.map((field) => ({ op: 'add', path: `${path}/${field}`, value: found[field] })),
    },
  ];
}

/**
 * Without an API server the operator compares the texts of its own pool (`reflect.DeepEqual`), and does not let a difference of form pass. Its
 * own is one without the label, too, that reads as its entry does: the modes alone may be written otherwise, and of `None` they cannot be.
 */
function writtenOtherwise(entry: Values, pool: KubeObject, owned: boolean): readonly PoolDrift[] {
  const [ipipMode, vxlanMode] = MODES[String(entry.encapsulation)] ?? MODES.None;
  const wanted: Values = {
    ipipMode,
    vxlanMode,
    allowedUses: entry.allowedUses,
    nodeSelector: entry.nodeSelector,
    blockSize: entry.blockSize,
  };
  const stored = specOf(pool);
  const fields = Object.entries(wanted).filter(([field, value]) => textOf(stored[field] ?? '') !== textOf(value));
  const isTaken = owned || (entry.encapsulation !== 'None' && fields.every(([field]) => field.endsWith('Mode')));
  if (fields.length === 0 || !isTaken) return [];
  const differences = fields.map(([field, value]) => `${field} is ${named(stored[field])}, and the operator writes ${named(value)}`);
  const detail = `means the same as the Installation, written otherwise: ${differences.join('; ')}. ${DOES.unwritable}`;
  return [{ evidence: evidenceOf(pool, detail), fate: 'unwritable', patch: [] }];
}

const named = (value: unknown): string => (isSet(value) ? textOf(value) : 'nothing');

/** As the operator writes them: `ipipMode` and `vxlanMode`. */
const MODES: Readonly<Record<string, readonly [string, string]>> & { readonly None: readonly [string, string] } = {
  None: ['', ''],
  IPIP: ['Always', 'Never'],
  IPIPCrossSubnet: ['CrossSubnet', 'Never'],
  VXLAN: ['Never', 'Always'],
  VXLANCrossSubnet: ['Never', 'CrossSubnet'],
};

/** Without the label the operator takes no pool that differs; the API refuses another name (the networks overlap) or block size. */
function fateOf(fields: readonly string[], owned: boolean, hasApi: boolean): Fate | undefined {
  if (!owned) return 'kept';
  if (!hasApi) return fields.every((field) => field === 'name') ? undefined : 'stuck';
  return fields.some((field) => field === 'name' || field === 'blockSize') ? 'stuck' : 'changed';
}

const DOES: Readonly<Record<Fate, string>> = {
  kept: 'the operator changes no pool without its label',
  created: 'the operator creates it',
  returns: 'the operator of the target creates it, and new pods get addresses of it',
  changed: 'the operator changes the pool',
  deleted: 'the operator deletes the pool',
  replaced: 'The operator deletes the pool and creates it again',
  stuck: 'the operator cannot do it, and stays degraded',
  unwritable: 'The operator writes pools through the API server of the service alone, and stays degraded',
};

const FIELDS = [
  'name',
  'encapsulation',
  'natOutgoing',
  'nodeSelector',
  'blockSize',
  'disableNewAllocations',
  'disableBGPExport',
  'allowedUses',
  'assignmentMode',
] as const;

/** An entry of the list with the operator's defaults. */
function entryOf(entry: unknown, installation: KubeObject, live: readonly KubeObject[]): Values {
  const cidr = textAt(entry, 'cidr') ?? '';
  const isV6 = cidr.includes(':');
  const own = Object.fromEntries(['cidr', ...FIELDS].map((field) => [field, jsonAt(entry, field)]).filter(([, value]) => isSet(value)));
  const same = live.find((pool) => cidrOf(pool) === cidr);
  return {
    ...{ cidr, name: same?.metadata.name, encapsulation: !isV6 && hasOwnCni(installation) ? 'IPIP' : 'None' },
    ...{ natOutgoing: isV6 ? 'Disabled' : 'Enabled', ...defaults(isV6) },
    ...own,
  };
}

function defaults(isV6: boolean): Values {
  return {
    ...{ nodeSelector: 'all()', blockSize: isV6 ? 122 : 26, disableNewAllocations: false, disableBGPExport: false },
    ...{ allowedUses: ['Workload', 'Tunnel'], assignmentMode: 'Automatic' },
  };
}

/** A pool of the cluster in the words of the list; what is not set has its default. */
function poolValues(pool: KubeObject): Values {
  const { cidr, ipipMode, vxlanMode, natOutgoing, disabled, ...spec } = specOf(pool);
  const mode = [ENCAPSULATIONS[`VXLAN${vxlanMode}`], ENCAPSULATIONS[`IPIP${ipipMode}`]].find((one) => one !== undefined);
  const own = Object.fromEntries(Object.entries({ ...spec, cidr }).filter(([, value]) => isSet(value) && value !== 0));
  return {
    ...defaults(String(cidr).includes(':')),
    ...own,
    ...{ name: pool.metadata.name, encapsulation: mode ?? 'None' },
    ...{ natOutgoing: natOutgoing === true ? 'Enabled' : 'Disabled', disableNewAllocations: disabled === true },
  };
}

const ENCAPSULATIONS: Readonly<Record<string, string>> = {
  IPIPAlways: 'IPIP',
  IPIPCrossSubnet: 'IPIPCrossSubnet',
  VXLANAlways: 'VXLAN',
  VXLANCrossSubnet: 'VXLANCrossSubnet',
};

/** The live value as the pool itself has it, where it has another form there. */
function shown(field: (typeof FIELDS)[number], pool: KubeObject, found: Values): string {
  const { ipipMode = 'Never', vxlanMode = 'Never', natOutgoing = false } = specOf(pool);
  if (field === 'encapsulation') return `${found.encapsulation} (ipipMode ${ipipMode}, vxlanMode ${vxlanMode})`;
  return field === 'natOutgoing' ? String(natOutgoing) : textOf(found[field]);
}

function isSame(one: unknown, other: unknown): boolean {
  return textOf(Array.isArray(one) ? one.toSorted() : one) === textOf(Array.isArray(other) ? other.toSorted() : other);
}

const textOf = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));
const isSet = (value: unknown): boolean => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);
/** Of a pool, or of an entry of the list. */
export const familyOf = (pool: unknown): string => ((textAt(pool, 'cidr') ?? '').includes(':') ? 'IPv6' : 'IPv4');
const cidrOf = (pool: KubeObject): string => textAt(specOf(pool), 'cidr') ?? '';
const networkOf = (pool: KubeObject): string => canonical(cidrOf(pool));
const canonical = (cidr: unknown): string => canonicalNetwork(String(cidr).toLowerCase()) ?? String(cidr);

function isOwned(pool: KubeObject, { names: { label }, apiGroup }: PoolsGiven): boolean {
  return storedMetadata(pool, apiGroup).labels[label.key] === label.value;
}
