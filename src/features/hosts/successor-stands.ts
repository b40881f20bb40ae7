import type { EnginePorts } from '../../kernel/effect-type.ts';
import { MovedOn, Outdated } from '../../kernel/fault.ts';
import type { Kind, KubeObject, ObjectMeta } from '../../kernel/object.ts';
import { valueAt } from '../policies/index.ts';
import { type AutomaticSigns, type ExpectedCoverage, givenVariable, hostEndpointOf, whyOther } from '../policy-rules/index.ts';
import { type CliCall, cliList, cliNamed } from '../service-cli/index.ts';

/**
 * When the old endpoints of a node may be deleted (§4.7/3). The automatic one exists with exactly these labels and is still wanted, and the
 * old ones are those that were evaluated and kept.
 */
export interface SuccessorExpected {
  readonly type: 'successor';
  readonly node: ExpectedCoverage;
  /** In the versions that were read. */
  readonly old: readonly Version[];
  readonly signs: AutomaticSigns;
  readonly apiGroup: string;
  readonly setting: EndpointSetting;
  readonly from: EndpointSource;
  /** Policies and the like by which the host was evaluated: all of a kind, in the versions that were read. */
  readonly judgedBy: readonly JudgedBy[];
}

/** All objects of a kind as they were read. */
export interface JudgedBy {
  readonly plural: string;
  /** Undefined where only the service's CLI sees them. */
  readonly kind?: Kind;
  /** `versionsOf` them. */
  readonly versions: string;
}

/** Another text once one of the objects came, went or was written. */
export function versionsOf(objects: readonly { readonly metadata: ObjectMeta }[]): string {
  return objects
    .map(({ metadata: { name, uid = '', resourceVersion = '' } }) => `${name} ${uid} ${resourceVersion}`)
    .toSorted()
    .join('\n');
}

/** Object and field of the controllers' configuration that make automatic endpoints. */
export interface EndpointSetting {
  readonly name: string;
  readonly plural: string;
  readonly field: string;
  /** Variable of the controllers that beats the field: those that run write into the object's status what they were given. */
  readonly overriddenBy?: string;
}

/** Where endpoints and that configuration are read: the stored resources of the API, or the service's CLI in key-value mode. */
export type EndpointSource = { readonly kind: Kind; readonly settings: Kind } | { readonly cli: CliCall };

/** The undo of host endpoints may take its next step: no host may lose its endpoint, or have one without its labels. */
export interface WayBackExpected {
  readonly type: 'way-back';
  /** Old endpoints that must stand before automatic ones may go. */
  readonly standing?: readonly string[];
  /** Automatic ones must be switched off before copied labels may go. */
  readonly off?: true;
  readonly setting: EndpointSetting;
  readonly from: EndpointSource;
}

type Version = Pick<ObjectMeta, 'name' | 'uid' | 'resourceVersion'>;

type Ports = Pick<EnginePorts, 'cluster' | 'tools'>;

/** What is gone by then, somebody else removed. */
const UNTOUCHED = { done: false } as const;

/** Throws Outdated if what the removal was decided by does not hold at this moment. */
export async function assertSuccessor(ports: Ports, expected: SuccessorExpected): Promise<void> {
  const { node, old, signs, apiGroup, setting } = expected;
  const [endpoints, configuration] = await Promise.all([endpointsNow(ports, expected), configurationNow(ports, expected)]);
  const asked = askedFor(configuration, setting);
  if (!asked.on)
    throw new Outdated(asked.beaten ?? `${setting.name} does not ask for automatic host endpoints any more: ${DELETED}`, UNTOUCHED);
  const read = endpoints.map((one) => hostEndpointOf(one, apiGroup));
  const why = whyOther(node, read, signs);
  if (why !== undefined) throw new Outdated(`${node.node}: ${why}`, UNTOUCHED);
  await assertJudgedBy(ports, expected);
  const byName = new Map(endpoints.map((one) => [one.metadata.name, one.metadata]));
  for (const one of old) {
    const live = byName.get(one.name);
    if (!live) throw new Outdated(`the host endpoint ${one.name} is gone`, UNTOUCHED);
    if (!isSame(one, live)) throw new MovedOn(`the host endpoint ${one.name} changed meanwhile`, UNTOUCHED);
  }
}

