import { readFileSync } from 'node:fs';
import type { StoredBases } from '../../src/adapters/stored-bases.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { isOlder } from '../../src/kernel/release.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { podSpecOf } from '../../src/manifest/prepare.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { legacyPem } from '../fixtures/certificates.ts';
import { objectOf, workloadOf } from './inventory.ts';
import { manifestFile } from './releases.ts';
import { CALICO_TARGET } from './target.ts';

/** The file of the operator, in every release that has one. */
export const OPERATOR_FILE = 'tigera-operator.yaml';
const OPERATOR_GROUP = 'operator.tigera.io/v1';
const SYSTEM = 'calico-system';
const PODS = '192.168.0.0/16';

/** A release of the operator as it was published, and what it renders on two nodes where nobody has changed anything. */
export interface OperatedRelease {
  /** Of its manifest, without what a server of today no longer has. */
  readonly documents: readonly KubeObject[];
  readonly definitions: readonly KubeObject[];
  /** `custom-resources.yaml`, as its operator completes it. */
  readonly resources: readonly KubeObject[];
  /** Each with its owner, where it has one. */
  readonly rendered: readonly KubeObject[];
}

/** Of its own manifest, or of one that a person made of it. */
export function operatedRelease(stored: StoredBases, release: string, manifest?: readonly KubeObject[]): OperatedRelease {
  const all = manifest ?? stored.documentsOf(release, OPERATOR_FILE) ?? [];
  const served = all.filter(({ apiVersion }) => !apiVersion.endsWith('beta1'));
  const own = served.filter(isDefinition);
  return {
    documents: served.filter((one) => !isDefinition(one) && one.apiVersion !== OPERATOR_GROUP),
    definitions: own.length > 0 ? own : definitionsOf(stored, release),
    resources: resourcesOf(release).map((one) => ({
      ...one,
      spec: { ...(one.spec ?? {}), ...(served.find(({ kind }) => kind === one.kind)?.spec ?? {}) },
    })),
    rendered: [...storedBy(release), ...componentsOf(release)],
  };
}

const isDefinition = ({ kind }: KubeObject) => kind === 'CustomResourceDefinition';

/** From v3.30 on they are published beside the operator: the service's own of this very release, the operator's of the nearest that is packed. */
function definitionsOf(stored: StoredBases, release: string): readonly KubeObject[] {
  const path = manifestFile(isOlder(release, 'v3.32.0') ? 'v3.30.7' : CALICO_TARGET, 'operator-crds.yaml');
  const nearest = parseManifest(readFileSync(path, 'utf8'), path).documents.map(({ object }) => object);
  const service = (stored.documentsOf(release, 'calico.yaml') ?? []).filter(isDefinition);
  return [...service, ...nearest.filter(({ metadata }) => metadata.name.endsWith('.operator.tigera.io'))];
}

/** What an operator older than this does not do. */
export const since = (release: string, first: string): boolean => !isOlder(release, first);
/** These, or nothing where the operator is older. */
const from = <T>(first: string, release: string, ...these: readonly T[]): readonly T[] => (since(release, first) ? these : []);

const API_SERVER = 'v3.20.0';
export const FLOW_LOGS = 'v3.30.0';
const apiNamespace = (release: string) => (since(release, 'v3.31.0') ? SYSTEM : 'calico-apiserver');

function resourcesOf(release: string): readonly KubeObject[] {
  const pool = { blockSize: 26, cidr: PODS, encapsulation: 'VXLANCrossSubnet', natOutgoing: 'Enabled', nodeSelector: 'all()' };
  const named = { name: 'default-ipv4-ippool', disableBGPExport: false, allowedUses: ['Workload', 'Tunnel'] };
  const calicoNetwork = {
    ...{ bgp: 'Enabled', hostPorts: 'Enabled', linuxDataplane: 'Iptables', multiInterfaceMode: 'None' },
    ipPools: [{ ...(since(release, 'v3.28.0') ? named : {}), ...pool }],
    nodeAddressAutodetectionV4: { firstFound: true },
  };
  const spec = {
    calicoNetwork,
    cni: { ipam: { type: 'Calico' }, type: 'Calico' },
    ...{ controlPlaneReplicas: 2, nonPrivileged: 'Disabled', variant: 'Calico' },
    flexVolumePath: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
    ...(since(release, 'v3.24.0') ? { kubeletVolumePluginPath: '/var/lib/kubelet' } : {}),
    nodeUpdateStrategy: ONE_BY_ONE,
  };
  const status = { variant: 'Calico', mtu: 1450, ...(since(release, 'v3.25.0') ? { calicoVersion: release } : {}) };
  const of = (kind: string, fields: object) => objectOf(OPERATOR_GROUP, kind, 'default', { ...fields });
  return [
    of('Installation', { spec, status }),
    ...from(API_SERVER, release, of('APIServer', { spec: {}, status: { state: 'Ready' } })),
    ...from(FLOW_LOGS, release, of('Goldmane', {}), of('Whisker', {})),
  ];
}

