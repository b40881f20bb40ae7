import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { InstalledCluster } from './installed-cluster.ts';
import { installStandIn } from './stand-in-cli.ts';
import { standInState } from './stand-in-cli-state.ts';

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
  const folder = join(file, '..');
  await mkdir(folder, { recursive: true });
  const [program, state] = [join(folder, 'stand-in'), join(folder, 'state.json')];
  installStandIn(program);
  await writeFile(state, JSON.stringify(standInState({ generation: 'new', client })));
  const usual = usualConfig === undefined ? '' : `STAND_IN_CLI_USUAL_CONFIG=${usualConfig} `;
  const settings = `${usual}STAND_IN_CLI_STATE=${state} STAND_IN_CLI_KUBECTL=${cluster.around.kubectl} STAND_IN_CLI_GROUP=${group}`;
  await writeFile(file, `#!/bin/sh\n${settings} exec ${program} "$@"\n`);
  await chmod(file, 0o755);
}

/** The release that a real CLI says it is. */
export async function clientRelease(file: string): Promise<string> {
  const { stdout } = await execa(file, ['version', '--client'], { timeout: 20_000, env: { DATASTORE_TYPE: 'kubernetes' } });
  const release = /^Client Version:\s+(\S+)/m.exec(stdout)?.[1];
  if (release === undefined) throw new Error(`${file} does not tell its release: ${stdout}`);
  return release;
}
