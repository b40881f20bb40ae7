import { quoteFor } from '../kernel/argv.ts';
import { oneLine } from '../kernel/visible.ts';

/** A flag of the command line that the next command needs as well. */
export interface CarriedFlag {
  /** `context`. */
  readonly name: string;
  /** The word itself, not quoted: `--context=prod`. */
  readonly word: string;
  /** It came from the environment, which the next command of this shell has as well; another machine has not. */
  readonly fromEnvironment?: true;
  /** It was read from the run record: whoever may write that chose it. */
  readonly fromRecord?: true;
}

/** Flags of the connection, which kubectl has under the same names; credentials are not carried. */
const CONNECTION: readonly string[] = [
  ...['kubeconfig', 'context', 'cluster', 'user', 'server', 'as', 'as-group', 'as-uid', 'request-timeout', 'insecure-skip-tls-verify'],
  ...['certificate-authority', 'client-certificate', 'client-key', 'tls-server-name'],
];

/** Those that helm has, by its own names. */
const HELM: Readonly<Record<string, string>> = {
  kubeconfig: 'kubeconfig',
  context: 'kube-context',
  server: 'kube-apiserver',
  as: 'kube-as-user',
  'as-group': 'kube-as-group',
  'insecure-skip-tls-verify': 'kube-insecure-skip-tls-verify',
  'certificate-authority': 'kube-ca-file',
  'tls-server-name': 'kube-tls-server-name',
};

/** What `status` and `unlock` know: they look at a run, not at an artifact. */
const RECORD: readonly string[] = [...CONNECTION, 'state-namespace', 'profile', 'release'];

/** What every command that judges or changes knows. */
const CHAIN: readonly string[] = [
  ...RECORD,
  ...[
    'path',
    'variant',
    'manifest-url',
    'manifest-ca',
    'artifact-digest',
    'upgrade-file',
    'base',
    'installed-manifest',
    'kvstore-endpoints',
    'resolve',
  ],
  ...['chart', 'repo', 'crd-chart', 'values', 'manage-crds', 'move-release', 'enable-flow-logs'],
  ...['accept', 'fail-on', 'hold-policy-migration'],
  ...['bin-dir', 'cli-config', 'backup-dir', 'with-secrets', 'max-failed', 'timeout'],
];

/** What commands know that may take owner references off, or that judge them. */
const OWNERS: readonly string[] = [...CHAIN, 'ownerrefs', 'journal-dir', 'qps', 'parallel'];

/** What commands know that apply manifests. */
const APPLY: readonly string[] = [...OWNERS, 'ownership'];

/** What `plan` and `run` know besides: the part of the chain. */
const RANGE: readonly string[] = [...APPLY, 'from', 'through', 'skip', 'include'];

const NAMES: Readonly<Record<string, readonly string[]>> = {
  kubectl: CONNECTION,
  helm: Object.keys(HELM),
  preflight: OWNERS,
  apply: APPLY,
  crds: [...CHAIN, 'ownership'],
  ownerrefs: OWNERS.filter((name) => name !== 'hold-policy-migration'),
  plan: RANGE,
  run: RANGE,
  status: RECORD,
  report: RECORD,
  unlock: RECORD,
  permissions: ['state-namespace', 'profile', 'release', 'path', 'variant'],
  explain: [],
  completion: [],
  demo: [],
};

/** The flags that belong to the run, whoever continues it from wherever; none of the connection. */
export function flagsOfRun(flags: readonly CarriedFlag[]): readonly string[] {
  return flags.filter(({ name }) => !CONNECTION.includes(name)).map(({ word }) => word);
}

/** Those of a record, as far as the command line does not say otherwise. What is no flag that a run may be given is left out, flags of the connection too. */
export function withRecorded(flags: readonly CarriedFlag[], recorded: unknown): readonly CarriedFlag[] {
  const words = Array.isArray(recorded) ? recorded.filter((one) => typeof one === 'string') : [];
  const more = words.flatMap((word): readonly CarriedFlag[] => {
    const name = /^--([a-z-]+)(?:=|$)/.exec(word)?.[1] ?? '';
    return CARRIED.includes(name) && !CONNECTION.includes(name) ? [{ name, word, fromRecord: true }] : [];
  });
  const here = flags.filter(({ fromEnvironment }) => !fromEnvironment);
  return [...here, ...more.filter(({ name }) => !flags.some((one) => one.name === name))];
}

/** Where the recorded flags of a suggested command come from, as a line for a person; undefined if it has none. */
export function recordedFlagsLine(command: string, flags: readonly CarriedFlag[], record: string): string | undefined {
  const told = carriedTo(
    command,
    flags.filter(({ fromRecord }) => fromRecord),
  );
  return told === '' ? undefined : `from the run record (${record}), not from you; check before you run them:${told}`;
}

/** Every flag that is carried to one command or another. */
export const CARRIED = RANGE;

/** Names of the flags that a command may be given from the one before it; `kubectl` and `helm` themselves are such commands. */
export function carriedNames(command: string): readonly string[] {
  return NAMES[command] ?? CHAIN;
}

/** Programs that do not read this program's environment variables. */
const OTHERS: ReadonlySet<string> = new Set(['kubectl', 'helm']);

/** The carried flags that a command knows, each quoted for the shell and with a space before it; empty if there are none. */
export function carriedTo(command: string, flags: readonly CarriedFlag[]): string {
  const [program = ''] = command.split(' ');
  const known = carriedNames(program);
  return flags
    .filter(({ name, fromEnvironment }) => known.includes(name) && (!fromEnvironment || OTHERS.has(program)))
    .map(({ name, word }) => ` ${quoteFor(process.platform, oneLine(program === 'helm' ? inHelmsWords(name, word) : word))}`)
    .join('');
}

function inHelmsWords(name: string, word: string): string {
  return `--${HELM[name] ?? name}${word.slice(`--${name}`.length)}`;
}
