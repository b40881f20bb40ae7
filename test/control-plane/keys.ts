import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ApiAccess } from './api.ts';
import { createAuthority, createKeyPair, type Identity } from './certificates.ts';
import { filesOf, type Layout, SERVICE_ADDRESS, serverUrl } from './layout.ts';

/** Makes every key of a control plane, writes them and the administrator's kubeconfig (0600), and returns his access. */
export async function writeKeys(layout: Layout, auditReads: boolean): Promise<ApiAccess> {
  const files = filesOf(layout.dir);
  const authority = createAuthority('test-authority');
  const server = authority.issue({
    commonName: 'kube-apiserver',
    hosts: ['127.0.0.1', SERVICE_ADDRESS, 'localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
  });
  const admin = authority.issue({ commonName: 'test-admin', organization: 'system:masters' });
  const frontProxy = authority.issue({ commonName: 'front-proxy' });
  const accounts = createKeyPair();
  const [token, partsToken] = [newToken(), newToken()];
  await mkdir(dirname(files.authority), { recursive: true, mode: 0o700 });
  const write = (file: string, content: string) => writeFile(file, content, { mode: 0o600 });
  const writeIdentity = (target: Identity, { certificate, key }: Identity) =>
    Promise.all([write(target.certificate, certificate), write(target.key, key)]);
  const access = { server: serverUrl(layout), authority: authority.certificate, ...admin, token };
  await Promise.all([
    write(files.authority, authority.certificate),
    writeIdentity(files.server, server),
    writeIdentity(files.frontProxy, frontProxy),
    write(files.serviceAccounts.publicKey, accounts.publicKey),
    write(files.serviceAccounts.key, accounts.key),
    write(files.kubeconfig, kubeconfigText(access)),
    write(files.partsKubeconfig, kubeconfigText(access, { token: partsToken })),
    write(files.tokens, [tokenLine(token, 'test-admin'), tokenLine(partsToken, PARTS_USER)].join('')),
    write(files.auditPolicy, auditPolicy(auditReads)),
    write(files.egress, egressConfig(files.clusterNetwork)),
  ]);
  return access;
}

/** The user that the control plane's own parts are. */
const PARTS_USER = 'test-control-plane';

/**
 * The parts and the client of tests show a token: of a certificate the API server checks the signature with every request, which is a tenth
 * of its CPU time. The administrator's kubeconfig has a certificate, as kubeadm makes it.
 */
const newToken = (): string => randomBytes(24).toString('hex');
const tokenLine = (token: string, user: string): string => `${token},${user},${user},"system:masters"\n`;

/** Writes of people and tools, and what they read if wanted; those of the control plane's own parts are not of interest. */
const auditPolicy = (reads: boolean) => `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
${reads ? '' : '  - { level: None, verbs: [get, list, watch] }\n'}  - { level: None, users: [${PARTS_USER}, 'system:apiserver'] }
  - { level: Metadata }
`;

/** Sends what is for services of the cluster through a socket. */
const egressConfig = (udsName: string) =>
  JSON.stringify({
    apiVersion: 'apiserver.k8s.io/v1beta1',
    kind: 'EgressSelectorConfiguration',
    egressSelections: [{ name: 'cluster', connection: { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName } } } }],
  });

/** A kubeconfig with everything in it; JSON is YAML. With the certificate unless another proof of who asks is given. */
export function kubeconfigText(access: ApiAccess, user: object = withCertificate(access)): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: access.server, 'certificate-authority-data': data(access.authority) } }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

const data = (text: string): string => Buffer.from(text).toString('base64');

const withCertificate = ({ certificate, key }: ApiAccess) => ({
  'client-certificate-data': data(certificate),
  'client-key-data': data(key),
});
