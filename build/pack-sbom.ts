import type { BundledPackage } from './bundled-packages.ts';
import type { Runtime } from './pack-runtimes.ts';

/** What an archive is made of. */
export interface Ingredients {
  readonly name: string;
  readonly version: string;
  readonly packages: readonly BundledPackage[];
  readonly runtime: Runtime;
}

/** A CycloneDX 1.6 document. It holds no time and no serial number: the same ingredients give the same bytes. */
export function sbom({ name, version, packages, runtime }: Ingredients): string {
  const self = npmUrl(name, version);
  const components = [...packages.map(library), platform(runtime)];
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: { type: 'application', 'bom-ref': self, name, version, purl: self, licenses: [{ license: { id: 'Apache-2.0' } }] },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map((one) => one['bom-ref']) }],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function library({ name, version, license, integrity }: BundledPackage) {
  const purl = npmUrl(name, version);
  const [scope, bare] = name.startsWith('@') ? name.split('/') : [undefined, name];
  return {
    type: 'library',
    'bom-ref': purl,
    ...(scope ? { group: scope } : {}),
    name: bare ?? name,
    version,
    purl,
    licenses: [/^[\w.-]+$/.test(license) ? { license: { id: license } } : { expression: license }],
    ...(integrity ? { hashes: hashes(integrity) } : {}),
  };
}

/** Node.js, by the package that brought it. */
function platform({ package: name, version, integrity }: Runtime) {
  const purl = npmUrl(name, version);
  const licenses = [{ license: { name: 'Node.js license and those of what it contains, see LICENSE-node.txt' } }];
  return { type: 'platform', 'bom-ref': purl, name: 'Node.js', version, purl, licenses, hashes: hashes(integrity) };
}

function npmUrl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function hashes(integrity: string) {
  return [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }];
}
