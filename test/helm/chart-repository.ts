import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { listening } from '../control-plane/listening.ts';

export interface ChartRepository {
  readonly url: string;
  close(): Promise<void>;
}

/** Packs the charts and serves them over HTTP as a chart repository does. */
export async function serveCharts(helm: string, folder: string, charts: readonly string[]): Promise<ChartRepository> {
  for (const chart of charts) await execa(helm, ['package', chart, '--destination', folder]);
  const server = createServer((request, response) => {
    const file = join(folder, basename(request.url ?? ''));
    if (!existsSync(file)) return void response.writeHead(404).end();
    createReadStream(file).pipe(response);
  });
  const { port, close } = await listening(server);
  const url = `http://127.0.0.1:${port}`;
  await execa(helm, ['repo', 'index', folder, '--url', url]);
  return { url, close };
}
