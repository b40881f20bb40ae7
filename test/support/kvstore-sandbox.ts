import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { editedManifestFile } from './edited-manifests.ts';
import { testFolder } from './folders.ts';
import { folderReleases, manifestFile, releases } from './releases.ts';
import { installedSandbox } from './sandbox-ports.ts';

export const FILE = 'calico-etcd.yaml';
export const ENDPOINT = 'https://10.0.0.9:2379';
/** What a person writes into the manifest for a store with client certificates; no text of ours may have one of them, plain or encoded. */
export const ACCESS = {
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
  const folder = testFolder('kvstore-sandbox-');
  const path = manifestFile(release, FILE, folder);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const scenario = await installedSandbox({ profile: calico, releasesFolder: folder, installed: release, file: FILE, cli: false });
  return { ...scenario, releases: folderReleases(releases) };
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

/** The release's manifest as the document has people edit it: endpoints, certificates, MTU. */
export function withStoreAccess(original: string, { endpoint, ca, certificate, key }: typeof ACCESS): string {
  const secret = `data:\n  etcd-key: ${btoa(key)}\n  etcd-cert: ${btoa(certificate)}\n  etcd-ca: ${btoa(ca)}`;
  return withCarriedSettings(original, endpoint)
    .replace(/(name: calico-etcd-secrets\n[\s\S]*?)^data:.*$/m, `$1${secret}`)
    .replaceAll('policy/v1beta1', 'policy/v1');
}

/** All of it but the Secret: what belongs into the target's file. */
export function withCarriedSettings(original: string, endpoint: string): string {
  return original
    .replace('http://<ETCD_IP>:<ETCD_PORT>', endpoint)
    .replace(/etcd_(ca|cert|key): ""/g, 'etcd_$1: "/calico-secrets/etcd-$1"')
    .replace(/(veth_mtu|mtu): "\d+"/, '$1: "1440"');
}

/** Variables that people set for the agents, in the place that the release has for them. */
export function withOwnVariables(original: string): string {
  return original.replace(
    /^( +)# - name: CALICO_IPV4POOL_CIDR\n +# {3}value: .*$/m,
    '$1- name: CALICO_IPV4POOL_CIDR\n$1  value: "10.244.0.0/16"\n$1- name: IP_AUTODETECTION_METHOD\n$1  value: "interface=eth0"',
  );
}

/** The file without the document that would empty the Secret. */
export function withoutSecret(text: string): string {
  return text
    .split(/^---\n/m)
    .filter((document) => !/^kind: Secret$/m.test(document))
    .join('---\n');
}
