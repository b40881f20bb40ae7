import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** For `node --import`: writes `IMPORTER SPECIFIER URL` of every import to descriptor 3, one a line. */
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    writeSync(3, `${context.parentURL ?? '-'} ${specifier} ${resolved.url}\n`);
    return resolved;
  },
});
