import { createHmac, randomBytes } from 'node:crypto';
import type { Api } from '../test/control-plane/api.ts';
import { startControlPlane } from '../test/control-plane/control-plane.ts';
import type { Section } from './report.ts';

const ROUNDS = 60;
const SPACE = '/api/v1/namespaces/kube-system';
const SIZES = [2_000, 100_000, 700_000];

const KINDS = {
  Secret: { path: `${SPACE}/secrets`, of: (data: object) => ({ apiVersion: 'v1', kind: 'Secret', type: 'netsvc-upgrade/state', data }) },
  ConfigMap: { path: `${SPACE}/configmaps`, of: (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', binaryData: data }) },
} as const;
type KindName = keyof typeof KINDS;

const median = (times: readonly number[]) => (times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0).toFixed(1);

/** The kinds in turn, so that what else the machine does befalls both. */
async function measured(api: Api, bytes: number): Promise<readonly string[]> {
  const value = randomBytes(bytes).toString('base64');
  const times = { Secret: { write: [], read: [] }, ConfigMap: { write: [], read: [] } } as Record<
    KindName,
    Record<'write' | 'read', number[]>
  >;
  const timed = async (into: number[], work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    into.push(performance.now() - begun);
  };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, { path, of }] of Object.entries(KINDS) as [KindName, (typeof KINDS)[KindName]][]) {
      const metadata = { name: `bench-${bytes}-${round}` };
      await timed(times[name].write, () => api.send('POST', path, { ...of({ value }), metadata }));
      await timed(times[name].read, () => api.get(`${path}/${metadata.name}`));
      await api.send('DELETE', `${path}/${metadata.name}`);
    }
  const [key, signed] = [randomBytes(32), [] as number[]];
  for (let round = 0; round < ROUNDS; round += 1) await timed(signed, async () => createHmac('sha256', key).update(value).digest());
  const cells = [times.Secret.write, times.ConfigMap.write, times.Secret.read, times.ConfigMap.read, signed].map(median);
  return [`${bytes}`, ...cells];
}

/** What it costs to keep the state in Secrets, and in ConfigMaps with a key of our own; milliseconds, medians. */
export async function stateStore(): Promise<Section> {
  const plane = await startControlPlane({});
  try {
    const lines = ['| bytes | write Secret | write ConfigMap | read Secret | read ConfigMap | HMAC |', '|---|---|---|---|---|---|'];
    for (const bytes of SIZES) lines.push(`| ${(await measured(plane.api, bytes)).join(' | ')} |`);
    return { title: `Where the state is kept: milliseconds, median of ${ROUNDS}`, aim: 'Secrets cost no more than ConfigMaps', lines };
  } finally {
    await plane.stop();
  }
}
