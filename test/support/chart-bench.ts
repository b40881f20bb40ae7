import { gzipSync } from 'node:zlib';
import { rememberAnswers } from '../../src/adapters/tools/tools.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { commandLine } from '../../src/kernel/argv.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader, type Sources } from '../../src/kernel/ports.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { StagePlan } from '../../src/kernel/stage.ts';
import { sha256Of } from '../../src/kube/sha256.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Wanted } from '../fixtures/facts.ts';
import { applyBench } from './apply-bench.ts';
import { deployment, installation, operatedAgent, operator } from './calico-objects.ts';
import { artifactsOf, emptySources } from './empty-sources.ts';
import { objectOf } from './inventory.ts';
import { GOOD } from './operated-bench.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from './target.ts';

export const OWNED = { 'meta.helm.sh/release-name': 'calico', 'meta.helm.sh/release-namespace': 'tigera-operator' };

const crdText = (name: string, kind: string) =>
  `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${name}
spec:
  group: ${name.slice(name.indexOf('.') + 1)}
  names: { kind: ${kind}, plural: ${name.slice(0, name.indexOf('.'))} }
  scope: Cluster
`;
const CRDS = `${crdText('installations.operator.tigera.io', 'Installation')}---\n${crdText('goldmanes.operator.tigera.io', 'Goldmane')}`;

const STATUSES = { group: 'operator.tigera.io', names: { kind: 'TigeraStatus', plural: 'tigerastatuses' }, scope: 'Cluster' };

const RENDERED = `---
apiVersion: apps/v1
kind: Deployment
metadata: { name: tigera-operator, namespace: tigera-operator }
spec:
  template:
    spec:
      containers: [{ name: tigera-operator, image: "quay.io/tigera/operator:${CALICO_OPERATOR}" }]
`;

/** What a test changes about an installation by chart v3.27.5, whose upgrade nothing stands against. */
export interface ChartParts {
  /** Parts of the stored release, laid over. */
  readonly stored?: Readonly<Record<string, unknown>>;
  /** Annotations of the operator's objects. */
  readonly owned?: Readonly<Record<string, string>>;
  readonly storage?: 'Secret' | 'ConfigMap' | 'none';
  readonly objects?: readonly KubeObject[];
  readonly options?: Wanted;
  readonly profile?: Profile;
  readonly helm?: string;
  readonly defaults?: string;
  readonly chart?: string;
  /** What the dry run of the upgrade prints; an error is printed to stderr. */
  readonly trial?: { readonly error: string } | { readonly manifest: string; readonly hooks?: readonly { readonly manifest: string }[] };
  /** What the chart tool renders without the server, if not the CRDs of `--crd-chart`. */
  readonly rendered?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** True: the new CRDs are in the cluster. */
  readonly crdsApplied?: boolean;
  /** The Secrets may not be read. */
  readonly forbidden?: boolean;
}

export type ChartBench = ReturnType<typeof chartBench>;

/** `asked` are the commands of helm in order, `saved` the files written to the work folder. */
export function chartBench(parts: ChartParts = {}) {
  const installed = [
    installation({ annotations: parts.owned ?? OWNED }),
    operator({ annotations: parts.owned ?? OWNED, labels: { 'app.kubernetes.io/managed-by': 'Helm' } }),
    operatedAgent(),
    deployment('calico-kube-controllers', 'quay.io/calico/kube-controllers:v3.27.5', { namespace: 'calico-system' }),
    objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'tigerastatuses.operator.tigera.io', { spec: STATUSES }),
    objectOf('operator.tigera.io/v1', 'TigeraStatus', 'calico', { status: { conditions: GOOD } }),
    ...storedIn(parts),
    ...(parts.objects ?? []),
  ];
  const bench = applyBench(installed, { profile: parts.profile ?? calico, options: { release: CALICO_TARGET, ...parts.options } });
  const asked: string[] = [];
  const saved = new Map<string, string>();
  for (const [path, text] of Object.entries(parts.files ?? {})) bench.files.set(path, text);
  const sources: Sources = {
    ...bench.sources,
    cluster: parts.forbidden ? withoutSecrets(bench.around.cluster) : bench.around.cluster,
    artifacts: {
      ...artifactsOf(() => CRDS),
      sumOf: async (_, path) => (path.endsWith('.tgz') ? { sha256: sha256Of(PACKED), from: '--artifact-digest' } : undefined),
    },
    tools: toolsOf(parts, asked),
    files: {
      ...bench.sources.files,
      exists: async (path) => PULLED.test(path) || bench.files.has(path),
      readBytes: async () => new TextEncoder().encode(PACKED),
    },
    work: {
      ...emptySources().work,
      async write(name, content) {
        saved.set(name, String(content));
        return `/w/${name}`;
      },
    },
  };
  const applyCrds = { type: 'exec', run: { tool: 'kubectl', args: ['apply', '-f', '/w/crds.yaml'] } } as const;
  for (const effect of parts.crdsApplied ? [{ type: 'write', file: 'crds.yaml', content: CRDS } as const, applyCrds] : [])
    bench.around.perform({ id: 'crds', title: '', ref: '', undo: 'none', effect });
  return Object.assign(bench, { asked, saved, sources });
}