/** A policy that was added, removed or changed since may open a host, or isolate it. */
async function assertJudgedBy(ports: Ports, { judgedBy, from }: SuccessorExpected): Promise<void> {
  const now = await Promise.all(
    judgedBy.map(({ plural, kind }) => {
      if (kind) return ports.cluster.list(kind, { metadataOnly: true });
      return 'cli' in from ? cliList(ports, from.cli, plural) : [];
    }),
  );
  const other = judgedBy.find(({ versions }, index) => versionsOf(now[index] ?? []) !== versions);
  if (other) throw new Outdated(`${other.plural} changed meanwhile, and the verdict on the host depends on them`, UNTOUCHED);
}

/**
 * Throws Outdated if an old endpoint that existed or was created again is missing, or if automatic ones are still wanted. Another client
 * may have changed this since the plan, or the server may have answered it from older data.
 */
export async function assertWayBack(ports: Ports, { standing = [], off, setting, from }: WayBackExpected): Promise<void> {
  if (standing.length > 0) {
    const live = 'cli' in from ? await cliList(ports, from.cli, 'hostendpoints') : await ports.cluster.list(from.kind);
    const names = new Set(live.map(({ metadata }) => metadata.name));
    const missing = standing.find((name) => !names.has(name));
    if (missing !== undefined) throw new Outdated(`the host endpoint ${missing} is not there: its host would be without one`);
  }
  if (!off) return;
  const asked = askedFor(await configurationNow(ports, { from, setting }), setting);
  if (asked.on) throw new Outdated(`${asked.beaten ?? `${setting.name} still asks for automatic host endpoints`}: ${UNREACHED}`);
}

const DELETED = 'the controllers delete theirs';
const UNREACHED = 'without the copied labels no policy would reach them';

/** Whether automatic endpoints are on; `beaten`: by a variable, whatever the setting says (host endpoint notes 1.5). */
function askedFor(configuration: KubeObject | undefined, { name, field, overriddenBy }: EndpointSetting) {
  const given = overriddenBy === undefined ? undefined : givenVariable(configuration, overriddenBy);
  const on = String(given ?? valueAt(configuration, field)).toLowerCase() === 'enabled';
  return { on, beaten: given === undefined ? undefined : `${overriddenBy}=${given} of the controllers that run beats ${name}` };
}

function isSame(read: Version, live: Version): boolean {
  return read.uid === live.uid && read.resourceVersion === live.resourceVersion;
}

/** By their names, without a list of the fleet; an automatic one whose name had to be shortened is found in the list. */
async function endpointsNow(ports: Ports, { from, node, old, signs }: SuccessorExpected): Promise<readonly KubeObject[]> {
  const names = [`${node.node}${signs.autoHepSuffix}`, ...old.map(({ name }) => name)];
  if ('cli' in from) {
    const found = await cliNamed(ports, from.cli, 'hostendpoints', names);
    return found.some(({ metadata }) => metadata.name === names[0]) ? found : cliList(ports, from.cli, 'hostendpoints');
  }
  const [automatic, ...live] = await Promise.all(names.map((name) => ports.cluster.get(from.kind, name)));
  return automatic ? [automatic, ...live.filter((one) => one !== undefined)] : ports.cluster.list(from.kind);
}

async function configurationNow(ports: Ports, { from, setting }: Pick<WayBackExpected, 'from' | 'setting'>) {
  if (!('cli' in from)) return ports.cluster.get(from.settings, setting.name);
  return (await cliNamed(ports, from.cli, setting.plural, [setting.name])).find(({ metadata }) => metadata.name === setting.name);
}