const ONE_BY_ONE = { rollingUpdate: { maxUnavailable: 1 }, type: 'RollingUpdate' };

interface Rendering {
  readonly namespace?: string;
  /** Image by container name; names that begin with `init:` are init containers. */
  readonly images: Readonly<Record<string, string>>;
  /** Of the first container. */
  readonly env?: Readonly<Record<string, string>>;
  readonly hostPaths?: readonly string[];
  readonly more?: object;
  readonly owner?: string;
}

/** Where the operator of that release takes images from (`CalicoRegistry` of its sources). */
const registryOf = (release: string) => (since(release, 'v3.30.4') ? 'quay.io/' : 'docker.io/');

/** Their UIDs are filled in where they are created. */
const ownedBy = (kind: string) => [{ apiVersion: OPERATOR_GROUP, kind, name: 'default', uid: '', controller: true }];

function workload(release: string, kind: 'DaemonSet' | 'Deployment', name: string, rendering: Rendering): KubeObject {
  const { namespace = SYSTEM, env = {}, hostPaths = [], more = {}, owner = 'Installation' } = rendering;
  const full = (image: string) => `${registryOf(release)}calico/${image}:${release}`;
  const images = Object.fromEntries(Object.entries(rendering.images).map(([key, image]) => [key, full(image)]));
  const pod = podSpecOf(workloadOf(kind, name, { images, env, hostPaths }));
  const labels = { 'k8s-app': name, 'app.kubernetes.io/name': name };
  const placed = { ...pod, nodeSelector: { 'kubernetes.io/os': 'linux' }, tolerations: [{ operator: 'Exists' }], ...more };
  const rollout = kind === 'Deployment' ? { replicas: 1 } : { updateStrategy: ONE_BY_ONE };
  return objectOf('apps/v1', kind, name, {
    metadata: { namespace, labels, ownerReferences: ownedBy(owner) },
    spec: { ...rollout, selector: { matchLabels: { 'k8s-app': name } }, template: { metadata: { labels }, spec: placed } },
  });
}

function componentsOf(release: string): readonly KubeObject[] {
  const set = (name: string, rendering: Rendering) => workload(release, 'DaemonSet', name, rendering);
  const deployment = (name: string, rendering: Rendering) => workload(release, 'Deployment', name, rendering);
  const onHost = { hostNetwork: true, priorityClassName: 'system-node-critical' };
  const csi = { 'calico-csi': 'csi', 'csi-node-driver-registrar': 'node-driver-registrar' };
  const api = { namespace: apiNamespace(release), images: { 'calico-apiserver': 'apiserver' }, owner: 'APIServer' };
  const whisker = { whisker: 'whisker', 'whisker-backend': 'whisker-backend' };
  return [
    set('calico-node', {
      images: { 'calico-node': 'node', 'init:flexvol-driver': 'pod2daemon-flexvol', 'init:install-cni': 'cni' },
      ...{ env: agentEnv(release), hostPaths: AGENT_PATHS, more: { ...onHost, serviceAccountName: 'calico-node' } },
    }),
    deployment('calico-typha', { images: { 'calico-typha': 'typha' }, env: TYPHA_ENV, more: onHost }),
    deployment('calico-kube-controllers', { images: { 'calico-kube-controllers': 'kube-controllers' }, env: CONTROLLERS_ENV }),
    ...from('v3.24.0', release, set('csi-node-driver', { images: csi })),
    ...from(API_SERVER, release, deployment('calico-apiserver', api)),
    ...from(FLOW_LOGS, release, deployment('goldmane', { images: { goldmane: 'goldmane' }, owner: 'Goldmane' })),
    ...from(FLOW_LOGS, release, deployment('whisker', { images: whisker, owner: 'Whisker' })),
  ];
}

