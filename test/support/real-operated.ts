import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestText, objectsIn, parseManifest } from '../../src/manifest/manifest.ts';
import { find } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { PATHS } from './installed-cluster.ts';
import { manifestFile } from './releases.ts';
import { assertSucceeded } from './upgrade-process.ts';

/** With this operator of the line, and without what no server of today serves any more. */
function served({ dir }: ControlPlane, release: string, operator: string): string {
  const path = manifestFile(release, 'tigera-operator.yaml');
  const published = readFileSync(path, 'utf8');
  const [, tag = operator] = /tigera\/operator:(v[\d.]+)/.exec(published) ?? [];
  const text = published.replaceAll(tag, operator);
  const documents = objectsIn(parseManifest(text, path)).filter(({ kind }) => kind !== 'PodSecurityPolicy');
  const own = join(dir, 'installed.yaml');
  writeFileSync(own, manifestText(documents));
  return own;
}

/** As a person installs it, `release`: the nearest manifest; the operator brings the rest. */
export async function installOperated(plane: ControlPlane, release: string, operator: string): Promise<void> {
  assertSucceeded(await plane.kubectl(['create', '-f', served(plane, release, operator)]));
  await until('the Installation is served', async () => (await find(plane.api, PATHS.installations)) !== undefined);
  const ipPools = [{ cidr: '192.168.0.0/16', encapsulation: 'VXLANCrossSubnet' }];
  const installation = { metadata: { name: 'default' }, spec: { calicoNetwork: { ipPools } } };
  await plane.api.send('POST', PATHS.installations, { apiVersion: 'operator.tigera.io/v1', kind: 'Installation', ...installation });
}
