import type { TestedLine } from '../kernel/profile.ts';
import { isOlder } from '../kernel/release.ts';

/** A line of Calico. Its operator's line is of no other product; of a tag that is not here the patch of Calico is not known (domain §3.2). */
interface ReleaseLine extends Pick<TestedLine, 'line' | 'newest' | 'kubernetes' | 'floor'> {
  readonly operator: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/**
 * Kubernetes: up to v3.24 from the page of requirements in the repository, as the newest tag has it; then from the published documentation,
 * as it last said (2026-08-21). Its floor: `isCIDR` in a rule of the CRD ClusterNetworkPolicy came with Kubernetes 1.31 (domain §13).
 * What is upgraded to is the newest of the last line: its sums come with this program.
 */
const LINES: readonly ReleaseLine[] = [
  { line: 'v3.15', newest: 'v3.15.5', kubernetes: ['1.16', '1.18'], operator: 'v1.7', tags: { 'v1.7.7': 'v3.15.5' } },
  { line: 'v3.16', newest: 'v3.16.10', kubernetes: ['1.16', '1.19'], operator: 'v1.10' },
  { line: 'v3.17', newest: 'v3.17.6', kubernetes: ['1.17', '1.19'], operator: 'v1.13', tags: { 'v1.13.0': 'v3.17.0' } },
  { line: 'v3.18', newest: 'v3.18.6', kubernetes: ['1.18', '1.20'], operator: 'v1.15' },
  { line: 'v3.19', newest: 'v3.19.4', kubernetes: ['1.19', '1.21'], operator: 'v1.17' },
  {
    line: 'v3.20',
    newest: 'v3.20.6',
    kubernetes: ['1.19', '1.21'],
    operator: 'v1.20',
    tags: { 'v1.20.0': 'v3.20.0', 'v1.20.9': 'v3.20.6' },
  },
  { line: 'v3.21', newest: 'v3.21.6', kubernetes: ['1.20', '1.22'], operator: 'v1.23' },
  { line: 'v3.22', newest: 'v3.22.5', kubernetes: ['1.21', '1.23'], operator: 'v1.25' },
  { line: 'v3.23', newest: 'v3.23.5', kubernetes: ['1.21', '1.23'], operator: 'v1.27', tags: { 'v1.27.16': 'v3.23.5' } },
  {
    line: 'v3.24',
    newest: 'v3.24.6',
    kubernetes: ['1.22', '1.25'],
    operator: 'v1.28',
    tags: { 'v1.28.0': 'v3.24.0', 'v1.28.5': 'v3.24.5', 'v1.28.13': 'v3.24.6' },
  },
  { line: 'v3.25', newest: 'v3.25.2', kubernetes: ['1.23', '1.28'], operator: 'v1.29' },
  {
    line: 'v3.26',
    newest: 'v3.26.5',
    kubernetes: ['1.24', '1.28'],
    operator: 'v1.30',
    tags: { 'v1.30.0': 'v3.26.0', 'v1.30.11': 'v3.26.5' },
  },
  {
    line: 'v3.27',
    newest: 'v3.27.5',
    kubernetes: ['1.27', '1.29'],
    operator: 'v1.32',
    tags: { 'v1.32.0': 'v3.26.1', 'v1.32.1': 'v3.26.1', 'v1.32.2': 'v3.26.1', 'v1.32.3': 'v3.27.0', 'v1.32.12': 'v3.27.5' },
  },
  {
    line: 'v3.28',
    newest: 'v3.28.5',
    kubernetes: ['1.27', '1.30'],
    operator: 'v1.34',
    tags: { 'v1.34.0': 'v3.28.0', 'v1.34.13': 'v3.28.5' },
  },
  {
    line: 'v3.29',
    newest: 'v3.29.7',
    kubernetes: ['1.29', '1.32'],
    operator: 'v1.36',
    tags: { 'v1.36.0': 'v3.29.0', 'v1.36.16': 'v3.29.7' },
  },
  {
    line: 'v3.30',
    newest: 'v3.30.7',
    kubernetes: ['1.31', '1.35'],
    operator: 'v1.38',
    tags: { 'v1.38.0': 'v3.30.0', 'v1.38.13': 'v3.30.7' },
  },
  {
    line: 'v3.31',
    newest: 'v3.31.7',
    kubernetes: ['1.32', '1.35'],
    operator: 'v1.40',
    tags: {
      'v1.40.0': 'v3.31.0',
      'v1.40.1': 'v3.31.1',
      'v1.40.2': 'v3.31.2',
      'v1.40.3': 'v3.31.3',
      'v1.40.7': 'v3.31.4',
      'v1.40.8': 'v3.31.5',
      'v1.40.13': 'v3.31.6',
      'v1.40.15': 'v3.31.7',
    },
  },
  {
    line: 'v3.32',
    newest: 'v3.32.1',
    kubernetes: ['1.34', '1.36'],
    floor: '1.31',
    operator: 'v1.42',
    tags: { 'v1.42.0': 'v3.32.0', 'v1.42.3': 'v3.32.1', 'v1.42.4': 'v3.32.1' },
  },
];

/** What is upgraded to unless another release is asked for. */
export const calicoNewest = LINES.at(-1)?.newest ?? '';

/** Operator image minor → Calico minor. */
export const calicoOperatorMinors = Object.fromEntries(LINES.map(({ operator, line }) => [operator, line]));

/** Operator tags whose Calico release is known to the patch. */
export const calicoOperatorTags: Readonly<Record<string, string>> = Object.assign({}, ...LINES.map(({ tags }) => tags));

/** The folder of documentation moved with this release. */
const MOVED = 'v3.21.0';
/** The oldest release whose sums come with this program, and the last one whose pages are in the repository alone. */
const SUMS_SINCE = 'v3.24.0';
const PUBLISHED_SINCE = 'v3.25.0';

function pagesOf({ line, newest }: ReleaseLine): Pick<TestedLine, 'source' | 'upgrade'> {
  if (!isOlder(newest, PUBLISHED_SINCE)) {
    const page = `https://docs.tigera.io/calico/${line.slice(1)}`;
    return { source: `${page}/getting-started/kubernetes/requirements`, upgrade: `${page}/operations/upgrading/kubernetes-upgrade` };
  }
  const page = `https://github.com/projectcalico/calico/blob/${newest}/${isOlder(newest, MOVED) ? '' : 'calico/'}`;
  return { source: `${page}getting-started/kubernetes/requirements.md`, upgrade: `${page}maintenance/kubernetes-upgrade.md` };
}

/** What upstream tested each minor of Calico with. */
export const calicoTestedLines: readonly TestedLine[] = LINES.map((one) => {
  const { line, newest, kubernetes, floor } = one;
  return { line, newest, hasSums: !isOlder(newest, SUMS_SINCE), kubernetes, ...(floor ? { floor } : {}), ...pagesOf(one) };
});
