import type { KubeObject } from '../../src/kernel/object.ts';
import type { Sources } from '../../src/kernel/ports.ts';
import type { KeptItem } from '../../src/kernel/run-record.ts';
import { object } from '../fixtures/facts.ts';
import { clusterOf } from './cluster-of.ts';
import { emptySources } from './empty-sources.ts';
import { workloadOf } from './inventory.ts';
import { standInCli } from './stand-in-cli.ts';
import { GUID, information, type StandInState } from './stand-in-cli-state.ts';
import { CALICO_TARGET } from './target.ts';

/** Where the CLI's own configuration is. */
export const CLI_CONFIG = '/etc/calico/calicoctl.cfg';
const STORE = 'https://store:2379';
const CONFIG = `spec:\n  datastoreType: "etcdv3"\n  etcdEndpoints: "${STORE}"\n`;

const agents = workloadOf('DaemonSet', 'calico-node', {
  images: { 'calico-node': `quay.io/calico/node:${CALICO_TARGET}` },
  env: { ETCD_ENDPOINTS: STORE },
});

export interface KvstoreParts {
  readonly objects?: readonly KubeObject[];
  readonly kept?: readonly KeptItem[];
  /** What the CLI's configuration says; null: there is none. */
  readonly config?: string | null;
  /** Endpoints of the installation; those of the CLI's configuration unless said. */
  readonly endpoints?: string;
  /** What the installation's own endpoints say of the cluster's GUID; not what the CLI shows. An error: they say nothing. */
  readonly own?: string | Error;
}

/** A key-value installation whose resources only the stand-in CLI shows. */
export function kvstoreSources(
  state: StandInState,
  { objects = [], kept = [], config = CONFIG, endpoints = STORE, own = GUID }: KvstoreParts = {},
): Sources {
  const settings = object('v1', 'ConfigMap/kube-system/calico-config', { data: { etcd_endpoints: endpoints } });
  const { cluster } = clusterOf([agents, settings, ...objects]);
  state.etcdv3.objects.ClusterInformation ??= { default: information() };
  return {
    ...emptySources(),
    cluster,
    store: {
      ...emptySources().store,
      value: async () => {
        if (typeof own !== 'string') throw own;
        return JSON.stringify(information({ clusterGUID: own }));
      },
    },
    files: {
      ...emptySources().files,
      exists: async (path) => path === CLI_CONFIG && config !== null,
      readText: async () => config ?? '',
    },
    tools: {
      ...emptySources().tools,
      which: async (program) => (program === 'calicoctl' ? ['/bin/calicoctl'] : []),
      run: async ({ args, stdin }) => {
        const plain = args.filter((argument) => !argument.startsWith('--config'));
        const { out = '', err = '', exit } = standInCli(plain, { DATASTORE_TYPE: 'etcdv3', ETCD_ENDPOINTS: STORE }, state, stdin);
        return { exitCode: exit === 'hang' ? undefined : exit, stdout: out, stderr: err, durationMs: 1 };
      },
    },
    records: { ...emptySources().records, keptWith: async () => kept },
    lock: { identity: 'nobody', holder: async () => undefined },
  };
}
