/** The name that everything this program says about itself is written with in the source. */
export const OWN_NAME = 'kubectl netsvc-upgrade';

let called = OWN_NAME;

/** How the user called the program; said once, at its start. */
export function calledAs(name: string): void {
  called = name;
}

/** The name that the user called the program by. */
export const ownName = (): string => called;

/** What is made, with the name of the source: for what is compared, and may have been called by another name before. */
export function inSourceWords<T>(make: () => T): T {
  const name = called;
  called = OWN_NAME;
  try {
    return make();
  } finally {
    called = name;
  }
}
