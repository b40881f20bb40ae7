import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, connect as open } from 'node:net';
import { join } from 'node:path';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { listening } from '../control-plane/listening.ts';

export type MisleadingMachine = Awaited<ReturnType<typeof misleadingMachine>>;

/** Head of a configuration file of the service's CLI. */
const CALICO = { apiVersion: 'projectcalico.org/v3', kind: 'CalicoAPIConfig' };
const MAX_MINUTES = 15;

/**
 * A machine on which everything that tools look at by themselves leads to one server, which counts who comes. `plane` stands behind it, so
 * that a tool that is led astray succeeds there.
 */
export async function misleadingMachine(plane: ControlPlane, home: string, names = CALICO) {
  let visits = 0;
  const { port: behind } = new URL(plane.access.server);
  const server = createServer((socket) => {
    visits += 1;
    const onward = open(Number(behind), '127.0.0.1');
    onward.on('error', () => undefined);
    socket.on('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  const { port, close } = await listening(server);
  const limit = setTimeout(() => void close(), MAX_MINUTES * 60_000).unref();
  const url = `https://127.0.0.1:${port}`;
  const kubeconfig = (await plane.kubectl(['config', 'view', '--raw', '--flatten'])).stdout.replaceAll(plane.access.server, url);
  const files = {
    kubeconfig: join(home, '.kube', 'config'),
    kuberc: join(home, '.kube', 'kuberc'),
    cliConfig: join(home, 'usual-cli.cfg'),
  };
  await mkdir(join(home, '.kube'), { recursive: true });
  await writeFile(files.kubeconfig, kubeconfig, { mode: 0o600 });
  await writeFile(files.kuberc, kuberc(url, files.kubeconfig));
  const spec = `  datastoreType: kubernetes\n  kubeconfig: ${files.kubeconfig}\n`;
  await writeFile(files.cliConfig, `apiVersion: ${names.apiVersion}\nkind: ${names.kind}\nmetadata:\nspec:\n${spec}`);
  return {
    /** Connections to that server so far. */
    visits: () => visits,
    /** Counts from nought again. */
    forget: () => {
      visits = 0;
    },
    /** HOME, with the usual files in it: a kubeconfig whose current context leads there too, and one of the service's CLI. */
    home,
    cliConfig: files.cliConfig,
    /** Variables of the shell; HOME is given apart. */
    env: {
      KUBECONFIG: files.kubeconfig,
      KUBERNETES_MASTER: url,
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(port),
      KUBERC: files.kuberc,
      DATASTORE_TYPE: 'kubernetes',
      CALICO_DATASTORE_TYPE: 'kubernetes',
      CALICO_KUBECONFIG: files.kubeconfig,
      CALICO_K8S_API_ENDPOINT: url,
      K8S_API_ENDPOINT: url,
      ETCD_ENDPOINTS: url,
      CALICO_ETCD_ENDPOINTS: url,
      HELM_KUBEAPISERVER: url,
      HELM_KUBECONTEXT: 'wrong',
      HELM_KUBEINSECURE_SKIP_TLS_VERIFY: 'true',
      HELM_NAMESPACE: 'elsewhere',
      HELM_DRIVER: 'memory',
    },
    async stop(): Promise<void> {
      clearTimeout(limit);
      await close();
    },
  };
}

/** A person's own defaults for kubectl: each command gets the other server by a flag that nobody wrote. */
function kuberc(server: string, kubeconfig: string): string {
  const options = [
    { name: 'server', default: server },
    { name: 'kubeconfig', default: kubeconfig },
    { name: 'insecure-skip-tls-verify', default: 'true' },
  ];
  const commands = ['get', 'apply', 'patch', 'delete', 'version', 'create', 'rollout restart', 'api-resources'];
  return JSON.stringify({
    apiVersion: 'kubectl.config.k8s.io/v1beta1',
    kind: 'Preference',
    defaults: commands.map((command) => ({ command, options })),
  });
}

/** A request as the API server saw it (audit.k8s.io/v1), of a control plane that keeps an audit log. */
export interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string; readonly groups?: readonly string[] };
}

/** Every request of programs so far: the test ground's own client, which plays people and parts, does not say what it is. */
export async function programRequests({ auditLog }: Pick<ControlPlane, 'auditLog'>): Promise<readonly AuditEvent[]> {
  const lines = (await readFile(auditLog, 'utf8')).trim().split('\n');
  const events = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AuditEvent);
  return events.filter(({ userAgent }) => userAgent !== undefined);
}

/** One line for each of those that did not come as this user of this group. */
export function asAnybodyElse(events: readonly AuditEvent[], user: string, group: string): readonly string[] {
  const strangers = events.filter(({ impersonatedUser: as }) => as?.username !== user || !as.groups?.includes(group));
  return strangers.map(({ userAgent, verb, requestURI }) => `${userAgent} ${verb} ${requestURI}`);
}
