/** What a person has to write into the release's manifest for a key-value store with client certificates. */
export interface StoreAccess {
  readonly endpoint: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The release's manifest as the document has people edit it: endpoints, certificates, MTU. */
export function withStoreAccess(original: string, { endpoint, ca, certificate, key }: StoreAccess): string {
  const secret = `data:\n  etcd-key: ${base64(key)}\n  etcd-cert: ${base64(certificate)}\n  etcd-ca: ${base64(ca)}`;
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
