import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { isKeyValue } from '../../kernel/installation.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOlder } from '../../kernel/release.ts';
import { valueAt } from '../policies/index.ts';
import { type AutomaticSettings, givenVariable } from '../policy-rules/index.ts';
import { attempt, containersOf } from '../survey/index.ts';
import type { HepFacts, HepJudged, Override } from './facts.ts';

type Obstacles = HepJudged['obstacles'];

/** What keeps automatic endpoints from being made once they are switched on. */
export function obstaclesOn(facts: HepFacts, context: Context): Obstacles {
  return [
    ...overrideOf(facts, context, { needed: true }),
    ...coverageOf(facts),
    ...syncOf(facts),
    ...waitOf(facts, context),
    ...absentOf(facts),
  ];
}

type Told = Pick<HepFacts, 'override' | 'settings' | 'configuration'>;

interface Wanted {
  /** Without automatic endpoints hosts would have none. */
  readonly needed: boolean;
  /** The undo wants them off, so one that says so does no harm. */
  readonly off?: true;
}

/** Variables that override the setting or cannot be read; one that agrees counts, as it blocks the undo. */
export function overrideOf(told: Told, { profile }: Context, { needed, off }: Wanted): Obstacles {
  const { override, configuration } = told;
  const name = profile.automaticEndpointsEnv;
  if (name === undefined) return [];
  const isHarmful = (value: string | undefined) => value !== undefined && !(off && value.toLowerCase() === 'disabled');
  const running = givenVariable(configuration, name);
  const first = needed ? enableFirst(told, name, profile) : undefined;
  const takeOut = (where: string) => `${first ? `${first} Then take` : 'Take'} ${name} out of the controllers’ ${where}`;
  if ('unread' in override) {
    const detail = `${name} of the controllers is set, and its value was not read: ${override.unread}`;
    return [{ text: name, detail, hint: takeOut('Deployment.') }];
  }
  if (isHarmful(override.value)) {
    return [{ text: name, detail: `${name}=${override.value} of the controllers overrides the setting`, hint: takeOut('Deployment.') }];
  }
  if (!isHarmful(running)) return [];
  const detail = `${name}=${running} is set in the running controllers, as their configuration shows, and overrides the setting`;
  return [{ text: name, detail, hint: takeOut('environment, and let them start again.') }];
}

/** Controllers restarted without the variable follow the setting, and delete what the variable alone keeps (hostendpoints §1.5). */
function enableFirst({ override, settings, configuration }: Told, name: string, { controllersConfiguration }: Profile): string | undefined {
  const fields = missingSettings(settings);
  const values = [givenVariable(configuration, name), 'value' in override ? override.value : undefined];
  const isUnknown = 'unread' in override && values[0] === undefined;
  if (fields.length === 0 || !(isUnknown || values.some((value) => value?.toLowerCase() === 'enabled'))) return undefined;
  const { kind, name: configured } = controllersConfiguration;
  const set = `Set ${fields.join(' and ')} of ${kind}/${configured} to Enabled first`;
  const why = `only ${name} keeps automatic endpoints, and without it the controllers delete them`;
  return `${isUnknown ? 'Where it is enabled: ' : ''}${set}: ${why}.`;
}

/** Without which the controllers make no automatic endpoint by the setting; a variable that says enabled asks for neither. */
export function missingSettings({ autoCreate, createDefault }: AutomaticSettings): readonly string[] {
  const missing = [...(autoCreate ? [] : ['autoCreate']), ...(createDefault ? [] : ['createDefaultHostEndpoint'])];
  return missing.map((field) => `spec.controllers.node.hostEndpoint.${field}`);
}

/** With the API datastore the switch does not touch automatic endpoints (host endpoint notes 1.5); in key-value mode nodes’ labels stay behind. */
function syncOf({ configuration, installation }: HepFacts): Obstacles {
  const value = textAt(configuration, 'spec', 'controllers', 'node', 'syncLabels');
  if (!isKeyValue(installation) || value?.toLowerCase() !== 'disabled') return [];
  return [{ text: 'syncLabels: Disabled', detail: 'labels of nodes do not reach the datastore', hint: 'Set syncLabels to Enabled.' }];
}

function absentOf({ configuration, controllers }: HepFacts): Obstacles {
  if (configuration) return [];
  const detail = controllers ? 'the controllers have not written their configuration yet' : 'there are no controllers';
  return [{ text: 'no configuration of the controllers', detail, hint: 'Let the controllers run once; they create it.' }];
}

function coverageOf({ settings }: HepFacts): Obstacles {
  if (settings.createDefault) return [];
  const detail = settings.templates > 0 ? 'only templates make endpoints, and not on all interfaces' : 'default endpoints are switched off';
  return [{ text: 'createDefaultHostEndpoint: Disabled', detail, hint: 'Set createDefaultHostEndpoint to Enabled.' }];
}

