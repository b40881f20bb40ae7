import type { TestedLine } from '../kernel/profile.ts';
import { isOlder } from '../kernel/release.ts';

/** Line, its newest release, first and last minor of Kubernetes. */
type Row = readonly [line: string, newest: string, first: string, last: string];

/** From the pages of requirements in the repository, each as its newest tag has it. */
const IN_REPOSITORY: readonly Row[] = [
  ['v3.15', 'v3.15.5', '1.16', '1.18'],
  ['v3.16', 'v3.16.10', '1.16', '1.19'],
  ['v3.17', 'v3.17.6', '1.17', '1.19'],
  ['v3.18', 'v3.18.6', '1.18', '1.20'],
  ['v3.19', 'v3.19.4', '1.19', '1.21'],
  ['v3.20', 'v3.20.6', '1.19', '1.21'],
  ['v3.21', 'v3.21.6', '1.20', '1.22'],
  ['v3.22', 'v3.22.5', '1.21', '1.23'],
  ['v3.23', 'v3.23.5', '1.21', '1.23'],
  ['v3.24', 'v3.24.6', '1.22', '1.25'],
];

/** From the published documentation, as it last said (2026-08-21). */
const PUBLISHED: readonly Row[] = [
  ['v3.25', 'v3.25.2', '1.23', '1.28'],
  ['v3.26', 'v3.26.5', '1.24', '1.28'],
  ['v3.27', 'v3.27.5', '1.27', '1.29'],
  ['v3.28', 'v3.28.5', '1.27', '1.30'],
  ['v3.29', 'v3.29.7', '1.29', '1.32'],
  ['v3.30', 'v3.30.7', '1.31', '1.35'],
  ['v3.31', 'v3.31.7', '1.32', '1.35'],
  ['v3.32', 'v3.32.1', '1.34', '1.36'],
];

/** `isCIDR` in a rule of the CRD ClusterNetworkPolicy came with Kubernetes 1.31 (domain §13). */
const FLOORS: Readonly<Record<string, string>> = { 'v3.32': '1.31' };

/** The folder of documentation moved with this release. */
const MOVED = 'v3.21.0';
/** The oldest release whose sums come with this program. */
const SUMS_SINCE = 'v3.24.0';

const factsOf = ([line, newest, first, last]: Row) => ({
  line,
  newest,
  hasSums: !isOlder(newest, SUMS_SINCE),
  kubernetes: [first, last] as const,
});

function inRepository(row: Row): TestedLine {
  const [, newest] = row;
  const page = `https://github.com/projectcalico/calico/blob/${newest}/${isOlder(newest, MOVED) ? '' : 'calico/'}`;
  return {
    ...factsOf(row),
    source: `${page}getting-started/kubernetes/requirements.md`,
    upgrade: `${page}maintenance/kubernetes-upgrade.md`,
  };
}

function published(row: Row): TestedLine {
  const [line] = row;
  const page = `https://docs.tigera.io/calico/${line.slice(1)}`;
  return {
    ...factsOf(row),
    ...(FLOORS[line] ? { floor: FLOORS[line] } : {}),
    source: `${page}/getting-started/kubernetes/requirements`,
    upgrade: `${page}/operations/upgrading/kubernetes-upgrade`,
  };
}

/** What upstream tested each minor of Calico with. */
export const calicoTestedLines: readonly TestedLine[] = [...IN_REPOSITORY.map(inRepository), ...PUBLISHED.map(published)];
