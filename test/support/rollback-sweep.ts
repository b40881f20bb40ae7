import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { storedManifests } from '../../src/adapters/stored-bases.ts';
import { isOlder } from '../../src/kernel/release.ts';
import { documentsText } from '../../src/manifest/manifest.ts';
import { writeYaml } from '../../src/manifest/yaml-rules.ts';
import type { Api, ApiObject } from '../control-plane/api.ts';
import { playPolicyMigration } from '../control-plane/policy-migration.ts';
import { until } from '../control-plane/until.ts';
import { imageOf, type Workload } from '../control-plane/workloads.ts';
import { differences } from './end-state.ts';
import { readObjects } from './former-state.ts';
import { installedCluster, opened } from './installed-cluster.ts';
import { releases } from './releases.ts';
import { CALICO_TARGET } from './target.ts';
import { assertSucceeded, startUpgrade, surroundingsEnv, type UpgradeProcess, upgrade } from './upgrade-process.ts';

const GROUP = 'projectcalico.org';
const STORED = `/apis/crd.${GROUP}/v1`;
const COMMON = ['--yes', '--accept', 'NS-301', '--manifest-url', releases] as const;
export const RUN = ['run', '--skip', 'cli', ...COMMON] as const;
export const BACK = ['rollback', ...COMMON] as const;

/** Of each minor line that the documents name, and what they have; in eBPF mode nothing below v3.31 goes back. */
export const SOURCES = ['v3.15.5', 'v3.18.6', 'v3.20.6', 'v3.22.5', 'v3.24.6', 'v3.26.4', 'v3.28.5', 'v3.29.7', 'v3.30.7', 'v3.31.7'];
export const FILES = ['calico-typha.yaml', 'calico.yaml', 'calico-policy-only.yaml', 'calico-vxlan.yaml', 'canal.yaml'];

/**
 * The release's own file of VXLAN networking has the backend `bird` there, and another MTU than `calico.yaml`: it is taken for that one, and
 * the user is asked whose MTU it is to be.
 */
const ASKED: Readonly<Record<string, readonly string[]>> = {
  'v3.15.5 calico-vxlan.yaml': ['--resolve', 'ConfigMap/kube-system/calico-config:data.veth_mtu=mine'],
};

/** An upgrade from there, with the answers that it asks for. */
export const runFrom = ({ source, file }: SweptCase): readonly string[] => [...RUN, ...(ASKED[`${source} ${file}`] ?? [])];

export interface SweptCase {
  readonly source: string;
  readonly file: string;
  readonly nodes?: number;
}

export type SweptCluster = Awaited<ReturnType<typeof sweptCluster>>;

/** That release as the program carries its manifest, with objects of a user, and controllers that rename policies once they are new. */
export function sweptCluster({ source, file, nodes = 3 }: SweptCase) {
  return opened(async (endBy) => {
    const folder = mkdtempSync(join(tmpdir(), 'rollback-sweep-'));
    endBy(() => rmSync(folder, { recursive: true, force: true }));
    const manifest = join(folder, file);
    const documents = await storedManifests('calico').documentsOf(source, file);
    assert.ok(documents, `the program does not carry ${file} of ${source}`);
    writeFileSync(manifest, documentsText(documents.map((object) => ({ object, text: writeYaml(object), line: 1 }))));
    const cluster = await installedCluster({ manifest, nodes });
    endBy(cluster.stop);
    const { api } = cluster.plane;
    // No address of CLIs can be reached from every machine: it would be asked for in vain, for seconds.
    const cli = join(folder, 'calicoctl');
    writeFileSync(cli, `#!/bin/sh\necho 'Client Version:    ${source}'\n`, { mode: 0o755 });
    const around = { ...cluster.around, env: { PATH: `${folder}${delimiter}${surroundingsEnv(cluster.around).PATH}` } };
    await addOwn(api);
    const controllers = playPolicyMigration(api, { group: GROUP, agents: 'calico-node', controllers: 'calico-kube-controllers' });
    endBy(controllers.stop);
    const before = await stateOf(api, source);
    return {
      ...cluster,
      around,
      /** What differs from before the upgrade, without the closed list of what a rollback never puts back. */
      left: async () => differences(before, await stateOf(api, source)),
      renamed: controllers.migrated,
      /** Seconds that a command took, which must end well. */
      async timed(args: readonly string[]): Promise<number> {
        const began = performance.now();
        assertSucceeded(await upgrade(args, around));
        return (performance.now() - began) / 1000;
      },
      start: (args: readonly string[]) => startUpgrade(args, around),
      command: (args: readonly string[]): Promise<UpgradeProcess> => upgrade(args, around),
    };
  });
}

