/**
 * Node's `http`, without TLS. Importing it the usual way runs every getter that it exports, one of which loads all of Node's
 * `fetch`: that costs a short command as much as Node's own start. `https` has no such name.
 */
export function plainHttp(): typeof import('node:http') {
  return process.getBuiltinModule('node:http');
}