/** `NAME=value` apart by spaces. */
const env = (text: string): Readonly<Record<string, string>> => Object.fromEntries(text.split(' ').map((one) => one.split('=')));

const POOL = `CALICO_IPV4POOL_CIDR=${PODS} CALICO_IPV4POOL_VXLAN=CrossSubnet CALICO_IPV4POOL_BLOCK_SIZE=26 CALICO_IPV4POOL_NODE_SELECTOR=all()`;
const TO_GOLDMANE = `FELIX_FLOWLOGSGOLDMANESERVER=goldmane.${SYSTEM}.svc:7443 FELIX_FLOWLOGSFLUSHINTERVAL=15`;
const IN_CLUSTER = `FELIX_TYPHAK8SNAMESPACE=${SYSTEM} FELIX_TYPHAK8SSERVICENAME=calico-typha FELIX_TYPHACN=typha-server`;
const AUTODETECTED = 'IP=autodetect IP_AUTODETECTION_METHOD=first-found IP6=none FELIX_IPV6SUPPORT=false';

/** `nodeEnvVars` in the operator's sources. */
function agentEnv(release: string): Readonly<Record<string, string>> {
  return {
    ...env('DATASTORE_TYPE=kubernetes WAIT_FOR_DATASTORE=true CLUSTER_TYPE=k8s,operator,bgp CALICO_MANAGE_CNI=true'),
    ...env(`CALICO_DISABLE_FILE_LOGGING=${!since(release, 'v3.21.0')} FELIX_DEFAULTENDPOINTTOHOSTACTION=ACCEPT FELIX_HEALTHENABLED=true`),
    ...(since(release, 'v3.22.0') ? env('FELIX_HEALTHPORT=9099') : {}),
    ...env(`${IN_CLUSTER} FELIX_TYPHACAFILE=/etc/pki/tls/certs/tigera-ca-bundle.crt`),
    ...env(since(release, 'v3.28.0') ? 'NO_DEFAULT_POOLS=true' : POOL),
    ...env(`FELIX_VXLANMTU=1450 FELIX_WIREGUARDMTU=1450 FELIX_IPINIPMTU=1450 CALICO_NETWORKING_BACKEND=bird ${AUTODETECTED}`),
    ...(since(release, FLOW_LOGS) ? env(TO_GOLDMANE) : {}),
  };
}

const TYPHA_ENV = {
  ...env('TYPHA_LOGSEVERITYSCREEN=info TYPHA_LOGFILEPATH=none TYPHA_CONNECTIONREBALANCINGMODE=kubernetes'),
  ...env(`TYPHA_DATASTORETYPE=kubernetes TYPHA_HEALTHENABLED=true TYPHA_K8SNAMESPACE=${SYSTEM} TYPHA_CLIENTCN=typha-client`),
};
const CONTROLLERS_ENV = { KUBE_CONTROLLERS_CONFIG_NAME: 'default', DATASTORE_TYPE: 'kubernetes', ENABLED_CONTROLLERS: 'node' };
const AGENT_PATHS = [
  ...['/lib/modules', '/run/xtables.lock', '/var/run/nodeagent', '/var/run/calico', '/var/lib/calico'],
  ...['/opt/cni/bin', '/etc/cni/net.d', '/var/log/calico/cni'],
  '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/nodeagent~uds',
];

const ClusterConfiguration = `networking:\n  podSubnet: ${PODS}\n`;

