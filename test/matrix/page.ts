/** One combination, as it ran. */
export interface Result {
  /** `v1.36.1`; of the API server. */
  readonly server: string;
  /** `v1.27.16` */
  readonly kubectl: string;
  /** `v24.21.0` */
  readonly node: string;
  /** The first thing that went wrong, in a few words. */
  readonly problem?: string;
  /** What preflight warns about in this combination. */
  readonly notes: readonly string[];
}

/** The upgrade of a chart's release with one version of helm. */
export interface ChartResult {
  readonly server: string;
  /** `v3.19.5` */
  readonly helm: string;
  readonly problem?: string;
}

/** In a row for what was not tried with anything. */
const ANY = '–';

/** What is to be tried, by minor. */
export const WANTED = {
  servers: ['1.31', '1.33', '1.34', '1.36'],
  kubectls: ['1.27', '1.28', '1.29', '1.30', '1.31', '1.32', '1.33', '1.34', '1.35', '1.36'],
  nodes: ['22', '24'],
  helms: ['3', '4'],
} as const;

export interface Record {
  /** `2026-11-21` */
  readonly date: string;
  readonly results: readonly Result[];
  readonly charts: readonly ChartResult[];
}

/** docs/reference/compatibility.md: what was tried, with versions and date, and by name what was not. */
export function compatibilityPage({ date, results, charts }: Record): string {
  const minor = (version: string) => /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version;
  const major = (version: string) => /^v?(\d+)/.exec(version)?.[1] ?? version;
  const tried = (pick: (one: Result) => string) => [...new Set(results.map(pick))].sort(byNumbers);
  const triedServers = tried(({ server }) => server);
  const noServers = without(WANTED.servers, triedServers.map(minor));
  const noKubectls = without(WANTED.kubectls, tried(({ kubectl }) => kubectl).map(minor));
  const noNodes = without(WANTED.nodes, tried(({ node }) => node).map(major));
  const helmsTried = charts.map(({ helm }) => helm);
  const noHelms = without(WANTED.helms, helmsTried.map(major));
  // What is wanted and was not there has its column or row as well: who reads the table alone must not take it for the whole.
  const servers = [...triedServers, ...noServers].sort(byNumbers);
  const kubectls = [...tried(({ kubectl }) => kubectl), ...noKubectls].sort(byNumbers);
  const pairs = [
    ...kubectls.flatMap((kubectl) => {
      const nodes = tried(({ node }) => node).filter((node) => results.some((one) => one.kubectl === kubectl && one.node === node));
      return (nodes.length === 0 ? [ANY] : nodes).map((node) => [kubectl, node]);
    }),
    ...noNodes.map((node) => [ANY, node]),
  ];
  const rows = pairs.map(([kubectl = '', node = '']) => [
    ...[kubectl, node],
    ...servers.map((server) => cell(results.find((one) => one.server === server && one.kubectl === kubectl && one.node === node))),
  ]);
  const helms = [...new Set([...helmsTried, ...noHelms])].sort(byNumbers);
  const chartRows = helms.map((helm) => [
    helm,
    ...servers.map((server) => cell(charts.find((one) => one.helm === helm && one.server === server))),
  ]);
  const missing = [
    ...noServers.map((one) => `Kubernetes ${one}: its programs could not be built`),
    ...noKubectls.map((one) => `kubectl ${one}: there is no \`kubectl.${one}\`, and it was not built`),
    ...noNodes.map((one) => `Node ${one}: there is none on the machine`),
    ...noHelms.map((one) => `helm ${one}: it could not be built`),
  ];
  return [
    '# Compatibility',
    '',
    `On ${date} the program upgraded a cluster with each combination of kubectl, Node.js, Kubernetes and helm below, unless its cell says otherwise.`,
    '',
    `Written by \`npm run test:matrix\`. In each combination a real control plane with one node had the small manifest of profile netsvc of the tests.`,
    '`preflight` checked it, `run` upgraded it, and a second `run` had nothing left to do. It says nothing of later changes of the program.',
    'Nodes and their agents are simulated, so no packet moved.',
    ...(missing.length === 0 ? [] : ['**Not the whole of what is wanted**: whatever says “not run” was not tried.']),
    '',
    ...table(['kubectl', 'Node'], servers, rows),
    // What comes after is the operator's work and the same for every helm.
    'The release of a chart, upgraded from its CRDs to the end of `apply`, and then by a second run that has nothing to do:',
    '',
    ...table(['helm'], servers, chartRows),
    ...(missing.length === 0 ? [] : ['Not run, and why:', '', ...missing.map((line) => `- ${line}`), '']),
  ].join('\n');
}

function table(heads: readonly string[], servers: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const columns = [...heads, ...servers.map((server) => `Kubernetes ${server}`)];
  return [...[columns, ...rows].map((cells) => `| ${cells.join(' | ')} |`).toSpliced(1, 0, `|${'---|'.repeat(columns.length)}`), ''];
}

/** Of one combination. */
function cell(found: { readonly problem?: string; readonly notes?: readonly string[] } | undefined): string {
  if (!found) return 'not run';
  const outcome = found.problem === undefined ? 'upgrades' : `**fails**: ${found.problem}`;
  return [outcome, ...(found.notes?.length ? [found.notes.join(', ')] : [])].join('; ').replaceAll('|', '\\|');
}

function without(wanted: readonly string[], tried: readonly string[]): readonly string[] {
  return wanted.filter((one) => !tried.includes(one));
}

function byNumbers(a: string, b: string): number {
  // Some are `v1.36.1`, what was not there `1.31`.
  return a.replace(/^v/, '').localeCompare(b.replace(/^v/, ''), 'en', { numeric: true });
}
