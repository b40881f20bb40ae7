import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { editedManifestFile } from './edited-manifests.ts';
import { type StoreAccess, withOwnVariables, withStoreAccess } from './kvstore-edits.ts';
import { manifestFile, releases } from './releases.ts';
import { installedSandbox } from './sandbox-ports.ts';

export const FILE = 'calico-etcd.yaml';
export const ENDPOINT = 'https://10.0.0.9:2379';
/** No text of ours may have one of them, plain or encoded. */
export const ACCESS: StoreAccess = {
  endpoint: ENDPOINT,
  ca: '-----BEGIN CERTIFICATE-----\nca-of-the-person\n-----END CERTIFICATE-----\n',
  certificate: '-----BEGIN CERTIFICATE-----\ncertificate-of-the-person\n-----END CERTIFICATE-----\n',
  key: '-----BEGIN PRIVATE KEY-----\nkey-of-the-person\n-----END PRIVATE KEY-----\n',
};

/** The three installations whose upgrades were recorded; the last one as a person had edited it. */
export const RECORDED: Readonly<Record<string, string>> = {
  'v3.27.5': manifestFile('v3.27.5', FILE),
  'v3.20.6': manifestFile('v3.20.6', FILE),
  'v3.18.1': editedManifestFile('calico-etcd-v3.18.1-dotbalo'),
};

/** The manifest that a person installed, with access to their store and their variables. */
export function installedText(release: string): string {
  const original = readFileSync(RECORDED[release] ?? manifestFile(release, FILE), 'utf8').replace('  lbels:', '  labels:');
  return withOwnVariables(withStoreAccess(original, ACCESS));
}

/** A cluster in memory with that manifest applied client-side, and the published releases. */
export async function kvstoreScenario(release: string, text = installedText(release)): Promise<Scenario> {
  const folder = mkdtempSync(join(tmpdir(), 'kvstore-sandbox-'));
  try {
    const path = manifestFile(release, FILE, folder);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const installed = { installed: release, file: FILE, cli: false };
    const scenario = await installedSandbox({ releasesFolder: folder, ...installed });
    return { ...scenario, releasesFolder: releases };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The objects that the recordings look at, as they are now. */
export function storeObjects({ cluster }: Scenario) {
  const get = (kind: (typeof K)[keyof typeof K], name: string): KubeObject | undefined => cluster.store.get(kind, name, 'kube-system');
  return {
    secret: get(K.Secret, 'calico-etcd-secrets'),
    config: get(K.ConfigMap, 'calico-config'),
    agents: get(K.DaemonSet, 'calico-node'),
    controllers: get(K.Deployment, 'calico-kube-controllers'),
  };
}