/** What it and the agents store: namespaces, services, certificates that the operator signed, and the service's own resources. */
function storedBy(release: string): readonly KubeObject[] {
  return [
    namespace(SYSTEM, 'Installation'),
    objectOf('v1', 'ConfigMap', 'kubeadm-config', { metadata: { namespace: 'kube-system' }, data: { ClusterConfiguration } }),
    service('calico-typha', SYSTEM, 'Installation'),
    certificate(release, 'typha-certs', ['typha-server']),
    certificate(release, 'node-certs', ['typha-client']),
    objectOf('policy/v1', 'PodDisruptionBudget', 'calico-typha', {
      metadata: { namespace: SYSTEM, ownerReferences: ownedBy('Installation') },
      spec: { maxUnavailable: 1, selector: { matchLabels: { 'k8s-app': 'calico-typha' } } },
    }),
    ...from(API_SERVER, release, ...apiObjects(release)),
    ...statusesOf(release),
    ...resourcesStoredBy(release),
  ];
}

const namespace = (name: string, owner: string) => objectOf('v1', 'Namespace', name, { metadata: { ownerReferences: ownedBy(owner) } });

function service(name: string, place: string, owner: string): KubeObject {
  return objectOf('v1', 'Service', name, { metadata: { namespace: place, ownerReferences: ownedBy(owner) }, spec: { type: 'ClusterIP' } });
}

/** Up to v3.22 each operator signed with an authority of its own, which no later one knows. */
function certificate(release: string, name: string, hosts: readonly string[]): KubeObject {
  const issued = () => createAuthority('tigera-operator-signer').issue({ commonName: name, hosts, days: 825 }).certificate;
  const data = { 'tls.crt': btoa(isOlder(release, 'v3.23.0') ? legacyPem : issued()) };
  return objectOf('v1', 'Secret', name, { metadata: { namespace: 'tigera-operator' }, data });
}

function apiObjects(release: string): readonly KubeObject[] {
  const place = apiNamespace(release);
  return [
    ...(place === SYSTEM ? [] : [namespace(place, 'APIServer')]),
    service('calico-api', place, 'APIServer'),
    certificate(release, 'calico-apiserver-certs', ['calico-api', `calico-api.${place}`, `calico-api.${place}.svc`]),
    objectOf('apiregistration.k8s.io/v1', 'APIService', 'v3.projectcalico.org', {
      metadata: { ownerReferences: ownedBy('APIServer') },
      spec: { group: 'projectcalico.org', version: 'v3', service: { namespace: place, name: 'calico-api' } },
      status: { conditions: [{ type: 'Available', status: 'True' }] },
    }),
    objectOf('networking.k8s.io/v1', 'NetworkPolicy', 'allow-apiserver', {
      metadata: { namespace: place, ownerReferences: ownedBy('APIServer') },
      spec: { podSelector: { matchLabels: { apiserver: 'true' } }, policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 5443 }] }] },
    }),
  ];
}

function statusesOf(release: string): readonly KubeObject[] {
  const good = { Available: 'True', Degraded: 'False', Progressing: 'False' };
  const conditions = Object.entries(good).map(([type, status]) => ({ type, status, observedGeneration: 1 }));
  const names = [
    'calico',
    ...from(API_SERVER, release, 'apiserver'),
    ...from('v3.28.0', release, 'ippools'),
    ...from(FLOW_LOGS, release, 'goldmane', 'whisker'),
  ];
  return names.map((name) => objectOf(OPERATOR_GROUP, 'TigeraStatus', name, { status: { conditions } }));
}

function resourcesStoredBy(release: string): readonly KubeObject[] {
  const of = (kind: string, name: string, spec: object) => objectOf('crd.projectcalico.org/v1', kind, name, { spec });
  const pool = { cidr: PODS, blockSize: 26, vxlanMode: 'CrossSubnet', ipipMode: 'Never', natOutgoing: true, nodeSelector: 'all()' };
  const information = { calicoVersion: release, clusterType: 'typha,kdd,k8s,operator,bgp,kubeadm', datastoreReady: true };
  const tiers = { default: 1_000_000, adminnetworkpolicy: 1_000, baselineadminnetworkpolicy: 10_000_000 };
  return [
    of('IPPool', 'default-ipv4-ippool', pool),
    of('ClusterInformation', 'default', information),
    of('KubeControllersConfiguration', 'default', { controllers: { node: { reconcilerPeriod: '5m0s', syncLabels: 'Enabled' } } }),
    ...from('v3.29.0', release, ...Object.entries(tiers).map(([name, order]) => of('Tier', name, { order }))),
  ];
}
