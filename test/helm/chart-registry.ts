import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { execa } from 'execa';
import { createAuthority } from '../control-plane/certificates.ts';
import { type Seen, serve } from '../support/loopback-server.ts';
import type { OwnChart } from './own-charts.ts';

interface Blob {
  readonly type: string;
  readonly bytes: Buffer;
}

const NAME = 'calico/tigera-operator';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/**
 * Packs the chart and answers as a registry of the OCI distribution API does, over TLS on loopback; reading only. Its certificates are to be
 * trusted by SSL_CERT_FILE; `seen` has what was asked.
 */
export async function serveChartRegistry(helm: string, home: string, folder: string, { version }: OwnChart) {
  await execa(helm, ['package', folder, '--destination', home]);
  const content = await readFile(join(home, `tigera-operator-${version}.tgz`));
  const answers = answersFor(version, content);
  const authority = createAuthority('chart-registry');
  const authorityFile = join(home, 'registry-ca.pem');
  await writeFile(authorityFile, authority.certificate);
  const identity = authority.issue({ commonName: 'registry', hosts: ['127.0.0.1'] });
  const { url, seen, close } = await serve((request, response) => answer(request, response, answers), identity);
  return {
    chart: `${url.replace('https', 'oci')}/${NAME}`,
    digest: `tigera-operator-${version}.tgz=${sha256(content)}`,
    authorityFile,
    seen,
    close,
  };
}

function answersFor(version: string, content: Buffer): ReadonlyMap<string, Blob> {
  const config = {
    type: 'application/vnd.cncf.helm.config.v1+json',
    bytes: bytesOf({ name: 'tigera-operator', version, apiVersion: 'v2' }),
  };
  const layer = { type: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', bytes: content };
  const manifest = {
    type: MANIFEST,
    bytes: bytesOf({ schemaVersion: 2, mediaType: MANIFEST, config: descriptor(config), layers: [descriptor(layer)] }),
  };
  return new Map<string, Blob>([
    ['', { type: 'application/json', bytes: bytesOf({}) }],
    [`${NAME}/tags/list`, { type: 'application/json', bytes: bytesOf({ name: NAME, tags: [version] }) }],
    ...[version, digestOf(manifest)].map((reference) => [`${NAME}/manifests/${reference}`, manifest] as const),
    ...[config, layer].map((blob) => [`${NAME}/blobs/${digestOf(blob)}`, blob] as const),
  ]);
}

function answer({ method, url }: Seen, response: ServerResponse, answers: ReadonlyMap<string, Blob>): void {
  const blob = answers.get((url.split('?')[0] ?? '').replace(/^\/v2\//, ''));
  if (!blob || !['GET', 'HEAD'].includes(method)) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  const headers = { 'content-type': blob.type, 'content-length': blob.bytes.length, 'docker-content-digest': digestOf(blob) };
  response.writeHead(200, headers).end(method === 'HEAD' ? undefined : blob.bytes);
}

const bytesOf = (value: object) => Buffer.from(JSON.stringify(value));
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const digestOf = ({ bytes }: Blob) => `sha256:${sha256(bytes)}`;
const descriptor = (blob: Blob) => ({ mediaType: blob.type, digest: digestOf(blob), size: blob.bytes.length });
