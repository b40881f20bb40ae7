import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStoredBases } from '../../src/adapters/stored-bases.ts';
import { manifestText, objectsIn, parseManifest } from '../../src/manifest/manifest.ts';
import { find } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { PATHS } from './installed-cluster.ts';
import { manifestFile } from './releases.ts';
import { assertSucceeded } from './upgrade-process.ts';

const FILE = 'tigera-operator.yaml';

/** With this operator of the line, and without what no server of today serves any more. A release that is not packed is as the program keeps it. */
async function served({ dir }: ControlPlane, release: string, operator: string): Promise<string> {
  const path = manifestFile(release, FILE);
  const kept = (await openStoredBases('calico', [FILE]))?.documentsOf(release, FILE) ?? [];
  const all = existsSync(path) ? objectsIn(parseManifest(readFileSync(path, 'utf8'), path)) : kept;
  const documents = all.filter(({ kind }) => kind !== 'PodSecurityPolicy');
  const own = join(dir, 'installed.yaml');
  writeFileSync(own, manifestText(documents).replaceAll(/(tigera\/operator):v[\d.]+/g, `$1:${operator}`));
  return own;
}

/** As a person installs it; the operator brings the rest. */
export async function installOperated(plane: ControlPlane, release: string, operator: string): Promise<void> {
  assertSucceeded(await plane.kubectl(['create', '-f', await served(plane, release, operator)]));
  await until('the Installation is served', async () => (await find(plane.api, PATHS.installations)) !== undefined);
  const ipPools = [{ cidr: '192.168.0.0/16', encapsulation: 'VXLANCrossSubnet' }];
  const installation = { metadata: { name: 'default' }, spec: { calicoNetwork: { ipPools } } };
  await plane.api.send('POST', PATHS.installations, { apiVersion: 'operator.tigera.io/v1', kind: 'Installation', ...installation });
}
