import { counted } from '../../kernel/counted.ts';
import type { Datastore, Detection } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile, Sign, Variant } from '../../kernel/profile.ts';
import { hasContainer, isNamed, type Setting, type Settings, settingsOf } from '../../kube/workload.ts';
import { type Agent, agentText } from './components.ts';
import { installed, managers } from './installed-sign.ts';
import type { Seen } from './seen.ts';

/** Paths C and D: agents by the name of a manifest variant, and no Installation (domain §2.1/4). */
export function detectManifest(agent: Agent, seen: Seen): Detection {
  const { profile } = seen;
  const variants = profile.variants.filter((variant) => isNamed(agent.object, variant.agent));
  const namespace = agent.object.metadata.namespace ?? '';
  const settings = settingsOf(agent.container, namespace, seen.configMaps);
  const workloads = [...seen.daemonSets, ...seen.deployments].filter(({ metadata }) => metadata.namespace === namespace);
  const store = datastoreOf(settings, [...new Set(variants.map(({ configMap }) => configMap))], profile);
  const base = [`agents: ${agentText(agent)}, no Installation`];
  const unclear = (because: string, candidates: readonly string[], evidence: readonly string[]): Detection => ({
    type: 'ambiguous',
    because,
    candidates,
    evidence: [...base, ...evidence],
    managedBy: managers({ agent }, seen),
  });
  const ids = variants.map(({ id }) => id);
  if ('unclear' in store) return unclear(store.unclear, ids, []);
  const fitting = variants.filter((variant) => variant.datastore === store.datastore);
  const others = variants.filter((variant) => !fitting.includes(variant));
  const answer = chooseVariant(fitting, { agent, settings, workloads }, others);
  if ('unclear' in answer) {
    const because = `${agentText(agent)}: ${oddity(agent, variants, settings, profile) ?? answer.unclear}`;
    return unclear(because, answer.candidates, [store.evidence, ...answer.evidence]);
  }
  const evidence = [...base, store.evidence, `variant ${answer.variant.id}: ${counted(answer.variant.signs.length, 'sign')} found`];
  return found(agent, answer.variant, evidence, seen);
}

/** The user named the variant: that is what it is, with the evidence that they did. */
export function takeVariant(agent: Agent, variant: Variant, seen: Seen): Detection {
  return found(agent, variant, [`agents: ${agentText(agent)}`, `variant ${variant.id}: named with --variant`], seen);
}

function found(agent: Agent, { id, datastore }: Variant, evidence: readonly string[], seen: Seen): Detection {
  const decision = { path: datastore === 'kvstore' ? 'kvstore' : 'manifest', variant: id, datastore, agent, evidence } as const;
  return { type: 'found', installation: installed(decision, seen) };
}

/** What makes it unlike every install manifest, in the words of the user who looks at it. */
function oddity(agent: Agent, variants: readonly Variant[], settings: Settings, profile: Profile): string | undefined {
  if (hasContainer(agent.object, profile.cniInstaller)) return undefined;
  const missing = [...new Set(variants.map(({ configMap }) => configMap))].filter((name) => !settings.hasConfigMap(name));
  const noConfig = missing.length > 0 ? ` and there is no ConfigMap ${missing.join(' or ')}` : '';
  return `it installs no CNI plugin (no container ${profile.cniInstaller})${noConfig}: policy beside another network, from no install manifest`;
}

type DatastoreAnswer = { readonly datastore: Datastore; readonly evidence: string } | { readonly unclear: string };

/** Where the agent keeps its data: the variable that says so, else endpoints of a key-value store (domain §2.3). */
function datastoreOf(settings: Settings, configMaps: readonly string[], profile: Profile): DatastoreAnswer {
  const facts = profile.datastore;
  const named = settings.env(facts.env);
  if (named) return byName(named.value, profile);
  const endpoints =
    facts.endpointsEnv.map((name) => settings.env(name)).find((setting) => setting !== undefined) ??
    configMaps.map((name) => settings.key(name, facts.endpointsKey)).find((setting) => setting !== undefined);
  if (endpoints) return { datastore: 'kvstore', evidence: `key-value datastore: ${endpoints.from} is set, ${facts.env} is not` };
  if (facts.otherwise) return { datastore: facts.otherwise, evidence: `datastore ${facts.otherwise}: nothing else is set` };
  return { unclear: `the agents have neither ${facts.env} nor ${facts.endpointsEnv.join(' nor ')}: their datastore is unknown` };
}

