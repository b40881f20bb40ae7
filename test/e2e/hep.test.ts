import { describeMigration } from '../support/hep-migration.ts';

describeMigration(6, 280_000);
