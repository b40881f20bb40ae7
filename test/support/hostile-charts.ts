import { mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { execa } from 'execa';
import { listening } from '../control-plane/listening.ts';
import { NEW_CHART, serveCharts, writeChart } from '../helm/own-charts.ts';

/** A repository whose chart of the target is the real one, with this template besides. */
export async function repositoryWith(helm: string, parent: string, template: string) {
  await mkdir(parent);
  return serveCharts(helm, parent, [await writeChart(parent, { ...NEW_CHART, templates: { 'more.yaml': template } })]);
}

/** A repository whose index names for the target's chart a file of another name, which it serves with this content. */
export async function repositoryNaming(file: string, content: string | Uint8Array) {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    response.end(url === '/index.yaml' ? index : content);
  });
  const { port, close } = await listening(server);
  const url = `http://127.0.0.1:${port}`;
  const { version } = NEW_CHART;
  const entry = { apiVersion: 'v2', name: 'tigera-operator', version, appVersion: version, urls: [`${url}/${file}`] };
  const index = JSON.stringify({ apiVersion: 'v1', entries: { 'tigera-operator': [entry] } });
  return { url, asked, close };
}

/** The target's chart, packed. */
export async function packedChart(helm: string, parent: string): Promise<Uint8Array> {
  await mkdir(parent);
  await execa(helm, ['package', await writeChart(parent, NEW_CHART), '--destination', parent]);
  return readFile(join(parent, `tigera-operator-${NEW_CHART.version}.tgz`));
}
