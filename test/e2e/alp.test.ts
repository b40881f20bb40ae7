import { describeMesh } from '../support/alp-mesh.ts';

describeMesh({ workloads: 6, timeoutMs: 280_000 });
