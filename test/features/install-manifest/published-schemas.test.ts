import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Schema } from '../../../src/features/install-manifest/schema.ts';
import { judgeBySchema } from '../../../src/features/install-manifest/schema.ts';
import { holdsFormat, holdsRule, matchesPattern } from '../../../src/features/install-manifest/schema-rules.ts';
import { type TargetCrd, targetCrds } from '../../../src/features/install-manifest/target-checks.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { manifestFile, releases } from '../../support/releases.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const violations = (...of: Parameters<typeof judgeBySchema>) => judgeBySchema(...of).violations;

/** The CRDs of published files, each text once, without what no server judges: to read all of them takes half a minute. */
function crdsOf(files: readonly string[]): readonly TargetCrd[] {
  const parts = files.flatMap((file) => readFileSync(file, 'utf8').split(/^---$/m));
  const asking = parts.filter((part) => /^kind: CustomResourceDefinition$/m.test(part) && ASKS.test(part));
  return targetCrds([...new Set(asking)].map((part) => parse(part) as KubeObject));
}

const ASKS = /x-kubernetes-validations:|pattern:|oneOf:|not:|format: (?!int)/;

/** One file of each kind: the CRDs of the variants of a release are the same. */
const NAMES = ['calico.yaml', 'canal.yaml', 'operator-crds.yaml', 'crds.yaml', 'tigera-operator.yaml'];

/** Every schema inside a schema. */
function* schemasIn(schema: Schema): Generator<Schema> {
  yield schema;
  const { properties = {}, items, additionalProperties, allOf = [], anyOf = [] } = schema;
  const other = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  for (const inner of [...Object.values(properties), ...(items ? [items] : []), ...other, ...allOf, ...anyOf]) yield* schemasIn(inner);
}

/** Of one schema, what would be left to the server. */
function unknownIn(schema: Schema): readonly string[] {
  const { pattern, format, type, oneOf, not } = schema;
  const self = type === 'string' ? 'x' : {};
  return [
    ...(schema['x-kubernetes-validations'] ?? []).flatMap(({ rule = '' }) => (holdsRule(rule, self) === undefined ? [`rule ${rule}`] : [])),
    ...(pattern !== undefined && matchesPattern('x', pattern) === undefined ? [`pattern ${pattern}`] : []),
    ...(type === 'string' && format !== undefined && holdsFormat(format, 'x') === undefined ? [`format ${format}`] : []),
    ...(oneOf ? ['oneOf'] : []),
    ...(not ? ['not'] : []),
  ];
}

describe('CRDs of published releases', function () {
  this.timeout(60_000);

  it('ask nothing that is not known here', () => {
    const files = readdirSync(releases).flatMap((release) => NAMES.map((name) => manifestFile(release, name)));
    const crds = crdsOf(files.filter(existsSync));
    const asked = crds.flatMap(({ kind, schemas }) =>
      Object.values(schemas).flatMap((schema) => [...schemasIn(schema)].map((one) => ({ kind, unknown: unknownIn(one) }))),
    );
    assert.ok(asked.length > 10_000, String(asked.length));
    assert.deepEqual([...new Set(asked.flatMap(({ kind, unknown }) => unknown.map((one) => `${kind}: ${one}`)))], []);
  });

  describe('of v3.32.1', () => {
    let crds: readonly TargetCrd[] = [];
    before(() => {
      crds = crdsOf([manifestFile(CALICO_TARGET, 'calico.yaml')]);
    });
    const of = (kind: string) => crds.find((crd) => crd.kind === kind)?.schemas.v1 ?? assert.fail(kind);
    const pool = { cidr: '10.0.0.0/16', ipipMode: 'Always', vxlanMode: 'Never', natOutgoing: true, nodeSelector: 'all()' };
    const rule = { action: 'Allow', destination: { services: { name: 'a', namespace: 'b' } } };

    const good: Readonly<Record<string, object>> = {
      IPPool: pool,
      BGPFilter: { importV4: [{ action: 'Accept', cidr: '10.0.0.0/8', matchOperator: 'In' }] },
      FelixConfiguration: { logSeverityScreen: 'Info', iptablesRefreshInterval: '90s' },
      GlobalNetworkPolicy: { egress: [rule], selector: 'all()', types: ['Egress'] },
      BGPConfiguration: { serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] },
    };
    for (const [kind, spec] of Object.entries(good)) {
      it(`take a usual ${kind}`, () => {
        assert.deepEqual(judgeBySchema({ metadata: { name: 'default' }, spec }, of(kind)), { violations: [], unjudged: [] });
      });
    }

    const bad: readonly [string, object, string][] = [
      ['IPPool', { ...pool, vxlanMode: 'Always' }, 'spec'],
      ['IPPool', { ...pool, ipipMode: 'always' }, 'spec.ipipMode'],
      ['IPPool', { ...pool, ipipMode: 'Never', allowedUses: ['LoadBalancer', 'Workload'] }, 'spec'],
      ['IPPool', { ...pool, allowedUses: ['LoadBalancer'] }, 'spec'],
      ['BGPFilter', { importV4: [{ action: 'Accept', cidr: '10.0.0.0/8' }] }, 'spec.importV4[0]'],
      ['FelixConfiguration', { nodeSelector: 'all()' }, ''],
      ['GlobalNetworkPolicy', { egress: [{ ...rule, destination: { ...rule.destination, ports: [80] } }] }, 'spec.egress[0]'],
      ['BGPConfiguration', { serviceClusterIPs: [{ cidr: 'not-a-cidr' }] }, 'spec.serviceClusterIPs[0].cidr'],
    ];
    for (const [kind, spec, path] of bad) {
      it(`refuse a ${kind} with ${JSON.stringify(spec)}`, () => {
        const found = violations({ metadata: { name: 'default' }, spec }, of(kind));
        assert.deepEqual([...new Set(found.map((one) => one.path))], [path]);
      });
    }
  });
});
