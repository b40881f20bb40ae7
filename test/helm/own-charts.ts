import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { serveFolder } from '../control-plane/listening.ts';

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
  /** Owns the operator's namespace and puts the operator there wherever the release is, as charts up to v3.22 did. */
  readonly ownsNamespace?: boolean;
}

/** As of the time when the release lived in namespace `default`. */
export const NAMESPACE_CHART: OwnChart = { version: 'v3.22.5', operator: 'v1.25.13', isNew: false, ownsNamespace: true };
export const OLD_CHART: OwnChart = { version: 'v3.27.5', operator: 'v1.32.12', isNew: false };
export const NEW_CHART: OwnChart = { version: 'v3.32.1', operator: 'v1.42.3', isNew: true };

/** Writes the chart as a folder; resolves to it. It renders what the operator's chart renders, as far as an upgrade looks at it. */
export async function writeChart(parent: string, chart: OwnChart): Promise<string> {
  const folder = join(parent, chart.version, 'tigera-operator');
  await mkdir(join(folder, 'templates'), { recursive: true });
  const files = {
    'Chart.yaml': `apiVersion: v2\nname: tigera-operator\nversion: ${chart.version}\nappVersion: ${chart.version}\n`,
    'values.yaml': valuesOf(chart),
    ...(chart.ownsNamespace ? { 'templates/namespace.yaml': NAMESPACE } : {}),
    'templates/operator.yaml': operatorOf(chart),
    'templates/installation.yaml': INSTALLATION,
    ...Object.fromEntries(Object.entries(chart.templates ?? {}).map(([name, text]) => [`templates/${name}`, text])),
    ...(chart.isNew ? { 'templates/flow-logs.yaml': FLOW_LOGS, 'values.schema.json': SCHEMA } : {}),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  if (chart.crds !== undefined) {
    await mkdir(join(folder, 'crds'));
    await copyFile(chart.crds, join(folder, 'crds', 'crds.yaml'));
  }
  return folder;
}

/** Packs the chart and serves it over HTTP as a chart repository does. */
export async function serveChart(helm: string, folder: string, chart: string) {
  await execa(helm, ['package', chart, '--destination', folder]);
  const repository = await serveFolder(folder);
  await execa(helm, ['repo', 'index', folder, '--url', repository.url]);
  return repository;
}

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
