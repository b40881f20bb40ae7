import type { JournalEntry } from '../kernel/journal.ts';
import { K } from '../kernel/kinds.ts';
import type { KeptOutcome, RunRecord } from '../kernel/run-record.ts';
import { objectsIn, parseManifest } from '../manifest/manifest.ts';
import type { VirtualClock } from './clock.ts';
import type { Releases } from './releases.ts';
import { type SandboxCluster, type SandboxOptions, sandboxCluster } from './sandbox-cluster.ts';
import { SandboxFiles } from './sandbox-files.ts';
import { BIN_DIR } from './sandbox-tools.ts';
import { cliFile } from './service-cli.ts';

export interface ScenarioOptions extends SandboxOptions {
  readonly nodes: number;
  readonly releases: Releases;
  /** Release that is installed. */
  readonly installed: string;
  /** Manifest that it was installed from. */
  readonly file: string;
  /** An old CLI lies on the machine; true unless said. */
  readonly cli?: boolean;
}

/** What outlives a process: the cluster, the machine's files, and what runs left behind. */
export interface Scenario {
  readonly cluster: SandboxCluster;
  readonly clock: VirtualClock;
  readonly files: SandboxFiles;
  readonly releases: Releases;
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
export async function installedScenario(options: ScenarioOptions): Promise<Scenario> {
  const { clock, profile, releases, installed, file } = options;
  const cluster = sandboxCluster(options);
  const namespaces = ['default', 'kube-system'].map((name) => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    return cluster.registry.create(K.Namespace, object, { manager: 'sandbox' });
  });
  cluster.nodes.add(options.nodes);
  const path = `manifests/${file}`;
  const text = await releases.read(installed, path);
  if (!text) throw new Error(`${releases.source} has no ${installed}/${path}`);
  for (const object of objectsIn(parseManifest(new TextDecoder().decode(text), path))) cluster.installClientSide(object);
  await clock.sleep(SETTLE_MS);
  cluster.faults.writes = 0;
  const files = new SandboxFiles();
  files.write(`${BIN_DIR}/kubectl`, 'kubectl v1.36.1', true);
  if (options.cli !== false) files.write(`${BIN_DIR}/${profile.cli.program}`, cliFile(profile, installed), true);
  const clusterUid = namespaces[1]?.metadata.uid ?? '';
  const state = { kept: new Map(), outcomes: new Map() };
  return { cluster, clock, files, releases, clusterUid, workFolder: `/sandbox/${clusterUid}`, state };
}
