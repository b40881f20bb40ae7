import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Made once: what a page is made of. One object in a hundred is owned by the service, as in `owner-fill.ts`. */
const OWNED_EACH = 100;

/** A field of a protobuf message that has bytes: its number, their length, and they themselves. */
function field(number: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return Buffer.from([...bytes, left]);
    bytes.push((left & 0x7f) | 0x80);
  }
}

/** Metadata of a ConfigMap as a server tells it, with a label, an annotation and who manages its fields; some 450 bytes. */
function item(owned: boolean): Buffer {
  const entry = (key: string, value: string) => Buffer.concat([field(1, key), field(2, value)]);
  const managed = Buffer.concat([
    field(1, 'bench'),
    field(2, 'Update'),
    field(3, 'v1'),
    field(6, 'FieldsV1'),
    field(
      7,
      field(
        1,
        '{"f:data":{".":{},"f:text":{}},"f:metadata":{"f:annotations":{".":{},"f:example.org/note":{}},"f:labels":{".":{},"f:app":{}}}}',
      ),
    ),
  ]);
  const owner = [
    field(1, 'GlobalNetworkSet'),
    field(3, 'set-1'),
    field(4, '0c8c26a6-c6a6-44c6-adc6-000000000001'),
    field(5, 'projectcalico.org/v3'),
  ];
  const meta = [
    field(1, 'object-1000000'),
    field(3, 'bench-7'),
    field(5, '3df70a88-1239-4e8b-88d9-f3d0d7539ec2'),
    field(6, '1000000'),
    field(11, entry('app', 'app-7')),
    field(12, entry('example.org/note', 'some words that somebody wrote about this object, and nobody reads')),
    ...(owned ? [field(13, Buffer.concat(owner))] : []),
    field(17, managed),
  ];
  return field(2, field(1, Buffer.concat(meta)));
}

/**
 * Stands before an API server and answers the list of ConfigMaps with so many that nobody stored; everything else is the server's own. What is
 * measured is the reader alone: a store with a million objects takes longer to fill than anybody waits.
 */
export async function madeLists(server: string, objects: number): Promise<{ readonly url: string; close(): void }> {
  const each = Buffer.concat(Array.from({ length: OWNED_EACH }, (_, index) => item(index === 0)));
  const front = createServer((asked, answer) => {
    const { pathname, searchParams } = new URL(asked.url ?? '', 'http://front');
    if (pathname !== '/api/v1/configmaps') {
      const { method, headers } = asked;
      asked.pipe(
        request(`${server}${asked.url}`, { method, headers }, (message) => {
          answer.writeHead(message.statusCode ?? 500, message.headers);
          message.pipe(answer);
        }),
      );
      return;
    }
    const [from, limit] = [Number(searchParams.get('continue') ?? 0), Number(searchParams.get('limit') ?? objects)];
    // Whole hundreds: every page of the search is.
    const count = Math.min(limit, objects - from);
    const next = from + count < objects ? field(3, String(from + count)) : Buffer.alloc(0);
    const list = Buffer.concat([field(1, Buffer.concat([field(2, '1'), next])), ...Array.from({ length: count / OWNED_EACH }, () => each)]);
    const type = Buffer.concat([field(1, 'meta.k8s.io/v1'), field(2, 'PartialObjectMetadataList')]);
    answer.writeHead(200, { 'Content-Type': 'application/vnd.kubernetes.protobuf' });
    answer.end(Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, list)]));
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`, close: () => front.close() };
}
