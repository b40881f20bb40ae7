import { describeMigration } from '../support/hep-migration.ts';
import { NETSVC_FLEET } from '../support/hep-services.ts';

describeMigration({ nodes: 6, timeoutMs: 280_000, service: NETSVC_FLEET, manner: 'new', everyStep: false });
