import { gunzipSync, gzipSync } from 'node:zlib';
import type { ApiObject } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { RELEASE_NAMESPACE } from './chart-cluster.ts';

const nameOf = (version: number) => `sh.helm.release.v1.calico.v${version}`;

/** What helm stored of a revision, changed: a chart's release is public enough to be written by anybody who knows the chart. */
export async function repacked(
  { api }: Pick<ControlPlane, 'api'>,
  version: number,
  changes: object,
  { status = 'deployed', from = 1 }: { readonly status?: string; readonly from?: number } = {},
) {
  const path = `/api/v1/namespaces/${RELEASE_NAMESPACE}/secrets/${nameOf(from)}`;
  const { data } = await api.get<ApiObject & { readonly data: Readonly<Record<string, string>> }>(path);
  const stored = Buffer.from(Buffer.from(data.release ?? '', 'base64').toString(), 'base64');
  const release = JSON.parse(gunzipSync(stored).toString()) as { readonly info: object };
  const packed = gzipSync(JSON.stringify({ ...release, version, info: { ...release.info, status }, ...changes })).toString('base64');
  const labels = { owner: 'helm', name: 'calico', version: `${version}`, status };
  return [packed, { name: nameOf(version), namespace: RELEASE_NAMESPACE, labels }] as const;
}
