import type { Reading } from '../../kernel/check.ts';
import { type DataPlane, type Installation, isKeyValue } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { settingsOf } from '../../kube/workload.ts';
import type { Agent } from './components.ts';

/** Of the agents' settings, by their kind. */
const SETTINGS = { kind: 'FelixConfiguration', plural: 'felixconfigurations' };

/** The agents' settings for all nodes; undefined where there are none, or where the cluster does not store them. */
export async function agentSettingsIn(
  cluster: ClusterReader,
  { crdGroup, apiGroup }: Profile,
  crds: readonly { readonly group: string; readonly plural: string }[],
): Promise<KubeObject | undefined> {
  const stored = [
    { group: crdGroup, version: 'v1' },
    { group: apiGroup, version: 'v3' },
  ].find(({ group }) => crds.some((crd) => crd.group === group && crd.plural === SETTINGS.plural));
  return stored && cluster.get({ ...SETTINGS, ...stored, namespaced: false }, 'default');
}

interface SeenSettings {
  readonly profile: Profile;
  readonly configMaps: readonly KubeObject[];
  readonly agentSettings: Reading<KubeObject | undefined>;
  readonly datastore: 'api' | 'kvstore';
  readonly installation?: KubeObject | undefined;
}

/** By the operator, which writes the agents' setting, or by that setting: the agents' environment first. Nothing where it was not read. */
export function dataPlaneOf(agent: Agent | undefined, seen: SeenSettings): Pick<Installation, 'dataPlane' | 'overrulesNodes'> {
  const { profile, installation, agentSettings, datastore } = seen;
  const { field, bpf } = profile.operator.crossings?.dataPlane ?? {};
  if (field && installation && jsonAt(installation.spec, ...field) === bpf?.value) return { dataPlane: 'ebpf' };
  const set = agent && inEnvironment(agent, seen);
  if (set !== undefined) return { dataPlane: named(set), ...(set === '' ? {} : { overrulesNodes: true }) };
  if ('unread' in agentSettings || isKeyValue({ datastore })) return {};
  return { dataPlane: named(jsonAt(agentSettings.value?.spec, 'bpfEnabled')) };
}

const named = (bpfEnabled: unknown): DataPlane => (String(bpfEnabled).toLowerCase() === 'true' ? 'ebpf' : 'standard');

function inEnvironment({ container, object }: Agent, { profile, configMaps }: SeenSettings): string | undefined {
  const { syncEnv } = profile.sidecar;
  const name = `${syncEnv.slice(0, syncEnv.indexOf('_') + 1)}BPFENABLED`;
  return settingsOf(container, object.metadata.namespace ?? '', configMaps).env(name)?.value;
}
