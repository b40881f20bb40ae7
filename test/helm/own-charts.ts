import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { serveFolder } from '../control-plane/listening.ts';
import { SOURCE, SOURCE_OPERATOR, TARGET, TARGET_OPERATOR } from '../support/netsvc-operated.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from '../support/target.ts';

/** What our small chart of the operator is like in one release. */
export interface OwnChart {
  readonly version: string;
  readonly operator: string;
  /** File of CRDs that the chart brings in its own folder, as charts before v3.32 did. */
  readonly crds?: string;
  /** More objects of the chart, by file name. */
  readonly templates?: Readonly<Record<string, string>>;
  /** Has the values that came with v3.30: `manageCRDs`, `goldmane`, `whisker`. */
  readonly isNew: boolean;
  /** Of the service under the document's names. */
  readonly isNetsvc?: true;
  /** Owns the operator's namespace and puts the operator there wherever the release is, as charts up to v3.22 did. */
  readonly ownsNamespace?: boolean;
}

/** As of the time when the release lived in namespace `default`. */
export const NAMESPACE_CHART: OwnChart = { version: 'v3.22.5', operator: 'v1.25.13', isNew: false, ownsNamespace: true };
export const OLD_CHART: OwnChart = { version: 'v3.27.5', operator: 'v1.32.12', isNew: false };
export const NEW_CHART: OwnChart = { version: CALICO_TARGET, operator: CALICO_OPERATOR, isNew: true };

/** Both releases of the operator's chart under the document's names, and the chart of the CRDs. */
export const NETSVC_CHARTS: Readonly<Record<'old' | 'target', OwnChart>> = {
  old: { version: SOURCE, operator: SOURCE_OPERATOR, isNew: false, isNetsvc: true },
  target: { version: TARGET, operator: TARGET_OPERATOR, isNew: true, isNetsvc: true },
};
export const NETSVC_CRD_CHART = { name: 'crd.netsvc.io.v1', version: TARGET };

/** Writes the chart as a folder; resolves to it. It renders what the operator's chart renders, as far as an upgrade looks at it. */
export async function writeChart(parent: string, chart: OwnChart): Promise<string> {
  const folder = join(parent, chart.version, named(chart, 'tigera-operator'));
  await mkdir(join(folder, 'templates'), { recursive: true });
  const files = {
    'Chart.yaml': `apiVersion: v2\nname: tigera-operator\nversion: ${chart.version}\nappVersion: ${chart.version}\n`,
    'values.yaml': valuesOf(chart),
    ...(chart.ownsNamespace ? { 'templates/namespace.yaml': NAMESPACE } : {}),
    'templates/operator.yaml': operatorOf(chart),
    'templates/installation.yaml': INSTALLATION,
    ...Object.fromEntries(Object.entries(chart.templates ?? {}).map(([name, text]) => [`templates/${name}`, text])),
    ...(chart.isNew && !chart.isNetsvc ? { 'templates/flow-logs.yaml': FLOW_LOGS, 'values.schema.json': SCHEMA } : {}),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), named(chart, text));
  if (chart.crds !== undefined) {
    await mkdir(join(folder, 'crds'));
    await copyFile(chart.crds, join(folder, 'crds', 'crds.yaml'));
  }
  return folder;
}

/** The same text of the service under the document's names. */
function named({ isNetsvc }: OwnChart, text: string): string {
  if (!isNetsvc) return text;
  return text.replaceAll('tigera', 'netsvc').replaceAll('quay.io', 'registry.netsvc.io');
}

/** Writes a chart of CRDs alone; resolves to its folder. */
export async function writeCrdChart(
  parent: string,
  { name, version, file }: { name: string; version: string; file: string },
): Promise<string> {
  const folder = join(parent, version, name);
  await mkdir(join(folder, 'templates'), { recursive: true });
  await writeFile(join(folder, 'Chart.yaml'), `apiVersion: v2\nname: ${name}\nversion: ${version}\n`);
  await copyFile(file, join(folder, 'templates', 'crds.yaml'));
  return folder;
}

/** Packs the chart and serves it over HTTP as a chart repository does. `confirmed`: flags that say which SHA-256 the operator's has. */
export const serveChart = (helm: string, folder: string, chart: string) => serveCharts(helm, folder, [chart]);

export async function serveCharts(helm: string, folder: string, charts: readonly string[]) {
  for (const chart of charts) await execa(helm, ['package', chart, '--destination', folder]);
  const repository = await serveFolder(folder);
  await execa(helm, ['repo', 'index', folder, '--url', repository.url]);
  const packed = (await readdir(folder)).filter((file) => /-operator-v\S+\.tgz$/.test(file));
  const sums = await Promise.all(packed.map(async (file) => `${file}=${await sha256OfFile(join(folder, file))}`));
  return { ...repository, confirmed: sums.flatMap((sum) => ['--artifact-digest', sum]) };
}

const sha256OfFile = async (file: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');

function valuesOf({ operator, isNew }: OwnChart): string {
  return `installation: { enabled: true, ${isNew ? 'kubeletVolumePluginPath: "None"' : ''} }
tigeraOperator: { registry: quay.io, image: tigera/operator, version: ${operator} }
resources: {}
${isNew ? 'manageCRDs: true\ngoldmane: { enabled: true }\nwhisker: { enabled: true }\n' : ''}`;
}

const NAMESPACE = `apiVersion: v1
kind: Namespace
metadata: { name: tigera-operator, labels: { name: tigera-operator } }
`;

function operatorOf({ isNew, ownsNamespace }: OwnChart): string {
  const text = OPERATOR.replace('ARGS', isNew ? '\n          args: ["-manage-crds={{ .Values.manageCRDs }}"]' : '');
  return ownsNamespace ? text.replaceAll('{{ .Release.Namespace }}', 'tigera-operator') : text;
}

const OPERATOR = `apiVersion: v1
kind: ServiceAccount
metadata: { name: tigera-operator, namespace: "{{ .Release.Namespace }}" }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: tigera-operator }
rules: [{ apiGroups: [operator.tigera.io], resources: ["*"], verbs: ["*"] }]
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: tigera-operator
  namespace: "{{ .Release.Namespace }}"
  labels: { k8s-app: tigera-operator }
spec:
  replicas: 1
  selector: { matchLabels: { name: tigera-operator } }
  template:
    metadata: { labels: { name: tigera-operator, k8s-app: tigera-operator } }
    spec:
      serviceAccountName: tigera-operator
      containers:
        - name: tigera-operator
          image: "{{ .Values.tigeraOperator.registry }}/{{ .Values.tigeraOperator.image }}:{{ .Values.tigeraOperator.version }}"ARGS
          resources: {{ toYaml .Values.resources | nindent 12 }}
`;

const INSTALLATION = `{{- if .Values.installation.enabled }}
apiVersion: operator.tigera.io/v1
kind: Installation
metadata: { name: default }
spec: {{ toYaml (omit .Values.installation "enabled") | nindent 2 }}
{{- end }}
`;

const FLOW_LOGS = `{{- if .Values.goldmane.enabled }}
apiVersion: operator.tigera.io/v1
kind: Goldmane
metadata: { name: default }
{{- end }}
---
{{- if .Values.whisker.enabled }}
apiVersion: operator.tigera.io/v1
kind: Whisker
metadata: { name: default }
{{- end }}
`;

const SCHEMA = JSON.stringify({
  type: 'object',
  properties: { goldmane: { type: 'object', properties: { enabled: { type: 'boolean' } } } },
});
