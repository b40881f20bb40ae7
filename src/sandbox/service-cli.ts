import type { ToolResult } from '../kernel/argv.ts';
import { textAt } from '../kernel/json.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';
import type { Profile } from '../kernel/profile.ts';
import { storedMetadata } from '../kube/stored-metadata.ts';
import type { SandboxCluster } from './sandbox-cluster.ts';
import { findKind } from './store.ts';

export type Answer = Pick<ToolResult, 'exitCode' | 'stdout'> & Partial<Pick<ToolResult, 'stderr'>>;

export const said = (stdout: string): Answer => ({ exitCode: 0, stdout });
export const refused = (stderr: string): Answer => ({ exitCode: 1, stdout: '', stderr: `${stderr}\n` });

/** The program of a release's CLI on the made-up machine: no more than its name and release. */
export function cliFile({ cli }: Profile, release: string): string {
  return `${cli.program} ${release}\n`;
}

/** The service's CLI; its file tells its release. */
export function serviceCli(cluster: SandboxCluster, program: string | undefined, args: readonly string[], stdin = ''): Answer {
  const [, name, release] = /^(\S+) (v\S+)/.exec(program ?? '') ?? [];
  if (!release || name !== cluster.profile.cli.program) return { exitCode: 127, stdout: '', stderr: 'not found\n' };
  const client = `Client Version:    ${release}\nGit commit:        sandbox\n`;
  if (args.join(' ') === 'version --client') return said(client);
  const version = clusterVersion(cluster);
  if (args.join(' ') === 'version') return said(`${client}Cluster Version:   ${version ?? 'unknown'}\nCluster Type:      k8s\n`);
  if (version !== undefined && version !== release) {
    return refused(
      `version mismatch.\nClient Version:   ${release}\nCluster Version:  ${version}\nUse --allow-version-mismatch to override`,
    );
  }
  return onResources(cluster, args, stdin);
}

function clusterVersion(cluster: SandboxCluster): string | undefined {
  const { crdGroup, clusterInformation: names } = cluster.profile;
  const kind = findKind(cluster.kinds(), `${crdGroup}/v1`, names.kind);
  return kind && textAt(cluster.store.get(kind, names.name), 'spec', names.versionField);
}

function onResources(cluster: SandboxCluster, [verb = '', ...rest]: readonly string[], stdin: string): Answer {
  if (verb === 'create' && rest.join(' ') === '-f -') return create(cluster, JSON.parse(stdin) as KubeObject);
  const [word = '', ...more] = rest;
  const kind = kindOf(cluster, word);
  if (!kind) return refused(`resource type '${word}' is not supported`);
  if (verb === 'get' && more.slice(-2).join(' ') === '-o json') return get(cluster, kind, more.slice(0, -2));
  if (verb === 'patch' && more.length === 3 && more[1] === '--patch') {
    cluster.registry.mergePatch(kind, { apiVersion: '', kind: kind.kind, name: more[0] ?? '' }, JSON.parse(more[2] ?? ''), {
      manager: cluster.profile.cli.program,
    });
    return said(`Successfully patched 1 '${kind.kind}' resource\n`);
  }
  if (verb === 'delete') return remove(cluster, kind, more);
  return refused(`the sandbox does not know: ${[verb, ...rest].join(' ')}`);
}

function kindOf(cluster: SandboxCluster, word: string): Kind | undefined {
  return cluster.kinds().find(({ group, plural }) => group === cluster.profile.crdGroup && (plural === word || plural === `${word}s`));
}

/** All as a list; of one name the bare object, of several an array of those that there are (cli notes 1.5). */
function get(cluster: SandboxCluster, kind: Kind, names: readonly string[]): Answer {
  const { apiGroup } = cluster.profile;
  const all = cluster.store.list(kind).map((one) => served(one, apiGroup));
  if (names.length === 0) return said(JSON.stringify({ kind: `${kind.kind}List`, apiVersion: `${apiGroup}/v3`, items: all }));
  const found = all.filter(({ metadata }) => names.includes(metadata.name));
  const missing = names.filter((name) => !found.some(({ metadata }) => metadata.name === name));
  const stderr = missing.map((name) => `resource does not exist: ${kind.kind}(${name}) with error: <nil>\n`).join('');
  const stdout = JSON.stringify(found.length > 1 ? found : (found[0] ?? null));
  return { exitCode: missing.length > 0 ? 1 : 0, stdout, stderr };
}

/** As the v3 API shows it. */
function served(object: KubeObject, apiGroup: string): KubeObject {
  const { labels, annotations } = storedMetadata(object, apiGroup);
  return { ...object, apiVersion: `${apiGroup}/v3`, metadata: { name: object.metadata.name, labels, annotations } };
}

/** Stored the new way: labels and annotations in one annotation. */
function create(cluster: SandboxCluster, { kind: name, metadata, spec }: KubeObject): Answer {
  const { apiGroup, crdGroup, cli } = cluster.profile;
  const kind = cluster.kinds().find((one) => one.group === crdGroup && one.kind === name);
  if (!kind) return refused(`resource type '${name}' is not supported`);
  const { labels, annotations: own } = metadata;
  const annotations = { [`${apiGroup}/metadata`]: JSON.stringify({ labels, annotations: own }) };
  const apiVersion = `${kind.group}/${kind.version}`;
  cluster.registry.create(kind, { apiVersion, kind: name, metadata: { name: metadata.name, annotations }, spec }, { manager: cli.program });
  return said(`Successfully created 1 '${name}' resource(s)\n`);
}

/** Continues after a name that is not there, and says so in the end. */
function remove(cluster: SandboxCluster, kind: Kind, names: readonly string[]): Answer {
  const missing: string[] = [];
  for (const name of names) {
    try {
      cluster.registry.remove(kind, { apiVersion: '', kind: kind.kind, name });
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 404) throw thrown;
      missing.push(name);
    }
  }
  const done = names.length - missing.length;
  const stdout = done > 0 ? `Successfully deleted ${done} '${kind.kind}' resource(s)\n` : '';
  const stderr = missing
    .map((name) => `Failed to delete '${kind.kind}' resource: resource does not exist: ${kind.kind}(${name})\n`)
    .join('');
  return { exitCode: missing.length > 0 ? 1 : 0, stdout, stderr };
}
