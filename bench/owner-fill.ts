/** Sends one create; `path` is a collection. */
type Create = (path: string, object: unknown) => Promise<unknown>;

const IN_FLIGHT = 30;
const NAMESPACES = 20;
/** One object in a hundred is owned by the service. */
const OWNED_EACH = 100;

/** Makes a cluster large: this many objects in 20 namespaces, eight ConfigMaps to one Secret and one ServiceAccount. `from`: this many are there. */
export async function fillCluster(create: Create, objects: number, from = 0): Promise<void> {
  for (let number = 0; from === 0 && number < NAMESPACES; number += 1)
    await create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: spaceOf(number) } });
  let next = from;
  const worker = async () => {
    while (next < objects) {
      const number = next;
      next += 1;
      const { plural, ...object } = objectOf(number);
      await create(`/api/v1/namespaces/${spaceOf(number)}/${plural}`, object);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/** How many of this many objects the service owns. */
export const ownedOf = (objects: number): number => Math.ceil(objects / OWNED_EACH);

function spaceOf(number: number): string {
  return `bench-${number % NAMESPACES}`;
}

function objectOf(number: number) {
  const [kind, plural] =
    number % 10 === 8 ? ['Secret', 'secrets'] : number % 10 === 9 ? ['ServiceAccount', 'serviceaccounts'] : ['ConfigMap', 'configmaps'];
  const owner = { apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkSet', name: `set-${number % 50}`, uid: uidOf(number) };
  const metadata = {
    name: `object-${number}`,
    labels: { app: `app-${number % 500}`, 'app.kubernetes.io/managed-by': 'bench' },
    annotations: { 'example.org/note': 'some words that somebody wrote about this object, and nobody reads' },
    ...(number % OWNED_EACH === 0 ? { ownerReferences: [owner] } : {}),
  };
  const text = 'x'.repeat(400);
  return {
    plural,
    apiVersion: 'v1',
    kind,
    metadata,
    ...(kind === 'ConfigMap' ? { data: { text } } : {}),
    ...(kind === 'Secret' ? { stringData: { text } } : {}),
  };
}

function uidOf(number: number): string {
  return `0c8c26a6-c6a6-44c6-adc6-${String(number % 50).padStart(12, '0')}`;
}
