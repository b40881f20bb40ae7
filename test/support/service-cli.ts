import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { execa } from 'execa';
import type { InstalledCluster } from './installed-cluster.ts';
import { patient } from './patience.ts';
import { installStandIn } from './stand-in-cli.ts';

/** A real CLI of the service on this machine, for the specifications that hold for it as well; undefined where none is named. */
export const realCli = process.env.NETSVC_CLI;
export const WITHOUT_REAL_CLI = 'NETSVC_CLI names no CLI of the service on this machine';

interface StandIn {
  /** v3 group: `netsvc.io`. */
  readonly group: string;
  /** Release that it says it is. */
  readonly client: string;
  /** The configuration file that it looks for by itself. */
  readonly usualConfig?: string;
}

/** Puts a stand-in that works on the cluster at `file`. */
export async function installClusterCli(cluster: InstalledCluster, file: string, { group, client, usualConfig }: StandIn): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const { kubectl } = cluster.around;
  installStandIn(file, { client }, { cluster: { kubectl, group }, ...(usualConfig === undefined ? {} : { usualConfig }) });
}

/** The release that a real CLI says it is. */
export async function clientRelease(file: string): Promise<string> {
  const { stdout } = await execa(file, ['version', '--client'], { timeout: patient(20_000), env: { DATASTORE_TYPE: 'kubernetes' } });
  const release = /^Client Version:\s+(\S+)/m.exec(stdout)?.[1];
  if (release === undefined) throw new Error(`${file} does not tell its release: ${stdout}`);
  return release;
}
