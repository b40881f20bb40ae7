import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalEntry } from '../kernel/journal.ts';
import { K } from '../kernel/kinds.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { KeptOutcome, RunRecord } from '../kernel/run-record.ts';
import { parseManifest } from '../manifest/manifest.ts';
import type { VirtualClock } from './clock.ts';
import { type SandboxCluster, type SandboxOptions, sandboxCluster } from './sandbox-cluster.ts';
import { SandboxFiles } from './sandbox-files.ts';
import { BIN_DIR } from './sandbox-tools.ts';

interface ScenarioOptions extends Pick<SandboxOptions, 'pullMs' | 'readyMs'> {
  readonly nodes: number;
  /** Folder of releases: `<release>/manifests/<file>`. */
  readonly releasesFolder: string;
  readonly clock: VirtualClock;
  /** Release that is installed; v3.26.4 unless said. */
  readonly installed?: string;
  /** Manifest that it was installed from; netsvc.yaml unless said. */
  readonly file?: string;
  /** An old CLI lies on the machine; true unless said. */
  readonly cli?: boolean;
}

/** What outlives a process: the cluster, the machine's files, and what runs left behind. */
export interface Scenario {
  readonly cluster: SandboxCluster;
  readonly clock: VirtualClock;
  readonly files: SandboxFiles;
  readonly releasesFolder: string;
  readonly clusterUid: string;
  readonly workFolder: string;
  /** Run record, kept items and lock holder. */
  readonly state: SandboxState;
}

export interface SandboxState {
  record?: RunRecord;
  holder?: { readonly identity: string; readonly acquiredAt: string; readonly renewedAt: string };
  readonly kept: Map<string, string>;
  /** By the id of the kept item. */
  readonly outcomes: Map<string, KeptOutcome>;
  journal?: readonly JournalEntry[];
}

/** Until a fresh installation is healthy. Virtual milliseconds. */
const SETTLE_MS = 60_000;

/** The service as its manifest installed it client-side, every agent ready. */
export async function netsvcScenario(options: ScenarioOptions): Promise<Scenario> {
  const { clock, installed = 'v3.26.4', file = 'netsvc.yaml' } = options;
  const cluster = sandboxCluster(options);
  const namespaces = ['default', 'kube-system'].map((name) => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    return cluster.registry.create(K.Namespace, object, { manager: 'sandbox' });
  });
  cluster.nodes.add(options.nodes);
  const path = join(options.releasesFolder, installed, 'manifests', file);
  for (const { object } of parseManifest(await readFile(path, 'utf8'), path).documents) cluster.installClientSide(object);
  await clock.sleep(SETTLE_MS);
  cluster.faults.writes = 0;
  const files = new SandboxFiles();
  files.write(`${BIN_DIR}/kubectl`, 'kubectl v1.36.1', true);
  if (options.cli !== false) files.write(`${BIN_DIR}/netsvcctl`, `netsvcctl ${installed}\n`, true);
  const clusterUid = namespaces[1]?.metadata.uid ?? '';
  const { releasesFolder } = options;
  const state = { kept: new Map(), outcomes: new Map() };
  return { cluster, clock, files, releasesFolder, clusterUid, workFolder: `/sandbox/${clusterUid}`, state };
}

/** Installed from a file in which the user wrote a version of the CNI that the release has changed since. */
export function writeCniVersion({ cluster: { store } }: Scenario, version: string): void {
  const before = store.get(K.ConfigMap, 'netsvc-config', 'kube-system');
  if (!before) throw new Error('the sandbox has no ConfigMap netsvc-config');
  const after = JSON.stringify(before).replaceAll(/(cniVersion[\\": ]+)0\.3\.1/g, (_, head: string) => `${head}${version}`);
  store.update(K.ConfigMap, JSON.parse(after) as KubeObject);
}
