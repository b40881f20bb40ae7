import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { ApiList, ApiObject } from '../control-plane/api.ts';
import { attacker } from './attacker.ts';
import type { InstalledCluster } from './installed-cluster.ts';
import { plantState } from './planted-state.ts';

// Ages, the names of the run and of the backup that would be made, and the room on this machine.
const still = (text: string) =>
  text.replaceAll(/\b\d+ ?(?:ms|s|m\d+s|m|h)\b|backup-\d+T\d+Z|\b\d{8}T\d{6}Z-[0-9a-f]{8}\b|\d+ MiB free/g, '…');

/** A tenant plants state, releases and these Secrets in every namespace but those: no output of what looks at the cluster changes. Gives the outputs. */
export async function assertUnmoved(
  { plane, upgrade }: Pick<InstalledCluster, 'plane' | 'upgrade'>,
  flags: readonly string[],
  besides: readonly string[],
  more: readonly KubeObject[] = [],
): Promise<Readonly<Record<string, string>>> {
  const all = async () => {
    const told: Record<string, string> = {};
    for (const command of ['preflight', 'plan', 'status', 'ownerrefs list']) {
      // `status` has no target.
      const meant = command === 'status' ? flags.slice(0, 2) : flags;
      const { exitCode, stdout, stderr } = await upgrade(...command.split(' '), '-q', '-o', 'wide', ...meant);
      const lines = stderr.split('\n').filter((line) => !/AGE/.test(line));
      told[command] = still(`${exitCode}\n${stdout}\n${lines.join('\n')}`);
    }
    return told;
  };
  const before = await all();
  const { items } = await plane.api.get<ApiList>('/api/v1/namespaces');
  const { uid } = (await plane.api.get<ApiObject>('/api/v1/namespaces/kube-system')).metadata;
  for (const { metadata } of items.filter(({ metadata: { name } }) => !besides.includes(name))) {
    const tenant = await attacker(plane, 'tenant', ['secrets'], metadata.name);
    await plantState(tenant.cluster, uid, [metadata.name], more).finally(() => tenant.close());
  }
  const after = await all();
  // Line by line: of a text as long as a plan an assertion shows the beginning alone.
  for (const [command, text] of Object.entries(before)) assert.deepEqual(after[command]?.split('\n'), text.split('\n'), command);
  return before;
}
