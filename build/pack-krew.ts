import { parseDocument } from 'yaml';

/** One archive of a release, as a krew manifest names it. */
export interface PackedArchive {
  readonly os: string;
  readonly arch: string;
  /** The archive's file name. */
  readonly file: string;
  /** In lower-case hexadecimal, as krew compares it. */
  readonly sha256: string;
}

/** The program inside every archive. krew makes links for nothing but an .exe on Windows. */
export function entryPoint(os: string): string {
  return os === 'windows' ? 'bin/kubectl-netsvc_upgrade.exe' : 'bin/kubectl-netsvc_upgrade';
}

/** `plugin.yaml` with this version and these archives; all its other words and comments stay. Archives are found below `place`. */
export function krewManifest(template: string, version: string, archives: readonly PackedArchive[], place: string): string {
  const document = parseDocument(template);
  document.setIn(['spec', 'version'], `v${version}`);
  const platforms = archives.map(({ os, arch, file, sha256 }) => ({
    selector: { matchLabels: { os, arch } },
    uri: `${place}/${file}`,
    sha256,
    bin: entryPoint(os),
  }));
  document.setIn(['spec', 'platforms'], document.createNode(platforms));
  return document.toString({ lineWidth: 0 });
}

/** Where the archives of a release lie on the forge, from the plugin's own home page. */
export function releasePlace(template: string, version: string): string {
  const homepage = parseDocument(template).getIn(['spec', 'homepage']);
  if (typeof homepage !== 'string') throw new Error('plugin.yaml has no spec.homepage');
  return `${homepage}/releases/download/v${version}`;
}
