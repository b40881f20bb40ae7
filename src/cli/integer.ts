import * as Flags from '@oclif/core/flags';

/** How oclif reads a number: a module of its own, as the packed program has a library's names only through a static import. */
export const integer = Flags.integer().parse;
