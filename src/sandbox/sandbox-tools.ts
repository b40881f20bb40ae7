import { parseArgs } from 'node:util';
import type { Invocation, RunToolOptions, ToolResult, Tools } from '../kernel/argv.ts';
import { messageOf } from '../kernel/fault.ts';
import { type Kind, type KubeObject, refOf } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { adoptedOwnership, KUBECTL, LAST_APPLIED } from '../kube/managed-fields.ts';
import { parseManifest } from '../manifest/manifest.ts';
import { Killed } from './api-faults.ts';
import { type SandboxCluster, SERVER_VERSION } from './sandbox-cluster.ts';
import type { SandboxFiles } from './sandbox-files.ts';
import { type Answer, refused, said, serviceCli } from './service-cli.ts';
import { findKind, resourceText } from './store.ts';

/** Where programs lie on the made-up machine. */
export const BIN_DIR = '/usr/local/bin';

/** kubectl and the service's CLI, as far as an upgrade calls them; anything else is refused in words. */
export function sandboxTools(cluster: SandboxCluster, files: SandboxFiles): Tools {
  return {
    async run(invocation, options = {}) {
      const answer = await answerOf(cluster, files, invocation, options);
      return told(answer, options);
    },
    which: async (program) => (files.isExecutable(`${BIN_DIR}/${program}`) ? [`${BIN_DIR}/${program}`] : []),
    programOf: (tool) => (tool === 'netsvcctl' ? cluster.profile.cli.program : tool),
    platform: () => ({ os: 'linux', arch: 'amd64' }),
    ownerOf: async () => undefined,
  };
}

async function answerOf(
  cluster: SandboxCluster,
  files: SandboxFiles,
  { tool, args, stdin }: Invocation,
  options: RunToolOptions,
): Promise<Answer> {
  try {
    if (tool === 'kubectl') return kubectl(cluster, files, args);
    if (tool === 'netsvcctl')
      return serviceCli(cluster, files.text(options.program ?? `${BIN_DIR}/${cluster.profile.cli.program}`), args, stdin);
  } catch (thrown) {
    if (thrown instanceof Killed) throw thrown;
    return failed(messageOf(thrown));
  }
  return failed(`the sandbox has no ${tool}`);
}

function kubectl(cluster: SandboxCluster, files: SandboxFiles, args: readonly string[]): Answer {
  const [verb = '', ...rest] = args;
  if (verb === 'version') return kubectlVersion(rest);
  if (verb === 'apply') {
    const flags = rest.slice(0, rest.indexOf('-f'));
    const known = ['--server-side', '--force-conflicts', '--dry-run=server'];
    const file = rest.at(-1) ?? '';
    const exact = rest.at(-2) === '-f' && flags.length === rest.length - 2 && flags.every((flag) => known.includes(flag));
    if (!exact || !flags.includes('--server-side') || !flags.includes('--force-conflicts')) return unknown(args);
    const text = files.text(file);
    if (text === undefined) return failed(`the path "${file}" does not exist`);
    return kubectlApply(cluster, text, file, flags.includes('--dry-run=server'));
  }
  return verb === 'patch' ? kubectlPatch(cluster, rest) : unknown(args);
}

function kubectlVersion(flags: readonly string[]): Answer {
  if (flags.join(' ').replace('--client', '').trim() !== '-o json') return unknown(['version', ...flags]);
  const versions = { clientVersion: SERVER_VERSION, ...(flags.includes('--client') ? {} : { serverVersion: SERVER_VERSION }) };
  return said(`${JSON.stringify(versions, undefined, 2)}\n`);
}

const PATCH_FLAGS = {
  patch: { type: 'string', short: 'p' },
  namespace: { type: 'string', short: 'n' },
  type: { type: 'string' },
  'dry-run': { type: 'string' },
} as const;

