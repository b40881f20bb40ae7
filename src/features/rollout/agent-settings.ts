import { read } from '../../kernel/check.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { settingsOf } from '../../kube/workload.ts';
import { allContainersOf, objectsOf, type PreflightFacts, specOf } from '../survey/index.ts';
import { findWorkload, serviceWorkloads } from './targets.ts';

export interface AgentSetting {
  /** Undefined where nobody has set it. */
  readonly value: unknown;
  /** The one node that it is for. */
  readonly node?: string;
}

/** Of the configuration of one node, before its name. */
const OF_NODE = 'node.';

/** A setting of the agents by its field: for all nodes first, then those of single nodes. Their environment, which has the same word in capitals, beats what is stored. */
export function agentSettings(
  facts: PreflightFacts,
  installation: Installation,
  profile: Profile,
  field: string,
): readonly [AgentSetting, ...AgentSetting[]] {
  const agent = serviceWorkloads(installation, profile)?.agent;
  const live = agent && findWorkload(read(facts.daemonSets), agent);
  const container = live && allContainersOf(live).find(({ name }) => name === agent?.container);
  const prefix = profile.sidecar.syncEnv.slice(0, profile.sidecar.syncEnv.indexOf('_') + 1);
  const variable = `${prefix}${field.toUpperCase()}`;
  const isReferred = container?.env?.some(({ name, valueFrom }) => name === variable && valueFrom !== undefined) === true;
  const maps = isReferred ? read(facts.configMaps) : [];
  const set = container && settingsOf(container, agent?.namespace ?? '', maps).env(variable)?.value;
  if (set !== undefined) return [{ value: set }];
  const stored = agentConfigurations(facts, installation);
  const own = stored.flatMap(({ metadata: { name }, spec }): readonly AgentSetting[] => {
    const value = name.startsWith(OF_NODE) ? jsonAt(spec, field) : undefined;
    return value === undefined ? [] : [{ value, node: name.slice(OF_NODE.length) }];
  });
  return [{ value: jsonAt(specOf(stored.find((one) => one.metadata.name === 'default')), field) }, ...own];
}

/** The same for all nodes. */
export function agentSetting(facts: PreflightFacts, installation: Installation, profile: Profile, field: string): unknown {
  return agentSettings(facts, installation, profile, field)[0].value;
}

/** Where the agents run eBPF: everywhere, on these nodes alone, or nowhere. */
export function ebpfNodes(facts: PreflightFacts, installation: Installation, profile: Profile): 'all' | readonly string[] {
  const [common, ...own] = agentSettings(facts, installation, profile, 'bpfEnabled').map((one) => ({
    ...one,
    isOn: String(one.value).toLowerCase() === 'true',
  }));
  return common?.isOn ? 'all' : own.flatMap(({ node, isOn }) => (isOn && node !== undefined ? [node] : []));
}

/** In key-value mode as the service's CLI lists them; if that fails, only the environment counts. */
function agentConfigurations(facts: PreflightFacts, { datastore }: Installation): readonly KubeObject[] {
  if (datastore === 'api') return objectsOf(facts, 'felixconfigurations');
  return ('value' in facts.inStore ? facts.inStore.value?.agentConfigurations : undefined) ?? [];
}
