import type { Invocation, Tools } from '../../src/kernel/argv.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { isOlder } from '../../src/kernel/release.ts';
import { manifestText } from '../../src/manifest/manifest.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { OWNED, storedIn } from './chart-bench.ts';
import { objectOf } from './inventory.ts';
import { FLOW_LOGS, type OperatedRelease, since } from './operated-releases.ts';

const CHART = 'tigera-operator';

/** The chart renders the operator's manifest without its namespace, which charts up to v3.22 held: their releases lived in `default`. */
const ownsNamespace = (release: string) => isOlder(release, 'v3.23.0');
/** Until then its CRDs were ordinary objects. */
const ownsDefinitions = (release: string) => !isOlder('v3.17.1', release);
const hasFlowLogs = (release: string) => since(release, FLOW_LOGS);

/** Where the kubelet's folder is; from then on the CSI driver is left out unless it is asked for. */
const CSI_OFF = 'v3.32.0';
const csiOf = (release: string) => ({ kubeletVolumePluginPath: isOlder(release, CSI_OFF) ? '/var/lib/kubelet' : 'None' });

/** Values of the chart of that release, as far as an upgrade goes by them. */
function defaultsOf(release: string) {
  const isNew = !isOlder(release, CSI_OFF);
  return {
    installation: { enabled: true, kubernetesProvider: '', imagePullSecrets: [], ...(isNew ? csiOf(release) : {}) },
    apiServer: { enabled: true },
    ...(hasFlowLogs(release) ? { manageCRDs: true, goldmane: { enabled: true }, whisker: { enabled: true } } : {}),
    ...(isNew || isOlder(release, 'v3.24.0') ? {} : csiOf(release)),
    resources: {},
    tigeraOperator: { image: 'tigera/operator', registry: 'quay.io' },
  };
}

/** What the chart renders around these documents; `args` are those of helm. */
function renderedOf(release: string, documents: readonly KubeObject[], args: readonly string[] = []): readonly KubeObject[] {
  const resource = (kind: string, fields: object = {}) => objectOf('operator.tigera.io/v1', kind, 'default', { ...fields });
  const flowLogs = ['Goldmane', 'Whisker'].filter((kind) => !args.includes(`${kind.toLowerCase()}.enabled=false`));
  const spec = { kubernetesProvider: '', imagePullSecrets: [], ...(isOlder(release, 'v3.24.0') ? {} : csiOf(release)) };
  return [
    ...documents.filter(({ kind }) => kind !== 'Namespace' || ownsNamespace(release)),
    resource('Installation', { spec }),
    ...(isOlder(release, 'v3.20.0') ? [] : [resource('APIServer', { spec: {} })]),
    ...(hasFlowLogs(release) ? flowLogs.map((kind) => resource(kind)) : []),
  ];
}

/** The same release as its chart installs it: its objects name the release, which is stored beside them. */
export function charted(release: OperatedRelease, name: string): OperatedRelease {
  const namespace = ownsNamespace(name) ? 'default' : CHART;
  const owned = (object: KubeObject): KubeObject => {
    const annotations = { ...object.metadata.annotations, ...OWNED, 'meta.helm.sh/release-namespace': namespace };
    const labels = { ...object.metadata.labels, 'app.kubernetes.io/managed-by': 'Helm' };
    return { ...object, metadata: { ...object.metadata, annotations, labels } };
  };
  const inChart = [...(ownsDefinitions(name) ? release.definitions : []), ...release.documents];
  const manifest = manifestText(renderedOf(name, inChart));
  const chart = { metadata: { name: CHART, version: name }, values: defaultsOf(name) };
  const info = { status: 'deployed', description: 'Install complete' };
  return {
    documents: [
      ...release.documents.map((one) => (one.kind === 'Namespace' && !ownsNamespace(name) ? one : owned(one))),
      ...storedIn({ stored: { namespace, version: 1, info, chart, config: {}, manifest } }),
    ],
    definitions: ownsDefinitions(name) ? release.definitions.map(owned) : release.definitions,
    resources: release.resources.map((one) => owned(one.kind === 'Installation' ? withCsi(one, name) : one)),
    rendered: release.rendered.filter(({ metadata }) => isOlder(name, CSI_OFF) || metadata.name !== 'csi-node-driver'),
  };
}

function withCsi(installation: KubeObject, release: string): KubeObject {
  return isOlder(release, CSI_OFF) ? installation : { ...installation, spec: { ...(installation.spec as object), ...csiOf(release) } };
}

/** helm 3 with the chart of the target at hand. */
export function helmOf({ files }: Scenario, target: OperatedRelease, release: string): (tools: Tools) => Tools {
  const answer = ({ args }: Invocation): string => {
    const [verb, what] = args;
    if (verb === 'version') return 'v3.19.5+g1234567';
    if (verb === 'show') return JSON.stringify(what === 'chart' ? { name: CHART, version: release } : defaultsOf(release));
    if (verb === 'pull') files.write(`${args.at(-1)}/${CHART}-${release}.tgz`, 'a chart');
    const manifest = manifestText(renderedOf(release, target.documents, args));
    return verb === 'upgrade' ? JSON.stringify({ manifest }) : manifest;
  };
  return (tools) => ({
    ...tools,
    which: async (program) => (program === 'helm' ? ['/usr/local/bin/helm'] : tools.which(program)),
    run: async (invocation, options) =>
      invocation.tool === 'helm' ? { exitCode: 0, stdout: answer(invocation), stderr: '', durationMs: 1 } : tools.run(invocation, options),
  });
}
