/** A flag of the command line that the next command needs as well. */
export interface CarriedFlag {
  /** `context`. */
  readonly name: string;
  /** As it is written, quoted for a shell: `--context=prod`. */
  readonly text: string;
  /** It came from the environment, which the next command of this shell has as well; another machine has not. */
  readonly fromEnvironment?: true;
}

/** Flags of the connection, which kubectl has under the same names; credentials are not carried. */
const CONNECTION: readonly string[] = [
  ...['kubeconfig', 'context', 'cluster', 'user', 'server', 'as', 'as-group', 'as-uid', 'request-timeout', 'insecure-skip-tls-verify'],
  ...['certificate-authority', 'client-certificate', 'client-key', 'tls-server-name'],
];

/** What `status` and `unlock` know: they look at a run, not at an artifact. */
const RECORD: readonly string[] = [...CONNECTION, 'state-namespace', 'profile', 'release'];

/** What every command that judges or changes knows. */
const CHAIN: readonly string[] = [
  ...RECORD,
  ...['path', 'variant', 'manifest-url', 'manifest-ca', 'upgrade-file', 'base', 'installed-manifest', 'kvstore-endpoints', 'resolve'],
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
  preflight: OWNERS,
  apply: APPLY,
  crds: [...CHAIN, 'ownership'],
  ownerrefs: OWNERS,
  plan: RANGE,
  run: RANGE,
  status: RECORD,
  report: RECORD,
  unlock: RECORD,
  explain: [],
  completion: [],
  demo: [],
};

/** The flags that belong to the run, whoever continues it from wherever; none of the connection. */
export function flagsOfRun(flags: readonly CarriedFlag[]): readonly string[] {
  return flags.filter(({ name }) => !CONNECTION.includes(name)).map(({ text }) => text);
}

/** Those of a record, as far as the command line does not say otherwise. */
export function withRecorded(flags: readonly CarriedFlag[], recorded: readonly string[]): readonly CarriedFlag[] {
  const more = recorded.map((text) => ({ name: /^--([^=]+)/.exec(text)?.[1] ?? '', text }));
  const here = flags.filter(({ fromEnvironment }) => !fromEnvironment);
  return [...here, ...more.filter(({ name }) => !flags.some((one) => one.name === name))];
}

/** Every flag that is carried to one command or another. */
export const CARRIED = RANGE;

/** Names of the flags that a command may be given from the one before it; `kubectl` itself is one. */
export function carriedNames(command: string): readonly string[] {
  return NAMES[command] ?? CHAIN;
}

/** The carried flags that a command knows, each with a space before it; empty if there are none. */
export function carriedTo(command: string, flags: readonly CarriedFlag[]): string {
  const known = carriedNames(command.split(' ')[0] ?? '');
  return flags
    .filter(({ name, fromEnvironment }) => known.includes(name) && !fromEnvironment)
    .map(({ text }) => ` ${text}`)
    .join('');
}
