import type { Invocation, ToolResult, Tools } from '../../kernel/argv.ts';
import type { EnginePorts } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { type StoreSettings, storeSettings } from '../../kube/kvstore.ts';
import { type CliVersion, clientRelease, parseCliVersion, serviceNamespaces } from '../survey/index.ts';

/** The service's own CLI as it was found: the file, and the arguments that configure it. */
export interface CliCall {
  readonly program: string;
  readonly args: readonly string[];
  /** In key-value mode: the store that it must reach at every write. */
  readonly store?: StoreExpected;
}

const CLI_LIMIT_MS = 60_000;

/** What the CLI says of a name that is not there, and warnings of its libraries: no failure of the answer. */
const HARMLESS = /^$|^[IWE]\d{4} |resource does not exist: \w+\(/;

/** Those of these names that exist, of one namespace; the CLI fails for missing ones (cli notes 1.5). Throws Fault `failed` if that is unclear. */
export async function cliNamed(
  { tools }: Pick<EnginePorts, 'tools'>,
  { program, args }: CliCall,
  plural: string,
  names: readonly string[],
  namespace?: string,
): Promise<readonly KubeObject[]> {
  const inNamespace = namespace === undefined ? [] : [`--namespace=${namespace}`];
  const run = { tool: 'netsvcctl', args: ['get', plural, ...names, '-o', 'json', ...inNamespace, ...args] } as const;
  const answer = await tools.run(run, { program, timeoutMs: CLI_LIMIT_MS });
  const isAbsence = answer.exitCode === 1 && /resource does not exist: /.test(answer.stderr);
  if (answer.exitCode === 0 || (isAbsence && answer.stderr.split('\n').every((line) => HARMLESS.test(line)))) {
    return cliObjects(answer.stdout.trim() || 'null');
  }
  throw unreadable(`${program} get ${plural} ${names.join(' ')}`, answer);
}

/** Kinds of which the CLI shows one namespace only, unless asked for all. */
const NAMESPACED = new Set(['networkpolicies', 'networksets', 'stagednetworkpolicies']);

/** All resources of a kind as the service's CLI shows them now; its warnings on stderr are none (cli notes 1). Throws Fault `failed` if it cannot. */
export async function cliList(
  { tools }: Pick<EnginePorts, 'tools'>,
  { program, args }: CliCall,
  plural: string,
  timeoutMs = CLI_LIMIT_MS,
): Promise<readonly KubeObject[]> {
  const everywhere = NAMESPACED.has(plural) ? ['--all-namespaces'] : [];
  const run = { tool: 'netsvcctl', args: ['get', plural, '-o', 'json', ...everywhere, ...args] } as const;
  const answer = await tools.run(run, { program, timeoutMs });
  if (answer.exitCode === 0) return cliObjects(answer.stdout);
  throw unreadable(`${program} get ${plural}`, answer);
}

function unreadable(command: string, { stderr, problem, exitCode }: ToolResult): Fault {
  return new Fault('failed', `${command} failed: ${stderr.trim() || problem || `exit code ${exitCode}`}`, [`see for yourself: ${command}`]);
}

/** Every call of the service's CLI gets a limit: with an unreachable datastore it hangs for ever (cli notes 1.1). */
const ANSWER_MS = 10_000;

/** A CLI of the service on this machine; `release` is missing if it does not tell. */
export interface FoundCli {
  readonly file: string;
  readonly release?: string;
}

/** Every CLI of the service on PATH and in its kubectl plugin form, first first. */
export async function readClis(tools: Tools, { cli }: Profile): Promise<readonly FoundCli[]> {
  const files = (await Promise.all([cli.program, cli.kubectlPlugin].map((program) => tools.which(program)))).flat();
  return Promise.all(
    [...new Set(files)].map(async (file) => {
      const release = await releaseOf(tools, file);
      return release === undefined ? { file } : { file, release };
    }),
  );
}

/** New CLIs tell their release without a connection; old ones only as the first line of the whole answer. */
export async function releaseOf(tools: Tools, file: string): Promise<string | undefined> {
  return clientRelease((await askRelease(tools, file, ANSWER_MS)).stdout);
}

/** The answer that tells its release, or the last one. */
export async function askRelease(tools: Pick<Tools, 'run'>, program: string, timeoutMs: number): Promise<ToolResult> {
  const alone = await tools.run({ tool: 'netsvcctl', args: ['version', '--client'] }, { program, timeoutMs });
  if (clientRelease(alone.stdout) !== undefined) return alone;
  return tools.run({ tool: 'netsvcctl', args: ['version'] }, { program, timeoutMs });
}

/** The whole answer of one CLI about the cluster. */
export async function readCliVersion(tools: Tools, { program, args }: CliCall): Promise<CliVersion> {
  return parseCliVersion(await tools.run({ tool: 'netsvcctl', args: ['version', ...args] }, { program, timeoutMs: ANSWER_MS }));
}

/** The file of a program in a folder, as that machine writes it: Windows finds programs by their ending. */
export function fileIn(folder: string, program: string, os: string): string {
  const [slash, ending] = os === 'windows' ? ['\\', '.exe'] : ['/', ''];
  return `${/[/\\]$/.test(folder) ? folder : folder + slash}${program}${ending}`;
}

/** What tells one key-value store of the service from another: the GUID that its first agent gave the cluster (cli notes 1.1). */
export interface StoreExpected {
  readonly plural: string;
  readonly name: string;
  readonly guidField: string;
  readonly guid: string;
}

export type StoreQuestion = Omit<StoreExpected, 'guid'>;

/** By what a store is told; undefined where the profile does not say. */
export function storeQuestion({ clusterInformation }: Profile): StoreQuestion | undefined {
  const { plural, name, guidField } = clusterInformation;
  return guidField === undefined ? undefined : { plural, name, guidField };
}

/** Asks the CLI for the GUID of the store that these arguments lead to. A CLI of another release may ask this too. */
export function askGuid({ plural, name }: StoreQuestion, args: readonly string[]): Invocation {
  return { tool: 'netsvcctl', args: ['get', plural, name, '-o', 'json', '--allow-version-mismatch', ...args] };
}

/** The GUID in the answer, or why there is none. */
export function guidIn({ guidField }: StoreQuestion, answer: ToolResult): { readonly guid: string } | { readonly because: string } {
  if (answer.problem === 'timed-out') return { because: 'it gave no answer in time' };
  try {
    const guid = cliObjects(answer.stdout.trim() || 'null')
      .map((one) => guidOf(one, guidField))
      .find((one) => one !== undefined);
    if (guid !== undefined) return { guid };
  } catch {
    // What is no JSON is identified by its words below.
  }
  const words = (answer.stderr.trim() || answer.stdout.trim()).split('\n')[0] ?? '';
  return { because: words === '' || words === 'null' ? `it shows no ${guidField}` : words.slice(0, 200) };
}

/** The GUID of an object that holds it; undefined where it has none, or is no object. */
export function guidOf(object: unknown, guidField: string): string | undefined {
  return textAt(object, 'spec', guidField) || undefined;
}

/** Objects in an answer of the service's CLI to `get -o json`: one object, a list, or nothing. Throws SyntaxError if it is no JSON. */
function cliObjects(text: string): readonly KubeObject[] {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return value as KubeObject[];
  if (typeof value !== 'object' || value === null) return [];
  const { items } = value as { readonly items?: unknown };
  return Array.isArray(items) ? (items as KubeObject[]) : [value as KubeObject];
}

/** How the installation itself reaches its key-value store; undefined where no ConfigMap says it. */
export async function readStoreSettings(cluster: Pick<ClusterReader, 'list'>, profile: Profile): Promise<StoreSettings | undefined> {
  const maps = await Promise.all(serviceNamespaces(profile).map((namespace) => cluster.list(K.ConfigMap, { namespace })));
  return storeSettings(maps.flat(), profile.datastore.endpointsKey, profile.datastore.tlsKeys);
}
