import type { Swept } from './fault-sweep.ts';
import { manifestFile, ownReleases, releases } from './releases.ts';

const RUN = ['run', '--yes', '--skip', 'cli', '--timeout', '60s'] as const;

/** The document's names, our own small manifests. */
export const NETSVC_SWEPT: Swept = {
  install: { manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 2 },
  command: [...RUN, '--manifest-url', ownReleases],
  source: 'v3.26.4',
};

/** Published manifests, with Typha. */
export const TYPHA_SWEPT: Swept = {
  install: { manifest: manifestFile('v3.27.5', 'calico-typha.yaml'), nodes: 2 },
  command: [...RUN, '--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases],
  source: 'v3.27.5',
};
