import { readFileSync } from 'node:fs';
import type { ToolResult, Tools } from '../../src/kernel/argv.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Artifacts } from '../../src/kernel/ports.ts';
import { sha256Of } from '../../src/kube/sha256.ts';
import { manifestText, parseManifest } from '../../src/manifest/manifest.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { storedIn } from './chart-bench.ts';
import { kindIn } from './incident-grounds.ts';
import { manifestFile } from './releases.ts';
import { CALICO_TARGET } from './target.ts';

/** What helm says of every upgrade, where somebody has put it there. */
export const HELM_REFUSES = '/played-helm/refuses';
const VALUES = 'manageCRDs: true\ngoldmane: { enabled: true }\nwhisker: { enabled: true }\n';

/** The chart of an operator, and the release that it is installed as. */
interface PlayedChart {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly release: string;
}

const CALICO: PlayedChart = { name: 'tigera-operator', version: CALICO_TARGET, file: 'tigera-operator.yaml', release: 'calico' };

const PACKED = 'a chart';

/** Release files of which the user has confirmed the sum of every chart. */
export function withKnownChart(own: Artifacts): Artifacts {
  const confirmed = { sha256: sha256Of(PACKED), from: '--artifact-digest' };
  return { ...own, sumOf: async (release, path) => (path.endsWith('.tgz') ? confirmed : own.sumOf(release, path)) };
}

/** helm as far as the upgrade of the operator's chart calls it: the chart is the release's manifest without definitions and namespace. */
export function playedHelm({ cluster, files, releases }: Scenario, own: Tools, chart = CALICO): Tools {
  const { name, version, file } = chart;
  const said = (stdout: string, stderr = '') => ({ exitCode: stderr === '' ? 0 : 1, stdout, stderr, durationMs: 1 });
  function objects(): readonly KubeObject[] {
    const path = manifestFile(version, file, releases.source);
    const documents = parseManifest(readFileSync(path, 'utf8'), path).documents.map(({ object }) => object);
    return documents.filter(({ kind }) => kind !== K.CustomResourceDefinition.kind && kind !== K.Namespace.kind);
  }
  function upgrade(args: readonly string[]): ToolResult {
    const refusal = files.text(HELM_REFUSES);
    if (refusal) return said('', refusal);
    if (args.includes('--dry-run=server')) return said(JSON.stringify({ manifest: manifestText(objects()) }));
    const config = args.flatMap((arg, at) => (args[at - 1] === '--set' ? [settingOf(arg)] : []));
    for (const one of objects()) cluster.registry.apply(kindIn(cluster, one), one, { manager: 'helm' });
    const head = { name: chart.release, namespace: name, version: 4, chart: { metadata: { name, version }, values: {} } };
    const stored = { ...head, manifest: manifestText(objects()), config: Object.assign({}, ...config) };
    for (const one of storedIn({ stored })) cluster.registry.create(K.Secret, one, { manager: 'helm' });
    return said('');
  }
  return {
    ...own,
    async run(invocation, options) {
      if (invocation.tool !== 'helm') return own.run(invocation, options);
      const [verb = '', what] = invocation.args;
      if (verb === 'pull') files.write(`${invocation.args.at(-1)}/${name}-${version}.tgz`, PACKED);
      if (verb === 'upgrade') return upgrade(invocation.args);
      const answers: Readonly<Record<string, string>> = {
        version: 'v3.19.5+g1234567',
        show: what === 'chart' ? `name: ${name}\nversion: ${version}\n` : VALUES,
        template: manifestText(objects()),
      };
      return said(answers[verb] ?? '');
    },
  };
}

/** `a.b=false`. */
function settingOf(setting: string): object {
  const [path = '', value = ''] = setting.split('=');
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), JSON.parse(value)) as object;
}
