import { sendJson, serve } from '../support/loopback-server.ts';
import { INJECTION } from '../support/mesh-objects.ts';
import type { Api, ApiObject } from './api.ts';
import { createAuthority } from './certificates.ts';
import type { Played } from './played.ts';

/** The mesh's injector: a mutating webhook that puts the sidecar with the template's image into every new pod of meshed namespaces. */
export async function startInjector(api: Api): Promise<Played> {
  const authority = createAuthority('injector');
  const identity = authority.issue({ commonName: 'injector', hosts: ['127.0.0.1'] });
  const { url, close } = await serve(async ({ body }, response) => sendJson(response, await answer(api, body)), identity);
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
  await api.send('POST', path, configuration(url, authority.certificate));
  return { stop: close };
}

function configuration(url: string, certificate: string): object {
  const [key, value] = INJECTION.label;
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'injector' },
    webhooks: [
      {
        name: 'injector.mesh.test',
        clientConfig: { url, caBundle: Buffer.from(certificate).toString('base64') },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        namespaceSelector: { matchLabels: { [key]: value } },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 5,
      },
    ],
  };
}

async function answer(api: Api, body: string): Promise<object> {
  const review = JSON.parse(body) as { readonly request: { readonly uid: string } };
  const image = await sidecarImage(api);
  const patch = [{ op: 'add', path: '/spec/containers/-', value: { name: INJECTION.container, image } }];
  const response = {
    uid: review.request.uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

/** The image that stands behind the sidecar's name in the template. */
async function sidecarImage(api: Api): Promise<string> {
  const { namespace, configMap, container } = INJECTION;
  const map = await api.get<ApiObject>(`/api/v1/namespaces/${namespace}/configmaps/${configMap}`);
  const { config = '' } = map.data as { config?: string };
  return new RegExp(`name: ${container}\\s+image: (\\S+)`).exec(config)?.[1] ?? 'none';
}
