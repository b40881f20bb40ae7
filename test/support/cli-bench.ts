import type { FileOwner, ToolResult } from '../../src/kernel/argv.ts';
import { Fault } from '../../src/kernel/fault.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { KnownSum, Sources } from '../../src/kernel/ports.ts';
import { clusterOf } from './cluster-of.ts';
import { artifactsOf, emptySources } from './empty-sources.ts';

export interface CliBench {
  /** Files on PATH by program name. */
  readonly path?: Readonly<Record<string, readonly string[]>>;
  /** What `version` prints by file, or a command by file and its first word; absent: exit 1 and silence. */
  readonly prints?: Readonly<Record<string, string | Partial<ToolResult>>>;
  readonly owners?: Readonly<Record<string, FileOwner>>;
  /** Files and folders that may be written; everything unless said. */
  readonly writable?: readonly string[];
  /** Text of files by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly folders?: readonly string[];
  /** Where folders of another name really lie. */
  readonly links?: Readonly<Record<string, string>>;
  /** Release files by `release/path` or by URL. */
  readonly artifacts?: Readonly<Record<string, string>>;
  /** Sums that are known beforehand, by path. */
  readonly sums?: Readonly<Record<string, KnownSum>>;
  readonly objects?: readonly KubeObject[];
  readonly cluster?: Parameters<typeof clusterOf>[1];
  readonly os?: string;
}

/** Sources of a machine with these files, and what was asked of them. */
export function cliBench(bench: CliBench = {}): { sources: Sources; asked: string[] } {
  const asked: string[] = [];
  const { cluster } = clusterOf(bench.objects ?? [], bench.cluster);
  const artifacts = artifactsOf((release, path) => bench.artifacts?.[path.includes('://') ? path : `${release}/${path}`]);
  const sources: Partial<Sources> = {
    cluster,
    tools: {
      ...emptySources().tools,
      which: async (program) => bench.path?.[program] ?? [],
      ownerOf: async (file) => bench.owners?.[file],
      platform: () => ({ os: bench.os ?? 'linux', arch: 'amd64' }),
      run: async ({ args }, { program = '', timeoutMs } = {}) => {
        asked.push(`${program} ${args.join(' ')}${timeoutMs === undefined ? ' (no limit)' : ''}`);
        return answer(bench.prints?.[`${program} ${args[0]}`] ?? bench.prints?.[program]);
      },
    },
    store: {
      ask: async (endpoint) => ({ endpoint, state: 'unreached', because: 'away' }),
      value: async () => {
        throw new Fault('failed', 'away', []);
      },
    },
    files: {
      exists: async (path) => bench.files?.[path] !== undefined,
      isFolder: async (path) => bench.folders?.includes(path) ?? false,
      realPath: async (path) => bench.links?.[path] ?? path,
      writable: async (path) => bench.writable?.includes(path) ?? true,
      readText: async (path) => bench.files?.[path] ?? '',
      readBytes: async (path) => new TextEncoder().encode(bench.files?.[path]),
    },
    artifacts: {
      ...artifacts,
      sumOf: async (_release, path) => bench.sums?.[path],
      fetch: async (release, path) => {
        asked.push(`fetch ${path}`);
        return artifacts.fetch(release, path);
      },
    },
    work: {
      ...emptySources().work,
      path: '/work-folder',
      write: async (name) => {
        asked.push(`write ${name}`);
        return `/work-folder/${name}`;
      },
    },
    clock: emptySources().clock,
  };
  return { sources: sources as Sources, asked };
}

function answer(prints: string | Partial<ToolResult> = { exitCode: 1 }): ToolResult {
  const change = typeof prints === 'string' ? { stdout: prints } : prints;
  return { exitCode: 0, stdout: '', stderr: '', durationMs: 1, ...change };
}

/** What `version` prints of a client, and of a cluster if there is one. */
export function versionText(client: string, cluster?: string): string {
  const head = `Client Version:    ${client}\nGit commit:        0000000\n`;
  return cluster === undefined ? head : `${head}Cluster Version:   ${cluster}\nCluster Type:      k8s\n`;
}