function byName(value: string | undefined, profile: Profile): DatastoreAnswer {
  const { env, api, kvstore } = profile.datastore;
  if (value !== undefined && api.includes(value)) return { datastore: 'api', evidence: `API datastore: ${env}=${value}` };
  if (value !== undefined && kvstore.includes(value)) return { datastore: 'kvstore', evidence: `key-value datastore: ${env}=${value}` };
  return { unclear: `${env} of the agents is ${value === undefined ? 'set by a reference that leads nowhere' : `"${value}"`}` };
}

/** What a variant's signs are held against. */
interface VariantFacts {
  readonly agent: Agent;
  readonly settings: Settings;
  /** DaemonSets and Deployments of the agent's namespace. */
  readonly workloads: readonly KubeObject[];
}

type VariantAnswer =
  | { readonly variant: Variant }
  | { readonly unclear: string; readonly candidates: readonly string[]; readonly evidence: readonly string[] };

/**
 * The one variant whose signs all hold, the more specific one if it includes another's; else unclear, with the missing signs (domain §2.3).
 * `others`, of the other datastore, are only offered: with mixed settings the datastore's name may be the wrong one.
 */
function chooseVariant(variants: readonly Variant[], facts: VariantFacts, others: readonly Variant[]): VariantAnswer {
  const withMissing = (variant: Variant) => ({ variant, missing: variant.signs.flatMap((sign) => missing(sign, variant, facts) ?? []) });
  const judged = variants.map(withMissing);
  const fitting = judged.filter(({ missing }) => missing.length === 0).map(({ variant }) => variant);
  const best = fitting.filter((variant) => !fitting.some((other) => other !== variant && includesSigns(other, variant)));
  const only = best[0];
  if (only && best.length === 1) return { variant: only };
  const ids = best.map(({ id }) => id);
  if (only) return { unclear: `it looks like ${ids.join(' and like ')}`, candidates: ids, evidence: [] };
  const nearest = [...judged, ...others.map(withMissing)].toSorted((a, b) => a.missing.length - b.missing.length);
  return {
    unclear: 'it fits no manifest variant',
    candidates: nearest.map(({ variant }) => variant.id),
    evidence: nearest.map(({ variant, missing }) => `not ${variant.id}: ${missing.join('; ')}`),
  };
}

function includesSigns(larger: Variant, smaller: Variant): boolean {
  const texts = new Set(larger.signs.map((sign) => JSON.stringify(sign)));
  return larger.signs.length > smaller.signs.length && smaller.signs.every((sign) => texts.has(JSON.stringify(sign)));
}

/** Why a sign does not hold; undefined if it does. */
function missing(sign: Sign, variant: Variant, { agent, settings, workloads }: VariantFacts): string | undefined {
  switch (sign.type) {
    case 'env':
      return missingValue(sign, settings.env(sign.name), `env ${sign.name}`);
    case 'configMapKey':
      return missingValue(sign, settings.key(variant.configMap, sign.key), `key ${sign.key} of ConfigMap ${variant.configMap}`);
    case 'container':
      return missingThing(sign, hasContainer(agent.object, sign.name), `container ${sign.name}`);
    case 'workload':
      return missingThing(
        sign,
        workloads.some(({ kind, metadata }) => kind === sign.kind && metadata.name === sign.name),
        `${sign.kind} ${sign.name}`,
      );
  }
}

type ValueSign = Extract<Sign, { type: 'env' | 'configMapKey' }>;

function missingValue(sign: ValueSign, setting: Setting | undefined, what: string): string | undefined {
  if (setting === undefined) return sign.absent || sign.noneOf ? undefined : `${what} is not set`;
  const value = setting.value;
  const shown = value === undefined ? 'set by a reference that leads nowhere' : `"${value}"`;
  if (sign.oneOf) return value !== undefined && sign.oneOf.includes(value) ? undefined : `${what} is ${shown}`;
  if (sign.noneOf) return value !== undefined && !sign.noneOf.includes(value) ? undefined : `${what} is ${shown}`;
  return sign.absent ? `${what} is ${shown}` : undefined;
}

function missingThing(sign: { readonly absent?: boolean }, there: boolean, what: string): string | undefined {
  if (there !== (sign.absent ?? false)) return undefined;
  return `there is ${there ? 'a' : 'no'} ${what}`;
}