/**
 * From the renaming release on the controllers do nothing, endpoints included, before the named DaemonSet is rolled out, unless the
 * renaming is held (host endpoint notes 0.2, 6.2).
 */
function waitOf({ agents, configuration }: HepFacts, { profile, goal }: Context): Obstacles {
  const { policyRenaming } = profile;
  if (!policyRenaming?.waitsFor || isOlder(goal.release, policyRenaming.since)) return [];
  if (!agents || valueAt(configuration, policyRenaming.switchField) === 'Disabled') return [];
  const text = `DaemonSet ${policyRenaming.waitsFor}`;
  if (agents.metadata.name === policyRenaming.waitsFor) return unfinishedOf(agents).map((rest) => ({ text, ...rest }));
  return [
    {
      text,
      detail: `the controllers wait for it before they make endpoints, and the agents here are called ${agents.metadata.name}`,
      hint: `Switch the renaming of policies off first: ${policyRenaming.switchField}: Disabled.`,
    },
  ];
}

/** The first of the controllers' own conditions that does not hold. Unlike a rollout's, they want no agent where none should be. */
function unfinishedOf({ metadata, status }: KubeObject): readonly { readonly detail: string; readonly hint: string }[] {
  const count = (field: string) => Number(jsonAt(status, field) ?? 0);
  const [wanted, misplaced] = [count('desiredNumberScheduled'), count('numberMisscheduled')];
  const counts = (field: string, needed: number) => ({
    holds: count(field) === needed,
    detail: `${field} is ${count(field)} of ${wanted}`,
    hint: ROLLING,
  });
  const strayed = `agents run on ${counted(misplaced, 'node')} that should have none, and the controllers wait forever`;
  const open = [
    { holds: count('observedGeneration') === (metadata.generation ?? 0), detail: 'its latest change has not been seen yet', hint: ROLLING },
    counts('currentNumberScheduled', wanted),
    counts('updatedNumberScheduled', wanted),
    counts('numberUnavailable', 0),
    { holds: misplaced === 0, detail: `numberMisscheduled is ${misplaced}: ${strayed}`, hint: STRAYED },
  ].find(({ holds }) => !holds);
  if (!open) return [];
  return [{ detail: `the controllers make no endpoints before it is rolled out: ${open.detail}`, hint: open.hint }];
}

const ROLLING = 'Let the rolling update of the agents end first.';
const STRAYED = 'Delete these pods, or let the DaemonSet select and tolerate their nodes again.';

/** Value of a variable that a workload's containers are given as text; the last one counts. */
export function envOf(workload: KubeObject | undefined, name: string): string | undefined {
  return (workload ? containersOf(workload) : []).flatMap(({ env }) => env ?? []).findLast((one) => one.name === name)?.value;
}

/** What gives a workload's containers a variable; the last with a value counts. A whole Secret may: ask the controllers then. */
function variableSources(cluster: Reader, workload: KubeObject, name: string): readonly (() => Promise<Override>)[] {
  return containersOf(workload).flatMap(({ env = [], envFrom = [] }) => [
    ...envFrom.flatMap(({ prefix = '', configMapRef }) => {
      if (configMapRef?.name === undefined || !name.startsWith(prefix)) return [];
      return [fromMap(cluster, workload, configMapRef.name, name.slice(prefix.length))];
    }),
    ...env
      .filter((one) => one.name === name)
      .map(({ value = '', valueFrom }) => {
        if (!valueFrom) return async () => ({ value });
        const { configMapKeyRef: map, secretKeyRef: secret } = valueFrom;
        if (map?.name !== undefined && map.key !== undefined) return fromMap(cluster, workload, map.name, map.key);
        const from = secret ? `it is key ${secret.key} of Secret ${secret.name}` : `it is taken from ${Object.keys(valueFrom).join(', ')}`;
        return async () => ({ unread: from });
      }),
  ]);
}

type Reader = Pick<ClusterReader, 'get'>;

function fromMap(cluster: Reader, { metadata: { namespace = '' } }: KubeObject, name: string, key: string): () => Promise<Override> {
  return async () => {
    const map = await attempt(() => cluster.get(K.ConfigMap, name, namespace));
    return 'unread' in map ? { unread: `ConfigMap/${namespace}/${name}: ${map.unread}` } : { value: textAt(map.value, 'data', key) };
  };
}

/** Reads it through ConfigMaps. A Secret is not read: the variable then only counts as set. */
export async function readOverride(cluster: Reader, controllers: KubeObject | undefined, name: string | undefined): Promise<Override> {
  if (name === undefined || !controllers) return { value: undefined };
  // The last one that gives a value counts; a ConfigMap may have none of that name.
  for (const read of variableSources(cluster, controllers, name).toReversed()) {
    const reading = await read();
    if ('unread' in reading || reading.value !== undefined) return reading;
  }
  return { value: undefined };
}
