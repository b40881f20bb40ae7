import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Api, ApiList, ApiObject } from '../control-plane/api.ts';
import { createAuthority } from '../control-plane/certificates.ts';

interface PodSpec {
  readonly nodeName?: string;
  readonly containers: readonly { readonly command?: readonly string[] }[];
}
const specOf = ({ spec }: ApiObject) => spec as PodSpec;
/** Hundredths of a second, as the program of the pods counts. */
const tick = () => Math.floor(Date.now() / 10) % 1_000_000_000;

export interface LogKubelet {
  /** Connections that begin or end there broke just now, and stay away. */
  cut(node: string): void;
  stop(): void;
}

/** The kubelet of every node, as far as it serves logs: those of pods that keep connections, as their program writes them. */
export async function startLogKubelet(api: Api): Promise<LogKubelet> {
  const cutAt = new Map<string, number>();
  const { certificate: cert, key } = createAuthority('kubelets').issue({ commonName: 'kubelet', hosts: ['127.0.0.1'] });
  const server = createServer({ cert, key }, (request, response) => {
    const [, , namespace = '', pod = ''] = (request.url ?? '').split(/[/?]/);
    logOf(api, namespace, pod, cutAt).then(
      (text) => response.end(text),
      (thrown: unknown) => response.writeHead(500).end(String(thrown)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const status = { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }], daemonEndpoints: { kubeletEndpoint: { Port: port } } };
  const { items } = await api.get<ApiList>('/api/v1/nodes');
  for (const { metadata } of items) await api.send('PATCH', `/api/v1/nodes/${metadata.name}/status`, { status });
  return {
    cut: (node) => void cutAt.set(node, tick()),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function logOf(api: Api, namespace: string, name: string, cutAt: ReadonlyMap<string, number>): Promise<string> {
  const { items } = await api.get<ApiList>(`/api/v1/namespaces/${namespace}/pods`);
  const pod = items.find(({ metadata }) => metadata.name === name);
  const words = pod ? (specOf(pod).containers[0]?.command ?? []) : [];
  if (!pod || words[3] !== 'keeps') return '';
  const now = tick();
  const lines = words.slice(6).flatMap((link, index, all) => {
    if (index % 3 !== 0) return [];
    const peer = items.find(({ status }) => (status as { readonly podIP?: string }).podIP === all[index + 1]);
    const ends = [pod, peer].flatMap((one) => (one ? (specOf(one).nodeName ?? []) : []));
    const [fell] = ends.flatMap((node) => cutAt.get(node) ?? []);
    return fell === undefined ? `link ${link} ${now} yes 0 5 21 ${now} ${now}` : `link ${link} ${now} no 1 5 21 ${fell} ${fell}`;
  });
  return ['beat 0.2', ...lines, ''].join('\n');
}