const PACKED = 'a chart';

/** What the chart tool has fetched. */
const PULLED = /^\/w\/fresh\/tigera-operator-v\S+\.tgz$/;

/** The release as the chart tool stores it. */
export function storedIn({ stored = {}, storage = 'Secret' }: Pick<ChartParts, 'stored' | 'storage'>): readonly KubeObject[] {
  if (storage === 'none') return [];
  const release = {
    name: 'calico',
    namespace: 'tigera-operator',
    version: 3,
    info: { status: 'deployed', description: 'Upgrade complete' },
    chart: { metadata: { name: 'tigera-operator', version: 'v3.27.5' }, values: {} },
    config: { installation: { registry: 'mirror.example.org' } },
    manifest: RENDERED.replace(CALICO_OPERATOR, 'v1.32.12'),
    ...stored,
  };
  const packed = gzipSync(JSON.stringify(release)).toString('base64');
  const data = { release: storage === 'Secret' ? Buffer.from(packed).toString('base64') : packed };
  const { status } = release.info;
  const labels = { owner: 'helm', name: release.name, version: String(release.version), status };
  const name = `sh.helm.release.v1.${release.name}.v${release.version}`;
  return [objectOf('v1', storage, name, { metadata: { namespace: release.namespace, labels }, data })];
}

function toolsOf(parts: ChartParts, asked: string[]): Sources['tools'] {
  const { helm = 'v3.19.5+g1234567', chart = `name: tigera-operator\nversion: ${CALICO_TARGET}\n`, trial = { manifest: RENDERED } } = parts;
  const defaults = parts.defaults ?? 'manageCRDs: true\ngoldmane: { enabled: true }\nwhisker: { enabled: true }\n';
  const said = (stdout: string) => ({ exitCode: 0, stdout, stderr: '', durationMs: 1 });
  const tools: Partial<Sources['tools']> = {
    async run(invocation) {
      asked.push(commandLine(invocation));
      const [verb, what] = invocation.args;
      if (verb === 'version') return said(helm);
      if (verb === 'show') return said(what === 'chart' ? chart : defaults);
      if (verb === 'pull') return said('');
      if (verb === 'template') return said(parts.rendered ?? CRDS);
      if (!invocation.args.includes('--dry-run=server')) throw new Error(`a survey runs ${commandLine(invocation)}`);
      return 'error' in trial ? { exitCode: 1, stdout: '', stderr: trial.error, durationMs: 1 } : said(JSON.stringify(trial));
    },
  };
  return rememberAnswers(tools as Sources['tools']);
}

function withoutSecrets(cluster: ClusterReader): ClusterReader {
  const refuse = () => {
    throw new ApiFailure(403, 'Forbidden', 'secrets is forbidden');
  };
  return {
    ...cluster,
    list: async (kind, options) => (kind.kind === 'Secret' ? refuse() : cluster.list(kind, options)),
    get: async (kind, name, namespace) => (kind.kind === 'Secret' ? refuse() : cluster.get(kind, name, namespace)),
  };
}

/** What the apply stage finds, by check, and plans. */
export async function openedChart(bench: ChartBench) {
  const open = await applyStage.open(bench.sources, bench.context);
  const findings = open.findings();
  const outcomes: Readonly<Record<string, string>> = Object.fromEntries(findings.map(({ id, outcome }) => [id, outcome]));
  return { findings, outcomes, plan: open.plan() };
}

/** The commands of a plan, as a person would type them. */
export function commandsOf(plan: StagePlan): readonly string[] {
  if ('skip' in plan) return [];
  return plan.actions.flatMap(({ effect }) => (effect.type === 'exec' ? [commandLine(effect.run)] : []));
}