const NOTED = `${GROUP}/metadata`;
const written = JSON.stringify({ uid: '5b6f1a38-6f9f-4b6e-9a1c-0a4a7a5d1f10', creationTimestamp: '2024-01-01T00:00:00Z' });

/** As a client of a release before v3.28 stores them. */
const OWN: readonly (readonly [plural: string, object: object])[] = [
  [
    'globalnetworkpolicies',
    {
      kind: 'GlobalNetworkPolicy',
      metadata: { name: 'default.web', labels: { team: 'a' } },
      spec: { selector: 'app == "web"', types: ['Ingress'] },
    },
  ],
  [
    'namespaces/default/networkpolicies',
    {
      kind: 'NetworkPolicy',
      metadata: { name: 'default.db', namespace: 'default' },
      spec: { selector: 'app == "db"', types: ['Ingress'] },
    },
  ],
  [
    'globalnetworksets',
    { kind: 'GlobalNetworkSet', metadata: { name: 'blocked', labels: { role: 'blocked' } }, spec: { nets: ['192.0.2.0/24'] } },
  ],
];

async function addOwn(api: Api): Promise<void> {
  for (const [place, object] of OWN) {
    const { metadata, ...rest } = object as { metadata: object };
    await api.send('POST', `${STORED}/${place}`, {
      apiVersion: `crd.${GROUP}/v1`,
      ...rest,
      metadata: { ...metadata, annotations: { [NOTED]: written } },
    });
  }
}

/** A client of the new release writes its labels where it keeps them: in the annotation alone. */
export async function writeAsNew(api: Api): Promise<void> {
  const place = `${STORED}/globalnetworksets/blocked`;
  const { metadata, ...rest } = await api.get<ApiObject>(place);
  const { labels, ...own } = metadata;
  const noted = JSON.stringify({ ...JSON.parse(written), labels: labels ?? {} });
  await api.send('PUT', place, { ...rest, metadata: { ...own, annotations: { [NOTED]: noted } } });
}

/** Objects as the reader of that release sees them: with the labels that it reads, and without what tells only when they were made. */
async function stateOf(api: Api, release: string): Promise<Readonly<Record<string, unknown>>> {
  const all = Object.entries(await readObjects(api));
  return Object.fromEntries(all.map(([key, object]) => [key, key.startsWith(STORED) ? asRead(object as ApiObject, release) : object]));
}

/** Releases before it read labels of the object alone. */
const NOTED_SINCE = 'v3.28.0';

function asRead({ metadata, spec }: ApiObject, release: string): unknown {
  const { labels = {}, annotations = {}, name, namespace } = metadata;
  const { [NOTED]: text = '{}', ...others } = annotations;
  const noted = isOlder(release, NOTED_SINCE) ? {} : (JSON.parse(text) as { readonly labels?: Readonly<Record<string, string>> });
  const { [`${GROUP}/tier`]: tier = 'default', ...rest } = { ...labels, ...noted.labels };
  const { tier: own = tier, ...rules } = (spec ?? {}) as Readonly<Record<string, unknown>>;
  return { name, namespace, labels: rest, annotations: others, tier: own, rules };
}

/** Ends a run with SIGKILL as soon as that workload has the new image; fails if it was at its end before. */
export async function killedOnce({ plane, start }: SweptCluster, workload: string, args: readonly string[]): Promise<void> {
  const child = start(args);
  let isOver = false;
  void child.then(() => (isOver = true));
  const place = `/apis/apps/v1/namespaces/kube-system/${workload}`;
  await until(
    `${workload} is new`,
    async () => isOver || imageOf(await plane.api.get<Workload>(place))?.endsWith(`:${CALICO_TARGET}`),
    200_000,
    50,
  );
  child.kill('SIGKILL');
  const { signal, stderr } = await child;
  assert.equal(signal, 'SIGKILL', `it was at its end before: ${stderr}`);
}

/** The same as soon as it has said so many lines; false if it was at its end before, and well. What it says does not depend on the machine's load. */
export async function killedAfter({ start }: SweptCluster, lines: number, args: readonly string[]): Promise<boolean> {
  const child = start([...args, '-v=1']);
  let said = 0;
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString().split('\n').length - 1;
    if (said >= lines) child.kill('SIGKILL');
  });
  const ended = await child;
  if (ended.signal !== 'SIGKILL') assertSucceeded(ended);
  return ended.signal === 'SIGKILL';
}