/** `patch [--dry-run=server] RESOURCE NAME [-n NAMESPACE] --type=merge|json --patch JSON`. */
function kubectlPatch(cluster: SandboxCluster, args: readonly string[]): Answer {
  const { values, positionals } = parseArgs({ args: [...args], options: PATCH_FLAGS, strict: false });
  const { patch, type, namespace } = values;
  const [resource = '', name = ''] = positionals.flatMap((one) => one.split('/'));
  if ((type !== 'merge' && type !== 'json') || typeof patch !== 'string' || !name) return unknown(['patch', ...args]);
  const isMeant = (kind: Parameters<typeof resourceText>[0]) =>
    [kind.plural, resourceText(kind), kind.kind.toLowerCase()].includes(resource.toLowerCase());
  const kind = cluster.kinds().find(isMeant);
  if (!kind) return failed(`the server doesn't have a resource type "${resource}"`);
  const dryRun = values['dry-run'] === 'server';
  const ref = { apiVersion: '', kind: kind.kind, name, ...(typeof namespace === 'string' ? { namespace } : {}) };
  const how = { manager: 'kubectl-patch', dryRun };
  if (type === 'merge') cluster.registry.mergePatch(kind, ref, JSON.parse(patch), how);
  else cluster.registry.jsonPatch(kind, ref, JSON.parse(patch), how);
  return said(`${resourceText(kind)}/${name} patched${dryRun ? ' (server dry run)' : ''}\n`);
}

const failed = (why: string): Answer => refused(`error: ${why}`);
const unknown = (args: readonly string[]): Answer => failed(`the sandbox does not know: ${args.join(' ')}`);

function told({ exitCode, stdout, stderr = '' }: Answer, { onLine }: RunToolOptions): ToolResult {
  for (const line of stdout.split('\n')) if (line !== '') onLine?.(line, 'stdout');
  for (const line of stderr.split('\n')) if (line !== '') onLine?.(line, 'stderr');
  return { exitCode, stdout, stderr, durationMs: 0 };
}

/** `kubectl apply --server-side --force-conflicts -f FILE`: document after document, continuing after a failing one (plan notes 1, 5). */
function kubectlApply(cluster: SandboxCluster, text: string, file: string, dryRun: boolean): Answer {
  const [out, err]: [string[], string[]] = [[], []];
  for (const { object } of parseManifest(text, file).documents) {
    try {
      out.push(applyOne(cluster, object, dryRun, (warning) => err.push(`Warning: ${warning}`)));
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure)) throw thrown;
      err.push(failureText(thrown, object));
    }
  }
  const isFailed = err.some((line) => !line.startsWith('Warning: '));
  return { exitCode: isFailed ? 1 : 0, stdout: lines(out), stderr: lines(err) };
}

function applyOne(cluster: SandboxCluster, document: KubeObject, dryRun: boolean, warn: (text: string) => void): string {
  const kind = findKind(cluster.kinds(), document.apiVersion, document.kind);
  if (!kind) {
    const why = `no matches for kind "${document.kind}" in version "${document.apiVersion}"\nensure CRDs are installed first`;
    throw new ApiFailure(404, 'NotFound', why);
  }
  const apply = () => cluster.registry.apply(kind, document, { manager: KUBECTL, dryRun });
  const applied = apply();
  if (!dryRun && adoptedOwnership(applied)) {
    migrate(cluster, kind, applied);
    try {
      apply();
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure)) throw thrown;
      // kubectl only warns: the object stays half changed and the exit code is 0.
      warn(
        `failed to re-apply configuration after performing Server-Side Apply migration. This is non-fatal and will be retried: ${thrown.message}`,
      );
    }
  }
  const name = `${kind.kind.toLowerCase()}${kind.group === '' ? '' : `.${kind.group}`}/${document.metadata.name}`;
  return `${name} serverside-applied${dryRun ? ' (server dry run)' : ''}`;
}

/** What client-side apply owned becomes kubectl's own; its annotation gets an owner of its own. */
function migrate({ registry }: SandboxCluster, kind: Kind, applied: KubeObject): void {
  const { name, namespace, annotations } = applied.metadata;
  const { apiVersion } = applied;
  const only = { name, ...(namespace ? { namespace } : {}), annotations: { [LAST_APPLIED]: annotations?.[LAST_APPLIED] ?? '' } };
  const live = registry.apply(kind, { apiVersion, kind: kind.kind, metadata: only }, { manager: 'kubectl-last-applied' });
  const patch = [
    { op: 'replace', path: '/metadata/managedFields', value: adoptedOwnership(live) },
    { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
  ] as const;
  registry.jsonPatch(kind, refOf(live), patch, { manager: KUBECTL });
}

function failureText(failure: ApiFailure, { kind, metadata }: KubeObject): string {
  if (failure.status === 422) return `The ${kind} "${metadata.name}" is invalid: ${messageOf(failure)}`;
  return `Error from server (${failure.reason}): ${messageOf(failure)}`;
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
