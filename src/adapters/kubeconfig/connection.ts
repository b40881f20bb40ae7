import { command } from '../../kernel/command.ts';
import { look, text } from '../../kernel/step.ts';
/** kubectl's connection flags. Not `-n`: it filters lists, and must not decide where kubectl puts a document. */
export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly server?: string;
  readonly token?: string;
  readonly as?: string;
  readonly 'as-group'?: readonly string[];
  readonly 'as-uid'?: string;
  /** `30`, `30s`, `2m`, `0` for none. */
  readonly 'request-timeout'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority'?: string;
  readonly 'client-certificate'?: string;
  readonly 'client-key'?: string;
  readonly 'tls-server-name'?: string;
}

/** The `cluster` of a kubeconfig document, files already read into `…-data`. */
export interface ClusterEntry {
  readonly server?: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: readonly { readonly name: string; readonly extension: unknown }[] | null;
}

/** A credential plugin of a kubeconfig (client.authentication.k8s.io). */
export interface ExecEntry {
  readonly apiVersion?: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly installHint?: string;
  readonly provideClusterInfo?: boolean;
  readonly interactiveMode?: string;
}

/** The `user` of a kubeconfig document; paths absolute, certificate files read into `…-data`. */
export interface UserEntry {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
  readonly exec?: ExecEntry;
  readonly 'auth-provider'?: { readonly name: string; readonly config?: Readonly<Record<string, string>> };
}

export interface ContextEntry {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
}

type Named<Key extends string, Entry> = { readonly name: string } & { readonly [key in Key]?: Entry };

/** What `kubectl config view -o json` prints. */
export interface KubeconfigDocument {
  readonly clusters?: readonly Named<'cluster', ClusterEntry>[] | null;
  readonly users?: readonly Named<'user', UserEntry>[] | null;
  readonly contexts?: readonly Named<'context', ContextEntry>[] | null;
  readonly 'current-context'?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** One cluster and one user, after every override: what all of this program, and its child processes, talk to. */
export interface Connection {
  /** Where it was read, for messages: file names, or `in-cluster`. */
  readonly source: string;
  /** The one kubeconfig file that leads here without any flag but its own. */
  readonly ownFile?: string;
  readonly contextName: string;
  readonly clusterName: string;
  readonly userName: string;
  readonly namespace: string;
  readonly server: string;
  readonly cluster: ClusterEntry;
  readonly user: UserEntry;
  /** Limit of each request; undefined means none. */
  readonly requestTimeoutMs?: number;
  readonly env: Environment;
}

/** Server, authority and user of the context, without credentials. */
export const SEE_ENTRY = look(text`see what the kubeconfig says of it: ${command`kubectl config view --minify`}`);

/** `context "prod" of ~/.kube/config`: how messages name a connection. */
export function connectionText(connection: Pick<Connection, 'source' | 'contextName'>): string {
  return connection.contextName ? `context "${connection.contextName}" of ${connection.source}` : connection.source;
}
