import { parse } from 'yaml';

/**
 * What krew and krew's own index check of a manifest before anything is downloaded (krew v0.5.0: internal/index/validation,
 * cmd/validate-krew-manifest). test/full/krew-platforms.test.ts asks the original.
 */
export function krewIndexFaults(text: string, fileName: string): readonly string[] {
  const manifest = parse(text) as Manifest;
  const platforms = manifest.spec.platforms;
  const faults = broken([
    [manifest.apiVersion === 'krew.googlecontainertools.github.com/v1alpha2', 'apiVersion'],
    [manifest.kind === 'Plugin', 'kind'],
    [/^[\w-]+$/.test(manifest.metadata.name) && !DEVICES.test(manifest.metadata.name), 'name'],
    [`${manifest.metadata.name}.yaml` === fileName, 'file name'],
    [/^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(manifest.spec.version), 'version'],
    [(manifest.spec.shortDescription ?? '') !== '' && !/[\r\n]/.test(manifest.spec.shortDescription), 'short description'],
    [platforms.length > 0, 'platforms'],
  ]);
  return [...faults, ...platforms.flatMap(platformFaults), ...selectionFaults(platforms)];
}

const broken = (rules: readonly [holds: boolean, rule: string][]) => rules.filter(([holds]) => !holds).map(([, rule]) => rule);

interface Platform {
  readonly uri: string;
  readonly sha256: string;
  readonly bin: string;
  readonly files?: readonly unknown[];
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly version: string; readonly shortDescription: string; readonly platforms: readonly Platform[] };
}

const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)$/i;
const SUPPORTED = [
  ...['386', 'amd64', 'arm', 'arm64', 'ppc64le'].map((arch) => `linux/${arch}`),
  ...['386', 'amd64', 'arm64'].flatMap((arch) => [`darwin/${arch}`, `windows/${arch}`]),
];

function platformFaults({ uri, sha256, bin, files, selector }: Platform): readonly string[] {
  const labels = selector?.matchLabels ?? {};
  return broken([
    [Boolean(uri), 'uri'],
    [/^[a-f0-9]{64}$/.test(sha256), 'sha256'],
    [Boolean(bin) && !bin.includes('..'), 'bin'],
    [labels.os !== 'windows' || bin.endsWith('.exe'), 'bin is no .exe'],
    [files === undefined || files.length > 0, 'files'],
    [Object.keys(labels).length > 0 && Object.keys(labels).every((key) => ['os', 'arch'].includes(key)), 'selector'],
  ]);
}

/** Every selector matches a platform that krew knows, and no two the same. */
function selectionFaults(platforms: readonly Platform[]): readonly string[] {
  const matched = platforms.map(({ selector }) => SUPPORTED.filter((platform) => matches(selector?.matchLabels ?? {}, platform)));
  const all = matched.flat();
  return [
    ...(matched.some((one) => one.length === 0) ? ['a selector matches nothing'] : []),
    ...(new Set(all).size < all.length ? ['selectors overlap'] : []),
  ];
}

function matches(labels: Readonly<Record<string, string>>, platform: string): boolean {
  const [os, arch] = platform.split('/');
  return (labels.os ?? os) === os && (labels.arch ?? arch) === arch;
}
