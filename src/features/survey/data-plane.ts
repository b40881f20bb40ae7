import type { Reading } from '../../kernel/check.ts';
import { type DataPlane, type Installation, isKeyValue } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { named } from '../../kube/lean-objects.ts';
import { settingsOf } from '../../kube/workload.ts';
import type { Agent } from './components.ts';

/** Of the agents' settings, by their kind. */
const FIELD = 'bpfEnabled';
const SETTINGS = { kind: 'FelixConfiguration', plural: 'felixconfigurations' };

/** The agents' settings, for all nodes and for single ones; none where the cluster does not store them. */
export async function agentSettingsIn(
  cluster: ClusterReader,
  { crdGroup, apiGroup }: Profile,
  crds: readonly { readonly group: string; readonly plural: string }[],
): Promise<readonly KubeObject[]> {
  const stored = [
    { group: crdGroup, version: 'v1' },
    { group: apiGroup, version: 'v3' },
  ].find(({ group }) => crds.some((crd) => crd.group === group && crd.plural === SETTINGS.plural));
  return stored ? cluster.list({ ...SETTINGS, ...stored, namespaced: false }, { keep: lean }) : [];
}

const lean = (object: KubeObject): KubeObject => ({ ...named(object), spec: { [FIELD]: jsonAt(object.spec, FIELD) } });

interface SeenSettings {
  readonly profile: Profile;
  readonly configMaps: readonly KubeObject[];
  readonly agentSettings: Reading<readonly KubeObject[]>;
  readonly datastore: 'api' | 'kvstore';
  readonly installation?: KubeObject | undefined;
}

/**
 * By the operator, which writes the agents' setting, or by that setting: the agents' environment first. eBPF where a single node has it:
 * what is said of it is true there. Nothing where it was not read.
 */
export function dataPlaneOf(agent: Agent | undefined, seen: SeenSettings): Pick<Installation, 'dataPlane' | 'overrulesNodes'> {
  const { profile, installation, agentSettings, datastore } = seen;
  const { field, bpf } = profile.operator.crossings?.dataPlane ?? {};
  if (field && installation && jsonAt(installation.spec, ...field) === bpf?.value) return { dataPlane: 'ebpf' };
  const set = agent && inEnvironment(agent, seen);
  if (set !== undefined) return { dataPlane: dataPlane(isOn(set)), ...(set === '' ? {} : { overrulesNodes: true }) };
  if ('unread' in agentSettings || isKeyValue({ datastore })) return {};
  return { dataPlane: dataPlane(agentSettings.value.some(({ spec }) => isOn(jsonAt(spec, FIELD)))) };
}

const dataPlane = (isEbpf: boolean): DataPlane => (isEbpf ? 'ebpf' : 'standard');
const isOn = (bpfEnabled: unknown): boolean => String(bpfEnabled).toLowerCase() === 'true';

function inEnvironment({ container, object }: Agent, { profile, configMaps }: SeenSettings): string | undefined {
  const { syncEnv } = profile.sidecar;
  const name = `${syncEnv.slice(0, syncEnv.indexOf('_') + 1)}BPFENABLED`;
  return settingsOf(container, object.metadata.namespace ?? '', configMaps).env(name)?.value;
}
